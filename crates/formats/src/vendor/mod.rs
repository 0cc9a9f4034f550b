//! The compaction that vendors offer in their own APIs: what a request asks of it, and the parts of
//! an answer, so that a proxy can do it in front of any backend.
//!
//! Nothing here compacts, seals or forwards. Requests are read where they stand; what is built has
//! the exact shapes that the vendors' clients parse.

pub mod anthropic;
pub mod blob;
pub mod openai;
pub(crate) mod rewrite;
pub(crate) mod write;

use memchr::memmem;

use crate::dialect::DialectKind;
use crate::fields::ObjectFields;
use crate::scan;

/// Whether a message is, or holds, a compaction of the vendor's: nobody else knows what is in it, and it
/// stands for all that was before it.
///
/// ```
/// use midfold_formats::DialectKind;
/// use midfold_formats::vendor::is_compaction;
/// let item = br#"{"type":"compaction","encrypted_content":"gAAA"}"#;
/// assert!(is_compaction(DialectKind::OpenAiResponses, item));
/// assert!(!is_compaction(DialectKind::OpenAiResponses, br#"{"role":"user","content":"compaction"}"#));
/// ```
#[must_use]
pub fn is_compaction(kind: DialectKind, message: &[u8]) -> bool {
    if memmem::find(message, b"\"compaction\"").is_none() {
        return false;
    }
    let fields = ObjectFields::of(message, 0..message.len());
    match kind {
        DialectKind::OpenAiResponses => fields.is("type", "compaction"),
        DialectKind::Anthropic => {
            let content = fields.array("content").unwrap_or(0..0);
            let is_block = |at| ObjectFields::of(message, at).is("type", "compaction");
            scan::elements(message, content).any(is_block)
        }
        _ => false,
    }
}
