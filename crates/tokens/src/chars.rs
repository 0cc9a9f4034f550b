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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_without_drift() {
        let counter = Chars::new("3.2").unwrap();
        assert_eq!(counter.name(), "chars:3.2");
        for (chars, tokens) in [(0, 0), (1, 1), (3, 1), (4, 2), (16, 5), (17, 6), (10_000, 3125)] {
            assert_eq!(counter.count(&"é".repeat(chars), Content::Result), tokens, "{chars}");
        }
        assert_eq!(Chars::new("4").unwrap().count("12345", Content::Prose), 2);
        assert_eq!(Chars::new("0.5").unwrap().count("😀b", Content::Prose), 4);
        assert_eq!(counter.per_message(), 4);
    }

    #[test]
    fn refuses_what_is_not_a_positive_decimal() {
        for wrong in [
            "",
            "0",
            "0.0",
            "-1",
            "+4",
            "4.",
            ".5",
            "1e3",
            "NaN",
            "3,2",
            "1.2.3",
            " 4",
            "1234567890",
            "٣",
        ] {
            assert!(Chars::new(wrong).is_err(), "{wrong:?}");
        }
    }
}
