//! What came of a call, in a few words. The only place here that asks the table of tools for it.

use midfold_core::tools::{CallFacts, CallVerdict, ToolTable};

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutcomeWords {
    /// It failed, or was not allowed to run to its end.
    pub failed: bool,
    /// `ok`, `failed (exit 101)`, `rejected`; empty where nothing says so.
    pub verdict: String,
    /// The line that says most, where one does.
    pub telling: Option<String>,
}

/// Reads the result of a call. `flagged` is what the result itself says, where it does.
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
