//! `midfold trajectories`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{folder, regex_of, run, seen, stdout};

/// A row with `steps` calls, as an agent in a shell leaves it. The same number gives the same row.
pub fn row(n: usize, steps: usize) -> String {
    let mut out = format!(
        "{{\"id\": {n}, \"conversations\": [{{\"from\": \"system\", \"value\": \"Be brief.\"}}, {{\"from\": \"human\", \"value\": \"Fix module_{n}.py, never touch tests/\"}}"
    );
    for step in 0..steps {
        let noise: String =
            (0..12).map(|k| format!("{} ", (n * 31 + step * 17 + k * 7) % 997)).collect();
        write!(
            out,
            ", {{\"from\": \"gpt\", \"value\": \"Step {step}\\n<tool_call>\\n{{\\\"name\\\": \\\"bash\\\", \\\"arguments\\\": {{\\\"command\\\": \\\"sed -n {step}p module_{n}.py\\\"}}}}\\n</tool_call>\"}}, {{\"from\": \"tool\", \"value\": \"<tool_response>\\n{{\\\"name\\\": \\\"bash\\\", \\\"content\\\": \\\"{noise} caf\\u00e9 {noise}\\\"}}\\n</tool_response>\"}}"
        )
        .unwrap();
    }
    out + ", {\"from\": \"gpt\", \"value\": \"Done.\"}], \"reward\": 1.0}\n"
}

/// Rows of very different lengths; some lines cannot be used.
pub fn rows(count: usize) -> String {
    let mut text = String::new();
    for n in 0..count {
        match n % 50 {
            17 => text.push_str("{\"conversations\": [\n"),
            31 => text.push_str("\n{\"text\": \"no turns\"}\n"),
            44 => text.push_str("{\"conversations\": [{\"from\": \"gpt\", \"value\": 5}]}\n"),
            _ => text += &row(n, 1 + n * 7 % 23),
        }
    }
    text
}

pub fn text(path: &Path) -> String {
    path.display().to_string()
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn sees(name: &str, args: &[&str]) {
    let output = run(args, b"");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex_of(env!("CARGO_TARGET_TMPDIR")), "[TMP]");
    settings.add_filter(r"in \d+\.\d s", "in [TIME]");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, seen(&output)));
}

#[test]
fn a_run_without_a_row_leaves_the_older_output() {
    let tmp = folder("trajectories-none");
    let [input, out] = ["in.jsonl", "out.jsonl"].map(|name| tmp.join(name));
    fs::write(&input, "1\n2\n").unwrap();
    fs::write(&out, row(1, 2)).unwrap();
    let done = run(&["trajectories", &text(&input), "-o", &text(&out)], b"");
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&out).unwrap(), row(1, 2));
    let names = fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.contains("rejects")), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("part")), "{names:?}");
}

pub const LIMITS: [&str; 4] = ["--target-tokens", "700", "--summary-tokens", "200"];

#[test]
fn help() {
    sees("help-trajectories", &["trajectories", "--help"]);
}

#[test]
fn a_run_reports_what_it_did_and_where_everything_is() {
    let tmp = folder("trajectories");
    let input = tmp.join("runs.jsonl");
    fs::write(&input, rows(120)).unwrap();
    let (input, out) = (text(&input), text(&tmp.join("train.jsonl")));
    let args = ["trajectories", &input, "-o", &out, LIMITS[0], LIMITS[1], LIMITS[2], LIMITS[3]];
    sees("trajectories", &args);
    let names: Vec<_> = {
        let entries = fs::read_dir(&tmp).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names, ["runs.jsonl", "train.jsonl", "train.metrics.json", "train.rejects.jsonl"]);
    // Every line is in one of the two files, in order; what fits is the same bytes.
    let before = fs::read_to_string(&input).unwrap();
    let after = fs::read_to_string(&out).unwrap();
    let rejects: Vec<Value> = fs::read_to_string(tmp.join("train.rejects.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let refused = |line: usize| rejects.iter().any(|reject| reject["line"] == line as u64);
    let good = before.lines().enumerate().filter(|(at, line)| !line.is_empty() && !refused(at + 1));
    let (mut same, mut folded) = (0, 0);
    let mut written = after.lines();
    for (_, line) in good {
        let new = written.next().unwrap();
        if new == line {
            same += 1;
        } else {
            folded += 1;
            assert!(new.contains("[CONTEXT SUMMARY]:"), "{new}");
            assert_eq!(new.split(',').next(), line.split(',').next());
        }
    }
    assert_eq!(written.next(), None);
    assert_eq!(rejects[0]["code"], "not-json");
    let metrics = json(&tmp.join("train.metrics.json"));
    assert_eq!(metrics["summary"]["total_trajectories"], same + folded);
    assert_eq!(metrics["summary"]["trajectories_compressed"], folded);
    assert_eq!(metrics["summary"]["trajectories_failed"], rejects.len());
    assert!(metrics["distribution"]["tokens_after"]["max"].as_u64().unwrap() <= 700);
    // As JSON, from standard input, by one worker: the same rows.
    let again = text(&tmp.join("again.jsonl"));
    let args = [
        "trajectories",
        "-",
        "-o",
        &again,
        LIMITS[0],
        LIMITS[1],
        LIMITS[2],
        LIMITS[3],
        "--workers",
        "1",
        "--json",
    ];
    let said: Value = serde_json::from_str(&stdout(&args, before.as_bytes())).unwrap();
    assert_eq!(said["summary"], metrics["summary"]);
    assert_eq!(fs::read_to_string(again).unwrap(), after);
}

#[test]
fn every_written_row_is_one_that_the_trainer_takes() {
    let tmp = folder("trajectories-trainer");
    let input = tmp.join("runs.jsonl");
    let ends_with_the_user = row(1, 3).replace(
        "{\"from\": \"gpt\", \"value\": \"Done.\"}",
        "{\"from\": \"human\", \"value\": \"And?\"}",
    );
    fs::write(&input, rows(60) + &ends_with_the_user).unwrap();
    let out = tmp.join("train.jsonl");
    let (input, output) = (text(&input), text(&out));
    let args = [
        "trajectories",
        &input,
        "-o",
        &output,
        LIMITS[0],
        LIMITS[1],
        LIMITS[2],
        LIMITS[3],
        "--trainer",
        "llamafactory",
    ];
    stdout(&args, b"");
    for line in fs::read_to_string(&out).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let turns = row["conversations"].as_array().unwrap();
        assert_eq!(turns.len() % 2, 1);
        for (at, turn) in turns.iter().enumerate().skip(1) {
            assert_eq!(turn["from"] == "gpt", at % 2 == 0, "{line}");
        }
    }
    let rejects = fs::read_to_string(tmp.join("train.rejects.jsonl")).unwrap();
    assert!(rejects.contains("\"code\":\"last-turn\"") && rejects.contains("\"no-turns\""));
    // The peer's placement: what LLaMA-Factory would drop in silence is told.
    let args = [&args[..], &["--placement", "human_turn"]].concat();
    stdout(&args, b"");
    let rejects = fs::read_to_string(tmp.join("train.rejects.jsonl")).unwrap();
    assert!(rejects.contains("\"code\":\"alternation\""));
}

#[test]
fn a_file_of_the_peer_sets_what_it_says() {
    let tmp = folder("trajectories-yaml");
    let (input, config) = (tmp.join("runs.jsonl"), tmp.join("hermes.yaml"));
    fs::write(&input, row(1, 20)).unwrap();
    fs::write(
        &config,
        "tokenizer:\n  name: moonshotai/Kimi-K2-Thinking\n  trust_remote_code: true\ncompression:\n  target_max_tokens: 700\n  summary_target_tokens: 200\nprotected_turns:\n  last_n_turns: 2\noutput:\n  add_summary_notice: true\n  summary_notice_text: \" (notice)\"\nprocessing:\n  num_workers: 2\nmetrics:\n  enabled: true\n  per_trajectory: true\n  output_file: compression_metrics.json\n",
    )
    .unwrap();
    let (input, config, out) = (text(&input), text(&config), text(&tmp.join("out.jsonl")));
    sees("trajectories-yaml", &["trajectories", &input, "-o", &out, "--config", &config]);
    let row: Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    assert_eq!(row["conversations"][0]["value"], "Be brief. (notice)");
    assert_eq!(row["compression_metrics"]["was_compressed"], true);
    assert_eq!(row["conversations"][4]["from"], "human");
    assert!(tmp.join("compression_metrics.json").is_file());
    // What stands on the command line wins.
    stdout(
        &["trajectories", &input, "-o", &out, "--config", &config, "--target-tokens", "50k"],
        b"",
    );
    assert_eq!(fs::read(&out).unwrap(), fs::read(&input).unwrap());
}

/// A file that is named and not there is an error wherever it is named.
#[test]
fn a_tokenizer_file_that_is_not_there_is_an_error() {
    let tmp = folder("trajectories-no-tokenizer");
    let (input, config) = (tmp.join("runs.jsonl"), tmp.join("hermes.yaml"));
    fs::write(&input, row(1, 20)).unwrap();
    fs::write(&config, "tokenizer:\n  name: ./nope/tokenizer.json\n").unwrap();
    let (input, config, out) = (text(&input), text(&config), text(&tmp.join("out.jsonl")));
    for named in [["--config", &config], ["--tokenizer", "./nope/tokenizer.json"]] {
        let done = run(&[&["trajectories", &input, "-o", &out][..], &named].concat(), b"");
        assert_eq!(done.status.code(), Some(1), "{named:?}");
        assert!(String::from_utf8_lossy(&done.stderr).contains("nope/tokenizer.json"), "{named:?}");
    }
}

#[test]
fn wrong_use_is_told() {
    let tmp = folder("trajectories-wrong");
    let input = tmp.join("runs.jsonl");
    fs::write(&input, rows(5)).unwrap();
    let (input, out) = (text(&input), text(&tmp.join("out.jsonl")));
    let fails = |args: &[&str], code: i32, says: &str| {
        let output = run(&[&["trajectories"], args].concat(), b"");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(stderr.contains(says), "{args:?}: {stderr}");
    };
    fails(&[&input, "-o", &input], 2, "read and written at once");
    fails(&[&input, "-o", &text(&tmp)], 2, "no file to write to");
    fails(&["nowhere.jsonl", "-o", &out], 1, "cannot be read");
    fails(&[&input, "-o", &out, "--placement", "human"], 2, "human_turn");
    fails(&[&input, "-o", &out, "--trainer", "tlr"], 2, "did you mean `trl`");
    fails(&["-", "-o", &out, "--resume"], 2, "cannot be read again");
}
