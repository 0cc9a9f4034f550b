//! Counters by name.

use std::sync::Arc;

use midfold_core::Counter;

use crate::{Chars, Error, Estimate, Family};

/// The names that [`by_name`] knows in this build; `chars:R` stands for any ratio.
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

/// The counter of a name. For a path to a `tokenizer.json` read the file and use
/// `hf_from_bytes` (feature `hf`).
///
/// # Errors
/// [`Error::Unknown`] lists the valid names; [`Error::Ratio`] for a bad `chars:R`.
pub fn by_name(name: &str) -> Result<Arc<dyn Counter>, Error> {
    if let Some(ratio) = name.strip_prefix("chars:") {
        return Ok(Arc::new(Chars::new(ratio)?));
    }
    if let Some(family) = estimate_family(name) {
        return Ok(Arc::new(Estimate::new(family)));
    }
    #[cfg(feature = "_exact")]
    if let Some(exact) = crate::Exact::new(name) {
        return Ok(Arc::new(exact));
    }
    let hf = if cfg!(feature = "hf") { ", or a path to a tokenizer.json" } else { "" };
    Err(Error::Unknown { name: name.to_owned(), valid: format!("{}{hf}", names().join(", ")) })
}

fn estimate_family(name: &str) -> Option<Family> {
    Some(match name.strip_prefix("estimate:")? {
        "openai" => Family::OpenAi,
        "claude" => Family::Claude,
        "claude-old" => Family::ClaudeOld,
        "gemini" => Family::Gemini,
        "gemini-old" => Family::GeminiOld,
        _ => return None,
    })
}
