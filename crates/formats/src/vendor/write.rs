//! Writes small JSON documents, whose order of members is part of their shape.

use midfold_core::jsonstr;

/// An object while it is written.
pub(crate) struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self(b"{".to_vec())
    }

    /// Starts an object with its `type`, as events and blocks do.
    pub(crate) fn of(kind: &str) -> Self {
        Self::new().text("type", kind)
    }

    pub(crate) fn raw(mut self, name: &str, value: &[u8]) -> Self {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        jsonstr::encode_into(name, &mut self.0);
        self.0.push(b':');
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, jsonstr::encode(value).as_bytes())
    }

    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        self.raw(name, value.to_string().as_bytes())
    }

    /// Writes the text, or `null`.
    pub(crate) fn text_or_null(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self.raw(name, b"null"),
        }
    }

    /// Writes the text, or no member.
    pub(crate) fn text_if(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// Writes an array of documents.
pub(crate) fn list<T: AsRef<[u8]>>(items: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut out = b"[".to_vec();
    for item in items {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
    out.push(b']');
    out
}

/// Appends an event of a stream. Clients ignore an event without a name.
pub(crate) fn event(name: &str, data: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\n\n");
}
