//! Changes parts of streams and documents. All other bytes stay as they are.

use std::ops::Range;

use midfold_core::jsonstr;

use crate::fields::ObjectFields;

/// The most bytes of an event that are held. A larger event is passed on in parts, as it is.
const EVENT_LIMIT: usize = 32 * 1024 * 1024;

/// An event of a stream, in the bytes in which it arrived, with the blank line after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamEvent<'a> {
    pub(crate) bytes: &'a [u8],
    /// Whether these are all its bytes. A part of an event cannot be read.
    is_whole: bool,
}

/// Cuts a stream into events, in chunks of any size. Each event keeps the bytes in which it arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawEvents {
    /// The bytes of the event that has not ended.
    unfinished: Vec<u8>,
    /// The number of bytes of the current line.
    line: usize,
    /// Whether the last byte was `\r`, so that a `\n` belongs to the same line break.
    after_return: bool,
    /// Whether the held bytes belong to an event of which a part has been passed on.
    is_large: bool,
    /// Whether the held event has ended with `\r`, so that a `\n` would belong to its blank line.
    ends_at_return: bool,
}

impl RawEvents {
    /// Passes each event that ends in this chunk to `sink`.
    pub(crate) fn push(&mut self, chunk: &[u8], sink: &mut impl FnMut(StreamEvent<'_>)) {
        for &byte in chunk {
            if std::mem::take(&mut self.ends_at_return) {
                // As the first byte of the next event, this `\n` would be lost if that event is rewritten.
                if byte == b'\n' {
                    self.unfinished.push(byte);
                    self.after_return = false;
                    self.pass(sink);
                    continue;
                }
                self.pass(sink);
            }
            self.unfinished.push(byte);
            let is_end = match byte {
                // The second byte of a `\r\n`, which was counted at the `\r`.
                b'\n' if std::mem::take(&mut self.after_return) => continue,
                b'\n' | b'\r' => std::mem::take(&mut self.line) == 0,
                _ => {
                    self.line += 1;
                    false
                }
            };
            self.after_return = byte == b'\r';
            self.ends_at_return = is_end && self.after_return;
            if is_end && !self.ends_at_return {
                self.pass(sink);
            } else if self.unfinished.len() >= EVENT_LIMIT {
                sink(StreamEvent { bytes: &self.unfinished, is_whole: false });
                self.unfinished.clear();
                self.is_large = true;
            }
        }
        // A stream whose lines end with `\r` alone must not hold each event until the next one begins. In a stream of
        // `\r\n` the rest of the line break is on its way.
        if self.ends_at_return && memchr::memmem::find(&self.unfinished, b"\r\n").is_none() {
            self.pass(sink);
        }
    }

    fn pass(&mut self, sink: &mut impl FnMut(StreamEvent<'_>)) {
        self.ends_at_return = false;
        let is_whole = !std::mem::take(&mut self.is_large);
        sink(StreamEvent { bytes: &self.unfinished, is_whole });
        self.unfinished.clear();
    }

    /// Passes what is left where the stream ended without a blank line.
    pub(crate) fn finish(mut self, sink: &mut impl FnMut(StreamEvent<'_>)) {
        if !self.unfinished.is_empty() {
            self.pass(sink);
        }
    }
}

impl StreamEvent<'_> {
    /// Whether it is a part of an event that is too large to be read.
    pub(crate) fn is_part(self) -> bool {
        !self.is_whole
    }

    /// The name and the data of the event. `None` where it has no data, or is too large to be read.
    pub(crate) fn read(self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.is_whole.then(|| fields(self.bytes))?
    }
}

/// The name and the data of an event. `None` where it has no data.
fn fields(raw: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut name, mut data) = (Vec::new(), None::<Vec<u8>>);
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    // A `\r\n` gives an empty line in between, which holds no field.
    for line in raw.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let field = |field: &[u8]| {
            let value = line.strip_prefix(field)?;
            Some(value.strip_prefix(b" ").unwrap_or(value))
        };
        if let Some(value) = field(b"event:") {
            name = value.to_vec();
        } else if let Some(value) = field(b"data:") {
            if let Some(data) = &mut data {
                data.push(b'\n');
            }
            data.get_or_insert_default().extend_from_slice(value);
        }
    }
    Some((name, data?))
}

/// Writes an event with these data, and with its name unless that is empty.
pub(crate) fn write_event(name: &[u8], data: &[u8], out: &mut Vec<u8>) {
    if !name.is_empty() {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name);
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\n\n");
}

/// The replacements in one document.
#[derive(Default)]
pub(crate) struct Splices(Vec<(Range<usize>, Vec<u8>)>);

impl Splices {
    pub(crate) fn replace(&mut self, at: Range<usize>, with: impl Into<Vec<u8>>) {
        self.0.push((at, with.into()));
    }

    /// Adds `add` to the number at `name`. Does nothing where there is no number.
    pub(crate) fn shift(&mut self, fields: &ObjectFields<'_>, name: &str, add: u64) {
        if let (Some(at), Some(count)) = (fields.get(name), fields.count(name)) {
            self.replace(at, count.saturating_add(add).to_string());
        }
    }

    /// Sets the member `name` of the object at `object`: replaces its value, or adds the member at the end.
    pub(crate) fn set(&mut self, bytes: &[u8], object: Range<usize>, name: &str, value: &[u8]) {
        let fields = ObjectFields::of(bytes, object.clone());
        if let Some(at) = fields.get(name) {
            self.replace(at, value);
            return;
        }
        let mut member = if fields.is_empty() { Vec::new() } else { b",".to_vec() };
        jsonstr::encode_into(name, &mut member);
        member.push(b':');
        member.extend_from_slice(value);
        self.replace(object.end - 1..object.end - 1, member);
    }

    /// Puts `item` at the front of the array at `array`.
    pub(crate) fn prepend(&mut self, bytes: &[u8], array: &Range<usize>, item: &[u8]) {
        let is_empty = crate::scan::elements(bytes, array.clone()).next().is_none();
        let mut item = item.to_vec();
        if !is_empty {
            item.push(b',');
        }
        self.replace(array.start + 1..array.start + 1, item);
    }

    /// Puts `item` at the end of the array at `array`.
    pub(crate) fn append(&mut self, bytes: &[u8], array: &Range<usize>, item: &[u8]) {
        let last = crate::scan::elements(bytes, array.clone()).last();
        let (at, comma): (_, &[u8]) = match last {
            Some(last) => (last.end, b","),
            None => (array.start + 1, b""),
        };
        self.replace(at..at, [comma, item].concat());
    }

    pub(crate) fn apply(mut self, bytes: &[u8]) -> Vec<u8> {
        // The sort is stable, so that insertions at one place keep their order.
        self.0.sort_by_key(|(at, _)| at.start);
        let mut out = Vec::with_capacity(bytes.len() + 64);
        let mut from = 0;
        for (at, with) in self.0 {
            out.extend_from_slice(bytes.get(from..at.start).unwrap_or_default());
            out.extend_from_slice(&with);
            from = at.end;
        }
        out.extend_from_slice(bytes.get(from..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event's bytes, and its name and data.
    type CutEvent = (Vec<u8>, Option<(Vec<u8>, Vec<u8>)>);

    /// What a stream is cut into, in chunks of this size.
    fn cut(stream: &[u8], size: usize) -> Vec<CutEvent> {
        let (mut events, mut cuts) = (RawEvents::default(), Vec::new());
        let mut sink = |event: StreamEvent<'_>| cuts.push((event.bytes.to_vec(), event.read()));
        stream.chunks(size).for_each(|chunk| events.push(chunk, &mut sink));
        events.finish(&mut sink);
        cuts
    }

    #[test]
    fn events_keep_their_bytes() {
        let stream = b": c\r\n\r\nevent: a\ndata: 1\ndata: 2\n\ndata:3\r\rdata: 4";
        for size in 1..stream.len() {
            let (all, read): (Vec<_>, Vec<_>) = cut(stream, size).into_iter().unzip();
            assert_eq!(all.concat(), stream, "{size}");
            let wanted = [(&b"a"[..], &b"1\n2"[..]), (b"", b"3"), (b"", b"4")];
            let wanted = wanted.map(|(name, data)| (name.to_vec(), data.to_vec()));
            assert_eq!(read.into_iter().flatten().collect::<Vec<_>>(), wanted, "{size}");
        }
    }

    #[test]
    fn a_blank_line_stays_with_its_event() {
        let stream = b"data: 1\r\n\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n";
        for size in 1..stream.len() {
            let pieces: Vec<_> = cut(stream, size).into_iter().map(|event| event.0).collect();
            let wanted = [1, 2, 3].map(|n| format!("data: {n}\r\n\r\n").into_bytes());
            assert_eq!(pieces, wanted, "{size}");
        }
        // Nothing waits for a byte that never comes.
        let (mut events, mut pieces) = (RawEvents::default(), Vec::new());
        events.push(b"data: 1\r\r", &mut |event| pieces.push(event.bytes.to_vec()));
        assert_eq!(pieces, [b"data: 1\r\r"]);
    }

    /// The start of a large event must not be read as an event, and its rest not as another one.
    #[test]
    fn an_event_over_the_limit_passes_unread() {
        let filler = "x".repeat(EVENT_LIMIT);
        let large = format!("data: {{\"type\":\"a\",\"text\":\"{filler}\"}}\ndata: 2\n\n");
        let stream = format!("data: 1\n\n{large}data: 3\n\n");
        for size in [1 << 16, EVENT_LIMIT, stream.len()] {
            let (all, read): (Vec<_>, Vec<_>) = cut(stream.as_bytes(), size).into_iter().unzip();
            assert!(all.concat() == stream.as_bytes(), "{size}");
            let read: Vec<_> = read.into_iter().flatten().map(|(_, data)| data).collect();
            assert_eq!(read, [b"1", b"3"], "{size}");
        }
    }
}
