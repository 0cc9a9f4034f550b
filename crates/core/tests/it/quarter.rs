//! The counter of these tests.

use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind};

/// A quarter of a token a byte, and four a message: easy to reckon with.
pub struct Quarter;

impl Counter for Quarter {
    fn name(&self) -> &str {
        "quarter"
    }

    fn count(&self, text: &str, _: TextKind) -> u32 {
        u32::try_from(text.len() / 4).unwrap_or(u32::MAX)
    }

    fn media(&self, _: &MediaRef) -> u32 {
        100
    }
}
