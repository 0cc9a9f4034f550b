//! What images, sounds and files cost, by provider family. Never by the length of their base64.

use midfold_core::view::{Media, MediaKind};

use crate::clamp;

/// Providers that share a vocabulary and a way to bill media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// GPT and o-series; also the rule for open models and `chars:R`.
    OpenAi,
    /// Claude 4.7 and later, whose vocabulary makes about 30 % more tokens than before.
    Claude,
    /// Claude up to 4.6.
    ClaudeOld,
    /// Gemini and Gemma.
    Gemini,
}

/// An image whose size nobody knows: a full-screen picture at most providers.
const IMAGE_UNKNOWN: u64 = 1_600;
/// Gemini bills every image about the same (measured 1,065 to 1,101).
const IMAGE_GEMINI: u64 = 1_090;
/// Where Claude scales an image down: measured plateaus of the two generations.
const IMAGE_CLAUDE_CAP: u64 = 3_930;
const IMAGE_CLAUDE_OLD_CAP: u64 = 1_590;

/// Sound is taken as 128 kbit/s, the common rate of compressed speech and music. For raw PCM this
/// overstates, which is the safe side.
const SOUND_BYTES_PER_SECOND: u64 = 16_000;
/// `OpenAI` bills input audio at 10 tokens a second, Gemini at 32; Claude takes none, and where a
/// gateway turns sound into text, 10 a second is above fast speech.
const SOUND_TOKENS: u64 = 10;
const SOUND_TOKENS_GEMINI: u64 = 32;

/// A document is taken as one page for each 64 KiB begun; a page costs an image, or Gemini's 258.
const PAGE_BYTES: u64 = 64 * 1024;
const PAGE_TOKENS: u64 = 1_600;
const PAGE_TOKENS_GEMINI: u64 = 258;
/// Pages a provider reads of one document at most.
const PAGES: u64 = 100;

impl Family {
    /// Tokens of an image, a sound or a file.
    ///
    /// Images by their pixels: Claude one token per 28 × 28 tile up to a cap, GPT 1.2 per 32 × 32
    /// tile, Gemini a flat 1,090, and 1,600 where the size is unknown. Sound by its seconds at
    /// 128 kbit/s, files by their pages of 64 KiB; 1,600 for either where the data is only
    /// referred to.
    #[must_use]
    pub fn media(self, media: &Media) -> u32 {
        let size = u64::from(media.size);
        clamp(match media.kind {
            MediaKind::Image => self.image(media.pixels),
            _ if size == 0 => IMAGE_UNKNOWN,
            MediaKind::Audio => {
                let rate = if self == Self::Gemini { SOUND_TOKENS_GEMINI } else { SOUND_TOKENS };
                (size * rate).div_ceil(SOUND_BYTES_PER_SECOND)
            }
            MediaKind::File => {
                let page = if self == Self::Gemini { PAGE_TOKENS_GEMINI } else { PAGE_TOKENS };
                size.div_ceil(PAGE_BYTES).min(PAGES) * page
            }
        })
    }

    fn image(self, pixels: Option<(u32, u32)>) -> u64 {
        let tiles = |(width, height): (u32, u32), side: u32| {
            u64::from(width.div_ceil(side)) * u64::from(height.div_ceil(side))
        };
        match (self, pixels) {
            (Self::Gemini, _) => IMAGE_GEMINI,
            (_, None | Some((0, _) | (_, 0))) => IMAGE_UNKNOWN,
            (Self::OpenAi, Some(pixels)) => tiles(pixels, 32).saturating_mul(12).div_ceil(10),
            (Self::Claude, Some(pixels)) => tiles(pixels, 28).min(IMAGE_CLAUDE_CAP),
            (Self::ClaudeOld, Some(pixels)) => tiles(pixels, 28).min(IMAGE_CLAUDE_OLD_CAP),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midfold_core::ByteRange;

    fn media(kind: MediaKind, pixels: Option<(u32, u32)>, size: u32) -> Media {
        Media { kind, outer: ByteRange::default(), pixels, size }
    }

    #[test]
    fn images_by_family() {
        let rows = [
            (Family::OpenAi, (1024, 1024), 1_229),
            (Family::OpenAi, (1920, 1080), 2_448),
            (Family::Claude, (1024, 1024), 1_369),
            (Family::Claude, (4000, 3000), 3_930),
            (Family::ClaudeOld, (1920, 1080), 1_590),
            (Family::Gemini, (1024, 1024), 1_090),
            (Family::OpenAi, (0, 7), 1_600),
        ];
        for (family, pixels, tokens) in rows {
            let got = family.media(&media(MediaKind::Image, Some(pixels), 5_000_000));
            assert_eq!(got, tokens, "{family:?} {pixels:?}");
        }
        assert_eq!(Family::Claude.media(&media(MediaKind::Image, None, 9_000_000)), 1_600);
        let huge = media(MediaKind::Image, Some((u32::MAX, u32::MAX)), 0);
        assert_eq!(Family::OpenAi.media(&huge), u32::MAX);
    }

    #[test]
    fn sounds_and_files_by_size() {
        let minute = media(MediaKind::Audio, None, 960_000);
        assert_eq!(Family::OpenAi.media(&minute), 600);
        assert_eq!(Family::Gemini.media(&minute), 1_920);
        assert_eq!(Family::Claude.media(&media(MediaKind::File, None, 65_537)), 3_200);
        assert_eq!(Family::Claude.media(&media(MediaKind::File, None, u32::MAX)), 160_000);
        assert_eq!(Family::Claude.media(&media(MediaKind::File, None, 0)), 1_600);
    }
}
