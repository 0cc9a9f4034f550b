//! What stands in the place of a folded span.

pub mod redact;
