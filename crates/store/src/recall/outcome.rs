//! What came of a call, in a few words. The only place here that asks the table of tools for it.

use midfold_core::tools::{CallFacts, ToolTable, Verdict};

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// It failed, or was not allowed to run to its end.
    pub failed: bool,
    /// `ok`, `failed (exit 101)`, `rejected`; empty where nothing says so.
    pub verdict: String,
    /// The line that says most, where one does.
    pub telling: Option<String>,
}

/// Reads the result of a call. `flagged` is what the result itself says, where it does.
pub(super) fn outcome_words(
    tools: &ToolTable,
    facts: &CallFacts,
    result: &str,
    flagged: Option<bool>,
) -> Words {
    let read = tools.outcome(facts, result, flagged);
    let verdict = match (read.verdict, read.exit) {
        (Some(Verdict::Ok), _) => "ok".to_owned(),
        (Some(Verdict::Rejected), _) => "rejected by the user".to_owned(),
        (Some(Verdict::Interrupted), _) => "interrupted".to_owned(),
        (Some(Verdict::Failed), Some(code)) if code != 0 => format!("failed (exit {code})"),
        (Some(Verdict::Failed), _) => "failed".to_owned(),
        (None, _) => String::new(),
    };
    let failed = !matches!(read.verdict, Some(Verdict::Ok) | None);
    Words { failed, verdict, telling: read.reason.or(read.telling) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_say_why_and_nothing_is_ok_without_proof() {
        let table = ToolTable::builtin();
        let bash = table.facts("Bash", r#"{"command":"make"}"#);
        let read = |result, flagged| outcome_words(table, &bash, result, flagged);
        assert_eq!(read("done", None).verdict, "");
        assert_eq!(read("x\nExit code 2", None).verdict, "failed (exit 2)");
        let flagged = read("\nnothing there\n", Some(true));
        assert_eq!(flagged.verdict, "failed");
        assert_eq!(flagged.telling.as_deref(), Some("nothing there"));
        let pytest = read("x\n=== 1 failed, 2 passed in 3.00s ===\nExit code 1", None);
        assert_eq!(pytest.telling.as_deref(), Some("1 failed, 2 passed in 3.00s"));
    }
}
