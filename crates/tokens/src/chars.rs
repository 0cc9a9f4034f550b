//! A counter that divides the number of characters by a fixed ratio. Engines are compared with it.

use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind};

use crate::{CounterError, ProviderFamily, clamp};

/// `chars:R`: the number of Unicode scalar values divided by R, rounded up. It uses only integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharsCounter {
    /// `chars:R`, with the ratio as it was written.
    name: String,
    /// The ratio is `units / scale`; `scale` is a power of ten.
    units: u64,
    scale: u64,
}

/// Most digits of a ratio, before and after the point together. It keeps products far within `u64`.
const MAX_DIGITS: usize = 9;

impl CharsCounter {
    /// A counter for a ratio written as a decimal: `4`, `3.2`, `0.75`.
    ///
    /// # Errors
    /// Fails with [`CounterError::Ratio`] where the text is not a positive decimal of at most nine digits.
    pub fn new(ratio: &str) -> Result<Self, CounterError> {
        let wrong = || CounterError::Ratio(ratio.to_owned());
        let (whole, fraction) = ratio.split_once('.').unwrap_or((ratio, ""));
        let digits: String = [whole, fraction].concat();
        // Both sides of a point need digits: `4.` and `.5` are refused.
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

impl Counter for CharsCounter {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str, _: TextKind) -> u32 {
        let chars = text.chars().count() as u64;
        clamp(chars.saturating_mul(self.scale).div_ceil(self.units))
    }

    fn media(&self, media: &MediaRef) -> u32 {
        ProviderFamily::OpenAi.media(media)
    }
}
