//! The compaction that vendors offer in their own APIs: reads what a request asks for, and writes the parts of an
//! answer, so that a proxy can do the compaction in front of any backend.
//!
//! This module does not compact, seal or forward. It reads requests in place, and writes the exact shapes that the
//! vendors' clients parse.

pub mod anthropic;
pub mod blob;
pub mod openai;
pub(crate) mod rewrite;
pub(crate) mod write;

use memchr::memmem;

use crate::dialect::DialectKind;
use crate::fields::ObjectFields;
use crate::scan;

/// Whether a message is, or holds, a compaction of the vendor. Only the vendor can read it, and it replaces everything
/// before it.
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
