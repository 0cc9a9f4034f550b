//! The compaction that vendors offer in their own APIs: what a request asks of it, and the parts of
//! an answer, so that a proxy can do it in front of any backend.
//!
//! Nothing here compacts, seals or forwards. Requests are read where they stand; what is built has
//! the exact shapes that the vendors' clients parse.

pub mod anthropic;
pub mod blob;
pub mod openai;
mod rewrite;
mod write;
