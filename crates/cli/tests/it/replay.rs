//! `midfold measure replay` and `midfold inspect --fold`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use midfold_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json as value};

use crate::{folder, midfold, regex_of, run, seen, stdout};

/// Strategies that stay as they are: snapshots are of the command, not of a preset.
const FIXED: &str = "raw,sliding,head-tail,clear";

/// A generated coding session of some 30,000 tokens, in a folder of the test.
fn session(test: &str) -> String {
    let path = folder(test).join("session.jsonl");
    fs::write(&path, midfold_testkit::coding_session(7, 6).join("\n")).unwrap();
    path.display().to_string()
}

/// Compares what a user sees; times are left out.
fn snapshot(name: &str, args: &[&str], columns: &str) {
    let output = midfold(args).env("COLUMNS", columns).output().unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex_of(env!("CARGO_TARGET_TMPDIR")), "[TMP]");
    settings.add_filter(r" +\d+\.\d\n", "  [ms]\n");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, seen(&output)));
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args, b"")).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_table_fits_the_terminal() {
    let file = session("replay-table");
    let args = ["measure", "replay", &file, "--window", "8k", "--preset", FIXED];
    for columns in ["80", "100", "120"] {
        let output = midfold(&args).env("COLUMNS", columns).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{columns}: {widest}\n{text}");
    }
    snapshot("replay", &args, "80");
    snapshot("replay-wide", &args, "120");
    let both =
        ["measure", "replay", &file, "--window", "8k", "--preset", "clear", "--form", "both"];
    snapshot("replay-both", &both, "80");
    let priced = ["measure", "replay", &file, "--window", "8k,16k", "--preset", "raw,head-tail"];
    let table = folder("replay-prices").join("mine.toml");
    let text = "name = \"mine\"\nunit = \"USD per million tokens\"\ninput = 3.0\nread = 0.3\nwrite = 3.75\noutput = 15.0\n";
    fs::write(&table, text).unwrap();
    let table = table.display().to_string();
    snapshot("replay-prices", &[&priced[..], &["--prices", &table]].concat(), "90");
}

#[test]
fn what_cannot_be_done_is_said_with_a_way_out() {
    let file = session("replay-bad");
    let tmp = folder("replay-bad-files");
    let [broken, empty, none] = ["prices.toml", "empty", "missing"].map(|name| tmp.join(name));
    fs::write(&broken, "name = 3\n").unwrap();
    fs::create_dir(&empty).unwrap();
    fs::write(empty.join("notes.md"), "# Notes\n").unwrap();
    let [broken, empty, none] = [broken, empty, none].map(|path| path.display().to_string());
    let with =
        |more: &[&'static str]| [&["measure", "replay", "FILE", "--window", "8k"], more].concat();
    let at = |args: Vec<&str>| {
        args.into_iter()
            .map(|a| if a == "FILE" { &file[..] } else { a }.to_owned())
            .collect::<Vec<_>>()
    };
    let seen = |name: &str, args: Vec<String>| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        snapshot(name, &args, "90");
    };
    seen("replay-unknown", at(with(&["--preset", "defualt"])));
    seen("replay-unknown-prices", at(with(&["--prices", "claude-sonet-4-5"])));
    let owned = |args: &[&str]| args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>();
    seen(
        "replay-bad-prices",
        owned(&["measure", "replay", &file, "--window", "8k", "--prices", &broken]),
    );
    seen("replay-empty-folder", owned(&["measure", "replay", &empty, "--window", "8k"]));
    seen("replay-missing", owned(&["measure", "replay", &none, "--window", "8k"]));
    seen("replay-no-engine", at(with(&["--engine", "no-such-engine --fast"])));
    seen(
        "replay-nowhere",
        owned(&[
            "measure",
            "replay",
            &file,
            "--window",
            "8k",
            "--preset",
            "raw",
            "-o",
            "/no/such/folder/r.html",
        ]),
    );
}

/// Without a window, the one of the recorded model holds: settings know more than the table, the table more
/// than nothing.
#[test]
fn the_window_is_that_of_the_model_and_said() {
    let tmp = folder("replay-window");
    let talk = "we went on as before and nothing came of it ".repeat(600);
    let rows: Vec<Value> = (0..80)
        .map(|at| value!({ "role": (["user", "assistant"][at % 2]), "content": format!("{at} {talk}") }))
        .collect();
    let write = |name: &str, model: Option<&str>| {
        let mut request = value!({ "messages": rows });
        if let Some(model) = model {
            request["model"] = model.into();
        }
        fs::write(tmp.join(name), request.to_string()).unwrap();
    };
    write("none.json", None);
    write("gpt.json", Some("gpt-4o"));
    write("own.json", Some("mine-7b"));
    let replayed = |args: &[&str]| {
        let args = [&["measure", "replay"], args, &["--preset", "sliding", "--json"]].concat();
        let output = midfold(&args).current_dir(&tmp).env("HOME", &tmp).output().unwrap();
        assert!(output.status.success(), "{}", seen(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        (found["runs"][0]["window"].as_u64().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let said = |window: u64, text: &str| (window, format!("window: {text}\n"));
    let none = "128,000, the default: the file names no model (set --window)";
    assert_eq!(replayed(&["none.json"]), said(128_000, none));
    assert_eq!(replayed(&["gpt.json"]), said(128_000, "128,000, that of gpt-4o"));
    let unknown = "128,000, the default: mine-7b is not known (set --window)";
    assert_eq!(replayed(&["own.json"]), said(128_000, unknown));
    assert_eq!(replayed(&["own.json", "--window", "64k"]), (64_000, String::new()));
    fs::write(tmp.join("midfold.toml"), "[windows]\n\"mine-*\" = 32000\n").unwrap();
    assert_eq!(replayed(&["own.json"]), said(32_000, "32,000, as given"));
    assert_eq!(replayed(&["gpt.json"]), said(128_000, "128,000, that of gpt-4o"));
}

/// The hint of the error leads to a table.
#[test]
fn a_short_conversation_names_a_window_that_works() {
    let file = session("replay-short");
    let output = run(&["measure", "replay", &file, "--window", "200k"], b"");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    let (_, rest) = text.split_once("try --window ").unwrap();
    let window = rest.split_whitespace().next().unwrap();
    let found =
        json(&["measure", "replay", &file, "--window", window, "--preset", "head-tail", "--json"]);
    assert!(found["runs"][0]["totals"]["folds"].as_u64().unwrap() > 0, "{text}");
    let args =
        ["measure", "replay", &file, "--window", "20k", "--longer-than", "0.8", "--preset", "raw"];
    assert!(stdout(&args, b"").contains("1 conversation"));
}

#[test]
fn arguments_can_be_read_as_they_were_sent_and_the_report_says_so() {
    let arguments = r#"{"path":"out","content":"\n\tquotaOf()"}"#;
    let call = value!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1",
        "type": "function", "function": { "name": "write", "arguments": arguments } }] });
    let result = value!({ "role": "tool", "tool_call_id": "c1", "content": "done" });
    let talk = "we went on as before and nothing came of it ".repeat(40);
    let between =
        (0..16).map(|at| value!({ "role": (["assistant", "user"][at % 2]), "content": talk }));
    let task = value!({ "role": "user", "content": "Write it." });
    let rows: Vec<Value> = [task, call.clone(), result.clone()]
        .into_iter()
        .chain(between)
        .chain([call, result])
        .collect();
    let file = folder("replay-arguments").join("talk.jsonl");
    fs::write(&file, rows.iter().map(|row| format!("{row}\n")).collect::<String>()).unwrap();
    let file = file.display().to_string();
    let args = ["measure", "replay", &file, "--window", "6k", "--preset", "default"];
    // The recap names `quotaOf`; with the escapes of the JSON it would be `tquotaOf`.
    let totals = json(&[&args[..], &["--json"]].concat())["runs"][0]["totals"].clone();
    assert_eq!((&totals["at_risk_need"], &totals["at_risk"]), (&1.into(), &1.0.into()));
}

#[test]
fn json_is_the_documented_form() {
    let file = session("replay-json");
    let args = [
        "measure",
        "replay",
        &file,
        "--window",
        "8k,16k",
        "--preset",
        "raw,default",
        "--form",
        "both",
    ];
    let found = json(&[&args[..], &["--json"]].concat());
    assert_eq!(
        keys(&found),
        ["conversations", "midfold", "prices", "runs", "tokenizer", "version"]
    );
    assert_eq!((&found["version"], &found["tokenizer"]), (&1.into(), &"chars:3.2".into()));
    let talk = &found["conversations"][0];
    assert_eq!(keys(talk), ["dialect", "events", "messages", "name", "tokens"]);
    let events = talk["events"].as_array().unwrap();
    assert_eq!(events.len() as u64, talk["messages"].as_u64().unwrap());
    assert!(events.iter().all(|event| event.as_array().unwrap().len() == 4));
    let runs = found["runs"].as_array().unwrap();
    let named = |run: &Value| {
        let text = |key: &str| run[key].as_str().unwrap().to_owned();
        (text("strategy"), run["window"].as_u64().unwrap(), text("form"))
    };
    let names: Vec<_> = runs.iter().map(named).collect();
    let name = |strategy: &str, window, form: &str| (strategy.to_owned(), window, form.to_owned());
    let wanted = [8_000, 16_000].into_iter().flat_map(|window| {
        [("raw", "stateless"), ("default", "stateless"), ("default", "session")]
            .map(|(strategy, form)| name(strategy, window, form))
    });
    assert_eq!(names, wanted.collect::<Vec<_>>());
    let run = &runs[1];
    assert_eq!(keys(run), ["conversations", "engine", "form", "strategy", "totals", "window"]);
    let part = &run["conversations"][0];
    assert_eq!(keys(part), ["conversation", "folds", "losses", "requests", "totals"]);
    let totals = "at_risk at_risk_need breaks causes classes context_us cost counted fold_us folds \
                  hit_share invalid mean mean_share modified modified_need over peak price rare \
                  rare_need raw_price reachable reachable_need read read_need recall recall_need \
                  requests rereads rules rules_need tokens_by within_reach";
    assert_eq!(keys(&run["totals"]).join(" "), totals);
    assert_eq!(run["totals"], part["totals"], "one conversation is all");
    let causes = run["totals"]["causes"].as_object().unwrap().values();
    assert_eq!(causes.filter_map(Value::as_u64).sum::<u64>(), run["totals"]["folds"]);
    let requests = part["requests"].as_array().unwrap();
    assert_eq!(requests.len() as u64, run["totals"]["requests"].as_u64().unwrap());
    assert!(requests.iter().all(|row| row.as_array().unwrap().len() == 8));
    let folds = part["folds"].as_array().unwrap();
    let folding = requests.iter().filter_map(|row| row[4].as_i64()).filter(|fold| *fold >= 0);
    assert_eq!(folding.collect::<Vec<_>>(), (0..folds.len() as i64).collect::<Vec<_>>());
    for fold in folds {
        let names = keys(fold).join(" ");
        assert_eq!(names, "after at before cause fates recap recap_tokens referenced_later why");
        let fates = fold["fates"].as_array().unwrap();
        let cells: u64 = fates.iter().map(|run| run[1].as_u64().unwrap()).sum();
        assert_eq!(cells, fold["at"].as_u64().unwrap());
        assert!(fates.iter().all(|run| "vscrmpx".contains(run[0].as_str().unwrap())));
    }
    let losses = part["losses"].as_array().unwrap();
    assert!(!losses.is_empty());
    for loss in losses {
        assert_eq!(keys(loss), ["at", "class", "id", "recalled", "seen", "times"]);
        // The fold that was in force when the name was asked for again says so, too.
        let last = folds.iter().rfind(|fold| fold["at"].as_u64() <= loss["at"].as_u64()).unwrap();
        assert!(last["referenced_later"].as_array().unwrap().contains(&loss["id"]), "{loss}");
    }
}

/// Runs a replay with an engine; standard output and error, whether it went well.
fn engine(test: &str, command: &str) -> (Value, String) {
    engine_within(test, command, "120")
}

/// The same with a limit for each answer, in seconds.
fn engine_within(test: &str, command: &str, limit: &str) -> (Value, String) {
    let file = session(test);
    let args = [
        "measure",
        "replay",
        &file,
        "--window",
        "8k",
        "--engine",
        command,
        "--engine-timeout",
        limit,
    ];
    // An engine that got through nothing has its page, and an exit code that says so.
    let output = run(&args, b"");
    let found = run(&[&args[..], &["--json"]].concat(), b"").stdout;
    let found: Value = serde_json::from_slice(&found).unwrap();
    let failed = !found["runs"][0]["conversations"][0]["error"].is_null();
    assert_eq!(output.status.success(), !failed, "{}", String::from_utf8_lossy(&output.stderr));
    let runs = found["runs"].as_array().unwrap();
    assert!(runs.len() == 1 && runs[0]["engine"] == true);
    (runs[0].clone(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn an_engine_that_gives_back_what_it_got_is_raw() {
    let (run, text) = engine("engine-echo", "cat");
    assert_eq!((&run["totals"]["folds"], &run["totals"]["cost"]), (&0.into(), &1.0.into()));
    assert!(run["totals"]["over"].as_u64().unwrap() > 0 && text.contains(" cat "), "{text}");
}

#[test]
fn an_engine_in_another_language_is_measured_like_ours() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let script = folder("engine-script").join("ends.py");
    let code = r#"
import json, sys
for line in sys.stdin:
    messages = json.loads(line)["messages"]
    tail = 6
    while messages[-tail]["role"] == "tool":
        tail += 1
    marker = {"role": "user", "content": "[left out]"}
    print(json.dumps({"messages": messages[:2] + [marker] + messages[-tail:]}), flush=True)
"#;
    fs::write(&script, code).unwrap();
    let (run, text) = engine("engine-python", &format!("python3 '{}'", script.display()));
    let totals = &run["totals"];
    assert!(totals["folds"].as_u64().unwrap() > 1 && text.contains("ends"), "{run}");
    assert_eq!((&totals["invalid"], &run["strategy"]), (&0.into(), &"ends".into()));
    // What it kept is known again, byte for byte, though Python writes JSON its own way.
    let fates = run["conversations"][0]["folds"][0]["fates"].as_array().unwrap();
    assert_eq!((&fates[0][0], &fates[0][1]), (&"v".into(), &2.into()));
    assert_eq!(fates.last().unwrap()[0], "v");
}

#[test]
fn an_engine_that_fails_is_left_out_with_its_words() {
    for (test, command, says) in [
        ("engine-dies", "sh -c 'read line; exit 3'", "ended without an answer (exit status: 3)"),
        ("engine-gone", "false", "ended without an answer (exit status: 1)"),
        ("engine-garbage", "sh -c 'while read -r line; do echo oops; done'", "not JSON"),
        ("engine-list", "sh -c 'while read -r line; do echo []; done'", "no list `messages`"),
        (
            "engine-says",
            r#"sh -c 'while read -r line; do echo "{\"error\":\"no room\"}"; done'"#,
            "no room",
        ),
    ] {
        let (run, text) = engine(test, command);
        let error = run["conversations"][0]["error"].as_str().unwrap();
        assert!(error.contains(says), "{test}: {error}");
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(folded.contains("1 of 1 conversation left out"), "{test}: {text}");
    }
}

#[test]
fn what_is_left_out_is_named() {
    let folder = folder("named");
    for name in ["fits.jsonl", "grows.jsonl"] {
        let mut lines = midfold_testkit::coding_session(7, 6);
        if name == "grows.jsonl" {
            // One step that no window of this size holds, however much is folded.
            let text = "all work and no play ".repeat(12_000);
            lines.push(format!(r#"{{"role":"user","content":"{text}"}}"#));
            lines.push(r#"{"role":"assistant","content":"Done."}"#.to_owned());
        }
        fs::write(folder.join(name), lines.join("\n")).unwrap();
    }
    let folder = folder.display().to_string();
    let text = stdout(
        &["measure", "replay", &folder, "--window", "16k", "--preset", "default,hermes"],
        b"",
    );
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for strategy in ["default", "hermes"] {
        let says = format!(
            "{strategy}: 1 of 2 conversations left out, and not in its figures: grows.jsonl. Why: "
        );
        assert!(folded.contains(&says), "{text}");
    }
    // Neither got through it, so that it says nothing about either: one of them is the best.
    assert!(folded.contains("◆ "), "{text}");
}

/// What an engine made of six conversations, which are two at a time.
fn engine_of_many(test: &str, command: impl FnOnce(&Path) -> String) -> Vec<Value> {
    let tmp = folder(test);
    let talks = tmp.join("talks");
    fs::create_dir(&talks).unwrap();
    for seed in 1..=6 {
        let first = format!(r#"{{"role":"user","content":"This is conversation {seed}."}}"#);
        let talk = [vec![first], midfold_testkit::coding_session(seed, 6)].concat().join("\n");
        fs::write(talks.join(format!("{seed}.jsonl")), talk).unwrap();
    }
    let (talks, command) = (talks.display().to_string(), command(&tmp));
    let args = [
        "measure", "replay", &talks, "--window", "6k", "--jobs", "2", "--engine", &command,
        "--json",
    ];
    let parts = json(&args)["runs"][0]["conversations"].take();
    let parts = parts.as_array().unwrap().clone();
    assert_eq!(parts.len(), 6, "{parts:?}");
    parts
}

#[test]
fn an_engine_that_died_is_started_again_for_the_next_conversation() {
    // One process dies at once, the others echo: `mkdir` works once.
    let command = |tmp: &Path| {
        let flag = tmp.join("flag");
        format!("sh -c 'mkdir {} 2>/dev/null && exit; exec cat'", flag.display())
    };
    let parts = engine_of_many("engine-again", command);
    assert_eq!(parts.iter().filter(|part| part.get("error").is_some()).count(), 1, "{parts:?}");
}

#[test]
fn an_engine_sees_one_conversation_however_many_run_beside() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let code = r#"
import json, sys
known = None
for line in sys.stdin:
    messages = json.loads(line)["messages"]
    known = known or messages[0]
    answer = {"messages": messages} if messages[0] == known else {"error": "another conversation"}
    print(json.dumps(answer), flush=True)
# It is given time for this.
open(sys.argv[1], "a").write("ended\n")
"#;
    let mut ends = PathBuf::new();
    let command = |tmp: &Path| {
        let script = tmp.join("one.py");
        fs::write(&script, code).unwrap();
        ends = tmp.join("ends");
        format!("python3 '{}' '{}'", script.display(), ends.display())
    };
    let parts = engine_of_many("engine-one", command);
    assert_eq!(fs::read_to_string(&ends).unwrap(), "ended\n".repeat(6));
    assert!(parts.iter().all(|part| part.get("error").is_none()), "{parts:?}");
    // Each was asked more than once: an echo never makes room.
    let over = |part: &Value| part["totals"]["over"].as_u64().unwrap() > 1;
    assert!(parts.iter().all(over), "{parts:?}");
}

#[test]
fn an_engine_that_hangs_is_left_out_in_time() {
    // Of the second, a process that it left behind holds the pipes open: nobody waits for that.
    for (test, command) in
        [("engine-late", "sleep 60"), ("engine-leaves", "sh -c 'sleep 2 & read line; sleep 2'")]
    {
        let (run, text) = engine_within(test, command, "0.1");
        let error = run["conversations"][0]["error"].as_str().unwrap();
        assert!(error.ends_with("did not answer within 0.1 s"), "{error}");
        assert!(text.contains("1 of 1 conversation left out"), "{text}");
    }
    let args = [
        "measure",
        "replay",
        "x.jsonl",
        "--window",
        "8k",
        "--engine",
        "cat",
        "--engine-timeout",
        "0",
    ];
    let refused = run(&args, b"");
    assert!(!refused.status.success());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("write a number of seconds: 90, 0.5"), "{said}");
}

#[test]
fn an_engine_that_hangs_can_be_interrupted() {
    let file = session("engine-hangs");
    let started = folder("engine-hangs-flag").join("started");
    let engine = format!("sh -c 'read line; touch {}; exec sleep 600'", started.display());
    let mut command = midfold(&["measure", "replay", &file, "--window", "8k", "--engine", &engine]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !started.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it waits for its engine");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(!child.wait().unwrap().success());
}

/// Leaves out what depends on the machine.
fn without_times(value: &mut Value) {
    if let Some(object) = value.as_object_mut() {
        object.retain(|key, _| !key.ends_with("_us"));
        object.values_mut().for_each(without_times);
    } else if let Some(list) = value.as_array_mut() {
        list.iter_mut().for_each(without_times);
    }
}

#[test]
fn a_page_holds_its_data_and_loads_nothing() {
    let file = session("replay-page");
    let page = folder("replay-page-out").join("report.html").display().to_string();
    let args = ["measure", "replay", &file, "--window", "8k", "--preset", "raw,default"];
    let output = run(&[&args[..], &["-o", &page]].concat(), b"");
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("wrote {page}\n"));
    let html = fs::read_to_string(Path::new(&page)).unwrap();
    let start = r#"<script type="application/json" id="replay">"#;
    let (_, rest) = html.split_once(start).unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    let mut data: Value = serde_json::from_str(data).unwrap();
    let mut printed = json(&[&args[..], &["--json"]].concat());
    for value in [&mut data, &mut printed] {
        without_times(value);
    }
    assert_eq!(data, printed, "times aside");
    assert!(html.contains("default-src 'none'"));
    for address in ["src=\"http", "href=\"http", "@import", "fetch("] {
        assert!(!after.contains(address), "{address}");
    }
}

#[test]
fn figures_of_the_exam_are_in_the_page_where_they_are_given() {
    let file = session("replay-exam");
    let tmp = folder("replay-exam-out");
    let [page, figures] = ["page.html", "exam.json"].map(|name| tmp.join(name));
    fs::write(&figures, r#"[{"strategy":"lean","score":0.8,"context":0.4,"cost":0.7,"exams":{"a":{"over":2,"invalid":1}}}]"#).unwrap();
    let (page, figures) = (page.display().to_string(), figures.display().to_string());
    let args = ["measure", "replay", &file, "--window", "8k", "--preset", "head-tail", "-o", &page];
    stdout(&args, b"");
    assert!(!fs::read_to_string(&page).unwrap().contains(r#""exam":"#));
    stdout(&[&args[..], &["--exam", &figures]].concat(), b"");
    let exam =
        r#""exam":[{"context":0.4,"cost":0.7,"invalid":1,"over":2,"score":0.8,"strategy":"lean"}]"#;
    assert!(fs::read_to_string(&page).unwrap().contains(exam));
    let bad = run(&[&args[..], &["--exam", &file]].concat(), b"");
    let error = String::from_utf8(bad.stderr).unwrap();
    assert!(bad.status.code() == Some(2) && error.contains("no figures of the exam"), "{error}");
}

#[test]
fn the_fabric_has_a_row_a_fold() {
    let file = session("inspect-fold");
    let args = ["inspect", &file, "--window", "8k", "--tokenizer", "chars:3.2", "--preset"];
    let with = |more: &[&'static str]| [&args[..], more].concat();
    snapshot("inspect-fold", &with(&["clear", "--fold"]), "80");
    snapshot("inspect-fold-wide", &with(&["head-tail", "--fold"]), "120");
    snapshot("inspect-fold-one", &with(&["clear", "--fold=2"]), "80");
    snapshot("inspect-fold-none", &with(&["clear", "--fold=99"]), "80");
    let large = ["inspect", &file, "--window", "200k", "--tokenizer", "chars:3.2", "--fold"];
    snapshot("inspect-fold-nothing", &large, "80");
    snapshot("inspect-fold-several", &["inspect", "fixtures/tau-bench.json", "--fold"], "80");
    let coloured = stdout(&with(&["clear", "--fold", "--color", "always"]), b"");
    assert!(coloured.contains("\u{1b}[32m"));
}

/// A model beside what is computed: its narrations are judged and paid for, and one that fails
/// changes nothing.
#[test]
fn a_model_narrates_in_replay() {
    let file = session("replay-model");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let text = "## Conversation Summary\n## Task & Constraints\nnone\n## State of Work\n- the ledger\n\
                ## Decisions & Reasons\n- none yet\n## Work Done\n- tests were run\n\
                ## Tried & Failed\nnone\n## Values & Facts\nnone\n## Open & Next\nnone\n";
    let totals = |answer: ScriptedAnswer| {
        let server = runtime.block_on(ModelServer::always(answer)).unwrap();
        let args = [
            "measure", "replay", &file, "--window", "8k", "--preset", "default", "--form",
            "session",
        ];
        let found = json(&[&args[..], &["--json", "--model", server.url()]].concat());
        let runs = found["runs"].as_array().unwrap();
        assert_eq!((&runs[1]["strategy"], runs.len()), (&"default + model".into(), 2));
        (runs[0]["totals"].clone(), runs[1]["totals"].clone())
    };
    let (alone, with) = totals(ScriptedAnswer::text(text));
    assert!(with["summaries"].as_u64() > Some(0), "{with}");
    assert!(with["accepted"].as_u64() > Some(0), "{with}");
    assert!(with["cost"].as_f64() > alone["cost"].as_f64());
    let (alone, with) = totals(ScriptedAnswer::refusal(401, "auth", "no"));
    assert!(with["summaries"].as_u64() > Some(0) && with["accepted"] == 0, "{with}");
    assert_eq!(with["at_risk"], alone["at_risk"]);
    assert_eq!(with["folds"], alone["folds"]);
}
