//! Exact counts with an embedded vocabulary.

use midfold_core::view::Media;
use midfold_core::{Content, Counter};

use crate::media::in_tiles;
use crate::{Family, clamp, parts};

/// Name here and name in the `tiktoken` crate of every vocabulary in this build.
pub(crate) const VOCABULARIES: &[(&str, &str)] = &[
    #[cfg(feature = "o200k")]
    ("o200k", "o200k_base"),
    #[cfg(feature = "cl100k")]
    ("cl100k", "cl100k_base"),
    #[cfg(feature = "llama3")]
    ("llama3", "llama3"),
    #[cfg(feature = "deepseek_v3")]
    ("deepseek_v3", "deepseek_v3"),
    #[cfg(feature = "qwen2")]
    ("qwen2", "qwen2"),
    #[cfg(feature = "mistral_v3")]
    ("mistral_v3", "mistral_v3"),
    #[cfg(feature = "kimi_k2")]
    ("kimi_k2", "kimi_k2"),
    #[cfg(feature = "glm4")]
    ("glm4", "glm4"),
];

/// The exact count of an embedded vocabulary. Special-token text counts as ordinary text.
///
/// A single unbroken piece above 64 KiB is counted in parts: there, and only there, the count can
/// be off by 0.02 %.
#[derive(Clone, Copy)]
pub struct Exact {
    name: &'static str,
    vocabulary: &'static tiktoken::CoreBpe,
}

impl std::fmt::Debug for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exact").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Exact {
    /// The vocabulary of this name, if this build carries it. The first call for a name unpacks
    /// it (about 0.1 s); later calls are free.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let &(name, inner) = VOCABULARIES.iter().find(|(known, _)| *known == name)?;
        Some(Self { name, vocabulary: tiktoken::get_encoding(inner)? })
    }
}

impl Counter for Exact {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str, _: Content) -> u32 {
        clamp(parts::sum(text, |part| self.vocabulary.count(part) as u64))
    }

    fn media(&self, media: &Media) -> u32 {
        // The vocabulary of the models that bill in tiles.
        if self.name == "cl100k" { in_tiles(media) } else { Family::OpenAi.media(media) }
    }

    fn is_exact(&self) -> bool {
        true
    }
}
