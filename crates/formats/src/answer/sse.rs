//! Cuts server-sent events out of chunks of any size.

use memchr::memchr2;

use crate::scan;

/// The most bytes that one event may hold. The largest ones that providers send are whole answers with pictures.
pub(super) const EVENT_LIMIT: usize = 8 * 1024 * 1024;

/// An event of a stream, or a document.
pub(super) enum StreamPiece<'a> {
    /// An event with data; the name is empty where the event has none.
    Event { name: &'a [u8], data: &'a [u8] },
    /// An event that is larger than the limit. It was not read.
    TooLarge,
}

/// The state of the splitter between two chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct SseSplitter {
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    /// The name of the event, as far as it was read.
    name: Vec<u8>,
    /// The data of the event, as far as it was read.
    data: Vec<u8>,
    /// Whether the event has a `data:` line. An empty one counts.
    has_data: bool,
    /// Whether the last chunk ended in `\r`: a `\n` at the start of the next chunk then ends the same line.
    after_return: bool,
    past_first_line: bool,
    /// Whether the event is larger than the limit, so that the rest of it is skipped.
    too_large: bool,
    /// Whether bytes of the current line were given up: the line is then not blank, even where `line` is empty.
    is_cut: bool,
}

impl SseSplitter {
    /// Reads the next chunk, and passes the events that it completes to `sink`.
    pub(super) fn push(&mut self, mut chunk: &[u8], sink: &mut impl FnMut(StreamPiece<'_>)) {
        if self.after_return && !chunk.is_empty() {
            self.after_return = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        while let Some(at) = memchr2(b'\n', b'\r', chunk) {
            let (line, end) = chunk.split_at(at);
            chunk = match end {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            // Most lines lie within one chunk, and are read from there without a copy.
            if self.line.is_empty() && !self.is_cut {
                self.read_line(line, sink);
            } else {
                self.hold(line);
                let whole = std::mem::take(&mut self.line);
                self.read_line(&whole, sink);
                // The buffer goes back, so that the next line that is split over chunks needs no new one.
                self.line = whole;
                self.line.clear();
            }
            self.is_cut = false;
        }
        self.hold(chunk);
    }

    /// Ends the stream. A last event without its blank line counts only if its data is a whole JSON value.
    pub(super) fn finish(mut self, sink: &mut impl FnMut(StreamPiece<'_>)) {
        if !self.line.is_empty() {
            let last = std::mem::take(&mut self.line);
            self.read_line(&last, sink);
        }
        let whole = scan::value(&self.data, 0).is_some_and(|range| range.end == self.data.len());
        if self.too_large || whole {
            self.end_event(sink);
        }
    }

    fn hold(&mut self, part: &[u8]) {
        if self.fits(self.line.len() + part.len()) {
            self.line.extend_from_slice(part);
        } else {
            self.is_cut |= !part.is_empty();
        }
    }

    /// Whether the event has room for a line of this length. If not, the whole event is given up.
    fn fits(&mut self, line: usize) -> bool {
        if !self.too_large && self.data.len() + line > EVENT_LIMIT {
            self.too_large = true;
            self.is_cut |= !self.line.is_empty();
            // New ones, because `clear` would keep up to `EVENT_LIMIT` bytes of memory.
            self.line = Vec::new();
            self.data = Vec::new();
        }
        !self.too_large
    }

    /// Reads one line without its line break. A blank line ends the event.
    fn read_line(&mut self, line: &[u8], sink: &mut impl FnMut(StreamPiece<'_>)) {
        let fits = self.fits(line.len());
        let is_first = !std::mem::replace(&mut self.past_first_line, true);
        let line = if is_first { line.strip_prefix(MARK).unwrap_or(line) } else { line };
        if line.is_empty() && !self.is_cut {
            self.end_event(sink);
            return;
        }
        if !fits {
            return;
        }
        let colon = memchr::memchr(b':', line);
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Comments have an empty field name. `id` and `retry` serve clients that connect again.
            _ => {}
        }
    }

    fn end_event(&mut self, sink: &mut impl FnMut(StreamPiece<'_>)) {
        if std::mem::take(&mut self.too_large) {
            sink(StreamPiece::TooLarge);
        } else if !self.data.is_empty() {
            // The standard drops an event without data, with its name.
            sink(StreamPiece::Event { name: &self.name, data: &self.data });
        }
        self.has_data = false;
        self.name.clear();
        self.data.clear();
    }
}

/// The byte order mark, which may open a stream.
const MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    /// Events as `name|data`, with the stream cut in chunks of `size`.
    fn events(stream: &[u8], size: usize) -> Vec<String> {
        let mut texts = Vec::new();
        let mut sink = |piece: StreamPiece<'_>| {
            texts.push(match piece {
                StreamPiece::Event { name, data } => {
                    let (name, data) =
                        (String::from_utf8_lossy(name), String::from_utf8_lossy(data));
                    format!("{name}|{data}")
                }
                StreamPiece::TooLarge => "too large".to_owned(),
            });
        };
        let mut sse = SseSplitter::default();
        stream.chunks(size).for_each(|chunk| sse.push(chunk, &mut sink));
        sse.finish(&mut sink);
        texts
    }

    fn all_sizes(stream: &[u8]) -> Vec<String> {
        let whole = events(stream, stream.len());
        for size in 1..stream.len() {
            assert_eq!(events(stream, size), whole, "chunks of {size}");
        }
        whole
    }

    #[test]
    fn lines_may_end_in_any_way() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = ["event: a", "data: 1", "", "data:2", "data: 3", "", ""].join(end);
            assert_eq!(all_sizes(stream.as_bytes()), ["a|1", "|2\n3"], "{end:?}");
        }
        let mixed = b"data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r";
        assert_eq!(all_sizes(mixed), ["|1", "|2", "|3"]);
    }

    #[test]
    fn comments_marks_and_other_fields_are_passed_over() {
        let stream = b"\xef\xbb\xbfdata: 1\n\n: OPENROUTER PROCESSING\n\nid: 7\nretry: 3\ndata\ndata:  2\n\nevent: none\n\ndata: 3\n\n";
        assert_eq!(all_sizes(stream), ["|1", "|\n 2", "|3"]);
    }

    #[test]
    fn a_last_event_without_its_blank_line_counts_when_it_is_whole() {
        assert_eq!(all_sizes(b"data: [DONE]"), ["|[DONE]"]);
        assert_eq!(all_sizes(b"data: {\"a\":1}\n"), ["|{\"a\":1}"]);
        assert_eq!(all_sizes(b"data: 1\n\ndata: {\"a\":"), ["|1"]);
    }

    #[test]
    fn an_event_above_the_limit_is_passed_over_whole() {
        let long = "x".repeat(EVENT_LIMIT / 2);
        let stream = format!("data: {long}\ndata: {long}\ndata: y\n\ndata: 2\n\n");
        let line = format!(":{}\ndata: y\n\ndata: 2\n\n", "x".repeat(EVENT_LIMIT));
        let exact = format!("data:{}\n\n", "x".repeat(EVENT_LIMIT - 5));
        for size in [1000, EVENT_LIMIT / 3, EVENT_LIMIT, 3 * EVENT_LIMIT] {
            assert_eq!(events(stream.as_bytes(), size), ["too large", "|2"], "{size}");
            assert_eq!(events(line.as_bytes(), size), ["too large", "|2"], "{size}");
            assert_ne!(events(exact.as_bytes(), size), ["too large"], "{size}");
        }
    }
}
