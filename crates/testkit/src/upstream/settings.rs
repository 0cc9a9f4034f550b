//! How the server behaves.

use super::errors::Flavour;
use super::fault::{FaultTime, PlannedFault};
use super::request_parts::{AskedParts, WireDialect, array};
use super::script::UpstreamScript;
use super::state::KeptKinds;
use super::strict::Strictness;

/// How the server behaves.
#[derive(Clone, Debug, Default)]
pub struct UpstreamSettings {
    /// Tokens that a prompt may have; any number without one.
    pub limit: Option<u64>,
    /// Whether the tokens that a request allows for its reply count against the limit.
    pub count_output: bool,
    /// How it says that a prompt does not fit.
    pub flavour: Flavour,
    /// Whether a streamed Responses request learns that in the stream instead of by a status.
    pub overflow_in_stream: bool,
    /// What it plays.
    pub script: UpstreamScript,
    /// What else is in the prompts of clients' own compaction.
    pub summary_phrases: Vec<String>,
    /// What it refuses.
    pub strict: Strictness,
    /// Whether it thinks though nobody asks for it.
    pub reasoning: bool,
    /// Whether signatures of thinking are bound to everything before them (Anthropic, 2026).
    pub bind_thinking: bool,
    /// Whether Anthropic requests are cached at their cache marks only, as by Anthropic; else wherever two
    /// requests begin alike.
    pub explicit_cache: bool,
    /// Whether it keeps responses for `previous_response_id`.
    pub stateful: bool,
    /// Whether it keeps Anthropic threads; requests with `thread` are refused otherwise.
    pub threads: bool,
    /// What goes wrong, and when; the first one that fits a request happens.
    pub faults: Vec<(FaultTime, PlannedFault)>,
}

impl UpstreamSettings {
    /// Which kinds of state it keeps.
    pub(crate) fn keeps(&self) -> KeptKinds {
        KeptKinds { responses: self.stateful, threads: self.threads }
    }

    /// Whether the model thinks before it answers.
    pub(crate) fn thinks(&self, asked: &AskedParts) -> bool {
        let body = &asked.body;
        self.reasoning
            || match asked.dialect {
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
