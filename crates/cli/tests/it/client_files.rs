//! The files of each client through the commands, as a user runs them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::{folder, midfold, root};

const FIXTURES: &str = "crates/formats/tests/fixtures/clients";

fn fixtures() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(FIXTURES)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20, "{files:?}");
    files
}

fn ok(args: &[&str]) -> String {
    let output = midfold(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The words that a fixture marks as somebody's: `USERWORD7`.
fn marked(text: &str, whose: &str) -> BTreeSet<String> {
    let digits = |at: usize| {
        let rest = &text[at + whose.len()..];
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().to_owned()
    };
    text.match_indices(whose).map(|(at, _)| format!("{whose}{}", digits(at))).collect()
}

#[test]
fn each_file_is_looked_at_compacted_verified_and_imported() {
    let tmp = folder("client-files");
    let path = |name: &str| tmp.join(name).to_str().unwrap().to_owned();
    let (out, record) = (path("out.json"), path("record.json"));
    for (at, file) in fixtures().iter().enumerate() {
        let file = file.to_str().unwrap();
        assert!(ok(&["inspect", file, "--window", "200k"]).contains("tokens"), "{file}");
        ok(&["compact", file, "--window", "100k", "-o", &out, "--record", &record]);
        ok(&["check", "file", "--before", file, "--after", &out, "--record", &record]);
        // A store of its own: two fixtures may be the same session.
        let store = format!("sqlite:{}", path(&format!("{at}.db")));
        let said = midfold(&["import", file, "--store", &store]).output().unwrap();
        let said = [said.stdout, said.stderr].concat();
        assert!(String::from_utf8_lossy(&said).contains("made"), "{file}");
    }
}

/// Whether a conversion says that it left out thoughts that only their provider may send again.
fn tells_of_thoughts(converted: &str) -> bool {
    ["unsigned-reasoning", "encrypted-reasoning"].iter().any(|code| converted.contains(code))
}

/// What a dialect can say comes over: all words, but thoughts that only their provider may send again.
#[test]
fn each_file_is_converted_with_all_that_the_dialect_can_say() {
    let mut converted = 0;
    for file in fixtures() {
        let file = file.to_str().unwrap();
        let own = ok(&["compact", file, "--window", "100k", "--json"]);
        for to in ["openai-chat", "anthropic", "gemini", "bedrock"] {
            let there = ok(&["compact", file, "--window", "100k", "--to", to, "--json"]);
            for whose in ["USERWORD", "TOOLWORD"] {
                assert_eq!(marked(&own, whose), marked(&there, whose), "{file} {to}");
            }
            // A recap leaves thoughts out.
            if own.contains("\"fold\":{") || there.contains("\"fold\":{") {
                continue;
            }
            converted += 1;
            let (own, kept) = (marked(&own, "AGENTWORD"), marked(&there, "AGENTWORD"));
            let lost: Vec<_> = own.difference(&kept).collect();
            assert!(lost.is_empty() || tells_of_thoughts(&there), "{file} {to}: {lost:?}");
        }
    }
    assert!(converted > 20, "{converted}");
}

/// There and back: what a dialect was given, it gives to the next one.
#[test]
fn each_file_comes_back_from_each_dialect_as_it_went_there() {
    let tmp = folder("client-files-back");
    let out = tmp.join("there.json").to_str().unwrap().to_owned();
    let mut returned = 0;
    for file in fixtures() {
        let file = file.to_str().unwrap();
        for (there, back) in [
            ("openai-chat", "anthropic"),
            ("anthropic", "openai-chat"),
            ("gemini", "openai-chat"),
            ("bedrock", "anthropic"),
        ] {
            ok(&["compact", file, "--window", "1M", "--to", there, "-o", &out]);
            let went = fs::read_to_string(&out).unwrap();
            let came = ok(&["compact", &out, "--window", "1M", "--to", back, "--json"]);
            // A recap leaves things out.
            if came.contains("\"fold\":{") {
                continue;
            }
            returned += 1;
            for whose in ["USERWORD", "TOOLWORD", "AGENTWORD"] {
                let lost = &marked(&went, whose) - &marked(&came, whose);
                let is_told = whose == "AGENTWORD" && tells_of_thoughts(&came);
                assert!(lost.is_empty() || is_told, "{file}: {there} to {back} lost {lost:?}");
            }
        }
    }
    assert!(returned > 40, "{returned}");
}

/// A broken line whose role is still read speaks as the system in its own words, and `verify` knows it (found by a fuzzer).
#[test]
fn a_system_message_of_another_shape_is_no_new_authority() {
    let tmp = folder("system-of-another-shape");
    let path = |name: &str| tmp.join(name).to_str().unwrap().to_owned();
    let (file, out) = (path("in.jsonl"), path("out.jsonl"));
    let system: &[u8] = b"{\"role\":\"system\",\"co\0\0nt\xff'ent\":\"You are a coding agent.\"}\n";
    let rest = br#"{"role":"user","content":"why is the total off by one?"}
{"role":"assistant","content":"It counts the header."}
"#;
    fs::write(&file, [system, rest].concat()).unwrap();
    ok(&["compact", &file, "--window", "8k", "-o", &out]);
    ok(&["check", "file", "--before", &file, "--after", &out]);
    assert!(fs::read_to_string(&out).unwrap().contains("You are a coding agent."));
}
