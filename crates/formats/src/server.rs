//! Reads how large the windows of models are, from what their servers report.

use serde_json::Value;

/// A question about a model's window, with the path at which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowQuestion {
    /// The models that Ollama has loaded, each with the window that it was loaded with.
    OllamaLoaded,
    /// The models that LM Studio has. Those that are loaded have the window that they were loaded with.
    LmStudio,
    /// The settings with which llama.cpp's server was started.
    LlamaCpp,
    /// The settings of a LiteLLM proxy for its models.
    LiteLlm,
    /// The list of models in the form of OpenAI, with the members that servers add.
    Models,
    /// The list of models in the form of Gemini.
    GeminiModels,
}

impl WindowQuestion {
    /// All questions, in the order in which they are asked; the first answer counts. Questions about models that are
    /// loaded come before questions about models that could be.
    pub const ALL: [Self; 6] = [
        Self::OllamaLoaded,
        Self::LmStudio,
        Self::LlamaCpp,
        Self::LiteLlm,
        Self::Models,
        Self::GeminiModels,
    ];

    /// The path at which it is asked, with GET.
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

    /// Whether the path is at the root of the server, whatever the base URL of its OpenAI-like part is.
    #[must_use]
    pub fn is_at_root(self) -> bool {
        !matches!(self, Self::Models)
    }

    /// The window of this model in tokens, read from the server's answer. `None` where the answer has no window for the
    /// model.
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
                let row = entry(&answer["data"], model, &["model_name"], false)?;
                first(&row["model_info"], &["max_input_tokens", "max_tokens"])
            }
            Self::OllamaLoaded => {
                let row = entry(&answer["models"], model, &["name", "model"], false)?;
                tokens(&row["context_length"])
            }
            Self::LmStudio => {
                let row = entry(&answer["data"], model, &["id"], false)?;
                first(row, &["loaded_context_length", "max_context_length"])
            }
            Self::Models => {
                // A server with a single model answers any request with it, whatever name the request has.
                let row = entry(&answer["data"], model, &["id", "name"], true)?;
                let inner = || tokens(&row["top_provider"]["context_length"]);
                tokens(&row["meta"]["n_ctx"]).or_else(|| first(row, &WINDOWS)).or_else(inner)
            }
            Self::GeminiModels => {
                let row = entry(&answer["models"], model, &["name"], false)?;
                tokens(&row["inputTokenLimit"])
            }
        }
    }
}

/// The members for the window in a list of models. The window of a request comes before that which the model could
/// have.
const WINDOWS: [&str; 7] = [
    "loaded_context_length",
    "max_model_len",
    "max_input_tokens",
    "context_length",
    "context_window",
    "max_context_length",
    "max_context_window",
];

/// The names of the models in a server's answer, in its order.
///
/// ```
/// use midfold_formats::server::listed_models;
/// assert_eq!(listed_models(br#"{"data":[{"id":"qwen3"}]}"#), ["qwen3"]);
/// assert_eq!(listed_models(br#"{"models":[{"name":"llama3.2:latest"}]}"#), ["llama3.2:latest"]);
/// ```
#[must_use]
pub fn listed_models(answer: &[u8]) -> Vec<String> {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let entries = answer["data"].as_array().or_else(|| answer["models"].as_array());
    let name = |entry: &Value| {
        let names = ["id", "name", "model_name"].into_iter();
        names.filter_map(|member| entry[member].as_str()).next().map(str::to_owned)
    };
    entries.into_iter().flatten().filter_map(name).collect()
}

/// Whether an answer is from an Ollama that has not loaded the model yet. The window is decided when the model is
/// loaded.
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

/// The entry of a model in a list: the one with the same name, or else the one whose name differs only in a maker
/// before it or the tag `:latest` after it. With `or_only`, a list with a single entry matches any name.
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

/// A number of tokens, as a number or as its digits. A window below 256 tokens is no window.
fn tokens(value: &Value) -> Option<u64> {
    let tokens = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    tokens.filter(|tokens| (256..=100_000_000).contains(tokens))
}
