//! The protocol of a service. There is one now; another would be a variant with the same four functions.

use midfold_core::Usage;
use midfold_core::narrate::{FailureClass, FinishReason, SummaryPrompt};
use midfold_formats::overflow::{Diagnosis, classify};
use midfold_formats::usage;
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// The protocol of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireProtocol {
    /// The protocol of `POST …/chat/completions`, which `OpenAI` and nearly every other server has.
    #[default]
    OpenAiChat,
}

/// The parts of one call.
#[derive(Clone, Debug)]
pub(crate) struct ModelAsk<'a> {
    pub model: &'a str,
    pub prompt: &'a SummaryPrompt,
    pub temperature: f64,
    pub max_tokens: u32,
    /// The parameters that this server has refused so far.
    pub without: OmittedParameters,
}

/// Parameters that newer models refuse, or want under another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OmittedParameters {
    pub temperature: bool,
    /// Whether `max_completion_tokens` is wanted in its place.
    pub max_tokens: bool,
    pub stream_options: bool,
}

impl OmittedParameters {
    /// The parameters that are in either of the two.
    pub fn and(self, other: Self) -> Self {
        Self {
            temperature: self.temperature | other.temperature,
            max_tokens: self.max_tokens | other.max_tokens,
            stream_options: self.stream_options | other.stream_options,
        }
    }
}

/// The answer of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelAnswer {
    pub text: String,
    pub finish: FinishReason,
    pub model: Option<String>,
    pub usage: Option<Usage>,
}

/// The refusal of one call. The detail holds no text of the body, because servers echo prompts and keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRefusal {
    pub class: FailureClass,
    pub detail: String,
    /// The most tokens of the prompt, where the server named them.
    pub limit: Option<u64>,
    /// The parameters to leave out of the next try.
    pub without: Option<OmittedParameters>,
}

impl CallRefusal {
    pub fn new(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), limit: None, without: None }
    }
}

impl WireProtocol {
    /// The address of the endpoint.
    pub(crate) fn endpoint(self, base: &Url) -> Url {
        let mut url = base.clone();
        let path = base.path().trim_end_matches('/');
        let path = match path {
            "" => "/v1/chat/completions".to_owned(),
            whole if whole.ends_with("/chat/completions") => whole.to_owned(),
            part => format!("{part}/chat/completions"),
        };
        url.set_path(&path);
        url
    }

    /// The body of a request: two messages, no tools, and a stream.
    pub(crate) fn body(self, ask: &ModelAsk<'_>) -> Vec<u8> {
        let mut body = json!({
            "model": ask.model,
            "messages": [
                {"role": "system", "content": ask.prompt.system},
                {"role": "user", "content": ask.prompt.user},
            ],
            // A stream brings the first byte early, so that its time limit need not cover the whole answer.
            "stream": true,
        });
        let cap = if ask.without.max_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[cap] = json!(ask.max_tokens);
        if !ask.without.temperature {
            body["temperature"] = json!(ask.temperature);
        }
        if !ask.without.stream_options {
            body["stream_options"] = json!({"include_usage": true});
        }
        body.to_string().into_bytes()
    }

    /// Reads a successful answer, which may be a stream or one JSON document: not every server streams when it is asked
    /// to.
    pub(crate) fn read(self, kind: &str, body: &[u8]) -> Result<ModelAnswer, CallRefusal> {
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => read_stream(&String::from_utf8_lossy(body)),
            "application/json" => read_part(body).map(ReplyParts::of_one),
            _ => Err(CallRefusal::new(
                FailureClass::Garbage,
                "the answer is neither JSON nor a stream",
            )),
        }
        .and_then(ReplyParts::into_said)
    }

    /// Whether a stream is complete, so that no time is lost until the connection closes.
    pub(crate) fn is_complete(self, body: &[u8]) -> bool {
        let tail = &body[body.len().saturating_sub(24)..];
        String::from_utf8_lossy(tail).trim_end().ends_with("data: [DONE]")
    }

    /// Reads an answer with an error status as a refusal.
    pub(crate) fn refusal(self, status: u16, body: &[u8]) -> CallRefusal {
        let error = read_part(body).ok().and_then(|part| part.error);
        let message = error.as_ref().map_or_else(String::new, AnswerError::message);
        let code = error.as_ref().and_then(AnswerError::code);
        let named = code.as_deref().map_or_else(String::new, |code| format!(", {code}"));
        let detail = format!("HTTP {status}{named}");
        let text =
            if error.is_some() { message } else { String::from_utf8_lossy(body).into_owned() };
        let diagnosis = classify(Some(status), body);
        let class = match (status, diagnosis) {
            (401 | 403, _) => FailureClass::Auth,
            // A prompt that is too long stays too long, whatever the status is: waiting does not help.
            (_, cause) if cause.exceeds_window() => FailureClass::Overflow,
            (429, _) | (400..500, Diagnosis::RateLimit) => FailureClass::RateLimited,
            (408 | 504, _) => FailureClass::Timeout,
            (500.., _) => FailureClass::Server,
            _ => FailureClass::Rejected,
        };
        let mut refusal = CallRefusal::new(class, detail);
        match class {
            FailureClass::Overflow => refusal.limit = limit(diagnosis),
            FailureClass::Rejected => refusal.without = unsupported(&text),
            _ => {}
        }
        refusal
    }
}

/// The most tokens of prompt and reply together, where the server named them.
fn limit(diagnosis: Diagnosis) -> Option<u64> {
    match diagnosis {
        Diagnosis::Overflow { limit, .. } => limit,
        Diagnosis::SharedCap { limit, .. } => Some(limit),
        _ => None,
    }
}

/// The parameters that a server says it does not take. `None` where it names no parameter of ours.
fn unsupported(text: &str) -> Option<OmittedParameters> {
    let text = text.to_ascii_lowercase();
    let refuses = ["unsupported", "not supported", "unrecognized", "unknown", "extra inputs"];
    if !refuses.iter().any(|word| text.contains(word)) {
        return None;
    }
    let without = OmittedParameters {
        temperature: text.contains("temperature"),
        max_tokens: text.contains("max_tokens"),
        stream_options: text.contains("stream_options"),
    };
    (without != OmittedParameters::default()).then_some(without)
}

/// A chunk of a stream, or a whole answer, with the members that are read.
#[derive(Debug, Default, Deserialize)]
struct AnswerPart {
    #[serde(default)]
    choices: Vec<AnswerChoice>,
    model: Option<String>,
    usage: Option<Box<RawValue>>,
    error: Option<AnswerError>,
}

/// The members of a choice that are read.
#[derive(Debug, Deserialize)]
struct AnswerChoice {
    #[serde(alias = "delta")]
    message: Option<AnswerMessage>,
    finish_reason: Option<String>,
}

/// The members of a message that are read.
#[derive(Debug, Deserialize)]
struct AnswerMessage {
    content: Option<String>,
}

/// An error as `{"message": …}`, which most servers have, or as a bare text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum AnswerError {
    Object { message: Option<String>, code: Option<serde_json::Value>, r#type: Option<String> },
    Text(String),
}

impl AnswerError {
    fn message(&self) -> String {
        match self {
            Self::Object { message, .. } => message.clone().unwrap_or_default(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The code of an error, if it looks like one. Any other text may be an echo of the request.
    fn code(&self) -> Option<String> {
        let Self::Object { code, r#type, .. } = self else { return None };
        let named = code.as_ref().and_then(|code| code.as_str().map(str::to_owned));
        named.or_else(|| r#type.clone()).filter(|code| {
            code.len() <= 40 && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        })
    }
}

fn read_part(body: &[u8]) -> Result<AnswerPart, CallRefusal> {
    serde_json::from_slice(body).map_err(|_| {
        CallRefusal::new(FailureClass::Garbage, "the answer is not the protocol's JSON")
    })
}

/// A reply while it is put together.
#[derive(Debug, Default)]
struct ReplyParts {
    /// Whether any choice has arrived.
    any: bool,
    text: String,
    finish: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
    /// Whether a part reported an error.
    failed: bool,
}

impl ReplyParts {
    fn of_one(part: AnswerPart) -> Self {
        let mut parts = Self::default();
        parts.add(part);
        parts
    }

    fn add(&mut self, part: AnswerPart) {
        self.failed |= part.error.is_some();
        self.model = self.model.take().or(part.model);
        let counts = part.usage.and_then(|counts| usage::reported(counts.get().as_bytes()));
        self.usage = counts.or(self.usage);
        if let Some(choice) = part.choices.into_iter().next() {
            self.any = true;
            self.finish = choice.finish_reason.or(self.finish.take());
            self.text.extend(choice.message.and_then(|message| message.content));
        }
    }

    fn into_said(self) -> Result<ModelAnswer, CallRefusal> {
        if self.failed {
            return Err(CallRefusal::new(FailureClass::Server, "an error inside of the answer"));
        }
        if !self.any {
            return Err(CallRefusal::new(FailureClass::Garbage, "the answer holds no choice"));
        }
        let finish = match self.finish.as_deref() {
            Some("stop" | "eos" | "end_turn" | "stop_sequence" | "complete") => FinishReason::Stop,
            Some("length" | "max_tokens") => FinishReason::Length,
            _ => FinishReason::Other,
        };
        Ok(ModelAnswer { text: self.text, finish, model: self.model, usage: self.usage })
    }
}

fn read_stream(body: &str) -> Result<ReplyParts, CallRefusal> {
    let mut parts = ReplyParts::default();
    for line in body.lines() {
        // Comments, event names and ids are not needed.
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { continue };
        if data == "[DONE]" {
            break;
        }
        if !data.is_empty() {
            parts.add(read_part(data.as_bytes())?);
        }
    }
    Ok(parts)
}
