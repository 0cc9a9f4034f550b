//! How the server behaves.

use super::asked::{Asked, Dialect, array};
use super::errors::Flavour;
use super::fault::{Fault, When};
use super::script::Script;
use super::state::Keeps;
use super::strict::Strictness;

/// How the server behaves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Tokens that a prompt may have; any number without one.
    pub limit: Option<u64>,
    /// Whether the tokens that a request allows for its reply count against the limit.
    pub count_output: bool,
    /// How it says that a prompt does not fit.
    pub flavour: Flavour,
    /// Whether a streamed Responses request learns that in the stream instead of by a status.
    pub overflow_in_stream: bool,
    /// What it plays.
    pub script: Script,
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
    pub faults: Vec<(When, Fault)>,
}

impl Settings {
    /// Which kinds of state it keeps.
    pub(crate) fn keeps(&self) -> Keeps {
        Keeps { responses: self.stateful, threads: self.threads }
    }

    /// Whether the model thinks before it answers.
    pub(crate) fn thinks(&self, asked: &Asked) -> bool {
        let body = &asked.body;
        self.reasoning
            || match asked.dialect {
                Dialect::Chat => false,
                Dialect::Responses => {
                    array(&body["include"]).iter().any(|name| name == "reasoning.encrypted_content")
                }
                Dialect::Messages => {
                    matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive"))
                }
                Dialect::Gemini => {
                    body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true
                }
            }
    }
}
