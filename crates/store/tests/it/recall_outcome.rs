//! What came of a call, in words.

use midfold_core::tools::ToolTable;
use midfold_store::inside::outcome_words;

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
