//! Signatures of Gemini's calls: of several calls the first one has it, and no first one goes back without. Where that one
//! is hidden, the next one is said to have none: a signature is of its own part.

use midfold_core::jsonstr;

use crate::convert::UNSIGNED;
use crate::fields::ObjectFields;
use crate::vendor::rewrite::Splices;

/// Where a part has its signature.
const NAME: &str = "thoughtSignature";

/// Whether a hidden call had the signature of those behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    is_hidden: bool,
}

impl Signature {
    /// A part that is hidden.
    pub fn hide(&mut self, part: &ObjectFields<'_>) {
        self.is_hidden |= part.has(NAME);
    }

    /// A part that the client gets.
    pub fn show(&mut self, part: &[u8]) -> Vec<u8> {
        let fields = ObjectFields::of(part, 0..part.len());
        if fields.object("functionCall").is_none() {
            return part.to_vec();
        }
        let needs_one = std::mem::take(&mut self.is_hidden) && !fields.has(NAME);
        let mut splices = Splices::default();
        if needs_one {
            splices.set(part, 0..part.len(), NAME, jsonstr::encode(UNSIGNED).as_bytes());
        }
        splices.apply(part)
    }
}
