//! Describes the outcome of a call in a few words. In this crate, only this file asks the tool table for outcomes.

use midfold_core::tools::{CallFacts, CallVerdict, ToolTable};

/// The outcome of a call, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutcomeWords {
    /// Whether the call failed, or was not allowed to run to its end.
    pub failed: bool,
    /// `ok`, `failed (exit 101)`, `rejected by the user`; empty where the outcome is unknown.
    pub verdict: String,
    /// The line that says most, or the reason of a rejection; `None` where there is neither.
    pub telling: Option<String>,
}

/// Reads the result of a call. `flagged` is the error flag of the result, or `None` where it has none.
pub fn outcome_words(
    tools: &ToolTable,
    facts: &CallFacts,
    result: &str,
    flagged: Option<bool>,
) -> OutcomeWords {
    let read = tools.outcome(facts, result, flagged);
    let verdict = match (read.verdict, read.exit) {
        (Some(CallVerdict::Ok), _) => "ok".to_owned(),
        (Some(CallVerdict::Rejected), _) => "rejected by the user".to_owned(),
        (Some(CallVerdict::Blocked), _) => "blocked".to_owned(),
        (Some(CallVerdict::Interrupted), _) => "interrupted".to_owned(),
        (Some(CallVerdict::Failed), Some(code)) if code != 0 => format!("failed (exit {code})"),
        (Some(CallVerdict::Failed), _) => "failed".to_owned(),
        (None, _) => String::new(),
    };
    let failed = !matches!(read.verdict, Some(CallVerdict::Ok) | None);
    OutcomeWords { failed, verdict, telling: read.reason.or(read.telling) }
}
