//! The ledger of deeds, read from what several clients write: what is State, what was tried and failed,
//! what changed.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::RawEvent;
use midfold_core::log::EventLog;
use midfold_core::recap::compose::compose;
use midfold_core::recap::deed::PartKind;
use midfold_core::recap::frame::RecapFrame;
use midfold_core::recap::gather::{GatheredFacts, LogReading};
use midfold_core::tools::ToolTable;
use midfold_formats::{DialectKind, profile};
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use crate::quarter::Quarter;

/// How a client writes calls and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// OpenAI's messages, and an exit code in front of each output (mini-swe-agent).
    MiniSwe,
    /// Anthropic's blocks, each result with a flag; a failed command begins with its exit code.
    Claude,
    /// OpenAI's items, with the exit code in a head (Codex).
    Codex,
    /// OpenAI's messages, and no exit code at all.
    Bare,
}

use Client::{Bare, Claude, Codex, MiniSwe};

/// A command, what it printed and its exit code.
pub type Run<'a> = (&'a str, &'a str, i32);

pub fn messages(client: Client, runs: &[Run<'_>]) -> Value {
    let mut out = vec![json!({"role": "user", "content": "Mend the parser."})];
    for (at, (command, printed, code)) in runs.iter().enumerate() {
        let id = format!("call_{at}");
        if client == Claude {
            let input = json!({"command": command});
            let failed = *code != 0;
            let text =
                if failed { format!("Exit code {code}\n{printed}") } else { (*printed).to_owned() };
            out.push(json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": input}]}));
            let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": text});
            if failed {
                result["is_error"] = json!(true);
            }
            out.push(json!({"role": "user", "content": [result]}));
            continue;
        }
        let (name, arguments) = match client {
            Codex => ("shell", json!({"command": ["bash", "-lc", command]})),
            _ => ("bash", json!({"command": command})),
        };
        let text = match client {
            MiniSwe => format!("<returncode>{code}</returncode>\n<output>\n{printed}\n</output>"),
            Codex => format!("Process exited with code {code}\nOutput:\n{printed}"),
            _ => (*printed).to_owned(),
        };
        out.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]}));
        out.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    Value::Array(out)
}

pub fn gather(kind: DialectKind, input: &Value) -> GatheredFacts {
    let messages = input.as_array().into_iter().flatten();
    let events = messages.map(|message| RawEvent::new(Bytes::from(message.to_string())));
    let log = EventLog::of(kind.shared(), profile::for_dialect(kind)[0], Arc::new(Quarter), events);
    let reading = LogReading::of(&log, ToolTable::builtin());
    let all = std::iter::once(0..log.events().len()).collect::<Vec<_>>();
    GatheredFacts::over(None, log.events(), &all, reading)
}

pub fn kind_of(client: Client) -> DialectKind {
    if client == Claude { DialectKind::Anthropic } else { DialectKind::OpenAiChat }
}

pub fn recap_of(gathered: &GatheredFacts) -> String {
    let elsewhere = FxHashSet::default();
    let frame = RecapFrame::alone(4_000, &Quarter, "## Recap", &elsewhere);
    compose(gathered, &frame).text
}

pub fn recap(client: Client, runs: &[Run<'_>]) -> String {
    recap_of(&gather(kind_of(client), &messages(client, runs)))
}

pub fn section<'a>(recap: &'a str, name: &str) -> &'a str {
    let head = format!("### {name}\n");
    let Some((_, rest)) = recap.split_once(&*head) else { return "" };
    rest.split("### ").next().and_then(|rest| rest.split("[End of").next()).unwrap_or(rest)
}

pub const ALL: [Client; 4] = [MiniSwe, Claude, Codex, Bare];

#[test]
fn the_newest_verdict_of_a_check_counts_behind_whatever_pipe() {
    let runs = [
        (
            "cd /w && FOO=1 pytest -q 2>&1 | tail -5",
            "FAILED t.py::a\n1 failed, 3 passed in 0.2s",
            0,
        ),
        ("cd /w\npytest -x", "4 passed in 0.2s", 0),
    ];
    for client in ALL {
        let text = recap(client, &runs);
        assert_eq!(
            section(&text, "State"),
            "checks: `pytest -x` ok @3 (4 passed in 0.2s)\n",
            "{client:?}"
        );
        assert_eq!(section(&text, "Tried and failed"), "", "{client:?}");
    }
}

#[test]
fn the_absence_of_a_flag_is_a_verdict_where_the_client_flags_each_failure() {
    let runs = [
        ("go build ./...", "./a.go:3:1: undefined: x", 1),
        ("go build ./...", "", 0),
        ("make fmt && make lint 2>&1", "[lint] 1 issues:", 1),
        ("make fmt && make lint 2>&1", "[lint] 0 issues.", 0),
        ("npx tsc --noEmit | tail -3", "", 0),
    ];
    for client in [MiniSwe, Claude, Codex] {
        let text = recap(client, &runs);
        let state = section(&text, "State");
        assert!(state.contains("`go build ./...` ok @3"), "{client:?} {state}");
        assert!(
            state.contains("`make lint` ok @7") && !state.contains("failed"),
            "{client:?} {state}"
        );
        assert!(!state.contains("tsc"), "the pipe hides it: {client:?} {state}");
        assert_eq!(section(&text, "Tried and failed"), "", "{client:?}");
    }
    // Nothing tells a pass where no result has a flag or a code. But the same command without the sign
    // of its failure has not failed.
    let bare = recap(Bare, &runs[..2]);
    assert_eq!(section(&bare, "State"), "", "{bare}");
    assert_eq!(section(&bare, "Tried and failed"), "", "{bare}");
}

#[test]
fn a_silent_pass_before_the_first_flag_counts_once_there_is_one() {
    let runs = [("go vet ./...", "", 0), ("go build ./...", "./a.go:3:1: undefined: x", 1)];
    let text = recap(Claude, &runs);
    let state = section(&text, "State");
    assert!(state.contains("`go vet ./...` ok @1"), "{state}");
    assert!(state.contains("`go build ./...` failed @3"), "{state}");
}

#[test]
fn what_is_looked_up_or_not_there_is_no_state_and_cost_nothing() {
    let runs = [
        ("ls /w/none", "ls: cannot access '/w/none': No such file or directory", 2),
        ("grep -rn error src", "", 1),
        ("which gh", "", 1),
        ("gh pr view 3", "no pull requests found", 1),
        ("timeout 300 python3 run.py | tail -5", "zsh: command not found: timeout", 0),
        ("python -m pytest", "/usr/bin/python: No module named pytest", 1),
        ("pip install nothing-here", "ERROR: No matching distribution found for nothing-here", 1),
        (
            "python3 - <<'E'\n# Try the tokenizer\nprint(seen)\nE",
            "NameError: name 'seen' is not defined",
            1,
        ),
        ("cat report.txt", "12 errors", 0),
        ("echo '12 errors'", "12 errors", 0),
        ("python3 summary.py", "12 errors", 0),
    ];
    for client in ALL {
        let text = recap(client, &runs);
        assert_eq!(section(&text, "State"), "", "{client:?} {text}");
        let failed = section(&text, "Tried and failed");
        let told = failed.lines().filter(|line| line.starts_with('@')).count();
        assert_eq!(told, 1, "{client:?} {failed}");
        assert!(failed.contains("`pip install nothing-here`"), "{client:?} {failed}");
    }
}

#[test]
fn an_error_that_comes_again_was_tried_and_failed() {
    let script = |n: u32| format!("python3 - <<'E'\n# Try way {n}\nrun({n})\nE");
    let (one, two) = (script(1), script(2));
    let text = recap(MiniSwe, &[(&one, "KeyError: 'rows'", 1), (&two, "KeyError: 'rows'", 1)]);
    let failed = section(&text, "Tried and failed");
    assert_eq!(failed, "@3 failed `python3: Try way 2`: KeyError: 'rows'\n");
}

#[test]
fn the_part_of_a_chain_that_failed_is_told() {
    let runs = [(
        "ruff check . && pytest -q && git push",
        "All checks passed!\nFAILED t.py::a\n1 failed, 3 passed in 0.2s",
        1,
    )];
    for client in ALL {
        let text = recap(client, &runs);
        let state = section(&text, "State");
        assert!(
            state.contains("`pytest -q` failed @1: FAILED t.py::a / 1 failed, 3 passed in 0.2s\n"),
            "{client:?} {state}"
        );
        assert!(state.contains("`ruff check .` ok @1"), "{client:?} {state}");
        assert_eq!(section(&text, "Tried and failed"), "", "one call is one line: {text}");
    }
}

#[test]
fn nothing_failed_is_told_with_a_line_of_success() {
    for (command, printed) in
        [("make all", "ok"), ("./serve", "5 passed in 0.1s"), ("npm test", "done")]
    {
        let text = recap(Claude, &[(command, printed, 3)]);
        assert!(text.contains("exit 3") && !text.contains(printed), "{text}");
    }
}

#[test]
fn commits_pushes_and_requests_are_state() {
    let runs = [
        (
            "cat > src/a.py <<'E'\nx = 1\nE\ngit add -A && git commit -qm 'Add a' && git rev-parse --short HEAD",
            "1a2b3c4",
            0,
        ),
        ("git push -u origin main", "To github.com:o/r\n * [new branch]      main -> main", 0),
        (
            "git commit -am \"$(cat <<'EOF'\nMend the parser\n\nIt lost a bracket.\nEOF\n)\"",
            "[main 5d6e7f8] Mend the parser\n 1 file changed",
            0,
        ),
        ("gh pr create --title 'Mend it' --body x", "https://github.com/o/r/pull/41", 0),
        ("sed -i 's/1/2/' src/a.py; echo > /tmp/x.txt", "", 0),
    ];
    for client in [MiniSwe, Claude, Codex] {
        let text = recap(client, &runs);
        let wanted = "commits: 5d6e7f8 Mend the parser @5\npushed @3: main\npull requests: #41 Mend it @7\n\
                      changed since the last commit: 1 file: src/a.py @9\n";
        assert_eq!(section(&text, "State"), wanted, "{client:?} {text}");
    }
    let first = recap(MiniSwe, &runs[..1]);
    assert_eq!(section(&first, "State"), "commits: 1a2b3c4 Add a @1\n");
}

#[test]
fn a_change_is_what_a_call_changed() {
    let runs = [
        (
            "python3 - <<'E'\np = 'src/a.py'\ns = open(p).read()\ns = s.replace('x = 1', 'x = 2')\nopen(p, 'w').write(s)\nE",
            "",
            0,
        ),
        ("python3 - <<'E'\nprint(open('src/b.py').read())\nE\nfalse", "boom", 1),
        (
            "git apply <<'E'\n--- a/c.rs\n+++ b/c.rs\n@@ -1 +1 @@\n-let x = 1;\n+let x = 2;\nE",
            "",
            0,
        ),
        ("cat src/a.py | tee out/d.txt; git checkout -- e.py; mv f.py g.py", "", 0),
        ("echo x > t.txt; rm t.txt; python3 x.py > /tmp/y.log", "", 0),
    ];
    let gathered = gather(DialectKind::OpenAiChat, &messages(MiniSwe, &runs));
    let changed = |path: &str| gathered.files.get(path).is_some_and(|used| used.modified);
    for path in ["src/a.py", "c.rs", "out/d.txt", "e.py", "f.py", "g.py"] {
        assert!(changed(path), "{path} {:?}", gathered.files);
    }
    assert!(!changed("src/b.py"));
    for path in ["t.txt", "/tmp/y.log"] {
        assert!(gathered.files[path].scratch, "{path}");
    }
    let text = recap_of(&gathered);
    assert!(text.contains("changed src/a.py: x = 2 (was `1`)"), "{text}");
    assert!(!text.contains("changed  ") && !text.contains("changed :"), "{text}");
}

#[test]
fn one_call_is_one_line() {
    let mut input =
        messages(Claude, &[("./serve --check", "listening on port_alpha\nworkers: 4\nready", 0)]);
    input.as_array_mut().unwrap().push(json!({"role": "assistant",
        "content": [{"type": "text", "text": "It listens on port_alpha."}]}));
    let text = recap_of(&gather(DialectKind::Anthropic, &input));
    let told: Vec<&str> = text.lines().filter(|line| line.starts_with("@1 ")).collect();
    assert_eq!(told.len(), 1, "{text}");
    let shown = ["port_alpha", "workers: 4", "ready"];
    assert!(told[0].starts_with("@1 ran `./serve --check`: "), "{told:?}");
    assert!(shown.iter().all(|line| told[0].contains(line)), "{told:?}");
}

#[test]
fn a_list_that_is_built_item_by_item_is_one_list() {
    let mut out = vec![json!({"role": "user", "content": "Move the logout."})];
    let mut call = |name: &str, input: Value, printed: &str| {
        let id = format!("toolu_{}", out.len());
        out.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": name, "input": input}]}));
        out.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": printed}]}));
    };
    for (n, text) in [(1, "Drop the menu"), (2, "Add a button"), (3, "Test it")] {
        let input = json!({"subject": text, "description": "All about it", "activeForm": text});
        call("TaskCreate", input, &format!("Task #{n} created successfully: {text}"));
    }
    call("TaskUpdate", json!({"taskId": "1", "status": "completed"}), "Updated task #1 status");
    call("TaskUpdate", json!({"taskId": "2", "status": "in_progress"}), "Updated task #2 status");
    let text = recap_of(&gather(DialectKind::Anthropic, &Value::Array(out)));
    let wanted =
        "to-do list @9:\n  [x] #1 Drop the menu\n  [>] #2 Add a button\n  [ ] #3 Test it\n";
    assert!(section(&text, "State").starts_with(wanted), "{text}");
}

#[test]
fn a_test_that_was_written_to_fail_first_cost_nothing() {
    let write = "cat > checks/test_1.py <<'E'\nimport x\nE\npython3 -m unittest checks.test_1 2>&1 | tail -3";
    let mend = "python3 - <<'E'\np = 'x.py'\nopen(p, 'w').write('y')\nE\npython3 -m unittest checks.test_1; python3 /tmp/t.py";
    let first = (write, "Ran 3 tests in 0.1s\n\nFAILED (failures=3)", 0);
    // A scratch script of the same call failed, the check did not.
    let printed = "Ran 3 tests in 0.1s\n\nOK\nTraceback (most recent call last):\nNameError: name 'seen' is not defined";
    let text = recap(MiniSwe, &[first, (mend, printed, 1)]);
    assert_eq!(section(&text, "Tried and failed"), "", "{text}");
    assert!(!section(&text, "State").contains("failed"), "{text}");
    // A commit proves nothing of a check.
    let committed = "[main 1a2b3c4] Mend it\n 2 files changed, 9 insertions(+)";
    for commit in ["bash /tmp/ci.sh 'Mend it'", "git commit -am 'Mend it'"] {
        let text = recap(MiniSwe, &[first, (commit, committed, 0)]);
        let failed = "`python3 -m unittest checks.test_1` failed @1";
        assert!(section(&text, "State").contains(failed), "{text}");
    }
    // The same check twice in one call: the last run counts.
    let both = "pytest -q t.py; sed -i s/a/b/ x.py; pytest -q t.py";
    for printed in ["1 failed in 0.1s\n1 passed in 0.1s", "FAILED (failures=3)\n- a\n+ b\nOK"] {
        let text = recap(MiniSwe, &[(both, printed, 0)]);
        assert!(section(&text, "State").starts_with("checks: `pytest -q t.py` ok @1"), "{text}");
        assert!(text.contains("changed x.py\n") && !text.contains("ok\n@"), "{text}");
    }
}

#[test]
fn commits_that_are_not_told_are_counted_and_what_is_removed_is_no_change() {
    let commits: Vec<(String, String)> = (0..12)
        .map(|n| {
            let printed = format!("[main {n:x}a2b3c4] Step {n}\n 1 file changed, 1 insertion(+)");
            (format!("git commit -am 'Step {n}'"), printed)
        })
        .collect();
    let mut runs: Vec<Run<'_>> = commits.iter().map(|(run, shows)| (&**run, &**shows, 0)).collect();
    runs.extend([
        ("echo x > /tmp/look.py", "", 0),
        ("rm -f /tmp/look.py", "", 0),
        ("rm src/old.rs", "", 0),
    ]);
    let gathered = gather(DialectKind::OpenAiChat, &messages(MiniSwe, &runs));
    let text = recap_of(&gathered);
    assert!(section(&text, "State").contains("\n  older, not told: 2\n"), "{text}");
    assert!(text.contains("changed src/old.rs (removed)\n"), "{text}");
    assert!(!section(&text, "Files").contains("look.py"), "{text}");
}

#[test]
fn runs_that_showed_something_else_are_not_one_and_a_settled_failure_says_so() {
    let runs = [
        ("./fit ost", "rms 197.2\nalpha_one done", 0),
        ("./fit ost", "rms 186.4\nalpha_two done", 0),
        ("pytest -q", "FAILED t.py::a - assert 1 == 2\n1 failed in 0.1s", 1),
        ("pytest -q", "1 passed in 0.1s", 0),
    ];
    let mut input = messages(Claude, &runs);
    input.as_array_mut().unwrap().push(json!({"role": "assistant",
        "content": [{"type": "text", "text": "alpha_one and alpha_two differ."}]}));
    let text = recap_of(&gather(DialectKind::Anthropic, &input));
    assert!(!text.contains("times)"), "{text}");
    assert!(text.contains("alpha_one done") && text.contains("alpha_two done"), "{text}");
    assert!(text.contains("ran `pytest -q` (failed then, over since @7): "), "{text}");
    assert_eq!(section(&text, "Tried and failed"), "", "{text}");
}

/// What comes of a command that goes on behind its result is asked for by another call, and is the command's.
#[test]
fn a_result_that_comes_later_belongs_to_its_command() {
    let claude = json!([
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Bash",
            "input": {"command": "pytest -q", "run_in_background": true}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a",
            "content": "Command running in background with ID: bash_1. Output is being written to: /tmp/x"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "BashOutput",
            "input": {"bash_id": "bash_1"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b",
            "content": "<status>completed</status>\n\n<exit_code>1</exit_code>\n\n<stdout>\nFAILED t.py::a - assert 1 == 2\n1 failed in 0.1s\n</stdout>"}]},
    ]);
    let text = recap_of(&gather(DialectKind::Anthropic, &claude));
    assert!(section(&text, "State").contains("`pytest -q` failed @3"), "{text}");
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string()});
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let codex = json!([
        {"role": "user", "content": "Mend it."},
        call("a", "exec_command", json!({"cmd": "pytest -q"})),
        output("a", "Chunk ID: 9f\nWall time: 1.0 seconds\nProcess running with session ID 31\nOutput:\n"),
        call("b", "write_stdin", json!({"session_id": 31, "chars": ""})),
        output("b", "Chunk ID: a0\nWall time: 9.0 seconds\nProcess exited with code 0\nOutput:\n5 passed in 0.5s"),
    ]);
    let text = recap_of(&gather(DialectKind::OpenAiResponses, &codex));
    assert!(section(&text, "State").contains("`pytest -q` ok @3"), "{text}");
}

#[test]
fn totals_of_a_part_that_ran_nothing_hide_no_others() {
    let totals = |n: u32, time: &str| {
        format!("test result: ok. {n} passed; 0 failed; 0 ignored; finished in {time}")
    };
    let printed = [totals(8, "0.02s"), totals(0, "0.01s")].join("\n");
    for client in ALL {
        let text = recap(client, &[("cargo test", &printed, 0)]);
        assert!(section(&text, "State").contains("8 passed"), "{client:?} {text}");
    }
}

#[test]
fn where_another_step_decides_the_exit_code_no_step_is_blamed() {
    let fails = |command| recap(Claude, &[(command, "ls: out.csv: No such file or directory", 2)]);
    assert!(section(&fails("deploy --now"), "Tried and failed").contains("deploy --now"));
    assert!(section(&fails("cd a && deploy --now"), "Tried and failed").contains("deploy --now"));
    assert_eq!(section(&fails("deploy --now; ls out.csv"), "Tried and failed"), "");
    assert_eq!(section(&fails("deploy --now\nls out.csv"), "Tried and failed"), "");
}

#[test]
fn the_last_line_of_a_look_is_no_outcome_of_the_run_before_it() {
    let printed = "14:from .model import Monitor";
    let kind = |command: &str| {
        let gathered = gather(DialectKind::Anthropic, &messages(Claude, &[(command, printed, 0)]));
        let mut parts = gathered.deeds.into_iter().flat_map(|deed| deed.parts);
        parts.find(|part| part.text == printed).map(|part| part.kind)
    };
    assert_eq!(kind("./gen --all"), Some(PartKind::Verdict));
    assert_eq!(kind("./gen --all | tail -1"), Some(PartKind::Verdict));
    assert_eq!(kind("./gen --all; grep -n import a.py"), Some(PartKind::Output));
}

#[test]
fn a_failed_patch_is_open_for_the_file_that_the_client_names() {
    let patch = |files: [&str; 2]| {
        let [first, second] = files;
        format!(
            "*** Begin Patch\n*** Update File: {first}\n@@\n-a\n+b\n*** Update File: {second}\n@@\n-c\n+d\n*** End Patch"
        )
    };
    let only =
        |file: &str| format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch");
    let told_of = |files: [&str; 2], named: &str, then: &str| {
        let mut out = vec![json!({"role": "user", "content": "Go on."})];
        let failed =
            format!("apply_patch verification failed: Failed to find expected lines in {named}");
        for (at, (input, result)) in
            [(patch(files), &*failed), (only(then), "Success. Updated the following files:\nM x")]
                .into_iter()
                .enumerate()
        {
            let id = format!("c{at}");
            out.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                "function": {"name": "apply_patch", "arguments": json!({"input": input}).to_string()}}]}));
            out.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        }
        recap_of(&gather(DialectKind::OpenAiChat, &Value::Array(out)))
    };
    let told =
        |then: &str| told_of(["app/events.tsx", "app/layout.tsx"], "C:\\w\\app\\layout.tsx", then);
    assert!(told("app/layout.tsx").contains("over since @3"), "{}", told("app/layout.tsx"));
    let open = told("app/events.tsx");
    let open = section(&open, "Tried and failed");
    assert!(open.contains("apply_patch app/layout.tsx: "), "{open}");
    // Neither the end of another name, nor the shorter of two paths, nor the separators of Windows name another file.
    for (files, named) in [
        (["a.py", "data.py"], "data.py:\np"),
        (["data.py", "lib/data.py"], "/srv/lib/data.py"),
        (["app\\zed.py", "app\\data.py"], "app\\data.py:\np"),
        (["a.py", "a.py.bak"], "a.py.bak"),
    ] {
        let recap = told_of(files, named, files[0]);
        let open = section(&recap, "Tried and failed");
        let wanted = format!("apply_patch {}: ", files[1]);
        assert!(open.contains(&wanted) && !open.contains("over since"), "{recap}");
    }
}

#[test]
fn a_change_before_a_command_that_runs_on_is_a_change() {
    let command = "sed -i 's/SIZE = 250/SIZE = 150/' panel.py\npython -u probe.py";
    let text = recap(
        Claude,
        &[(command, "Command running in background with ID: b1. Output is being written to: x", 0)],
    );
    assert!(text.contains("@1 changed panel.py"), "{text}");
    assert!(text.contains("still running: "), "{text}");
}

/// In little room, what a change removed is told where it did nothing else; what files say is not.
#[test]
fn a_change_that_only_removes_is_told_by_what_it_removed() {
    let edit = |old: &str, new: &str| {
        ("Edit", json!({"file_path": "card.tsx", "old_string": old, "new_string": new}))
    };
    let calls = [
        ("Bash", json!({"command": "cat card.tsx"})),
        edit("  useEffect(() => poll(room), [room]);\n", ""),
        edit("const beat = 9000;", "const beat = 4500;"),
    ];
    let mut input = vec![json!({"role": "user", "content": "Mend the card."})];
    for (at, (name, arguments)) in calls.into_iter().enumerate() {
        let id = format!("c{at}");
        let result = match at {
            0 => "import { poll } from 'walrus';\n",
            _ => "The file card.tsx has been updated.",
        };
        input.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": name, "input": arguments}]}));
        input.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": result}]}));
    }
    let gathered = gather(DialectKind::Anthropic, &Value::Array(input));
    let kinds: Vec<&PartKind> =
        gathered.deeds.iter().flat_map(|deed| &deed.parts).map(|part| &part.kind).collect();
    assert!(kinds.contains(&&PartKind::FileLine), "{kinds:?}");
    let elsewhere = FxHashSet::default();
    let within = |cap: u64| {
        compose(&gathered, &RecapFrame::alone(cap, &Quarter, "## Recap", &elsewhere)).text
    };
    let least = |words: &str| (0..400).find(|cap| within(*cap).contains(words)).unwrap_or(400);
    let (removed, read) = (least("- useEffect(() => poll(room), [room]);"), least("walrus"));
    assert!(removed < read && read < 400, "{removed} {read}");
}

#[test]
fn what_another_agent_reported_counts_as_words() {
    let report = "Two faults are left. The router of page 4 is the wrong one.\nIts <usage> is right.\nagentId: a1\n<usage>total_tokens: 9</usage>";
    let of = |result: &str| {
        let input = json!([{"role": "user", "content": "Review it."},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
                "function": {"name": "Agent", "arguments": "{\"description\": \"Review\", \"prompt\": \"Look.\"}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": result}]);
        gather(DialectKind::OpenAiChat, &input)
    };
    let gathered = of(report);
    let call = gathered.deeds.iter().find(|deed| deed.ending().is_some()).unwrap();
    assert!(call.parts.iter().all(|part| part.kind == PartKind::Sentence), "{call:?}");
    let text = recap_of(&gathered);
    assert!(
        text.contains("wrong one.")
            && text.contains("<usage> is right")
            && !text.contains("total_tokens"),
        "{text}"
    );
    let begun = of("{\"nickname\": \"Tesla\", \"state\": \"ready\"}");
    let call = begun.deeds.iter().find(|deed| deed.ending().is_some());
    assert!(call.is_none_or(|call| call.parts.iter().all(|part| part.kind == PartKind::Output)));
}
