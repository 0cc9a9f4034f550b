//! Counts tokens exactly with a user's own `tokenizer.json`.

use std::sync::Arc;

use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind};
use tokenizers::pipeline::{EncodeOptions, Override, PipelineTokenizer};

use crate::{CounterError, ProviderFamily, clamp, parts};

/// A Hugging Face tokenizer. The texts of special tokens count as ordinary text. Nothing is added, padded or cut off.
pub struct HfTokenizer {
    name: String,
    inner: PipelineTokenizer,
    options: EncodeOptions,
}

impl std::fmt::Debug for HfTokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HfTokenizer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A counter from the bytes of a `tokenizer.json`, of any version. Records show `name` as the counter's name.
///
/// # Errors
/// Fails with [`CounterError::Load`] where the bytes are not UTF-8, not JSON, or hold a component that the loader does
/// not know.
pub fn hf_from_bytes(name: &str, json: &[u8]) -> Result<Arc<dyn Counter>, CounterError> {
    let failed = |reason: String| CounterError::Load { name: name.to_owned(), reason };
    let text = std::str::from_utf8(json).map_err(|error| failed(error.to_string()))?;
    let canonical =
        tokenizers::canonicalize_str(text).map_err(|error| failed(error.to_string()))?;
    let inner = tokenizers::from_json(&canonical).map_err(|error| failed(error.to_string()))?;
    let options = EncodeOptions {
        add_special_tokens: false,
        encode_special_tokens: true,
        padding: Override::Off,
        truncation: Override::Off,
    };
    Ok(Arc::new(HfTokenizer { name: name.to_owned(), inner, options }))
}

impl Counter for HfTokenizer {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str, _: TextKind) -> u32 {
        clamp(parts::sum(text, |part| {
            let mut tokens = Vec::new();
            match self.inner.encode_into(part, &self.options, &mut tokens) {
                Ok(()) => tokens.len() as u64,
                // The vocabulary has neither a token for some byte nor an unknown token. One token for each byte is an
                // upper bound in every vocabulary.
                Err(_) => part.len() as u64,
            }
        }))
    }

    fn media(&self, media: &MediaRef) -> u32 {
        ProviderFamily::OpenAi.media(media)
    }

    fn is_exact(&self) -> bool {
        true
    }
}
