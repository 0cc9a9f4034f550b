//! `midfold trajectories` of transcripts: what `midfold compact` reads becomes rows.

use std::fs;

use serde_json::Value;

use crate::trajectories::text;
use crate::{folder, root, run};

/// Transcripts, and how many conversations are in each.
const FILES: [(&str, usize); 10] = [
    ("fixtures/openai-chat.jsonl", 1),
    ("fixtures/openai-responses.json", 1),
    ("fixtures/anthropic.json", 1),
    ("fixtures/gemini.json", 1),
    ("fixtures/bedrock.json", 1),
    ("fixtures/ollama.json", 1),
    ("fixtures/claude-code.jsonl", 1),
    ("fixtures/codex.jsonl", 1),
    ("fixtures/pi.jsonl", 1),
    ("fixtures/swe-agent.traj", 1),
];

fn rows(input: &str, shape: &str, name: &str) -> (Vec<Value>, Value) {
    let folder = folder(&format!("transcripts-{name}-{shape}"));
    let out = folder.join("train.jsonl");
    let more = ["--shape", shape, "--target-tokens", "1500", "--summary-tokens", "400"];
    let args = ["trajectories", input, "-o", &text(&out), "--json"];
    let output = run(&[&args[..], &more].concat(), b"");
    assert!(output.status.success(), "{name}: {output:?}");
    let report = serde_json::from_slice(&output.stdout).unwrap();
    let written = fs::read_to_string(&out).unwrap();
    (written.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), report)
}

#[test]
fn transcripts_of_clients_become_rows_of_either_shape() {
    for (file, count) in FILES {
        for (shape, list, speaker) in
            [("sharegpt", "conversations", "from"), ("messages", "messages", "role")]
        {
            let name = file.rsplit('/').next().unwrap();
            let (rows, report) = rows(file, shape, name);
            assert_eq!(rows.len(), count, "{file} {shape}");
            assert_eq!(report["summary"]["trajectories_failed"], 0, "{file} {shape}");
            for row in &rows {
                let turns = row[list].as_array().unwrap();
                assert!(turns.len() > 1, "{file} {shape}");
                assert!(turns.iter().all(|turn| turn[speaker].is_string()), "{file} {shape}");
            }
        }
    }
}

#[test]
fn a_summary_in_a_row_names_no_message_by_a_number() {
    let (rows, report) = rows("examples/coding-session.jsonl", "sharegpt", "numbers");
    assert!(report["summary"]["trajectories_compressed"].as_u64() > Some(0), "{report}");
    let numbered = regex::Regex::new(r"(?m)(^|[ (,])@\d").unwrap();
    for row in &rows {
        let turns = row["conversations"].as_array().unwrap().iter();
        let values = turns.filter_map(|turn| turn["value"].as_str());
        for summary in values.filter(|value| value.contains("[CONTEXT SUMMARY]")) {
            assert!(!numbered.is_match(summary), "{summary}");
        }
    }
}

#[test]
fn standard_input_may_be_a_transcript() {
    let folder = folder("transcripts-stdin");
    let out = folder.join("train.jsonl");
    let input = b"{\n  \"model\": \"m\",\n  \"messages\": [\n    {\"role\": \"user\", \"content\": \"hi\"},\n    {\"role\": \"assistant\", \"content\": \"hello\"}\n  ]\n}\n";
    let output = run(&["trajectories", "-", "-o", &text(&out), "--json"], input);
    assert!(output.status.success(), "{output:?}");
    let row: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(row["model"], "m");
    assert_eq!(row["messages"][1]["content"], "hello");
}

/// A run of `midfold trajectories` in a folder of its own: what it says, and the lines that it wrote.
fn said(name: &str, files: &[(&str, &str)], more: &[&str]) -> (String, String) {
    let folder = folder(&format!("transcripts-{name}"));
    let input = folder.join("in");
    fs::create_dir_all(&input).unwrap();
    for (name, text) in files {
        fs::write(input.join(name), text).unwrap();
    }
    let out = folder.join("train.jsonl");
    let args = ["trajectories", &text(&input), "-o", &text(&out)];
    let output = run(&[&args[..], more].concat(), b"");
    let written = fs::read_to_string(&out).unwrap_or_default();
    (String::from_utf8(output.stderr).unwrap(), written)
}

const ROW: &str = r#"{"conversations":[{"from":"gpt","value":"Hi."},{"from":"human","value":"Why?"},{"from":"gpt","value":"So."},{"from":"human","value":"Thanks."}]}"#;

#[test]
fn the_end_of_a_run_of_mini_swe_agent_is_no_turn() {
    let run = r#"{"trajectory_format":"mini-swe-agent-1.1","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"exit","content":"Submitted"}]}"#;
    for shape in ["messages", "sharegpt"] {
        let name = format!("mini-{shape}");
        let (told, written) = said(&name, &[("run.jsonl", run)], &["--shape", shape]);
        assert!(!written.contains("exit") && !written.contains("Submitted"), "{written}");
        assert!(told.contains("run-end: left out"), "{told}");
    }
}

#[test]
fn a_rejection_names_its_remedy() {
    let files = [("rows.jsonl", ROW)];
    let (told, written) = said("remedy", &files, &["--trainer", "trl"]);
    assert!(told.contains("1 last-turn: --trim-turns drops the turns behind"), "{told}");
    assert_eq!(written, "");
    let (told, written) = said("trimmed", &files, &["--trainer", "trl", "--trim-turns"]);
    assert!(!told.contains("rejected"), "{told}");
    let cut = r#"{"conversations":[{"from":"human","value":"Why?"},{"from":"gpt","value":"So."}]}"#;
    assert_eq!(written.trim(), cut);
}

#[test]
fn rows_over_the_limit_are_written_or_rejected() {
    let long = ROW.replace("So.", &"so much of it ".repeat(400));
    let files = [("rows.jsonl", long.as_str())];
    let (told, written) = said("over", &files, &["--target-tokens", "300"]);
    assert!(
        told.contains("1 still longer than 300") && told.contains("--reject-over-limit"),
        "{told}"
    );
    assert!(!written.is_empty());
    let more = ["--target-tokens", "300", "--reject-over-limit"];
    let (told, written) = said("over-rejected", &files, &more);
    assert!(told.contains("over-limit 1") && written.is_empty(), "{told}");
}

#[test]
fn a_report_says_that_two_shapes_were_written() {
    let session = fs::read_to_string(root().join("examples/coding-session.jsonl")).unwrap();
    let files = [("rows.jsonl", ROW), ("session.jsonl", session.as_str())];
    let (told, _) = said("shapes", &files, &[]);
    assert!(told.contains("rows stay sharegpt") && told.contains("--shape sharegpt"), "{told}");
    let (told, _) = said("one-shape", &files, &["--shape", "sharegpt"]);
    assert!(!told.contains("rows stay"), "{told}");
}
