//! `midfold compact --model` against a scripted model.

use std::fs;
use std::process::Output;

use midfold_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::Value;

use crate::{folder, midfold};

const SESSION: &str = "examples/coding-session.jsonl";

fn reply(done: &str) -> ScriptedAnswer {
    let names = [
        "Task & Constraints",
        "State of Work",
        "Decisions & Reasons",
        "Work Done",
        "Tried & Failed",
        "Values & Facts",
        "Open & Next",
    ];
    let section = |name: &&str| match *name {
        "Work Done" => format!("## {name}\n{done}\n"),
        _ => format!("## {name}\n- work went on as planned\n"),
    };
    let body: String = names.iter().map(section).collect();
    ScriptedAnswer::text(&format!("## Conversation Summary\n{body}"))
}

fn serve(answer: ScriptedAnswer) -> (tokio::runtime::Runtime, ModelServer) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::always(answer)).unwrap();
    (runtime, server)
}

struct Run {
    output: Output,
    fold: Value,
}

impl Run {
    fn recap(&self) -> &str {
        self.fold["recap"]["text"].as_str().unwrap()
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}

fn compact(name: &str, url: &str, more: &[&str]) -> Run {
    let record = folder(name).join("fold.json").display().to_string();
    let args = ["compact", SESSION, "--window", "64k", "--record", &record, "--model", url];
    let output = midfold(&[&args, more].concat())
        .env("THE_KEY", "sk-very-secret-1234567890")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let fold = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    Run { output, fold }
}

#[test]
fn what_a_model_writes_stands_in_the_recap_and_what_it_invents_does_not() {
    let (_runtime, server) =
        serve(reply("- the settlement was looked at\n- moved to src/ghost/phantom_thing.rs"));
    let more = ["--model-name", "small", "--key-env", "THE_KEY", "--focus", "the zqfocus lock"];
    let run = compact("compact-model", server.url(), &more);
    assert!(run.recap().contains("### Narrated by a model\n"), "{}", run.recap());
    assert!(run.recap().contains("- **Work Done:** the settlement was looked at\n"));
    assert!(!run.recap().contains("phantom_thing"));
    assert_eq!(run.fold["fallback"], Value::Null);
    let verdict = &run.fold["verdicts"][0];
    assert_eq!(verdict["code"], "accepted");
    assert_eq!(verdict["dropped"][0]["line"], "moved to src/ghost/phantom_thing.rs");
    assert!(!run.stderr().contains("warning"), "{}", run.stderr());

    let asked = server.seen();
    assert_eq!(asked.len(), 1, "one shot");
    assert_eq!(asked[0].header("authorization"), Some("Bearer sk-very-secret-1234567890"));
    let user = asked[0].message("user");
    let focus = user.split("<<data:").find(|block| block.contains("zqfocus")).unwrap();
    assert!(focus.lines().next().unwrap().ends_with(" focus>>"), "{focus}");
    let last = run.fold["narrated"]["span"]["end"].as_u64().unwrap();
    assert!(user.contains(&format!(" {}>>", last - 1)), "all that is covered was shown");
}

#[test]
fn without_an_answer_the_computed_recap_stands_and_one_line_says_why() {
    for (name, answer, code) in [
        ("compact-refused", ScriptedAnswer::refusal(401, "invalid_api_key", "no"), "auth"),
        ("compact-garbage", ScriptedAnswer::text("I cannot help with that."), "no-header"),
    ] {
        let (_runtime, server) = serve(answer);
        let run = compact(name, server.url(), &[]);
        assert_eq!(run.fold["fallback"], "computed");
        assert_eq!(run.fold["verdicts"][0]["code"], code);
        let stderr = run.stderr();
        let warnings: Vec<_> = stderr.lines().filter(|line| line.contains("warning")).collect();
        assert_eq!(warnings.len(), 1, "{stderr}");
        assert!(warnings[0].contains(code), "{stderr}");
    }
}

#[test]
fn a_preview_asks_nobody() {
    let (_runtime, server) = serve(reply("- x"));
    let args = ["compact", SESSION, "--preview", "--model", server.url()];
    assert!(midfold(&args).output().unwrap().status.success());
    assert!(server.seen().is_empty());
}
