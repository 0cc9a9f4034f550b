//! Reads from a model's name what its chat template or its service wants: turns, arguments that are JSON, its reasoning.

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

/// The starts of the names of OpenAI's models. Its service takes any text as arguments.
const OPENAI: [&str; 5] = ["chatgpt", "codex", "computer-use", "ft:gpt", "gpt"];
/// Models of OpenAI that anybody serves, so that a template reads them.
const OPEN_WEIGHTS: &str = "gpt-oss";

/// Whether a template reads the arguments of calls as JSON. vLLM, SGLang and llama.cpp answer with an error where they
/// are none. False where nothing is known of the model.
pub(super) fn reads_arguments(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_o = || name.starts_with('o') && name[1..].starts_with(|c: char| c.is_ascii_digit());
    let is_openai = OPENAI.iter().any(|start| name.starts_with(start)) || is_o();
    !name.is_empty() && (!is_openai || name.contains(OPEN_WEIGHTS))
}

/// Makers of models that want their reasoning back once they have called a tool: DeepSeek
/// (<https://api-docs.deepseek.com/guides/thinking_mode#tool-calls>), Moonshot's Kimi, and Xiaomi's `MiMo`.
const WANT_REASONING: [&str; 4] = ["deepseek", "kimi", "moonshot", "mimo"];

/// Whether the model refuses a history without the reasoning that it gave before.
pub(super) fn wants_reasoning(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    let mut words = model.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| WANT_REASONING.iter().any(|maker| word.starts_with(maker)))
}

#[cfg(test)]
mod tests {
    use super::{reads_arguments, takes_turns, wants_reasoning};

    #[test]
    fn the_name_of_a_model_says_whether_it_wants_its_reasoning() {
        for model in [
            "deepseek-reasoner",
            "deepseek/deepseek-v4-pro",
            "accounts/x/models/deepseek-v3p2",
            "moonshotai/Kimi-K2-Thinking",
            "kimi-k2.6",
            "MiMo-V2.5-Pro",
        ] {
            assert!(wants_reasoning(model), "{model}");
        }
        for model in ["gpt-5.1", "glm-4.7", "qwen3-max", "minimax-m2", ""] {
            assert!(!wants_reasoning(model), "{model}");
        }
    }

    #[test]
    fn the_name_of_a_model_says_whether_its_arguments_are_read() {
        for model in
            ["qwen3-coder", "deepseek-chat", "openai/gpt-oss-120b", "mistral-large", "olmo-2"]
        {
            assert!(reads_arguments(model), "{model}");
        }
        for model in ["gpt-5.1", "openai/gpt-4.1", "o3-mini", "ft:gpt-4o:acme::1", "codex-mini", ""]
        {
            assert!(!reads_arguments(model), "{model}");
        }
    }

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
