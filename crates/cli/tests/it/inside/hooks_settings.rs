//! Hooks in the settings file of a client: in, and out again without a trace.

use midfold_cli::inside::hooks::{
    HookSetting, SettingsChange, hooks, install, installed, uninstall,
};
use serde_json::Value;

fn text(change: SettingsChange) -> String {
    match change {
        SettingsChange::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hook_is_written_behind_what_is_there_in_its_style() {
    let command = "midfold hooks pre-compact".to_owned();
    let hook = HookSetting { event: "PreCompact", matcher: None, command, timeout: 30 };
    let with = text(install(Some("{\n  \"model\": \"opus\"\n}\n"), &[hook]).unwrap());
    let start = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"PreCompact\": [";
    assert!(with.starts_with(start), "{with}");
}

/// In, in again, and out: what was there before is there again, byte for byte.
#[test]
fn everything_else_stays_as_it_was() {
    let hooks = hooks("midfold", "");
    for own in [
        "{\"a\":1}",
        "{\n\t\"z\": 1.50, \"a\":\"\\u00e9\"\n}",
        "{\r\n    \"model\": \"opus\"\r\n}\r\n",
        "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": []}]\n  },\n  \"b\": [1,\n2]\n}\n",
        r#"{"hooks":{"PreCompact":[{"matcher":"auto","hooks":[{"type":"command","command":"mine"}]}]},"b":2}"#,
        r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo hooks session-start"}]}]}}"#,
    ] {
        let with = text(install(Some(own), &hooks).unwrap());
        assert_eq!(installed(&with).unwrap(), hooks, "{own}");
        let value: Value = serde_json::from_str(&with).unwrap();
        let before: Value = serde_json::from_str(own).unwrap();
        for (key, other) in before.as_object().unwrap().iter().filter(|it| it.0 != "hooks") {
            assert_eq!(&value[key], other);
        }
        assert_eq!(install(Some(&with), &hooks).unwrap(), SettingsChange::None, "{own}");
        assert_eq!(text(uninstall(Some(&with)).unwrap()), own);
        assert_eq!(with.contains("\r\n"), own.contains("\r\n"));
        assert_eq!(with.replace("\r\n", "").contains('\n'), own.replace("\r\n", "").contains('\n'));
    }
}

#[test]
fn a_file_of_its_own_comes_and_goes() {
    let hooks = hooks("midfold", "");
    let with = text(install(None, &hooks).unwrap());
    assert_eq!(text(install(Some(" \n"), &hooks).unwrap()), with);
    assert_eq!(uninstall(Some(&with)).unwrap(), SettingsChange::Remove);
    assert_eq!(uninstall(None).unwrap(), SettingsChange::None);
    assert_eq!(uninstall(Some("{}")).unwrap(), SettingsChange::None);
}

#[test]
fn another_store_replaces_the_hooks() {
    let old = text(install(Some("{\n  \"a\": 1\n}"), &hooks("/opt/midfold", "")).unwrap());
    let new = hooks("midfold", " --store sqlite:/a.db");
    let with = text(install(Some(&old), &new).unwrap());
    assert_eq!(installed(&with).unwrap(), new);
    assert_eq!(text(uninstall(Some(&with)).unwrap()), "{\n  \"a\": 1\n}");
}

/// A person may have put a hook of another tool beside ours, into the same group.
#[test]
fn a_hook_of_others_in_the_same_group_stays() {
    let shared = r#"{"hooks":{"PreCompact":[{"hooks":[{"command":"mine"},{"command":"/b/midfold hooks pre-compact"}]}]}}"#;
    let left = r#"{"hooks":{"PreCompact":[{"hooks":[{"command":"mine"}]}]}}"#;
    assert_eq!(text(uninstall(Some(shared)).unwrap()), left);
}

#[test]
fn what_is_no_settings_file_is_refused() {
    let hooks = hooks("midfold", "");
    for (own, says) in [
        ("{\n  // mine\n}", "not JSON at line 2, column 3"),
        ("{\"a\":1", "not JSON at line 1, column 6"),
        ("[]", "the file is not an object"),
        (r#"{"hooks":[]}"#, "`hooks` is not an object"),
        (r#"{"hooks":{"PreCompact":{}}}"#, "`hooks.PreCompact` is not a list"),
    ] {
        let failure = install(Some(own), &hooks).unwrap_err();
        assert!(failure.message.starts_with(says), "{}", failure.message);
        assert!(failure.hints[0].contains("nothing was changed"));
        assert_eq!(uninstall(Some(own)).unwrap_err().message, failure.message);
    }
}
