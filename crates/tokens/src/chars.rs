//! Characters divided by a fixed ratio. The measure by which engines are compared.

use midfold_core::view::Media;
use midfold_core::{Content, Counter};

use crate::{Error, Family, clamp};

/// `chars:R`: Unicode scalar values / R, rounded up. Integer arithmetic only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chars {
    name: String,
    /// The ratio is `units / scale`, where `scale` is a power of ten.
    units: u64,
    scale: u64,
}

/// Digits of a ratio, before and after the point together. Keeps products far inside `u64`.
const MAX_DIGITS: usize = 9;

impl Chars {
    /// A counter for a ratio written as a decimal: `4`, `3.2`, `0.75`.
    ///
    /// # Errors
    /// [`Error::Ratio`] when the text is not a positive decimal of at most nine digits.
    pub fn new(ratio: &str) -> Result<Self, Error> {
        let wrong = || Error::Ratio(ratio.to_owned());
        let (whole, fraction) = ratio.split_once('.').unwrap_or((ratio, ""));
        let digits: String = [whole, fraction].concat();
        let complete = !whole.is_empty() && (ratio.contains('.') != fraction.is_empty());
        let plain = digits.len() <= MAX_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
        if !(complete && plain) {
            return Err(wrong());
        }
        let units: u64 = digits.parse().map_err(|_| wrong())?;
        let scale = fraction.bytes().fold(1, |scale: u64, _| scale * 10);
        if units == 0 {
            return Err(wrong());
        }
        Ok(Self { name: format!("chars:{ratio}"), units, scale })
    }
}

impl Counter for Chars {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str, _: Content) -> u32 {
        let chars = text.chars().count() as u64;
        clamp(chars.saturating_mul(self.scale).div_ceil(self.units))
    }

    fn media(&self, media: &Media) -> u32 {
        Family::OpenAi.media(media)
    }
}
