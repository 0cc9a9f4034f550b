//! `midfold measure exam`.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::{folder, run, stdout};

/// A tiny exam of one's own: its folder.
fn tiny(test: &str) -> PathBuf {
    let folder = folder(test);
    fs::create_dir(folder.join("messages")).unwrap();
    let question = r#"{"id": 1, "kind": "request", "question": "Which colour?", "answer": "teal",
        "key_points": [{"says": "teal", "probe": [["\\bteal"], ["colour|button"]]}], "evidence": [1]}"#;
    let exam = format!(r#"{{"window": 2000, "cut": 40, "questions": [{question}]}}"#);
    fs::write(folder.join("tiny.json"), exam).unwrap();
    let mut lines = vec![
        r#"{"role":"system","content":"Be brief."}"#.to_owned(),
        r#"{"role":"user","content":"Every button has the colour teal, please."}"#.to_owned(),
    ];
    for at in 2..42 {
        let role = if at % 2 == 0 { "assistant" } else { "user" };
        let text = format!("Number {at}: {}", "some words about the weather. ".repeat(9));
        lines.push(format!(r#"{{"role":"{role}","content":"{text}"}}"#));
    }
    fs::write(folder.join("messages/tiny.jsonl"), lines.join("\n")).unwrap();
    folder
}

/// A script for `sh`, and the command that runs it.
fn engine(test: &str, name: &str, script: &str) -> String {
    let path = folder(test).join(name);
    fs::write(&path, script).unwrap();
    format!("sh '{}'", path.display())
}

/// What fails with code 1, and says on standard error.
fn fails(args: &[&str]) -> String {
    let output = run(args, b"");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args, b"")).unwrap()
}

#[test]
fn a_quick_suite_has_a_line_a_strategy_in_text_and_in_json() {
    let args = ["measure", "exam", "--quick", "--suite", "small", "--preset", "lean,sliding"];
    let text = stdout(&args, b"");
    for name in ["lean ", "sliding "] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
    assert!(text.contains("small cases") && !text.contains("reading exam"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    assert!(
        !text.contains(" lost ")
            && stdout(&[&args[..], &["--lost"]].concat(), b"").contains("sliding lost")
    );
    let figures = json(&[&args[..], &["--json"]].concat());
    assert_eq!((&figures["version"], &figures["quick"]), (&1.into(), &true.into()));
    let rows = |at: usize| figures["suites"][at]["small"].as_array().unwrap().iter();
    let points = rows(0).map(|row| row["cycles"][1]["of"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(points, 4 * 23, "a third of the cases, in two forms and at two ratios");
    assert!(
        rows(1).all(|row| row["cycles"][1]["kept"] == 0),
        "the newest messages alone: {figures}"
    );
}

#[test]
fn an_exam_of_ones_own_is_read_and_written_out_for_a_reader() {
    let exams = tiny("exam-own");
    let exams = exams.display().to_string();
    let out = folder("exam-own-contexts");
    let page = folder("exam-own-page");
    let write = out.display().to_string();
    let args = [
        "measure",
        "exam",
        "--exam",
        &exams,
        "--preset",
        "default,sliding",
        "--write",
        &write,
        "--json",
    ];
    let figures = json(&args);
    let score = |at: usize| figures["reading"][at]["exams"]["tiny"]["score"].as_f64().unwrap();
    assert_eq!((score(0), score(1)), (1.0, 0.0), "the newest messages alone do not have it");
    assert_eq!(figures["suites"], Value::Array(vec![]), "nothing else is done");
    let context = fs::read_to_string(out.join("reading/tiny/default.context.md")).unwrap();
    assert!(context.contains("teal"), "{context}");
    assert!(out.join("reading/tiny/questions.md").exists());
    // The page of a replay takes these figures.
    let [figures_at, page] =
        ["figures.json", "page.html"].map(|name| page.join(name).display().to_string());
    fs::write(&figures_at, figures.to_string()).unwrap();
    let session = format!("{exams}/messages/tiny.jsonl");
    let replay = [
        "measure",
        "replay",
        &session,
        "--window",
        "1k",
        "--preset",
        "raw",
        "--exam",
        &figures_at,
        "-o",
        &page,
    ];
    assert!(run(&replay, b"").status.success());
}

#[test]
fn an_engine_outside_that_changes_nothing_keeps_all_and_is_over_the_window() {
    let exams = tiny("exam-echo");
    let exams = exams.display().to_string();
    let args =
        ["measure", "exam", "--exam", &exams, "--engine", "cat", "--engine", "cat", "--json"];
    let figures = json(&args);
    let [one, two] = [0, 1].map(|at| figures["reading"][at].clone());
    assert_eq!((&one["strategy"], &two["strategy"]), (&"cat".into(), &"cat-2".into()));
    assert_eq!(one["score"], 1.0);
    assert!(one["exams"]["tiny"]["over"].as_u64().unwrap() > 0, "{one}");
}

#[test]
fn an_engine_that_is_broken_is_known_before_anything_is_done() {
    for (script, says) in [
        ("read line; exit 3", "it ended without an answer (exit status: 3)"),
        ("while read line; do echo oops; done", "its answer is not JSON"),
        ("while read line; do echo '{\"messages\": []}'; done", "`messages` is empty"),
        ("exec sleep 60", "it did not answer within 0.2 s"),
    ] {
        let command = engine("exam-broken", "mine.sh", script);
        let said = fails(&["measure", "exam", "--engine", &command, "--engine-timeout", "0.2"]);
        assert!(said.contains("the engine mine does not answer") && said.contains(says), "{said}");
        assert!(said.contains("a JSON line with `messages`"), "what to do: {said}");
    }
    let said = fails(&["measure", "exam", "--engine", "nowhere"]);
    assert!(said.contains("`nowhere` cannot be started"), "{said}");
}

#[test]
fn an_engine_that_breaks_under_way_is_named_and_the_others_have_their_figures() {
    let exams = tiny("exam-midway");
    let exams = exams.display().to_string();
    // Small questions are answered, larger ones end it.
    let script = "while read -r line; do [ ${#line} -lt 5000 ] || exit 4; echo \"$line\"; done";
    let command = engine("exam-midway-engine", "weak.sh", script);
    let output =
        run(&["measure", "exam", "--exam", &exams, "--preset", "raw", "--engine", &command], b"");
    let [out, said] =
        [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("\nraw ") && !out.contains("weak"), "{out}");
    assert!(said.contains("weak failed: tiny: ") && said.contains("exit status: 4"), "{said}");
}

#[test]
fn an_exam_that_asks_nothing_is_refused() {
    for (points, says) in [
        ("[]", "question 1: it has no key points"),
        (r#"[{"says": "teal", "probe": []}]"#, "`teal` matches any text"),
        (r#"[{"says": "teal", "probe": [[]]}]"#, "`teal` matches any text"),
        (r#"[{"says": "teal", "probe": [["teal", ""]]}]"#, "`teal` matches any text"),
    ] {
        let exams = tiny("exam-nothing");
        let question = format!(
            r#"{{"id": 1, "kind": "request", "question": "?", "answer": "teal", "key_points": {points}, "evidence": [1]}}"#
        );
        let exam = format!(r#"{{"window": 2000, "cut": 40, "questions": [{question}]}}"#);
        fs::write(exams.join("tiny.json"), exam).unwrap();
        let said = fails(&["measure", "exam", "--exam", &exams.display().to_string()]);
        assert!(said.contains(says), "{points}: {said}");
    }
}

#[test]
fn what_cannot_be_examined_says_what_to_do() {
    let none = folder("exam-none");
    let [missing, empty] = [none.join("nowhere"), none].map(|path| path.display().to_string());
    for (path, says) in
        [(&missing, "there is no such folder"), (&empty, "there is no exam in this folder")]
    {
        let said = fails(&["measure", "exam", "--exam", path]);
        assert!(said.contains(path.as_str()) && said.contains(says), "{said}");
        assert!(said.contains("messages/NAME.json"), "what to do: {said}");
    }
    let output = run(&["measure", "exam", "--exam", &empty, "--suite", "small"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("add --suite reading"));
    let output = run(&["measure", "exam", "--preset", "lena"], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no strategy `lena`"));
}
