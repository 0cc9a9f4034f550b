//! The result: a context in the shape that its conversation had.

use bytes::Bytes;
use midfold::{Context, DialectKind, Prepared};

/// The messages of a context, with what travels beside them.
pub struct Transcript<'a> {
    prepared: &'a Prepared,
    messages: Vec<Bytes>,
}

impl<'a> Transcript<'a> {
    pub fn new(prepared: &'a Prepared, context: &Context) -> Self {
        Self { prepared, messages: context.pieces().map(|piece| piece.bytes.clone()).collect() }
    }

    /// The only conversation of a file, as its file was: a request, a list, one message a line.
    pub fn document(&self) -> Vec<u8> {
        let envelope = &self.prepared.source.envelope;
        match &envelope.wrapper {
            Some(wrapper) => {
                let list = if wrapper.before.is_empty() || wrapper.before.contains(&b'\n') {
                    self.list(b"\n")
                } else {
                    self.list(b"")
                };
                [&wrapper.before[..], &list, &wrapper.after, b"\n"].concat()
            }
            None if self.prepared.is_lines && !self.is_body() => self
                .messages
                .iter()
                .flat_map(|message| [flat(message), b"\n".to_vec()].concat())
                .collect(),
            None => [&self.request(b"\n")[..], b"\n"].concat(),
        }
    }

    /// One of several conversations, on a line of its own.
    pub fn line(&self) -> Vec<u8> {
        let list = self.list(b"");
        let whole = match &self.prepared.source.envelope.wrapper {
            Some(wrapper) => [&wrapper.before[..], &list, &wrapper.after].concat(),
            None => self.request(b""),
        };
        [flat(&whole), b"\n".to_vec()].concat()
    }

    /// The messages as a JSON list.
    pub fn messages(&self) -> Vec<u8> {
        self.list(b"")
    }

    /// A body with the system prompt and the tools where there are any; else a list, with `space`
    /// between the messages.
    fn request(&self, space: &[u8]) -> Vec<u8> {
        let envelope = &self.prepared.source.envelope;
        if !self.is_body() {
            return self.list(space);
        }
        let (system, messages): (&[u8], &[u8]) = match self.prepared.kind {
            DialectKind::OpenAiResponses => (b"instructions", b"input"),
            DialectKind::ShareGpt => (b"system", b"conversations"),
            DialectKind::Anthropic | DialectKind::OpenAiChat => (b"system", b"messages"),
        };
        let model = envelope
            .model
            .as_ref()
            .map(|model| Bytes::from(midfold::core::jsonstr::encode(model).into_bytes()));
        let mut out = vec![b'{'];
        let beside = [
            (&b"model"[..], model.as_ref()),
            (system, envelope.system.as_ref()),
            (b"tools", envelope.tools.as_ref()),
        ];
        for (name, value) in beside {
            if let Some(value) = value {
                out.extend_from_slice(&[b"\"", name, b"\":", value, b","].concat());
            }
        }
        out.extend_from_slice(&[b"\"", messages, b"\":", &self.list(b""), b"}"].concat());
        out
    }

    /// Something travels beside the messages.
    fn is_body(&self) -> bool {
        let envelope = &self.prepared.source.envelope;
        envelope.system.is_some() || envelope.tools.is_some()
    }

    fn list(&self, space: &[u8]) -> Vec<u8> {
        let size: usize = self.messages.iter().map(|message| message.len() + 2).sum();
        let mut out = Vec::with_capacity(size + 4);
        out.push(b'[');
        for (at, message) in self.messages.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(space);
            out.extend_from_slice(message);
        }
        out.extend_from_slice(space);
        out.push(b']');
        out
    }
}

/// The same JSON without line breaks. A raw one never stands inside a string: readers repair that.
pub fn flat(json: &[u8]) -> Vec<u8> {
    json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}
