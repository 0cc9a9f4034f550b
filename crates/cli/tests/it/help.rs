//! Help, versions, presets, schemas.

use crate::{regex_of, sees, stdout};

#[test]
fn every_command_has_help_with_an_example() {
    sees!("help", ["--help"]);
    let alone = [
        "import", "explain", "audit", "worker", "session", "recall", "store", "run", "doctor",
        "hooks", "mcp", "top",
    ];
    let with_examples = ["compact", "inspect", "verify", "replay", "exam", "presets", "schema"];
    for command in with_examples.into_iter().chain(alone) {
        sees!(format!("help-{command}"), [command, "--help"]);
        let help = stdout(&[command, "--help"], b"");
        assert!(
            help.contains(&format!("midfold {command}")) && help.contains("Example"),
            "{command}"
        );
    }
}

#[test]
fn every_subcommand_has_help_with_an_example() {
    for (group, commands) in [
        (
            "session",
            &[
                "new", "append", "context", "observe", "compact", "preview", "recover", "status",
                "list", "log", "undo", "pin", "unpin", "fork", "delete", "policy", "model",
            ][..],
        ),
        ("recall", &["find", "outline", "show", "names", "describe", "tools"]),
        ("store", &["export", "import", "prune"]),
    ] {
        for command in commands {
            let help = stdout(&[group, command, "--help"], b"");
            assert!(
                help.contains("Example") && help.contains("--store"),
                "{group} {command}: {help}"
            );
        }
    }
    sees!("help-session-append", ["session", "append", "--help"]);
    sees!("help-session-delete", ["session", "delete", "--help"]);
    sees!("help-store-prune", ["store", "prune", "--help"]);
    sees!("help-recall-grep", ["recall", "find", "--help"]);
    sees!("help-recall-expand", ["recall", "show", "--help"]);
}

#[test]
fn version() {
    assert_eq!(stdout(&["--version"], b""), concat!("midfold ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn presets() {
    sees!("presets", ["presets"]);
    sees!("presets-head-tail", ["presets", "head-tail"]);
    let list: serde_json::Value =
        serde_json::from_str(&stdout(&["presets", "--json"], b"")).unwrap();
    assert_eq!(list[0]["name"], "default");
    let one = stdout(&["presets", "hermes", "--json"], b"");
    let one: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["trigger"]["floor_tokens"], 64_000);
}

#[test]
fn colours_are_only_there_when_asked_for() {
    assert!(!stdout(&["presets"], b"").contains('\x1b'));
    assert!(stdout(&["presets", "--color", "always"], b"").contains('\x1b'));
    assert!(stdout(&["compact", "--help", "--color=always"], b"").contains('\x1b'));
    assert!(!stdout(&["compact", "--help", "--color=never"], b"").contains('\x1b'));
}

#[test]
fn schemas_name_the_fields() {
    for (of, field) in [("fold", "head_verbatim"), ("policy", "reducers"), ("config", "windows")] {
        let schema: serde_json::Value =
            serde_json::from_str(&stdout(&["schema", of], b"")).unwrap();
        assert!(schema["properties"][field].is_object(), "{of}");
    }
}
