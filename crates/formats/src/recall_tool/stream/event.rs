//! An event of a stream, which is passed on or held back.

use crate::vendor::rewrite::write_event;

/// An event of a stream, with the bytes in which it arrived.
pub(super) struct SseEvent<'a> {
    pub raw: &'a [u8],
    pub name: &'a [u8],
    pub data: &'a [u8],
}

/// An event that is held back until the end.
#[derive(Clone, Debug)]
pub(super) struct HeldEvent {
    name: Vec<u8>,
    pub data: Vec<u8>,
}

impl SseEvent<'_> {
    pub fn pass(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.raw);
    }

    /// Writes the event with other data.
    pub fn write(&self, data: &[u8], out: &mut Vec<u8>) {
        match data == self.data {
            true => self.pass(out),
            false => write_event(self.name, data, out),
        }
    }

    pub fn held_event(&self, data: impl Into<Vec<u8>>) -> HeldEvent {
        HeldEvent { name: self.name.to_vec(), data: data.into() }
    }
}

impl HeldEvent {
    pub fn write(&self, data: &[u8], out: &mut Vec<u8>) {
        write_event(&self.name, data, out);
    }
}
