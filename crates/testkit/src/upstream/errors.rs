//! Refusals in the forms and words of the providers.

use serde_json::{Value, json};

use super::request_parts::WireDialect;

/// An error response.
#[derive(Clone, Debug)]
pub(crate) struct ServerFailure {
    pub status: u16,
    /// Headers beside the usual ones.
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl ServerFailure {
    fn json(status: u16, body: &Value) -> Self {
        Self { status, headers: Vec::new(), body: body.to_string() }
    }
}

/// A rule that a request breaks, as the provider reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BrokenRule {
    pub message: String,
    pub param: Option<String>,
    pub code: Option<&'static str>,
    /// The code in Anthropic's `error.details`.
    pub details: Option<&'static str>,
}

impl BrokenRule {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    pub fn at(message: impl Into<String>, param: String) -> Self {
        Self { message: message.into(), param: Some(param), ..Self::default() }
    }
}

/// An error as the provider of a dialect writes it.
pub(crate) fn error(dialect: WireDialect, status: u16, broken: &BrokenRule) -> ServerFailure {
    let message = &broken.message;
    let body = match dialect {
        WireDialect::Chat | WireDialect::Responses => json!({"error": {"message": message,
            "type": openai_type(status), "param": broken.param, "code": broken.code}}),
        WireDialect::Messages => {
            let mut body = json!({"type": "error", "request_id": "req_scripted",
                "error": {"type": anthropic_type(status), "message": message}});
            if let Some(code) = broken.details {
                body["error"]["details"] = json!({"error_code": code});
            }
            body
        }
        WireDialect::Gemini => json!({"error": {"code": status, "message": message,
            "status": google_status(status)}}),
    };
    ServerFailure::json(status, &body)
}

fn openai_type(status: u16) -> &'static str {
    match status {
        429 => "tokens",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn google_status(status: u16) -> &'static str {
    match status {
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        _ => "INVALID_ARGUMENT",
    }
}

/// The way in which a backend reports that a prompt does not fit, and errors that only look like that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavour {
    /// The dialect's own provider: `OpenAI`, Anthropic or Google.
    #[default]
    Native,
    /// vLLM until 2025.
    VllmOld,
    /// vLLM now.
    Vllm,
    /// `SGLang`.
    Sglang,
    /// llama.cpp's server.
    LlamaCpp,
    /// Ollama with `truncate: false`.
    Ollama,
    /// `OpenRouter`.
    OpenRouter,
    /// xAI.
    Xai,
    /// Groq.
    Groq,
    /// Together and Fireworks.
    Together,
    /// LM Studio.
    LmStudio,
    /// GitHub Copilot.
    Copilot,
    /// `MiniMax`.
    MiniMax,
    /// Kimi.
    Kimi,
    /// Mistral.
    Mistral,
    /// Bedrock.
    Bedrock,
    /// z.ai: code 1261.
    Zai,
    /// Alibaba's `DashScope`.
    DashScope,
    /// Cohere.
    Cohere,
    /// Cerebras: status 400 without a body.
    CerebrasEmpty,
    /// Cerebras with a message.
    Cerebras,
    /// `LiteLLM` in front of `OpenAI`.
    LiteLlm,
    /// Anthropic's message about the sum of input and `max_tokens`.
    AnthropicSum,
    /// Status 413, `request_too_large`.
    TooLarge,
    /// A rate limit with status 429, whose message reads like an overflow but is none.
    Throttled,
    /// No error: status 200 with an empty reply, and the finish reason `length`.
    SilentLength,
    /// No error: messages are dropped from the front until the prompt has at most half of the limit (Ollama).
    SilentTruncate,
}

impl Flavour {
    /// All flavours that answer with an error.
    pub const ALL: [Self; 25] = [
        Self::Native,
        Self::VllmOld,
        Self::Vllm,
        Self::Sglang,
        Self::LlamaCpp,
        Self::Ollama,
        Self::OpenRouter,
        Self::Xai,
        Self::Groq,
        Self::Together,
        Self::LmStudio,
        Self::Copilot,
        Self::MiniMax,
        Self::Kimi,
        Self::Mistral,
        Self::Bedrock,
        Self::Zai,
        Self::DashScope,
        Self::Cohere,
        Self::CerebrasEmpty,
        Self::Cerebras,
        Self::LiteLlm,
        Self::AnthropicSum,
        Self::TooLarge,
        Self::Throttled,
    ];

    /// The name: the variant in lower case with hyphens.
    #[must_use]
    pub fn name(self) -> String {
        let debug = format!("{self:?}");
        let mut name = String::new();
        for (at, letter) in debug.char_indices() {
            if at > 0 && letter.is_ascii_uppercase() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }

    /// The flavour with this name. `None` where there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .chain([Self::SilentLength, Self::SilentTruncate])
            .find(|flavour| flavour.name() == name)
    }
}

/// The numbers of tokens in an overflow message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverflowSizes {
    pub prompt: u64,
    pub output: u64,
    pub limit: u64,
}

/// The error for a prompt that does not fit. `None` for the silent flavours.
pub(crate) fn overflow(
    dialect: WireDialect,
    flavour: Flavour,
    sizes: OverflowSizes,
) -> Option<ServerFailure> {
    let OverflowSizes { prompt, output, limit } = sizes;
    let sum = prompt + output;
    let simple = |message: String| Some(error(dialect, 400, &BrokenRule::new(message)));
    let openai = |message: String| {
        let code = Some("context_length_exceeded");
        let param = Some("messages".to_owned());
        Some(error(dialect, 400, &BrokenRule { message, param, code, details: None }))
    };
    match flavour {
        Flavour::SilentLength | Flavour::SilentTruncate => None,
        Flavour::Native => match dialect {
            WireDialect::Chat => openai(format!(
                "This model's maximum context length is {limit} tokens. However, your messages \
                 resulted in {prompt} tokens. Please reduce the length of the messages."
            )),
            WireDialect::Responses => Some(error(dialect, 400, &window())),
            WireDialect::Messages if prompt > limit => {
                simple(format!("prompt is too long: {prompt} tokens > {limit} maximum"))
            }
            WireDialect::Messages => simple(anthropic_sum(sizes)),
            WireDialect::Gemini => simple(format!(
                "The input token count ({prompt}) exceeds the maximum number of tokens allowed \
                 ({limit})."
            )),
        },
        Flavour::AnthropicSum => simple(anthropic_sum(sizes)),
        Flavour::VllmOld => Some(ServerFailure::json(
            400,
            &json!({"object": "error",
            "message": format!("This model's maximum context length is {limit} tokens. However, you \
                requested {sum} tokens ({prompt} in the messages, {output} in the completion). Please \
                reduce the length of the messages or completion."),
            "type": "BadRequestError", "param": null, "code": 400}),
        )),
        Flavour::Vllm => Some(ServerFailure::json(
            400,
            &json!({"error": {
            "message": format!("You passed {prompt} input tokens and requested {output} output tokens. \
                However, the model's context length is only {limit} tokens, resulting in a maximum \
                input length of {} tokens. Please reduce the length of the input prompt. \
                (parameter=input_tokens, value={prompt})", limit.saturating_sub(output)),
            "type": "BadRequestError", "param": "input_tokens", "code": 400}}),
        )),
        Flavour::Sglang => Some(ServerFailure::json(
            400,
            &json!({"object": "error",
            "message": format!("The input ({prompt} tokens) is longer than the model's context \
                length ({limit} tokens)."),
            "type": "BadRequestError", "param": null, "code": 400}),
        )),
        Flavour::LlamaCpp => Some(ServerFailure::json(
            400,
            &json!({"error": {"code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": limit}}),
        )),
        Flavour::Ollama => simple(format!(
            "prompt too long; exceeded max context length by {} tokens",
            prompt.saturating_sub(limit)
        )),
        Flavour::OpenRouter => Some(ServerFailure::json(
            400,
            &json!({"error": {"code": 400,
            "message": format!("This endpoint's maximum context length is {limit} tokens. However, you \
                requested about {sum} tokens ({prompt} of text input, {output} in the output). Please \
                reduce the length of either one, or use the \"middle-out\" transform to compress your \
                prompt automatically."), "metadata": {"provider_name": null}}}),
        )),
        Flavour::Xai => Some(ServerFailure::json(
            400,
            &json!({
            "code": "Client specified an invalid argument",
            "error": format!("This model's maximum prompt length is {limit} but the request contains \
                {prompt} tokens.")}),
        )),
        Flavour::Groq => {
            openai("Please reduce the length of the messages or completion.".to_owned())
        }
        Flavour::Together => simple(format!(
            "Input length {prompt} exceeds the maximum allowed input length of {limit} tokens."
        )),
        Flavour::LmStudio => Some(ServerFailure::json(
            400,
            &json!({"error": format!(
            "The number of tokens to keep from the initial prompt is greater than the context length \
             ({prompt} > {limit}).")}),
        )),
        Flavour::Copilot => Some(ServerFailure::json(
            400,
            &json!({"error": {
            "message": format!("prompt token count of {prompt} exceeds the limit of {limit}"),
            "code": "model_max_prompt_tokens_exceeded"}}),
        )),
        Flavour::MiniMax => simple("invalid params, context window exceeds limit".to_owned()),
        Flavour::Kimi => simple(format!(
            "Your request exceeded model token limit: {limit} (requested: {prompt})"
        )),
        Flavour::Mistral => Some(ServerFailure::json(
            400,
            &json!({"object": "error",
            "message": format!("Prompt contains {prompt} tokens and 0 draft tokens, too large for \
                model with {limit} maximum context length"),
            "type": "invalid_request_error", "param": null, "code": "3051"}),
        )),
        Flavour::Bedrock => Some(ServerFailure {
            headers: vec![("x-amzn-errortype", "ValidationException".to_owned())],
            ..ServerFailure::json(
                400,
                &json!({"message": "Input is too long for requested model."}),
            )
        }),
        Flavour::Zai => Some(ServerFailure::json(
            400,
            &json!({"error": {"code": "1261",
            "message": "Prompt exceeds max length"}}),
        )),
        Flavour::DashScope => simple(format!(
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {limit}]"
        )),
        Flavour::Cohere => Some(ServerFailure::json(
            400,
            &json!({"message": format!(
            "too many tokens: total number of tokens in the prompt cannot exceed {limit} - received \
             {prompt}.")}),
        )),
        Flavour::CerebrasEmpty => {
            Some(ServerFailure { status: 400, headers: Vec::new(), body: String::new() })
        }
        Flavour::Cerebras => openai(format!(
            "Please reduce the length of the messages or completion. Current length is {prompt} \
             while limit is {limit}"
        )),
        Flavour::LiteLlm => Some(ServerFailure::json(
            400,
            &json!({"error": {
            "message": format!("litellm.ContextWindowExceededError: litellm.BadRequestError: \
                ContextWindowExceededError: OpenAIException - This model's maximum context length is \
                {limit} tokens. However, your messages resulted in {prompt} tokens."),
            "type": null, "param": null, "code": "400"}}),
        )),
        Flavour::TooLarge => {
            Some(error(dialect, 413, &BrokenRule::new("Request exceeds the maximum size")))
        }
        Flavour::Throttled => Some(ServerFailure {
            headers: vec![("retry-after", "1".to_owned())],
            ..error(
                dialect,
                429,
                &BrokenRule::new(
                    "ThrottlingException: Too many tokens, please wait before trying again.",
                ),
            )
        }),
    }
}

fn anthropic_sum(OverflowSizes { prompt, output, limit }: OverflowSizes) -> String {
    format!(
        "input length and `max_tokens` exceed context limit: {prompt} + {output} > {limit}, decrease \
         input length or `max_tokens` and try again"
    )
}

/// The overflow error of Responses, sent with status 400 or in the stream.
pub(crate) fn window() -> BrokenRule {
    BrokenRule {
        message:
            "Your input exceeds the context window of this model. Please adjust your input and \
                  try again."
                .to_owned(),
        param: Some("input".to_owned()),
        code: Some("context_length_exceeded"),
        details: None,
    }
}
