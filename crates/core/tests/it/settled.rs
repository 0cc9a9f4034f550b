//! What is told of failures and refusals: nothing that was settled later, nothing twice, and why.

use midfold_formats::DialectKind;
use serde_json::{Value, json};

use crate::deeds::Client::{Bare, Claude, Codex, MiniSwe};
use crate::deeds::{ALL, Run, gather, recap, recap_of, section};

const FAILED: &str = "Tried and failed";

/// A batch of calls of Claude Code's: name, arguments, what came of it, and whether that is flagged.
type Call<'a> = (&'a str, Value, &'a str, bool);

enum Step<'a> {
    Calls(&'a [Call<'a>]),
    User(&'a str),
}

fn session(steps: &[Step<'_>]) -> String {
    let mut out = vec![json!({"role": "user", "content": "Mend the parser."})];
    for step in steps {
        match step {
            Step::User(text) => out.push(json!({"role": "user", "content": text})),
            Step::Calls(calls) => {
                let id = |at: usize| format!("toolu_{}_{at}", out.len());
                let used = calls.iter().enumerate().map(|(at, (name, input, ..))| {
                    json!({"type": "tool_use", "id": id(at), "name": name, "input": input})
                });
                let results = calls.iter().enumerate().map(|(at, (_, _, text, flag))| {
                    json!({"type": "tool_result", "tool_use_id": id(at), "content": text, "is_error": flag})
                });
                let (used, results): (Vec<Value>, Vec<Value>) = (used.collect(), results.collect());
                out.push(json!({"role": "assistant", "content": used}));
                out.push(json!({"role": "user", "content": results}));
            }
        }
    }
    recap_of(&gather(DialectKind::Anthropic, &Value::Array(out)))
}

fn bash(command: &str) -> Value {
    json!({"command": command})
}

fn edit(path: &str) -> Value {
    json!({"file_path": path, "old_string": "alpha = 1", "new_string": "alpha = 2"})
}

const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a \
                        file edit, the new_string was NOT written to the file). STOP what you are doing and wait for \
                        the user to tell you how to proceed.";
const BECAUSE: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected. The user provided \
                       the following reason for the rejection:  keep alpha as it is";
const DROPPED: &str = "The user doesn't want to take this action right now. STOP what you are doing and wait for the \
                       user to tell you how to proceed.";
const EDITED: &str = "The file src/a.py has been updated.";

#[test]
fn a_call_that_needs_a_permission_was_not_rejected() {
    let asks = "This command requires approval";
    let search = "Claude requested permissions to use WebSearch, but you haven't granted it yet.";
    let text = session(&[
        Step::Calls(&[("WebSearch", json!({"query": "folds"}), search, true)]),
        Step::Calls(&[("Bash", bash("claude --version"), asks, true)]),
        Step::Calls(&[("Bash", bash("./deploy --all"), asks, true)]),
        Step::Calls(&[("Bash", bash("./deploy --all"), asks, true)]),
    ]);
    let wanted = "@7 failed `./deploy --all`: blocked: This command requires approval (2 times)\n";
    assert!(section(&text, FAILED).ends_with(wanted), "{text}");
    assert_eq!(section(&text, FAILED).matches("deploy").count(), 1, "{text}");
    assert!(!text.contains("rejected"), "{text}");
    let granted = session(&[
        Step::Calls(&[("Bash", bash("./deploy --all"), asks, true)]),
        Step::Calls(&[("Bash", bash("./deploy --all"), "deployed", false)]),
    ]);
    assert_eq!(section(&granted, FAILED), "", "{granted}");
}

#[test]
fn what_was_rejected_and_allowed_later_is_settled_and_the_users_words_stay() {
    let plan = |text: &str| json!({"plan": text});
    let text = session(&[
        Step::Calls(&[("ExitPlanMode", plan("First the lexer."), REJECTED, true)]),
        Step::User("Commit the tar changes first."),
        Step::Calls(&[(
            "ExitPlanMode",
            plan("Commit, then the lexer."),
            "User has approved your plan.",
            false,
        )]),
        Step::Calls(&[("Edit", edit("src/a.py"), BECAUSE, true)]),
        Step::Calls(&[("Edit", edit("src/a.py"), EDITED, false)]),
    ]);
    assert_eq!(section(&text, FAILED), "", "{text}");
    assert!(text.contains("user: keep alpha as it is"), "{text}");
    assert!(text.contains("Commit the tar changes first."), "{text}");
    let other = session(&[
        Step::Calls(&[("Edit", edit("src/a.py"), BECAUSE, true)]),
        Step::Calls(&[("Edit", edit("src/b.py"), EDITED, false)]),
    ]);
    assert!(
        section(&other, FAILED)
            .contains("rejected by the user Edit src/a.py: the user said: keep alpha"),
        "{other}"
    );
}

#[test]
fn of_a_batch_only_what_was_rejected_is_told_with_what_the_user_said_next() {
    let text = session(&[
        Step::Calls(&[
            ("Bash", bash("npm publish"), REJECTED, true),
            ("Bash", bash("npm run deploy"), DROPPED, true),
            ("Edit", edit("src/a.py"), REJECTED, true),
        ]),
        // A client's own words.
        Step::User("[Request interrupted by user for tool use]"),
        Step::User("Not before the tests are green. Run them on Windows, too."),
        Step::Calls(&[("Bash", bash("which node"), REJECTED, true)]),
        Step::Calls(&[("Read", json!({"file_path": "a.md"}), "1\tx", false)]),
        Step::User("Go on."),
    ]);
    let failed = section(&text, FAILED);
    assert!(
        failed.starts_with(
            "@1 rejected by the user `npm publish`: the user said: Not before the tests are green. Run them on Windows, too.\n"
        ),
        "{text}"
    );
    assert_eq!(failed.matches("rejected by the user").count(), 2, "{text}");
    assert!(
        failed.ends_with("rejected by the user `which node`\n"),
        "no reason of its own: {text}"
    );
}

#[test]
fn the_same_command_without_a_sign_of_failure_settles_it() {
    let build = "cd web && npm run build 2>&1 | tail -3";
    let bad = "npm error command failed\nnpm error command sh -c tsgo -p tsconfig.build.json && chmod +x a";
    let idle = "Waiting for the debugger to disconnect...";
    let types = "cd web && npx tsgo -p tsconfig.build.json 2>&1 | grep error | head -3";
    let wrong = "src/theme.ts(443,3): error TS2353: 'linkUrl' does not exist in type 'Theme'.";
    let script = "python reproduce.py";
    let removed = "Traceback (most recent call last):\n  File \"reproduce.py\", line 2\nAttributeError: `np.Inf` was removed.";
    let runs = [
        (script, removed, 1),
        (script, removed, 1),
        (build, bad, 0),
        (types, wrong, 0),
        (build, idle, 0),
        (script, "/x.py:3: RuntimeWarning: invalid value\nThe error is gone.", 0),
    ];
    for client in ALL {
        let text = recap(client, &runs);
        assert_eq!(section(&text, FAILED), "", "{client:?} {text}");
        assert!(!section(&text, "State").contains("failed"), "{client:?} {text}");
        // What ran it shows that it failed, as long as nothing else was seen.
        let before = recap(client, &runs[..4]);
        assert!(
            before.contains("failed @7: src/theme.ts(443,3): error TS2353"),
            "{client:?} {before}"
        );
    }
}

#[test]
fn what_a_script_of_the_project_runs_is_checked_with_it() {
    let wrong = "../tui/a.ts(28,2): error TS2739: Type '{}' is missing.";
    for (runner, echo) in [
        ("npm run check", "> pkg@1.0.0 check\n> tsgo --noEmit\n\n"),
        ("yarn check", "$ tsc --noEmit\n"),
        ("make check", "tsc --noEmit\n"),
    ] {
        let ok = format!("{echo}Found 0 errors.");
        let runs = [("npx tsc --noEmit --skipLibCheck", wrong, 2), (runner, &*ok, 0)];
        for client in [MiniSwe, Claude, Codex, Bare] {
            let text = recap(client, &runs);
            assert!(!section(&text, "State").contains("failed"), "{runner} {client:?} {text}");
            assert_eq!(section(&text, FAILED), "", "{runner} {client:?} {text}");
        }
    }
    // The end of it, and no line with an error, are signs, too.
    let end = "npm error command failed\nnpm error command sh -c tsgo --noEmit";
    let runs = [
        ("npm run check 2>&1 | tail -10", end, 0),
        ("npm run check 2>&1 | grep \"error\" | head -5", "(no output)", 0),
    ];
    let text = recap(Bare, &runs);
    assert!(!text.contains("failed @"), "{text}");
    let hidden = [runs[0], ("npm run check 2>&1 | head -5", "> check", 0)];
    assert!(recap(Bare, &hidden).contains("failed @1"), "the end is not shown");
}

#[test]
fn what_was_missing_and_is_installed_is_settled() {
    for (check, missing, install, done) in [
        (
            "python -m pytest t.py",
            "E   ModuleNotFoundError: No module named 'pytz'\n1 error in 0.1s",
            "pip install pytz==2023.3",
            "Successfully installed pytz-2023.3",
        ),
        (
            "python -m unittest t",
            "ModuleNotFoundError: No module named 'yaml'\nFAILED (errors=1)",
            "pip install -r requirements.txt",
            "Successfully installed PyYAML-6.0 six-1.16",
        ),
        (
            "npm test",
            "Error: Cannot find module 'chalk'\nnpm ERR! code 1",
            "npm i chalk",
            "added 3 packages",
        ),
        (
            "npm run build",
            "Error: Cannot find module 'chalk'",
            "npm install",
            "added 300 packages in 3s",
        ),
        (
            "cargo build",
            "error[E0463]: can't find crate for `serde_json`",
            "cargo add serde_json",
            "Adding serde_json",
        ),
    ] {
        for client in [MiniSwe, Claude, Codex] {
            let text = recap(client, &[(check, missing, 1), (install, done, 0)]);
            assert!(!text.contains("failed @"), "{client:?} {check} {text}");
            assert_eq!(section(&text, FAILED), "", "{client:?} {check}");
        }
        let other = recap(
            MiniSwe,
            &[(check, missing, 1), ("pip install other", "Successfully installed other-1", 0)],
        );
        assert!(other.contains("failed @1"), "{check} {other}");
    }
    let python = "E   ModuleNotFoundError: No module named 'pytz'\n1 error in 0.1s";
    for (check, missing, install, done, settles) in [
        ("pytest", python, "npm install", "added 3 packages", false),
        ("pytest", python, "npm ci", "added 3 packages", false),
        ("pytest", python, "bundle install", "Bundle complete!", false),
        ("pytest", python, "apt-get update", "Reading package lists... Done", false),
        ("pytest", python, "uv sync", "Installed 3 packages", true),
        ("pytest", python, "uv pip install -r requirements.txt", " + pytz==2023.3", true),
        ("npm test", "Error: Cannot find module 'chalk'", "uv sync", "Installed 3 packages", false),
        ("npm test", "Error: Cannot find module 'chalk'", "npm ci", "added 3 packages", true),
    ] {
        for client in [MiniSwe, Claude] {
            let text = recap(client, &[(check, missing, 1), (install, done, 0)]);
            assert_eq!(!text.contains("failed @1"), settles, "{client:?} {install} {text}");
        }
    }
    // In front of what fails next, which nothing else can have written.
    let chain = "pip install pytz -q && python -c \"import a; a.run()\" 2>&1 | tail -9";
    let raised =
        "Traceback (most recent call last):\n  File \"a\", line 1\nValueError: not configured";
    let runs = [
        (
            "python -m pytest t.py",
            "E   ModuleNotFoundError: No module named 'pytz'\n1 error in 0.1s",
            1,
        ),
        (chain, raised, 0),
    ];
    assert!(!section(&recap(MiniSwe, &runs), "State").contains("pytz"));
}

#[test]
fn of_a_command_that_fails_again_the_newest_failure_is_told() {
    let runs = [
        ("./serve --check", "AttributeError: no Mapping", 1),
        ("./serve --check", "ImportError: astropy", 1),
    ];
    for client in [MiniSwe, Claude, Codex] {
        let text = recap(client, &runs);
        let failed = section(&text, FAILED);
        assert!(
            failed.starts_with("@3 failed `./serve --check`: ImportError: astropy\n"),
            "{client:?} {text}"
        );
        assert!(!failed.contains("Mapping"), "{client:?} {text}");
        // It failed in another way since. That ends nothing.
        assert!(!text.contains("over since"), "{client:?} {text}");
    }
}

#[test]
fn a_script_for_one_look_that_failed_once_costs_nothing_after_another() {
    let write = |name: &str| format!("cat > {name} <<'E'\nx\nE\npython {name} 2>&1 | grep -v Warn");
    let (one, two, three) = (write("a.py"), write("b.py"), write("c.py"));
    let division = "Traceback (most recent call last):\n  File \"a.py\", line 1\nZeroDivisionError: division by zero";
    let runs: [Run<'_>; 3] = [(&one, division, 0), (&two, division, 0), (&three, "0.5", 0)];
    assert_eq!(section(&recap(MiniSwe, &runs), FAILED), "");
    assert!(section(&recap(MiniSwe, &runs[..2]), FAILED).contains("ZeroDivisionError"));
}

#[test]
fn a_failed_check_is_told_once_with_its_cause_and_the_folder_it_ran_in() {
    let printed = "E   FileNotFoundError: No such file: 'test/fixtures'\n1 error in 0.03s";
    let runs =
        [("cd test && pytest rules", printed, 1), ("cd test && ./prepare", "no fixtures", 3)];
    for client in [MiniSwe, Claude, Codex] {
        let text = recap(client, &runs);
        assert_eq!(
            section(&text, "State"),
            "checks: `cd test && pytest rules` failed @1: FileNotFoundError: No such file: 'test/fixtures' / 1 error in 0.03s\n",
            "{client:?}"
        );
        let failed = section(&text, FAILED);
        assert!(failed.starts_with("@3 failed `cd test && ./prepare`: "), "{client:?} {text}");
        assert!(!failed.contains("pytest"), "{client:?} {text}");
    }
}

#[test]
fn what_only_looks_was_not_tried() {
    let text = session(&[
        Step::Calls(&[(
            "WebFetch",
            json!({"url": "https://a.b/c"}),
            "Request failed with status code 504",
            true,
        )]),
        Step::Calls(&[(
            "WebFetch",
            json!({"url": "https://a.b/d"}),
            "Request failed with status code 504",
            true,
        )]),
        Step::Calls(&[("Bash", bash("which node"), "Exit code 1", true)]),
    ]);
    assert_eq!(section(&text, FAILED), "", "{text}");
}

#[test]
fn files_for_one_look_do_not_make_a_check_stale() {
    let test = ("pytest -q pkg", "3 passed in 0.1s", 0);
    let aside = [
        ("sed -i 's/a/b/' pkg/a.py", "", 0),
        test,
        ("cat > test_exact.py <<'E'\nprint(1)\nE\npython test_exact.py", "1", 0),
        ("cat > patch.txt <<'E'\nx\nE", "", 0),
    ];
    let state = |runs: &[Run<'_>]| section(&recap(MiniSwe, runs), "State").to_owned();
    assert!(!state(&aside).contains("changed since"), "{}", state(&aside));
    let more =
        [&aside[..], &[("cat > pkg/b.py <<'E'\nx\nE", "", 0), ("sed -i 's/b/c/' pkg/a.py", "", 0)]]
            .concat();
    assert!(
        state(&more).contains("changed since the last of these passed: 2 files\n"),
        "{}",
        state(&more)
    );
    // Of a project that begins all is its work.
    let fresh = [test, ("cat > main.py <<'E'\nx\nE", "", 0)];
    assert!(
        state(&fresh).contains("changed since the last of these passed: 1 file\n"),
        "{}",
        state(&fresh)
    );
}

#[test]
fn a_list_that_is_cut_says_so_and_completed_items_go_first() {
    let item = |at: usize| {
        let status = if at < 30 { "completed" } else { "pending" };
        json!({"content": format!("Item {at} of a long list that does not find room"), "status": status})
    };
    let todos: Vec<Value> = (0..120).map(item).collect();
    let text = session(&[Step::Calls(&[(
        "TodoWrite",
        json!({"todos": todos}),
        "Todos have been modified",
        false,
    )])]);
    let state = section(&text, "State");
    let head = state.lines().next().unwrap();
    assert!(head.starts_with("to-do list @1 (") && head.ends_with("left out):"), "{state}");
    assert!(head.contains(" completed left out"), "{state}");
    assert!(state.contains("[ ] Item 30 ") || !state.contains("[x]"), "{state}");
    // An earlier recap is read back with it.
    let all = state.lines().filter(|line| line.starts_with("  ")).count();
    let numbers = head.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<usize>().ok());
    let left: usize = numbers.skip(1).sum();
    assert_eq!(all + left, 120, "{state}");
}
