//! The tokens of images, sounds and files, by provider family. The length of their base64 does not matter.

use midfold_core::view::{MediaExtent, MediaKind, MediaRef, PictureDetail};

use crate::clamp;

/// Providers that share a vocabulary and a way of billing media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderFamily {
    /// GPT and the o-series. Open models and `chars:R` use this family's rules, too.
    OpenAi,
    /// Claude 4.7 and later, whose vocabulary makes about 30 % more tokens than before.
    Claude,
    /// Claude up to 4.6.
    ClaudeOld,
    /// Gemini 3 and later, and Gemma.
    Gemini,
    /// Gemini up to 2.5, which has the same vocabulary but bills images in another way.
    GeminiOld,
}

/// Tokens of an image of unknown size. That is what a full-screen picture costs at most providers.
const IMAGE_UNKNOWN: u64 = 1_600;
/// Tokens of any image for Gemini 3, which bills all of them about the same (measured 1,065 to 1,101).
const IMAGE_GEMINI: u64 = 1_090;
/// Most tokens of an image for `OpenAI`: it takes at most 10,000 patches at 1.2 tokens, and scales larger images down.
const IMAGE_OPENAI_CAP: u64 = 12_000;
/// Most tokens of an image for Claude, which scales larger ones down. The value for the newer generation was
/// measured; that for the older one is the largest row of Anthropic's table (1092 x 1092).
const IMAGE_CLAUDE_CAP: u64 = 3_930;
const IMAGE_CLAUDE_OLD_CAP: u64 = 1_590;
/// The longest edge of an image in the older generation, in pixels, and how many pixels make a token there.
const EDGE_CLAUDE_OLD: u32 = 1_568;
const PIXELS_CLAUDE_OLD: u64 = 750;
/// Rules of `OpenAI`'s older models. An image costs a base, which is also its cost in low detail, and further tokens
/// for each tile. Then follow the side of a tile, the square into which an image is fitted, and the length to which
/// its shortest side is scaled then, all in pixels.
const IMAGE_LOW: u64 = 85;
const TILE: u64 = 170;
const TILE_SIDE: u32 = 512;
const TILES_SQUARE: u32 = 2_048;
const TILES_SHORTEST: u32 = 768;
/// Rules of Gemini up to 2.5: the tokens of a crop, the side up to which a picture is a single crop, the smallest and
/// largest side of a crop, and the square into which a larger picture is fitted, all in pixels.
const CROP: u64 = 258;
const CROP_WHOLE: u32 = 384;
const CROP_SIDES: std::ops::RangeInclusive<u32> = 256..=768;
const CROPS_SQUARE: u32 = 3_072;

/// Sound of unknown length is taken as 128 kbit/s, the usual rate of compressed speech and music. For raw PCM the
/// estimate is too high, which is the safe side.
const SOUND_BYTES_PER_SECOND: u64 = 16_000;
/// `OpenAI` bills 10 tokens for each second of sound, and Gemini 32. Claude takes no sound. Where a gateway turns
/// sound into text, 10 tokens a second are more than fast speech needs.
const SOUND_TOKENS: u64 = 10;
const SOUND_TOKENS_GEMINI: u64 = 32;

/// Tokens for each second of a video. `OpenAI` and Claude take none. Gemini samples one picture a second, with its
/// sound: 300 tokens up to 2.5, and 102 (70 and 32) from 3 on.
const VIDEO_TOKENS: u64 = 102;
const VIDEO_TOKENS_OLD: u64 = 300;
/// A video of unknown length is taken as 1 Mbit/s.
const VIDEO_BYTES_PER_SECOND: u64 = 125_000;

/// Tokens of a page, which is read as text and as a picture. Anthropic states 1,500 to 3,000 tokens for the text, and
/// `OpenAI` sends both. Gemini bills 560 from 3 on, and 258 before.
const PAGE_TOKENS: u64 = 2_250;
const PAGE_TOKENS_GEMINI: u64 = 560;
const PAGE_TOKENS_GEMINI_OLD: u64 = 258;
/// A document with an unknown number of pages is taken as one page for each 16 KiB, rounded up, and at most as many
/// pages as a provider reads. 16 KiB is between a page of packed text and a scanned page.
const PAGE_BYTES: u64 = 16 * 1024;
const PAGES: u64 = 100;
/// Bytes of plain text for each token.
const TEXT_BYTES: u64 = 4;

impl ProviderFamily {
    /// Tokens of an image, a sound or a file.
    ///
    /// Images are billed by their pixels, as each provider documents: Claude one token per 28 × 28 tile up to a cap,
    /// older Claude models one per 750 pixels, GPT 1.2 per 32 × 32 patch up to 12,000 (85 in low detail), Gemini 3 a
    /// flat 1,090, older Gemini models 258 per crop. An image of unknown size costs 1,600.
    ///
    /// Sound and video are billed by their seconds, documents by their pages, and plain text by its length. Where the
    /// bytes do not say these, the size decides (128 kbit/s, 1 Mbit/s, 16 KiB a page). Data that is only referred to
    /// costs 1,600. Text that is read together with its message is counted there, so it is 0 here.
    #[must_use]
    pub fn media(self, media: &MediaRef) -> u32 {
        let size = u64::from(media.size);
        let seconds = |bytes: u64| match media.extent {
            MediaExtent::Seconds(seconds) => u64::from(seconds),
            _ => size.div_ceil(bytes),
        };
        clamp(match (media.kind, media.extent) {
            (_, MediaExtent::Read) => 0,
            (MediaKind::Image, _) => self.image(media),
            _ if size == 0 => IMAGE_UNKNOWN,
            (MediaKind::Audio, _) => {
                let rate = if self.is_gemini() { SOUND_TOKENS_GEMINI } else { SOUND_TOKENS };
                seconds(SOUND_BYTES_PER_SECOND) * rate
            }
            (MediaKind::Video, _) => {
                let rate = if self == Self::GeminiOld { VIDEO_TOKENS_OLD } else { VIDEO_TOKENS };
                seconds(VIDEO_BYTES_PER_SECOND) * rate
            }
            (MediaKind::File, MediaExtent::Pages(pages)) => u64::from(pages) * self.page(),
            (MediaKind::File, MediaExtent::Text(bytes)) => u64::from(bytes).div_ceil(TEXT_BYTES),
            (MediaKind::File, _) => size.div_ceil(PAGE_BYTES).min(PAGES) * self.page(),
        })
    }

    fn page(self) -> u64 {
        match self {
            Self::OpenAi | Self::Claude | Self::ClaudeOld => PAGE_TOKENS,
            Self::Gemini => PAGE_TOKENS_GEMINI,
            Self::GeminiOld => PAGE_TOKENS_GEMINI_OLD,
        }
    }

    fn is_gemini(self) -> bool {
        matches!(self, Self::Gemini | Self::GeminiOld)
    }

    fn image(self, media: &MediaRef) -> u64 {
        let size = media.pixels().filter(|(width, height)| *width > 0 && *height > 0);
        match (self, size) {
            (Self::Gemini, _) => IMAGE_GEMINI,
            (Self::OpenAi, _) if media.detail == PictureDetail::Low => IMAGE_LOW,
            (_, None) => IMAGE_UNKNOWN,
            (Self::OpenAi, Some(size)) => {
                pieces(size, 32).saturating_mul(12).div_ceil(10).min(IMAGE_OPENAI_CAP)
            }
            (Self::Claude, Some(size)) => pieces(size, 28).min(IMAGE_CLAUDE_CAP),
            (Self::ClaudeOld, Some(size)) => {
                let (width, height) = fitted(size, size.0.max(size.1), EDGE_CLAUDE_OLD);
                let pixels = u64::from(width) * u64::from(height);
                pixels.div_ceil(PIXELS_CLAUDE_OLD).min(IMAGE_CLAUDE_OLD_CAP)
            }
            (Self::GeminiOld, Some(size)) => {
                let (width, height) = fitted(size, size.0.max(size.1), CROPS_SQUARE);
                if width <= CROP_WHOLE && height <= CROP_WHOLE {
                    return CROP;
                }
                let side = width.min(height) * 2 / 3;
                CROP * pieces((width, height), side.clamp(*CROP_SIDES.start(), *CROP_SIDES.end()))
            }
        }
    }
}

/// The tokens of an image for `OpenAI`'s models up to GPT-4 Turbo and GPT-4o: a base, and a sum for each tile of 512
/// pixels. Before that, the picture is fitted into a square of 2,048 pixels, and its shortest side is scaled to 768.
#[must_use]
pub fn in_tiles(media: &MediaRef) -> u32 {
    let size = media.pixels().filter(|(width, height)| *width > 0 && *height > 0);
    let (MediaKind::Image, Some(size)) = (media.kind, size) else {
        return ProviderFamily::OpenAi.media(media);
    };
    if media.detail == PictureDetail::Low {
        return clamp(IMAGE_LOW);
    }
    let size = fitted(size, size.0.max(size.1), TILES_SQUARE);
    let size = fitted(size, size.0.min(size.1), TILES_SHORTEST);
    clamp(IMAGE_LOW + TILE * pieces(size, TILE_SIDE))
}

/// How many squares with this side cover a picture.
fn pieces((width, height): (u32, u32), side: u32) -> u64 {
    u64::from(width.div_ceil(side)) * u64::from(height.div_ceil(side))
}

/// The size of the picture after scaling it down so that `measured`, one of its sides, is at most `most`.
fn fitted((width, height): (u32, u32), measured: u32, most: u32) -> (u32, u32) {
    if measured <= most {
        return (width, height);
    }
    let scaled = |side: u32| {
        let side = (u64::from(side) * u64::from(most)).div_ceil(u64::from(measured));
        u32::try_from(side).unwrap_or(u32::MAX)
    };
    (scaled(width), scaled(height))
}
