//! The settings of the scripted provider.

use super::errors::Flavour;
use super::fault::{FaultTime, PlannedFault};
use super::request_parts::{AskedParts, WireDialect, array};
use super::script::UpstreamScript;
use super::state::KeptKinds;
use super::strict::Strictness;

/// The settings of the scripted provider.
#[derive(Clone, Debug, Default)]
pub struct UpstreamSettings {
    /// The most tokens of a prompt. `None` for no limit.
    pub limit: Option<u64>,
    /// Whether the tokens that a request allows for its reply count against the limit too.
    pub count_output: bool,
    /// The way in which the server reports that a prompt does not fit.
    pub flavour: Flavour,
    /// Whether that report comes inside an answer with the status 200: as an event of the stream, or as the document.
    pub overflow_in_answer: bool,
    /// The behaviour of the model.
    pub script: UpstreamScript,
    /// More phrases by which the compaction prompts of clients are recognised.
    pub summary_phrases: Vec<String>,
    /// The rules that requests have to keep.
    pub strict: Strictness,
    /// Whether the model thinks even if a request does not ask for it.
    pub reasoning: bool,
    /// Whether signatures of thinking depend on everything before them (Anthropic, 2026).
    pub bind_thinking: bool,
    /// Whether Anthropic requests are cached only at their cache marks, as Anthropic does. Otherwise any common start
    /// of two requests is cached.
    pub explicit_cache: bool,
    /// Whether the server keeps responses for `previous_response_id`.
    pub stateful: bool,
    /// Whether the server keeps Anthropic threads. If not, requests with `thread` are refused.
    pub threads: bool,
    /// Whether a request for a stream gets one JSON document all the same, as some servers answer where a request has
    /// tools.
    pub ignores_stream: bool,
    /// The content type of streams of events, if it is not the usual one.
    pub events_type: Option<&'static str>,
    /// Faults, each with the requests that it is for. If several are for a request, the first one happens.
    pub faults: Vec<(FaultTime, PlannedFault)>,
}

impl UpstreamSettings {
    /// The kinds of conversations that the server keeps.
    pub(crate) fn keeps(&self) -> KeptKinds {
        KeptKinds { responses: self.stateful, threads: self.threads }
    }

    /// Whether the model thinks before it answers.
    pub(crate) fn thinks(&self, request: &AskedParts) -> bool {
        let body = &request.body;
        self.reasoning
            || match request.dialect {
                WireDialect::Chat => false,
                WireDialect::Responses => {
                    array(&body["include"]).iter().any(|name| name == "reasoning.encrypted_content")
                }
                WireDialect::Messages => {
                    matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive"))
                }
                WireDialect::Gemini => {
                    body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true
                }
            }
    }
}
