//! Reads from a model's name whether its chat template wants user and assistant to take turns.

/// Ends of the names of Mistral's models: Mistral, Ministral, Devstral, Codestral, Magistral, Mixtral, Pixtral, Voxtral.
const MISTRAL: [&str; 2] = ["stral", "xtral"];
/// Google's open models, under any of their names: Gemma, CodeGemma, MedGemma.
const GEMMA: &str = "gemma";

/// Whether the model's template refuses two messages of one speaker in a row. Fine-tunes of such a model often keep its
/// template, so the name may be anywhere in theirs.
pub(super) fn takes_turns(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    model.split(|c: char| !c.is_ascii_alphabetic()).any(|word| {
        MISTRAL.iter().any(|end| word.ends_with(end))
            || word == "mistralai"
            || word.ends_with(GEMMA)
    })
}

#[cfg(test)]
mod tests {
    use super::takes_turns;

    #[test]
    fn the_name_of_a_model_says_whether_it_takes_turns() {
        for model in [
            "devstral-small-2-24b",
            "mistral-small-2603",
            "mistralai/Mistral-Small-4-119B-2603-NVFP4",
            "magistral-small",
            "ministral-3-8b",
            "codestral-latest",
            "open-mixtral-8x22b",
            "pixtral-12b",
            "gemma-4-27b-it",
            "google/gemma-3-12b-it",
            "codegemma:7b",
            "Devstral_Small_2.Q4_K_M.gguf",
        ] {
            assert!(takes_turns(model), "{model}");
        }
        for model in ["gpt-5.1", "claude-opus-5-5", "gemini-3-pro", "qwen3-coder", "llama-4", ""] {
            assert!(!takes_turns(model), "{model}");
        }
    }
}
