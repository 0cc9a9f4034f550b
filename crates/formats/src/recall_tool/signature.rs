//! Signatures of Gemini's calls. Of several calls the first one has the signature, and Gemini refuses a first call
//! without one. A signature is valid for its own part only. So when the first call is hidden, the next one gets the
//! value for "no signature".

use midfold_core::jsonstr;

use crate::convert::UNSIGNED;
use crate::fields::ObjectFields;
use crate::vendor::rewrite::Splices;

/// The member that holds a part's signature.
const NAME: &str = "thoughtSignature";

/// Notes whether a hidden call had the signature for the calls after it.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Whether the signature was hidden and no shown call has replaced it so far.
    is_hidden: bool,
}

impl Signature {
    /// Notes a hidden part.
    pub fn hide(&mut self, part: &ObjectFields<'_>) {
        self.is_hidden |= part.has(NAME);
    }

    /// Returns a part as the client gets it.
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
