//! What images, sounds and files cost, by provider family. Never by the length of their base64.

use midfold_core::view::{MediaExtent, MediaKind, MediaRef, PictureDetail};

use crate::clamp;

/// Providers that share a vocabulary and a way to bill media.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderFamily {
    /// GPT and o-series; also the rule for open models and `chars:R`.
    OpenAi,
    /// Claude 4.7 and later, whose vocabulary makes about 30 % more tokens than before.
    Claude,
    /// Claude up to 4.6.
    ClaudeOld,
    /// Gemini 3 and later, and Gemma.
    Gemini,
    /// Gemini up to 2.5: the same vocabulary, and other pictures.
    GeminiOld,
}

/// An image whose size nobody knows: a full-screen picture at most providers.
const IMAGE_UNKNOWN: u64 = 1_600;
/// Gemini 3 bills every image about the same (measured 1,065 to 1,101).
const IMAGE_GEMINI: u64 = 1_090;
/// `OpenAI` takes no more than 10,000 patches of an image, 1.2 tokens each; larger ones are scaled down.
const IMAGE_OPENAI_CAP: u64 = 12_000;
/// Where Claude scales an image down: measured for the newer generation, the largest row of
/// Anthropic's table (1092 x 1092) for the older one.
const IMAGE_CLAUDE_CAP: u64 = 3_930;
const IMAGE_CLAUDE_OLD_CAP: u64 = 1_590;
/// The longest edge that the older generation takes, in pixels; and pixels for each token.
const EDGE_CLAUDE_OLD: u32 = 1_568;
const PIXELS_CLAUDE_OLD: u64 = 750;
/// `OpenAI`'s older models: a picture in low detail, which every other one costs beside its tiles; a
/// tile of 512 pixels; the square that it is fitted into; its shortest side after that.
const IMAGE_LOW: u64 = 85;
const TILE: u64 = 170;
const TILE_SIDE: u32 = 512;
const TILES_SQUARE: u32 = 2_048;
const TILES_SHORTEST: u32 = 768;
/// Gemini to 2.5: a crop; the sides up to which a picture is one; the least and the largest crop; what
/// a larger picture is scaled down to.
const CROP: u64 = 258;
const CROP_WHOLE: u32 = 384;
const CROP_SIDES: std::ops::RangeInclusive<u32> = 256..=768;
const CROPS_SQUARE: u32 = 3_072;

/// Sound is taken as 128 kbit/s, the common rate of compressed speech and music. For raw PCM this
/// overstates, which is the safe side.
const SOUND_BYTES_PER_SECOND: u64 = 16_000;
/// `OpenAI` bills input audio at 10 tokens a second, Gemini at 32; Claude takes none, and where a
/// gateway turns sound into text, 10 a second is above fast speech.
const SOUND_TOKENS: u64 = 10;
const SOUND_TOKENS_GEMINI: u64 = 32;

/// A video: `OpenAI` and Claude take none; Gemini samples one picture a second, with its sound (300 up to 2.5,
/// 102 from 3 on: 70 and 32).
const VIDEO_TOKENS: u64 = 102;
const VIDEO_TOKENS_OLD: u64 = 300;
/// A video of which nothing tells the length is taken as 1 Mbit/s.
const VIDEO_BYTES_PER_SECOND: u64 = 125_000;

/// A page is read as its text and as a picture: Anthropic says 1,500 to 3,000 tokens for the first of
/// them, `OpenAI` sends both; Gemini bills 560 from 3 on, 258 before.
const PAGE_TOKENS: u64 = 2_250;
const PAGE_TOKENS_GEMINI: u64 = 560;
const PAGE_TOKENS_GEMINI_OLD: u64 = 258;
/// A document that does not tell its pages is taken as one for each 16 KiB begun, up to what a provider
/// reads of one document: between a page of packed text and a scanned one.
const PAGE_BYTES: u64 = 16 * 1024;
const PAGES: u64 = 100;
/// Bytes of plain text that make a token.
const TEXT_BYTES: u64 = 4;

impl ProviderFamily {
    /// Tokens of an image, a sound or a file.
    ///
    /// Images by their pixels, as each provider documents it: Claude one token per 28 × 28 tile up to a
    /// cap, the older ones one per 750 pixels, GPT 1.2 per 32 × 32 patch up to 12,000 (85 in low
    /// detail), Gemini 3 a flat 1,090, the older ones 258 per crop; 1,600 where the size is unknown.
    /// Sound and video by their seconds, documents by their pages, plain text by its length; where the bytes
    /// do not tell, by their size (128 kbit/s, 1 Mbit/s, 16 KiB a page); 1,600 where the data is only
    /// referred to. Text that is read with its message is counted there, and 0 here.
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

/// What an image costs `OpenAI`'s models up to GPT-4 Turbo and GPT-4o: a base, and tiles of 512 pixels
/// of the picture that is fitted into 2,048 pixels square and then to 768 on its shortest side.
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

/// Squares of this side that cover a picture.
fn pieces((width, height): (u32, u32), side: u32) -> u64 {
    u64::from(width.div_ceil(side)) * u64::from(height.div_ceil(side))
}

/// The picture scaled down so that `measured`, one of its sides, is at most `most`.
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
