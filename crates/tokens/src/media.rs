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
/// Most tokens of an image for the newer generation of Claude, which scales larger ones down (measured).
const IMAGE_CLAUDE_CAP: u64 = 3_930;
/// Most tokens of an image for the older generation of Claude: the largest row of Anthropic's table (1092 x 1092).
const IMAGE_CLAUDE_OLD_CAP: u64 = 1_590;
/// The longest edge of an image in the older generation of Claude, in pixels.
const EDGE_CLAUDE_OLD: u32 = 1_568;
/// Pixels of an image for each token, in the older generation of Claude.
const PIXELS_CLAUDE_OLD: u64 = 750;
/// Tokens of an image in low detail for `OpenAI`. In its older models, every image costs this beside its tiles.
const IMAGE_LOW: u64 = 85;
/// Tokens of a tile in `OpenAI`'s older models.
const TILE: u64 = 170;
/// The side of a tile, in pixels.
const TILE_SIDE: u32 = 512;
/// The side of the square into which an image is fitted, in pixels.
const TILES_SQUARE: u32 = 2_048;
/// The length to which the shortest side of the fitted image is scaled, in pixels.
const TILES_SHORTEST: u32 = 768;
/// Tokens of a crop in Gemini up to 2.5.
const CROP: u64 = 258;
/// The side up to which a picture is a single crop, in pixels.
const CROP_WHOLE: u32 = 384;
/// The smallest and the largest side of a crop, in pixels.
const CROP_SIDES: std::ops::RangeInclusive<u32> = 256..=768;
/// The side of the square into which a larger picture is fitted, in pixels.
const CROPS_SQUARE: u32 = 3_072;

/// Sound of unknown length is taken as 128 kbit/s, the usual rate of compressed speech and music. For raw PCM the
/// estimate is too high, which is the safe side.
const SOUND_BYTES_PER_SECOND: u64 = 16_000;
/// Tokens for each second of sound, for `OpenAI`. Claude takes no sound. Where a gateway turns sound into text, 10
/// tokens a second are more than fast speech needs.
const SOUND_TOKENS: u64 = 10;
/// Tokens for each second of sound, for Gemini.
const SOUND_TOKENS_GEMINI: u64 = 32;

/// Tokens for each second of a video, for Gemini from 3 on: 70 for one picture a second, and 32 for the sound.
/// `OpenAI` and Claude take no video.
const VIDEO_TOKENS: u64 = 102;
/// Tokens for each second of a video, for Gemini up to 2.5.
const VIDEO_TOKENS_OLD: u64 = 300;
/// A video of unknown length is taken as 1 Mbit/s.
const VIDEO_BYTES_PER_SECOND: u64 = 125_000;

/// Tokens of a page. Claude and `OpenAI` models get it as text and as a picture; Anthropic states 1,500 to 3,000 tokens
/// for the text.
const PAGE_TOKENS: u64 = 2_250;
/// Tokens of a page for Gemini from 3 on.
const PAGE_TOKENS_GEMINI: u64 = 560;
/// Tokens of a page for Gemini up to 2.5.
const PAGE_TOKENS_GEMINI_OLD: u64 = 258;
/// A document with an unknown number of pages is taken as one page for each 16 KiB, rounded up. That is between a page
/// of packed text and a scanned page.
const PAGE_BYTES: u64 = 16 * 1024;
/// Most pages that a provider reads of one document.
const PAGES: u64 = 100;
/// Bytes of plain text for each token.
const TEXT_BYTES: u64 = 4;

impl ProviderFamily {
    /// Tokens of an image, a sound or a file.
    ///
    /// Images are billed by their pixels, as each provider documents:
    /// - Claude: one token per 28 × 28 tile up to a cap. Older models: one per 750 pixels.
    /// - GPT: 1.2 tokens per 32 × 32 patch up to 12,000 (85 in low detail).
    /// - Gemini 3: a flat 1,090 tokens. Older models: 258 per crop.
    ///
    /// An image of unknown size costs 1,600.
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
            // The text of such a document is counted as text of the message.
            (_, MediaExtent::Read) => 0,
            (MediaKind::Image, _) => self.image(media),
            // A URL or an id has no bytes here, and nothing else is known of what it names.
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

    /// Tokens of an image, by the rules of the family.
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
                // Google documents the shorter side divided by 1.5.
                let side = width.min(height) * 2 / 3;
                CROP * pieces((width, height), side.clamp(*CROP_SIDES.start(), *CROP_SIDES.end()))
            }
        }
    }
}

/// The tokens of an image for `OpenAI`'s models up to GPT-4 Turbo: a base, and a sum for each tile of 512 pixels. Before
/// that, the picture is fitted into a square of 2,048 pixels, and its shortest side is scaled to 768. GPT-4o and GPT-4.1
/// are billed like this, too, but share a vocabulary with models that are not, so a large picture is counted too high
/// for them.
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
