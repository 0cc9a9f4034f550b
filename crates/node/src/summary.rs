//! The summary that a session asks a model for, and the model's answer.

use midfold::core::event::Usage;
use midfold::core::narrate::{
    FailureClass, FinishReason, SummaryFailure, SummaryReply, SummaryRequest as Request,
};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::json;

use crate::errors::{Failure, NodeResult, json as written};

/// What a session would like a model to write.
#[napi]
pub struct SummaryRequest {
    pub(crate) request: Request,
}

#[napi]
impl SummaryRequest {
    /// What to send, as JSON: `id`, `messages`, `maxTokens`, `temperature`, `timeout`.
    #[napi]
    pub fn json(&self) -> napi::Result<String> {
        let request = &self.request;
        let prompt = request.prompt(&request.sources, request.previous.as_deref());
        let message = |role, content| json!({ "role": role, "content": content });
        written(&json!({
            "id": request.id.to_hex(),
            "messages": [message("system", prompt.system), message("user", prompt.user)],
            "maxTokens": request.max_tokens,
            "temperature": request.temperature.to_f64(),
            "timeout": request.timeout_seconds,
        }))
    }
}

/// A model's answer: a text, or why there is none.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    text: Option<String>,
    error: Option<String>,
    finish: Option<String>,
    model: String,
    prompt: u64,
    output: u64,
}

impl Answer {
    /// As the engine takes it.
    pub fn reply(self) -> NodeResult<Result<SummaryReply, SummaryFailure>> {
        let Self { text, error, finish, model, prompt, output } = self;
        let Some(error) = error else {
            let finish = match finish.as_deref().unwrap_or("stop") {
                "stop" | "end_turn" | "stop_sequence" => FinishReason::Stop,
                "length" | "max_tokens" => FinishReason::Length,
                _ => FinishReason::Other,
            };
            let usage = Usage { prompt, output, ..Usage::default() };
            let usage = (usage != Usage::default()).then_some(usage);
            let text = text.unwrap_or_default();
            return Ok(Ok(SummaryReply { text, finish, model, usage, calls: 1 }));
        };
        let (code, detail) = error.split_once(": ").unwrap_or((&error, ""));
        let class = FailureClass::from_code(code).ok_or_else(|| {
            Failure::input(format!("there is no kind of failure `{code}`")).hint(
                "there are: timeout, auth, rate-limited, server, network, overflow, garbage, \
                 rejected; what happened may follow: { error: \"server: 503\" }",
            )
        })?;
        Ok(Err(SummaryFailure::new(class, detail)))
    }
}
