//! One clear error for each thing that can be wrong.

use crate::{folder, midfold, regex_of, run, sees};

#[test]
fn files() {
    let tmp = folder("bad-files");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(tmp.join(name), bytes).unwrap();
        tmp.join(name).display().to_string()
    };
    let dir = tmp.display().to_string();
    let session = write("session.jsonl", b"{\"role\":\"user\",\"content\":\"hi\"}\n");
    sees!("missing", ["compact", &session.replace("session", "sesion")]);
    sees!("missing-alone", ["inspect", "no/such/folder/file.json"]);
    sees!("directory", ["check", "file", "--before", &dir, "--after", &session]);
    sees!("empty", ["compact", &write("empty.json", b"")]);
    sees!("blank", ["compact", &write("blank.json", b" \n\n")]);
    sees!("binary", ["compact", &write("binary.json", b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe")]);
    sees!("truncated", ["compact", "fixtures/truncated.json"]);
    sees!("not-json", ["compact", &write("notes.json", b"Dear diary,\ntoday I")]);
    sees!(
        "no-messages",
        ["compact", &write("package.json", b"{\"name\":\"x\",\"version\":\"1\"}")]
    );
    sees!(
        "zero-messages",
        ["compact", &write("none.json", b"{\"model\":\"gpt-5\",\"messages\":[]}")]
    );
    sees!("stdin-empty", ["compact", "-"]);
}

/// Linux allows any bytes in names.
#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf_8_is_a_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let path = folder("bad-names").join(OsStr::from_bytes(b"a\xff.jsonl"));
    std::fs::copy(crate::root().join("examples/coding-session.jsonl"), &path).unwrap();
    let output = midfold(&["inspect"]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn names() {
    let file = "fixtures/openai-chat.json";
    sees!("unknown-preset", ["compact", file, "--preset", "defualt"]);
    sees!("unknown-preset-far", ["print", "presets", "zebra"]);
    sees!("unknown-format", ["compact", file, "--from", "claude"]);
    sees!("unknown-profile", ["compact", file, "--profile", "stric"]);
    sees!("misfit-profile", ["compact", file, "--profile", "anthropic"]);
    sees!("unknown-dialect", ["compact", file, "--to", "antropic"]);
    sees!("unsupported-dialect", ["compact", file, "--to", "openai-responses"]);
    sees!("unknown-tokenizer", ["compact", file, "--tokenizer", "o300k"]);
    sees!("bad-ratio", ["compact", file, "--tokenizer", "chars:none"]);
    sees!("missing-tokenizer", ["compact", file, "--tokenizer", "my/tokenizer.json"]);
    sees!("bad-regex", ["compact", file, "--pin", "a(b"]);
    sees!("bad-window", ["compact", file, "--window", "big"]);
    sees!("no-file", ["compact"]);
    sees!("unknown-flag", ["compact", file, "--windows", "8k"]);
    sees!("unknown-command", ["compactt", file]);
    sees!("no-conversation", ["inspect", "fixtures/tau-bench.json", "--only", "7"]);
}

#[test]
fn policies() {
    let tmp = folder("bad-policies");
    let write = |name: &str, text: &str| {
        std::fs::write(tmp.join(name), text).unwrap();
        tmp.join(name).display().to_string()
    };
    let file = "fixtures/openai-chat.json";
    let typo = write("typo.toml", "base = \"default\"\n[tail]\nmin_mesages = 3\n");
    sees!("policy-typo", ["compact", file, "--policy", &typo]);
    let broken = write("broken.toml", "base = \"default\n");
    sees!("policy-broken", ["compact", file, "--policy", &broken]);
    let base = write("base.toml", "base = \"defautl\"\n");
    sees!("policy-base", ["compact", file, "--policy", &base]);
    sees!("policy-and-preset", ["compact", file, "--policy", &base, "--preset", "hermes"]);
}

#[test]
fn windows() {
    let file = "examples/coding-session.jsonl";
    sees!("floor", ["compact", file, "--window", "150"]);
    sees!("floor-pins", ["compact", file, "--window", "8k", "--pin", "def "]);
    sees!("target-above", ["compact", file, "--window", "8k", "--target", "9k"]);
}

#[test]
fn outputs() {
    let tmp = folder("bad-outputs");
    let inside = tmp.join("no/such/out.json").display().to_string();
    sees!("output-nowhere", ["compact", "fixtures/openai-chat.json", "-o", &inside]);
    sees!("preview-output", ["compact", "fixtures/openai-chat.json", "--preview", "-o", "x"]);
}

/// The command fails with this code, and its error says this.
fn refused(args: &[&str], code: i32, says: &[&str]) {
    let output = run(args, b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("error: "), "{args:?}: {text}");
    for part in says {
        assert!(text.contains(part), "{args:?}: {part:?} is not in {text}");
    }
}

#[test]
fn what_holds_no_message_is_refused() {
    let tmp = folder("bad-messages");
    let write = |name: &str, text: &str| {
        std::fs::write(tmp.join(name), text).unwrap();
        tmp.join(name).display().to_string()
    };
    let numbers = write("numbers.json", r#"{"messages": [1, 2]}"#);
    for command in ["compact", "inspect"] {
        refused(&[command, &numbers], 1, &["numbers.json", "line 1", "`1`", "\"role\""]);
    }
    let text = write("text.json", r#"{"messages": "x"}"#);
    refused(&["compact", &text], 1, &["text.json", "whose `messages` is no list", "hint"]);
    let csv = write("rows.csv", "a,b\n1,2\n");
    let out = tmp.join("out.jsonl").display().to_string();
    refused(
        &["trajectories", &csv, "-o", &out],
        1,
        &["all rows were rejected (2 rows)", "out.rejects", "hint"],
    );
}

#[test]
fn a_share_above_one_is_refused() {
    let path = folder("bad-share").join("share.toml");
    std::fs::write(&path, "base = \"default\"\n[tail]\nratio = 7\n").unwrap();
    let path = path.display().to_string();
    let says = ["share.toml", "ratio", "7 is no share", "0.3"];
    refused(&["compact", "fixtures/openai-chat.json", "--policy", &path], 2, &says);
}

#[test]
fn an_engine_that_never_answers_is_refused() {
    let args = [
        "measure",
        "replay",
        "examples/coding-session.jsonl",
        "--window",
        "4k",
        "--engine",
        "false",
    ];
    refused(
        &args,
        1,
        &["--engine false failed in every conversation", "exit status: 1", "messages"],
    );
}

#[test]
fn one_file_cannot_be_two() {
    let tmp = folder("one-file").join("x.json").display().to_string();
    let args = ["compact", "fixtures/openai-chat.json", "-o", &tmp, "--record", &tmp];
    refused(&args, 2, &["-o and --record both write", "x.json"]);
    assert!(!std::path::Path::new(&tmp).exists());
}

#[test]
fn messages_to_keep_are_kept_or_refused() {
    let file = "examples/coding-session.jsonl";
    for preset in ["default", "hermes", "head-tail"] {
        let args = ["compact", file, "--preset", preset, "--window", "24k", "--keep-last", "9"];
        let sent = crate::stdout(&args, b"");
        let whole = std::fs::read_to_string(crate::root().join(file)).unwrap();
        let last: Vec<&str> = whole.trim_end().lines().rev().take(9).collect();
        assert!(last.iter().all(|line| sent.contains(line)), "{preset}");
    }
    let args = ["compact", file, "--window", "8k", "--keep-last", "60"];
    refused(&args, 1, &["--keep-last 60 does not fit", "8,000", "--keep-last "]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::process::Stdio;
    let mut child = midfold(&["compact", "examples/coding-session.jsonl", "--window", "500k"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("error"), "{stderr}");
}
