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
    let simple = |message: String| error(dialect, 400, &BrokenRule::new(message));
    if let Some((_, body)) = BODIES.iter().find(|(of, _)| *of == flavour) {
        let body = sizes.filled(body);
        return Some(ServerFailure { status: 400, headers: Vec::new(), body });
    }
    if let Some((_, message)) = MESSAGES.iter().find(|(of, _)| *of == flavour) {
        return Some(simple(sizes.filled(message)));
    }
    if let Some((_, message)) = CODED_MESSAGES.iter().find(|(of, _)| *of == flavour) {
        return Some(coded(dialect, sizes.filled(message)));
    }
    match flavour {
        Flavour::Native => Some(native(dialect, sizes)),
        Flavour::Bedrock => Some(ServerFailure {
            headers: vec![("x-amzn-errortype", "ValidationException".to_owned())],
            ..ServerFailure::json(
                400,
                &json!({"message": "Input is too long for requested model."}),
            )
        }),
        Flavour::CerebrasEmpty => {
            Some(ServerFailure { status: 400, headers: Vec::new(), body: String::new() })
        }
        Flavour::TooLarge => {
            Some(error(dialect, 413, &BrokenRule::new("Request exceeds the maximum size")))
        }
        Flavour::Throttled => {
            let text = "ThrottlingException: Too many tokens, please wait before trying again.";
            let headers = vec![("retry-after", "1".to_owned())];
            Some(ServerFailure { headers, ..error(dialect, 429, &BrokenRule::new(text)) })
        }
        _ => None,
    }
}

/// The refusal of the dialect's own provider.
fn native(dialect: WireDialect, sizes: OverflowSizes) -> ServerFailure {
    let simple = |message: &str| error(dialect, 400, &BrokenRule::new(sizes.filled(message)));
    match dialect {
        WireDialect::Chat => coded(
            dialect,
            sizes.filled(
                "This model's maximum context length is {limit} tokens. However, your messages \
                 resulted in {prompt} tokens. Please reduce the length of the messages.",
            ),
        ),
        WireDialect::Responses => error(dialect, 400, &window()),
        WireDialect::Messages if sizes.prompt > sizes.limit => {
            simple("prompt is too long: {prompt} tokens > {limit} maximum")
        }
        WireDialect::Messages => simple(ANTHROPIC_SUM),
        WireDialect::Gemini => simple(
            "The input token count ({prompt}) exceeds the maximum number of tokens allowed ({limit}).",
        ),
    }
}

/// A refusal with the code of `OpenAI`.
fn coded(dialect: WireDialect, message: String) -> ServerFailure {
    let code = Some("context_length_exceeded");
    let param = Some("messages".to_owned());
    error(dialect, 400, &BrokenRule { message, param, code, details: None })
}

impl OverflowSizes {
    /// A text with these sizes in the place of `{prompt}`, `{output}` and `{limit}`, of `{sum}` (prompt and output),
    /// `{room}` (limit without output) and `{excess}` (prompt above the limit).
    fn filled(self, text: &str) -> String {
        let Self { prompt, output, limit } = self;
        let sizes = [
            ("{prompt}", prompt),
            ("{output}", output),
            ("{limit}", limit),
            ("{sum}", prompt + output),
            ("{room}", limit.saturating_sub(output)),
            ("{excess}", prompt.saturating_sub(limit)),
        ];
        let fill = |text: String, (name, size): (&str, u64)| text.replace(name, &size.to_string());
        sizes.into_iter().fold(text.to_owned(), fill)
    }
}

const ANTHROPIC_SUM: &str = "input length and `max_tokens` exceed context limit: {prompt} + {output} > {limit}, decrease \
     input length or `max_tokens` and try again";

/// Refusals that are an error of the dialect with this message.
const MESSAGES: [(Flavour, &str); 6] = [
    (Flavour::AnthropicSum, ANTHROPIC_SUM),
    (Flavour::Ollama, "prompt too long; exceeded max context length by {excess} tokens"),
    (
        Flavour::Together,
        "Input length {prompt} exceeds the maximum allowed input length of {limit} tokens.",
    ),
    (Flavour::MiniMax, "invalid params, context window exceeds limit"),
    (Flavour::Kimi, "Your request exceeded model token limit: {limit} (requested: {prompt})"),
    (
        Flavour::DashScope,
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, {limit}]",
    ),
];

/// Those that also have the code of `OpenAI`.
const CODED_MESSAGES: [(Flavour, &str); 2] = [
    (Flavour::Groq, "Please reduce the length of the messages or completion."),
    (
        Flavour::Cerebras,
        "Please reduce the length of the messages or completion. Current length is {prompt} while \
         limit is {limit}",
    ),
];

/// Refusals with a body of the backend's own.
const BODIES: [(Flavour, &str); 12] = [
    (
        Flavour::VllmOld,
        r#"{"object":"error","message":"This model's maximum context length is {limit} tokens. However, you requested {sum} tokens ({prompt} in the messages, {output} in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}"#,
    ),
    (
        Flavour::Vllm,
        r#"{"error":{"message":"You passed {prompt} input tokens and requested {output} output tokens. However, the model's context length is only {limit} tokens, resulting in a maximum input length of {room} tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value={prompt})","type":"BadRequestError","param":"input_tokens","code":400}}"#,
    ),
    (
        Flavour::Sglang,
        r#"{"object":"error","message":"The input ({prompt} tokens) is longer than the model's context length ({limit} tokens).","type":"BadRequestError","param":null,"code":400}"#,
    ),
    (
        Flavour::LlamaCpp,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":{prompt},"n_ctx":{limit}}}"#,
    ),
    (
        Flavour::OpenRouter,
        r#"{"error":{"code":400,"message":"This endpoint's maximum context length is {limit} tokens. However, you requested about {sum} tokens ({prompt} of text input, {output} in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","metadata":{"provider_name":null}}}"#,
    ),
    (
        Flavour::Xai,
        r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is {limit} but the request contains {prompt} tokens."}"#,
    ),
    (
        Flavour::LmStudio,
        r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length ({prompt} > {limit})."}"#,
    ),
    (
        Flavour::Copilot,
        r#"{"error":{"message":"prompt token count of {prompt} exceeds the limit of {limit}","code":"model_max_prompt_tokens_exceeded"}}"#,
    ),
    (
        Flavour::Mistral,
        r#"{"object":"error","message":"Prompt contains {prompt} tokens and 0 draft tokens, too large for model with {limit} maximum context length","type":"invalid_request_error","param":null,"code":"3051"}"#,
    ),
    (Flavour::Zai, r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#),
    (
        Flavour::Cohere,
        r#"{"message":"too many tokens: total number of tokens in the prompt cannot exceed {limit} - received {prompt}."}"#,
    ),
    (
        Flavour::LiteLlm,
        r#"{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - This model's maximum context length is {limit} tokens. However, your messages resulted in {prompt} tokens.","type":null,"param":null,"code":"400"}}"#,
    ),
];

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
