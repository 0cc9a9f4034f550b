//! Completions, man pages, logs and packed files.

use std::fs;

use crate::session::{ok, store};
use crate::{folder, root, run, stdout};

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&["print", "completions", shell], b"");
        for word in ["midfold", "trajectories", "keep-last"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn every_command_has_a_man_page() {
    let tmp = folder("man");
    let pages = tmp.join("man1");
    let done = run(&["print", "man", "-o", &pages.display().to_string()], b"");
    assert!(done.status.success());
    let names: Vec<String> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["midfold.1", "midfold-compact.1", "midfold-session-append.1"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    let page = fs::read_to_string(pages.join("midfold-compact.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("keep\\-last"), "{page}");
    let whole = stdout(&["print", "man"], b"");
    assert_eq!(whole, fs::read_to_string(pages.join("midfold.1")).unwrap());
}

#[test]
fn what_is_done_is_logged_as_json_lines() {
    let tmp = folder("log");
    let store = store("log-store");
    let log = tmp.join("midfold.log").display().to_string();
    ok(&store, &["session", "new", "--id", "s", "--window", "16k"], b"");
    ok(&store, &["session", "append", "s", "examples/coding-session.jsonl"], b"");
    assert!(!fs::exists(&log).unwrap());
    ok(&store, &["session", "compact", "s", "--log", &log], b"");
    let lines = fs::read_to_string(&log).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|l| l["message"] == "folded" && l["session"] == "s"), "{lines:?}");
    let done = run(&["compact", "fixtures/openai-chat.json", "--log", "no/such/folder/x.log"], b"");
    assert!(String::from_utf8_lossy(&done.stderr).contains("no/such/folder/x.log"));
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn packed_files_are_read() {
    use std::io::Write;
    let tmp = folder("packed");
    let plain = fs::read(root().join("examples/coding-session.jsonl")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    fs::write(tmp.join("a.jsonl.gz"), &gzip).unwrap();
    fs::write(tmp.join("a.jsonl.zst"), zstd::encode_all(&plain[..], 1).unwrap()).unwrap();
    let wanted = run(&["compact", "examples/coding-session.jsonl", "--window", "16k"], b"").stdout;
    for name in ["a.jsonl.gz", "a.jsonl.zst"] {
        let path = tmp.join(name).display().to_string();
        assert_eq!(run(&["compact", &path, "--window", "16k"], b"").stdout, wanted, "{name}");
    }
    fs::write(tmp.join("cut.gz"), &gzip[..gzip.len() / 2]).unwrap();
    let done = run(&["compact", &tmp.join("cut.gz").display().to_string()], b"");
    assert!(String::from_utf8_lossy(&done.stderr).contains("cut.gz cannot be unpacked"));
}

#[test]
fn a_mistaken_command_is_corrected_at_its_own_level() {
    for (args, meant) in [
        (&["store", "prun"][..], "'prune'"),
        (&["session", "lst"], "'list'"),
        (&["measure", "exm"], "'exam'"),
        (&["find"], "'recall find'"),
        (&["compct"], "'compact'"),
    ] {
        let done = run(args, b"");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains(meant), "{args:?}: {said}");
    }
}
