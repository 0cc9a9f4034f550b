//! The counter of these tests.

use midfold_core::view::Media;
use midfold_core::{Content, Counter};

/// A quarter of a token a byte, and four a message: easy to reckon with.
pub struct Quarter;

impl Counter for Quarter {
    fn name(&self) -> &str {
        "quarter"
    }

    fn count(&self, text: &str, _: Content) -> u32 {
        u32::try_from(text.len() / 4).unwrap_or(u32::MAX)
    }

    fn media(&self, _: &Media) -> u32 {
        100
    }
}
