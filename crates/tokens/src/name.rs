//! Counters by name.

use std::sync::Arc;

use midfold_core::Counter;

use crate::{Chars, Error, Estimate, Family};

/// The names that [`by_name`] knows in this build; `chars:R` stands for any ratio.
#[must_use]
pub fn names() -> Vec<&'static str> {
    #[cfg(feature = "_tiktoken")]
    let exact = crate::exact::VOCABULARIES.iter().map(|&(name, _)| name);
    #[cfg(not(feature = "_tiktoken"))]
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
    #[cfg(feature = "_tiktoken")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_counter() {
        for name in names().into_iter().filter(|&name| name != "chars:R") {
            assert_eq!(by_name(name).unwrap().name(), name);
        }
        assert_eq!(by_name("chars:3.2").unwrap().name(), "chars:3.2");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        for wrong in ["gpt9", "estimate:", "estimate:x", "", "o200k "] {
            let error = by_name(wrong).err().unwrap().to_string();
            assert!(error.contains("estimate:claude-old") && error.contains("chars:R"), "{error}");
        }
        assert!(by_name("chars:zero").err().unwrap().to_string().contains("chars:3.2"));
    }
}
