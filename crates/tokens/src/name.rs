//! Finds counters by name.

use std::sync::Arc;

use midfold_core::Counter;

use crate::{CharsCounter, CounterError, EstimateCounter, ProviderFamily};

/// The names that [`by_name`] knows in this build; `chars:R` is listed for every ratio R.
#[must_use]
pub fn names() -> Vec<&'static str> {
    #[cfg(feature = "_exact")]
    let exact = crate::exact::VOCABULARIES.iter().copied();
    #[cfg(not(feature = "_exact"))]
    let exact = std::iter::empty();
    exact
        .chain([
            "estimate:openai",
            "estimate:claude",
            "estimate:claude-old",
            "estimate:gemini",
            "estimate:gemini-old",
            "chars:R",
        ])
        .collect()
}

/// The counter with this name. For a path to a `tokenizer.json`, read the file and use `hf_from_bytes` (feature
/// `hf`).
///
/// # Errors
/// Fails with [`CounterError::Unknown`], which lists the valid names, or with [`CounterError::Ratio`] for a bad
/// `chars:R`.
pub fn by_name(name: &str) -> Result<Arc<dyn Counter>, CounterError> {
    if let Some(ratio) = name.strip_prefix("chars:") {
        return Ok(Arc::new(CharsCounter::new(ratio)?));
    }
    if let Some(family) = estimate_family(name) {
        return Ok(Arc::new(EstimateCounter::new(family)));
    }
    #[cfg(feature = "_exact")]
    if let Some(exact) = crate::ExactCounter::new(name) {
        return Ok(Arc::new(exact));
    }
    let hf = if cfg!(feature = "hf") { ", or a path to a tokenizer.json" } else { "" };
    Err(CounterError::Unknown {
        name: name.to_owned(),
        valid: format!("{}{hf}", names().join(", ")),
    })
}

/// The family in `estimate:FAMILY`; `None` for any other name.
fn estimate_family(name: &str) -> Option<ProviderFamily> {
    Some(match name.strip_prefix("estimate:")? {
        "openai" => ProviderFamily::OpenAi,
        "claude" => ProviderFamily::Claude,
        "claude-old" => ProviderFamily::ClaudeOld,
        "gemini" => ProviderFamily::Gemini,
        "gemini-old" => ProviderFamily::GeminiOld,
        _ => return None,
    })
}
