//! Counts tokens exactly with an embedded vocabulary.

use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind};

#[cfg(feature = "_tables")]
use crate::bpe::Encoding;
use crate::media::in_tiles;
use crate::{ProviderFamily, clamp, parts};

/// The implementation that counts with a vocabulary.
#[derive(Clone, Copy)]
enum Encoder {
    /// This crate's own tables, which are read in place.
    #[cfg(feature = "_tables")]
    Table(&'static Encoding),
    /// The `tiktoken` crate, which unpacks a vocabulary at its first use.
    #[cfg(feature = "_tiktoken")]
    Unpacked(&'static tiktoken::CoreBpe),
}

/// The names of the vocabularies in this build.
pub(crate) const VOCABULARIES: &[&str] = &[
    #[cfg(feature = "o200k")]
    "o200k",
    #[cfg(feature = "cl100k")]
    "cl100k",
    #[cfg(feature = "llama3")]
    "llama3",
    #[cfg(feature = "deepseek_v3")]
    "deepseek_v3",
    #[cfg(feature = "qwen2")]
    "qwen2",
    #[cfg(feature = "mistral_v3")]
    "mistral_v3",
    #[cfg(feature = "kimi_k2")]
    "kimi_k2",
    #[cfg(feature = "glm4")]
    "glm4",
];

/// The exact count of an embedded vocabulary. The texts of special tokens count as ordinary text.
///
/// A single unbroken piece of more than 64 KiB is counted in parts. Only then may the count be off, by up to 0.02 %.
#[derive(Clone, Copy)]
pub struct ExactCounter {
    name: &'static str,
    encoder: Encoder,
}

impl std::fmt::Debug for ExactCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exact").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ExactCounter {
    /// The counter with this vocabulary; `None` where this build does not have it. `o200k` and `cl100k` are ready at
    /// once. The others are unpacked at their first use, which takes about 0.1 s.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let name = *VOCABULARIES.iter().find(|known| **known == name)?;
        let encoder = match name {
            #[cfg(feature = "o200k")]
            "o200k" => Encoder::Table(&crate::bpe::O200K),
            #[cfg(feature = "cl100k")]
            "cl100k" => Encoder::Table(&crate::bpe::CL100K),
            #[cfg(feature = "_tiktoken")]
            _ => Encoder::Unpacked(tiktoken::get_encoding(name)?),
            #[cfg(not(feature = "_tiktoken"))]
            _ => return None,
        };
        Some(Self { name, encoder })
    }
}

impl Counter for ExactCounter {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str, _: TextKind) -> u32 {
        clamp(parts::sum(text, |part| match self.encoder {
            #[cfg(feature = "_tables")]
            Encoder::Table(encoding) => encoding.count(part),
            #[cfg(feature = "_tiktoken")]
            Encoder::Unpacked(encoding) => encoding.count(part) as u64,
        }))
    }

    fn media(&self, media: &MediaRef) -> u32 {
        // All models with this vocabulary bill images in tiles.
        if self.name == "cl100k" { in_tiles(media) } else { ProviderFamily::OpenAi.media(media) }
    }

    fn is_exact(&self) -> bool {
        true
    }
}
