//! Arguments of calls as a person reads them.

use midfold_core::tools::ToolTable;
use midfold_store::inside::readable;

fn read(tool: &str, arguments: &str) -> String {
    readable(arguments, &ToolTable::builtin().facts(tool, arguments))
}

#[test]
fn arguments_are_one_a_line_without_escapes() {
    assert_eq!(
        read("Bash", r#"{"command":"cd a\nmake \"x\"","timeout":9,"quiet":true}"#),
        "timeout: 9\nquiet: true\ncommand:\ncd a\nmake \"x\""
    );
    assert_eq!(read("x", r#"{"b":null,"a":["p","q"]}"#), "b: null\na: [p, q]");
    assert_eq!(
        read("TodoWrite", r#"{"todos":[{"content":"Build","status":"done"},{"content":"Test"}]}"#),
        "todos:\n- content: Build, status: done\n- content: Test"
    );
    assert_eq!(read("x", r#""{\"a\":\"b\"}""#), "a: b");
}

#[test]
fn what_is_no_json_is_as_it_was_written() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n-x\n+y\n*** End Patch\n";
    assert_eq!(read("apply_patch", patch), patch.trim_end());
    assert_eq!(read("Bash", r#"{"command":"echo \"a\nb"#), "{\"command\":\"echo \"a\nb");
    assert_eq!(read("x", ""), "");
}

#[test]
fn edits_are_diffs() {
    let wanted = "--- src/a.rs\n fn a() {\n-    1\n+    2\n }";
    for (tool, arguments) in [
        (
            "Edit",
            r#"{"file_path":"src/a.rs","old_string":"fn a() {\n    1\n}","new_string":"fn a() {\n    2\n}"}"#,
        ),
        (
            "edit",
            r#"{"path":"src/a.rs","oldText":"fn a() {\n    1\n}","newText":"fn a() {\n    2\n}"}"#,
        ),
        (
            "edit",
            r#"{"path":"src/a.rs","edits":[{"oldText":"fn a() {\n    1\n}","newText":"fn a() {\n    2\n}"}]}"#,
        ),
        (
            "unheard_of",
            r#"{"path":"src/a.rs","old_str":"fn a() {\n    1\n}","new_str":"fn a() {\n    2\n}"}"#,
        ),
    ] {
        assert_eq!(read(tool, arguments), wanted, "{tool} {arguments}");
    }
    let all = r#"{"replace_all":true,"file_path":"b","old_string":"x","new_string":""}"#;
    assert_eq!(read("Edit", all), "replace_all: true\n--- b\n-x");
    // Plain words are no edit in a tool that edits nothing.
    assert_eq!(read("swap", r#"{"old":"x","new":"y"}"#), "old: x\nnew: y");
}
