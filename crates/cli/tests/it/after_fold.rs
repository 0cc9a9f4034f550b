//! `[after_fold]` in a file of settings: what a fold of the command puts back, and what it says of what it cannot.

use std::fs;
use std::path::Path;

use crate::{folder, midfold, root, seen};

/// Runs a command in a folder.
fn at(folder: &Path, args: &[&str]) -> String {
    let output = midfold(args).current_dir(folder).env("HOME", folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", seen(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_fold_puts_back_what_can_be_read_and_says_what_cannot() {
    let tmp = folder("after-fold");
    let project = tmp.join("project");
    fs::create_dir(&project).unwrap();
    let settings = "store = \"sqlite:s.db\"\n\n[after_fold]\ntext = \"Answer in short sentences.\"\n\
                    files = [\"PLAN.md\", \"gone.md\", \"data.bin\", \"huge.md\", \"sub\", \"empty.md\", \
                    \"../outside.md\", \"link.md\"]\ntokens = 500\n";
    fs::write(project.join("midfold.toml"), settings).unwrap();
    fs::write(project.join("PLAN.md"), "1. Mend the quay gate.\n").unwrap();
    fs::write(project.join("data.bin"), [0xff, 0xfe, 0, 1]).unwrap();
    fs::write(project.join("huge.md"), "many words ".repeat(5_000)).unwrap();
    fs::write(project.join("empty.md"), "\n").unwrap();
    fs::create_dir(project.join("sub")).unwrap();
    fs::write(tmp.join("outside.md"), "Not of this project.").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(tmp.join("outside.md"), project.join("link.md")).unwrap();
    let transcript = root().join("examples/coding-session.jsonl").display().to_string();
    at(&project, &["import", &transcript, "--id", "s"]);
    at(&project, &["session", "compact", "s"]);
    let sent = at(&project, &["session", "context", "s"]);
    for text in [
        "Answer in short sentences.",
        "file PLAN.md as it was on disk at this fold:",
        "1. Mend the quay gate.",
        "file gone.md: not here: there is no such file",
        "file data.bin: not here: it is not text in UTF-8",
        "file huge.md: not here: it has more than 8000 bytes",
        "file sub: not here: it is no regular file",
        "file empty.md: not here: it is empty",
        "file ../outside.md: not here: it lies outside of the folder",
    ] {
        assert!(sent.contains(text), "{text:?} in {sent}");
    }
    assert!(
        cfg!(not(unix)) || sent.contains("file link.md: not here: it lies outside of the folder")
    );
    assert!(!sent.contains("Not of this project."));
    let shown = at(&project, &["print", "config"]);
    assert!(shown.contains("after_fold.files") && shown.contains("after_fold.tokens"), "{shown}");
    // The record knows of it, and all of it holds.
    at(&project, &["check", "session", "s"]);
}
