//! What servers of models say of themselves: how much a model of theirs holds.

use serde_json::Value;

/// A question about a model's window, and where it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowQuestion {
    /// The models that Ollama has loaded, each with the context that it was given.
    OllamaLoaded,
    /// The models that LM Studio has, those that are loaded with the context that they were given.
    LmStudio,
    /// What llama.cpp's server was started with.
    LlamaCpp,
    /// What a LiteLLM proxy knows of its models.
    LiteLlm,
    /// The list of models, as OpenAI has it, and what servers add to it.
    Models,
    /// The list of models, as Gemini has it.
    GeminiModels,
}

impl WindowQuestion {
    /// All of them. What is loaded comes before what could be: of several answers, the first one holds.
    pub const ALL: [Self; 6] = [
        Self::OllamaLoaded,
        Self::LmStudio,
        Self::LlamaCpp,
        Self::LiteLlm,
        Self::Models,
        Self::GeminiModels,
    ];

    /// The path that it is asked at, with GET.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::OllamaLoaded => "/api/ps",
            Self::LmStudio => "/api/v0/models",
            Self::LlamaCpp => "/props",
            Self::LiteLlm => "/model/info",
            Self::Models => "/v1/models",
            Self::GeminiModels => "/v1beta/models",
        }
    }

    /// Whether the path stands at the root of the server, whatever the base URL of its OpenAI-like part is.
    #[must_use]
    pub fn is_at_root(self) -> bool {
        !matches!(self, Self::Models)
    }

    /// The window of this model in tokens, as the answer says it. None where it says nothing of the model.
    ///
    /// ```
    /// use midfold_formats::server::WindowQuestion;
    /// let vllm = br#"{"object":"list","data":[{"id":"qwen3","max_model_len":32768}]}"#;
    /// assert_eq!(WindowQuestion::Models.window(vllm, "qwen3"), Some(32_768));
    /// let llama = br#"{"default_generation_settings":{"n_ctx":8192},"total_slots":1}"#;
    /// assert_eq!(WindowQuestion::LlamaCpp.window(llama, "whatever"), Some(8_192));
    /// ```
    #[must_use]
    pub fn window(self, answer: &[u8], model: &str) -> Option<u64> {
        let answer: Value = serde_json::from_slice(answer).ok()?;
        match self {
            Self::LlamaCpp => tokens(&answer["default_generation_settings"]["n_ctx"]),
            Self::LiteLlm => {
                let found = entry(&answer["data"], model, &["model_name"], false)?;
                first(&found["model_info"], &["max_input_tokens", "max_tokens"])
            }
            Self::OllamaLoaded => {
                let found = entry(&answer["models"], model, &["name", "model"], false)?;
                tokens(&found["context_length"])
            }
            Self::LmStudio => {
                let found = entry(&answer["data"], model, &["id"], false)?;
                first(found, &["loaded_context_length", "max_context_length"])
            }
            Self::Models => {
                // A server that has one model answers as that, whatever it is called.
                let found = entry(&answer["data"], model, &["id", "name"], true)?;
                let inner = || tokens(&found["top_provider"]["context_length"]);
                tokens(&found["meta"]["n_ctx"]).or_else(|| first(found, &WINDOWS)).or_else(inner)
            }
            Self::GeminiModels => {
                let found = entry(&answer["models"], model, &["name"], false)?;
                tokens(&found["inputTokenLimit"])
            }
        }
    }
}

/// What servers call it in a list of models; what is given to a request before what the model could have.
const WINDOWS: [&str; 7] = [
    "loaded_context_length",
    "max_model_len",
    "max_input_tokens",
    "context_length",
    "context_window",
    "max_context_length",
    "max_context_window",
];

/// Whether an answer is that of an Ollama that has not loaded the model yet: how much it will hold is decided then.
///
/// ```
/// use midfold_formats::server::is_to_be_loaded;
/// assert!(is_to_be_loaded(br#"{"models":[]}"#, "llama3.2"));
/// assert!(!is_to_be_loaded(b"404 page not found", "llama3.2"));
/// ```
#[must_use]
pub fn is_to_be_loaded(loaded: &[u8], model: &str) -> bool {
    let answer: Value = serde_json::from_slice(loaded).unwrap_or_default();
    answer["models"].is_array()
        && entry(&answer["models"], model, &["name", "model"], false).is_none()
}

/// The entry of a model in a list: the one of its name, else the one whose name it is but for a maker's before it or
/// a tag behind it; else the only one, where that has to be meant.
fn entry<'a>(list: &'a Value, model: &str, names: &[&str], or_only: bool) -> Option<&'a Value> {
    let list = list.as_array()?;
    let named = |matches: &dyn Fn(&str) -> bool| {
        list.iter().find(|one| names.iter().any(|name| one[*name].as_str().is_some_and(matches)))
    };
    let model = model.to_ascii_lowercase();
    let bare = model.strip_suffix(":latest").unwrap_or(&model);
    let same = |name: &str| name.eq_ignore_ascii_case(&model);
    let alike = |name: &str| {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(":latest").unwrap_or(&name);
        name == bare
            || name.strip_suffix(bare).is_some_and(|before| before.ends_with('/'))
            || bare.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
    };
    let only = || list.first().filter(|_| or_only && list.len() == 1);
    named(&same).or_else(|| named(&alike)).or_else(only)
}

fn first(object: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| tokens(&object[*name]))
}

/// Tokens, as a number or as the digits of one. A window of less than a page is none.
fn tokens(value: &Value) -> Option<u64> {
    let tokens = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    tokens.filter(|tokens| (256..=100_000_000).contains(tokens))
}
