//! What State tells while it holds: what still runs, where the agent works, modes, the approved plan, skills.

use midfold_formats::DialectKind;
use serde_json::{Value, json};

use crate::deeds::{Client, gather, messages, recap, recap_of, section};

/// A step of a session in OpenAI's messages.
enum Step<'a> {
    /// A call: tool, arguments, result.
    Call(&'a str, Value, &'a str),
    User(&'a str),
    Said(&'a str),
}
use Step::{Call, Said, User};

fn input(steps: &[Step<'_>]) -> Value {
    let mut out = vec![json!({"role": "user", "content": "Mend the parser."})];
    for step in steps {
        match step {
            User(text) => out.push(json!({"role": "user", "content": text})),
            Said(text) => out.push(json!({"role": "assistant", "content": text})),
            Call(name, arguments, result) => {
                let id = format!("call_{}", out.len());
                let function = json!({"name": name, "arguments": arguments.to_string()});
                out.push(json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": id, "type": "function", "function": function}]}));
                out.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
            }
        }
    }
    Value::Array(out)
}

fn state(steps: &[Step<'_>]) -> String {
    let text = recap_of(&gather(DialectKind::OpenAiChat, &input(steps)));
    section(&text, "State").to_owned()
}

fn command(text: &str) -> Value {
    json!({"command": text})
}

#[test]
fn what_still_runs_is_told_with_its_handle() {
    let serve = "Command running in background with ID: b7x2. Output is being written to: /tmp/x";
    for (call, wanted) in [
        (Call("Bash", command("npm run dev"), serve), "`npm run dev` (id b7x2) @1"),
        (
            Call(
                "exec_command",
                json!({"cmd": "cargo build"}),
                "Chunk ID: 5e\nProcess running with session ID 48\nOutput:\n",
            ),
            "`cargo build` (session 48) @1",
        ),
        (
            Call(
                "exec",
                command("python train.py"),
                "Command still running (session brisk-otter, pid 40). Use process.",
            ),
            "`python train.py` (session brisk-otter) @1",
        ),
        (
            Call(
                "run_shell_command",
                command("uvicorn a:b &"),
                "Command: uvicorn a:b &\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nBackground PIDs: 771",
            ),
            "`uvicorn a:b` (pid 771) @1",
        ),
        (
            Call("Bash", command("nohup ./serve > log 2>&1 &\necho $!"), "4711"),
            "`./serve` (pid 4711) @1",
        ),
        (
            Call("Bash", command("docker run -d --name db postgres"), "f00"),
            "`docker run -d --name db postgres` (id db) @1",
        ),
        (
            Call(
                "Agent",
                json!({"description": "Audit", "prompt": "Audit a.py"}),
                "Async agent launched successfully.\nagentId: a93f (internal ID)\n",
            ),
            "agent: Audit: Audit a.py (id a93f) @1",
        ),
        (
            Call(
                "spawn_agent",
                json!({"message": "Map it"}),
                r#"{"agent_id": "019a-7e", "nickname": "T"}"#,
            ),
            "agent: Map it (id 019a-7e) @1",
        ),
    ] {
        assert_eq!(state(&[call]), format!("still running: {wanted}\n"));
    }
}

#[test]
fn what_ended_is_not_told_as_running() {
    let begin = || {
        Call("Bash", command("npm run dev"), "Command running in background with ID: b7x2. Output")
    };
    let pid = || Call("Bash", command("./serve -p 3000 & echo $!"), "4711");
    let agent = || {
        Call(
            "Agent",
            json!({"description": "Audit"}),
            "Async agent launched successfully.\nagentId: a93f77 (internal ID)\n",
        )
    };
    let note = "<task-notification>\n<task-id>a93f77</task-id>\n<status>completed</status>\n<summary>done</summary>\n<result>Two roundings are wrong.</result>\n</task-notification>";
    for steps in [
        vec![
            begin(),
            Call(
                "KillShell",
                json!({"shell_id": "b7x2"}),
                r#"{"message": "Successfully killed shell: b7x2"}"#,
            ),
        ],
        vec![
            begin(),
            Call(
                "BashOutput",
                json!({"bash_id": "b7x2"}),
                "<status>completed</status>\n<exit_code>0</exit_code>\n<stdout>bye</stdout>",
            ),
        ],
        vec![
            begin(),
            User(
                "<task-notification>\n<task-id>b7x2</task-id>\n<status>killed</status>\n<summary>stopped</summary>\n</task-notification>",
            ),
        ],
        vec![pid(), Call("Bash", command("kill 4711"), "")],
        vec![pid(), Call("Bash", command("pkill -f serve"), "")],
        vec![
            Call(
                "Bash",
                command("python -u work/_probe.py"),
                "Command running in background with ID: q1. Output",
            ),
            Call("Bash", command("pkill -f \"_probe.py\" 2>/dev/null; echo over"), "over"),
        ],
        vec![pid(), Call("Bash", command("fuser -k 3000/tcp"), "")],
        vec![pid(), Call("Bash", command("lsof -ti:3000 | xargs kill -9"), "")],
        vec![agent(), User(note)],
    ] {
        let told = state(&steps);
        assert!(!told.contains("still running"), "{told}");
    }
    let reported = state(&[agent(), User(note)]);
    assert_eq!(reported, "reports of agents: Audit (a93f77): Two roundings are wrong. @3\n");
    // A poll that finds it running, and a file with such a number, change nothing.
    let polled = [
        Call(
            "exec_command",
            json!({"cmd": "make"}),
            "Process running with session ID 7\nOutput:\n",
        ),
        Call(
            "write_stdin",
            json!({"session_id": 7, "chars": ""}),
            "Process running with session ID 7\nOutput:\nx",
        ),
        Call("read_file", json!({"path": "a.py", "offset": 7}), "x = 1"),
    ];
    assert_eq!(state(&polled), "still running: `make` (session 7) @1\n");
}

#[test]
fn a_poll_belongs_to_the_command_that_it_asks_for() {
    let script = |code: &str| json!({"code": code});
    let begin = Call(
        "exec",
        script("const r = await tools.exec_command({cmd:'make check'}); text(r);"),
        "Script completed\nWall time 1.2 seconds\nOutput:\n\n{\"session_id\":38087,\"output\":\"./gen\\n\"}",
    );
    let poll = || {
        Call(
            "write_stdin",
            json!({"session_id": 38087}),
            "Process running with session ID 38087\nOutput:\n",
        )
    };
    let end = Call(
        "write_stdin",
        json!({"session_id": 38087}),
        "Chunk ID: 5\nProcess exited with code 0\nOutput:\n70 passed in 1.7s",
    );
    let steps = [begin, poll(), poll(), end];
    let text = recap_of(&gather(DialectKind::OpenAiChat, &input(&steps)));
    assert_eq!(
        section(&text, "State"),
        "checks: `make check` ok @7 (70 passed in 1.7s)\n",
        "{text}"
    );
    assert!(!text.contains("write_stdin"), "{text}");
    // The client tells the end of a command in the background by itself.
    let told = state(&[
        Call("Bash", command("npm test"), "Command running in background with ID: b9. Output"),
        User(
            "<task-notification>\n<task-id>b9</task-id>\n<status>failed</status>\n<summary>Background command \"npm test\" failed (exit code 1)</summary>\n</task-notification>",
        ),
    ]);
    assert_eq!(told, "checks: `npm test` failed @3: exit 1\n");
}

#[test]
fn results_of_code_mode_are_read() {
    let script = json!({"code": "const r = await tools.exec_command({cmd:'pytest -q'}); text(r);"});
    for (result, wanted) in [
        (
            r#"{"exit_code":1,"output":"1 failed, 2 passed in 0.1s"}"#,
            "failed @1: 1 failed, 2 passed in 0.1s",
        ),
        (r#"{"exit_code":0,"output":"3 passed in 0.1s"}"#, "ok @1 (3 passed in 0.1s)"),
        (
            r#"[{"exit_code":0,"output":"x"},{"exit_code":1,"output":"2 errors, 1 passed in 0.2s"}]"#,
            "failed @1: 2 errors, 1 passed in 0.2s",
        ),
    ] {
        let result = format!("Script completed\nWall time 0.1 seconds\nOutput:\n\n{result}");
        let told = state(&[Call("exec", script.clone(), &result)]);
        assert_eq!(told, format!("checks: `pytest -q` {wanted}\n"));
    }
}

#[test]
fn a_plan_is_told_whole_until_it_is_done() {
    let plan = "# One lock\n\n## Steps\n1. Add the column.\n2. Write it.\n3. Drop the old lock.\n\nRun the tests.";
    let steps = "  One lock\n  1. Add the column.\n  2. Write it.\n  3. Drop the old lock.\n";
    let approved = "User has approved your plan.";
    let saved = format!(
        "{approved}\n\nYour plan has been saved to: /u/plans/otter.md\n\n## Approved Plan:\n{plan}"
    );
    let tagged = format!("<proposed_plan>\n{plan}\n</proposed_plan>");
    let asked = format!("{plan}\n\nShall I?");
    for (said, wanted) in [
        (vec![Call("ExitPlanMode", json!({"plan": plan}), approved)], "plan @1, approved\n"),
        (
            vec![Call("ExitPlanMode", json!({}), &saved)],
            "plan @1, approved, in /u/plans/otter.md\n",
        ),
        (
            vec![Call(
                "plan_mode_respond",
                json!({"response": plan}),
                "<user_message>\nGood, go.\n</user_message>",
            )],
            "plan @1, to which the user said \"Good, go.\" @2\n",
        ),
        (
            vec![
                Call("submit_plan", json!({"plan": plan, "plan_path": "p.md"}), "Waiting."),
                User("No, not now."),
            ],
            "plan @1, in p.md, to which the user said \"No, not now.\" @3\n",
        ),
        (
            vec![Said(&tagged), User("Implement the plan.")],
            "plan @1, to which the user said \"Implement the plan.\" @2\n",
        ),
        (
            vec![Said(&asked), User("Yes, do that.")],
            "plan @1, to which the user said \"Yes, do that.\" @2\n",
        ),
    ] {
        let told = state(&said);
        assert!(told.contains(&format!("{wanted}{steps}")), "{told}");
    }
    // Whether a plan was approved is nothing to guess: the client says it, or the user's words are quoted.
    for (tool, result) in [
        ("submit_plan", "The plan waits for a review."),
        ("present_plan", "ok"),
        ("exit_plan_mode", "Plan execution was not approved. Remaining in plan mode."),
        ("ExitPlanMode", ""),
        ("desk__ExitPlanMode", approved),
    ] {
        assert_eq!(state(&[Call(tool, json!({"plan": plan}), result)]), "", "{tool}: {result}");
    }
    let asked_back = state(&[
        Call("submit_plan", json!({"plan": plan}), "Waiting."),
        Call("ask_followup_question", json!({"question": "Which port?"}), "<answer>8123</answer>"),
    ]);
    assert_eq!(asked_back, "", "an answer to another question is none to the plan");
    // An item that was chosen is no plan, nor is one that was rejected.
    let chosen = state(&[Said(&asked), User("Take 2")]);
    assert_eq!(chosen, "");
    let rejected = state(&[Call(
        "ExitPlanMode",
        json!({"plan": plan}),
        "The user doesn't want to proceed with this tool use.",
    )]);
    assert_eq!(rejected, "");
    let todo = |status: &str| json!({"todos": [{"content": "Add the column.", "status": status}]});
    let under_way = state(&[
        Call("ExitPlanMode", json!({"plan": plan}), approved),
        Call("TodoWrite", todo("in_progress"), "ok"),
    ]);
    assert!(under_way.contains(steps) && under_way.contains("[>] Add the column."), "{under_way}");
    let done = state(&[
        Call("ExitPlanMode", json!({"plan": plan}), approved),
        Call("TodoWrite", todo("completed"), "ok"),
    ]);
    assert_eq!(done, "", "neither a finished list nor its plan is state");
}

#[test]
fn a_question_ends_with_the_mark_of_its_language() {
    let plan = |asked: &str| format!("1. Add it.\n2. Write it.\n3. Drop it.\n\n{asked}");
    for (asked, answer) in [("可以开始吗？", "好，开始"), ("هل أبدأ؟", "نعم"), ("Shall I?", "Yes")]
    {
        let told = state(&[Said(&plan(asked)), User(answer)]);
        let wanted = format!("plan @1, to which the user said \"{answer}\" @2\n");
        assert!(told.starts_with(&wanted), "{told}");
    }
    for question in ["是吗？", "ماذا؟", "Which?"] {
        assert_eq!(state(&[Said(&plan("Shall I?")), User(question)]), "", "{question}");
    }
}

#[test]
fn a_plan_has_its_list_items_and_no_other_numbers() {
    let plan = "# Step 1: One lock\n\nPhase 1: Add it.\nPhase 2: Drop it.\n- Never touch legacy.py\n1.5 GB will do.";
    let approved =
        state(&[Call("ExitPlanMode", json!({"plan": plan}), "User has approved your plan.")]);
    assert!(approved.contains("Never touch legacy.py"), "{approved}");
    assert!(!approved.contains("1.5 GB"), "{approved}");
    assert_eq!(approved.matches("One lock").count(), 1, "{approved}");
    let questions = "1. Shall I add it?\n2. Shall I write it?\n3. Shall I drop the old data?\n\nTell me, please?";
    assert_eq!(state(&[Said(questions), User("Yes, but keep the data.")]), "");
}

#[test]
fn a_long_plan_says_how_many_steps_are_left_out() {
    let plan = |steps: usize| (1..=steps).map(|n| format!("{n}. Step.\n")).collect::<String>();
    let call =
        |steps| Call("ExitPlanMode", json!({"plan": plan(steps)}), "User has approved your plan.");
    assert!(!state(&[call(24)]).contains('…'));
    let told = state(&[call(31)]);
    assert!(told.contains("  24. Step.\n  … 7 more\n") && !told.contains("25."), "{told}");
}

#[test]
fn the_newest_words_of_the_client_on_a_mode_count() {
    let reminder = |text: &str| format!("<system-reminder>\n{text}\n</system-reminder>");
    let (on, off) = (
        reminder("Plan mode is active. Make no edits."),
        reminder("## Exited Plan Mode\n\nYou may edit."),
    );
    let exit =
        || Call("ExitPlanMode", json!({"plan": "1. a\n2. b"}), "User has approved your plan.");
    assert_eq!(
        state(&[User(&on)]),
        "the client on plan mode: Plan mode is active. Make no edits. @1\n"
    );
    let left = state(&[User(&on), exit(), User(&off)]);
    assert!(
        left.starts_with("the client on plan mode: Exited Plan Mode You may edit. @4\n"),
        "{left}"
    );
    assert!(!left.contains("active"), "{left}");
    let inside = format!("User has approved your plan.\n\n{off}");
    let left = state(&[User(&on), Call("ExitPlanMode", json!({"plan": "1. a\n2. b"}), &inside)]);
    assert!(left.starts_with("the client on plan mode: Exited Plan Mode"), "{left}");
    assert!(
        state(&[exit()]).starts_with("the client on plan mode: left, the plan was approved @1\n")
    );
    // What it says again and again comes again.
    let nag = reminder("The to-do list was not used recently.");
    assert_eq!(state(&[User(&nag), User(&nag)]), "");
    let permissions =
        "<permissions instructions>\nThe sandbox is read-only.\n</permissions instructions>";
    assert!(state(&[User(permissions)]).contains("The sandbox is read-only. @1"));
}

#[test]
fn the_place_of_the_work_is_told() {
    let at =
        |dir: &str, text: &str| Call("exec_command", json!({"cmd": text, "workdir": dir}), "x");
    assert_eq!(state(&[at("/w/a", "ls"), at("/w/a", "ls b")]), "");
    let moved = [at("/w/a", "ls"), at("/w/a", "ls b"), at("/w/a", "ls c"), at("/tmp", "ls")];
    assert_eq!(state(&moved), "works in: folder /w/a @5\n");
    let context = "<environment_context>\n  <cwd>/srv/wt-2</cwd>\n</environment_context>";
    assert_eq!(state(&[User(context)]), "works in: folder /srv/wt-2 @1\n");
    for (text, printed, wanted) in [
        (
            "git worktree add -b fix ../wt-fix main",
            "Preparing worktree (new branch 'fix')",
            "worktree ../wt-fix @1",
        ),
        ("git checkout -b fix/lock", "Switched to a new branch 'fix/lock'", "branch fix/lock @1"),
        ("git switch main", "Switched to branch 'main'", "branch main @1"),
        ("source .venv/bin/activate && python a.py", "x", "environment .venv @1"),
    ] {
        assert_eq!(state(&[Call("Bash", command(text), printed)]), format!("works in: {wanted}\n"));
    }
    let gone = [
        Call("Bash", command("git worktree add ../wt-fix"), "Preparing worktree"),
        Call("Bash", command("git worktree remove ../wt-fix"), ""),
    ];
    assert_eq!(state(&gone), "");
}

#[test]
fn loaded_skills_are_named() {
    let text = "Base directory for this skill: /u/.claude/skills/audit\n\n# Audit";
    for steps in [
        vec![Call("Skill", json!({"skill": "audit"}), "Launching skill: audit")],
        vec![User(text)],
        vec![Call("read_file", json!({"path": "/u/skills/audit/SKILL.md"}), "# Audit")],
        vec![User("<skill>\n<name>audit</name>\n# Audit\n</skill>")],
    ] {
        assert_eq!(state(&steps), "skills in use: audit @1\n");
    }
}

#[test]
fn a_runner_is_known_by_what_it_prints() {
    for (text, printed, wanted) in [
        (
            "./x.py verify",
            "running\n12 passed, 1 warning, 2 errors",
            "failed @1: 12 passed, 1 warning, 2 errors",
        ),
        (
            "./x.py verify",
            "Tests:  3 passed (9 assertions)",
            "ok @1 (Tests: 3 passed (9 assertions))",
        ),
        (
            "earthly +unit | tail -2",
            "ok  \texample.com/a\t0.003s",
            "ok @1 (ok example.com/a 0.003s)",
        ),
    ] {
        let told = recap(Client::Bare, &[(text, printed, 0)]);
        let label = text.split(" |").next().unwrap();
        assert_eq!(section(&told, "State"), format!("checks: `{label}` {wanted}\n"), "{told}");
    }
    // Once it is known, a run that printed no totals is a run of the same check.
    let runs = [("./x.py verify", "3 passed in 0.1s", 0), ("./x.py verify", "cannot start", 3)];
    let told = recap(Client::MiniSwe, &runs);
    assert!(section(&told, "State").starts_with("checks: `./x.py verify` failed @3"), "{told}");
    // What a command echoes itself proves nothing.
    let told = recap(
        Client::Bare,
        &[("pytest -q a.py; pytest -q b.py; echo OK", "1 failed in 0.1s\n2 passed in 0.1s\nOK", 0)],
    );
    assert!(!section(&told, "State").contains(" ok "), "{told}");
}

#[test]
fn a_call_that_failed_changed_nothing() {
    let unread = "/bin/bash: -c: line 6: unexpected EOF while looking for matching `''";
    let write = "cat > src/a.py <<'EOF'\nx = 1\nEOF\n";
    for (text, printed, code, changed) in [
        (format!("{write}python -c 'print(1)"), unread, 2, false),
        (format!("{write}echo 'x"), "(eval):4: unmatched '", 1, false),
        (format!("{write}pytest -q"), "1 failed in 0.1s", 1, true),
        (
            "python3 - <<'E'\nopen('src/a.py', 'w').write('x'\nE".to_owned(),
            "SyntaxError: '(' was never closed",
            1,
            false,
        ),
    ] {
        let gathered =
            gather(DialectKind::OpenAiChat, &messages(Client::MiniSwe, &[(&text, printed, code)]));
        let got = gathered.files.get("src/a.py").is_some_and(|used| used.modified);
        assert_eq!(got, changed, "{text}");
    }
    let broken = format!("{write}echo 'x");
    let failed = (&*broken, unread, 2);
    let told = recap(Client::MiniSwe, &[failed]);
    assert!(section(&told, "Tried and failed").contains("unexpected EOF"), "{told}");
    let told = recap(Client::MiniSwe, &[failed, (write, "", 0)]);
    assert_eq!(section(&told, "Tried and failed"), "", "{told}");
    let edit = |text: &str| {
        Call(
            "Edit",
            json!({"file_path": "a.py", "old_string": "x", "new_string": "y"}),
            text.to_owned().leak(),
        )
    };
    let steps =
        [edit("The file a.py has been updated."), Call("Read", json!({"file_path": "a.py"}), "y")];
    let text = recap_of(&gather(DialectKind::OpenAiChat, &input(&steps)));
    assert!(section(&text, "Files").contains("changed: a.py @1\n"), "{text}");
}

#[test]
fn of_amended_commits_the_living_one_is_told() {
    let amend = "git commit --amend --no-edit && make check";
    let runs = [
        ("git commit -m 'Gate'", "[part-2 1111aaa] Gate\n 8 files changed", 0),
        ("git add a && git commit --amend --no-edit && gh stack rebase", "conflict in a.go", 3),
        (amend, "[part-3 57a1a8f] Harden\n 6 files changed\nmake: *** [check] Error 1", 2),
        (amend, "[part-3 76a08b3] Harden\n 6 files changed\n70 passed in 1.7s", 0),
    ];
    let text = recap(Client::Codex, &runs);
    let wanted = "commits: 76a08b3 Harden @7\n  (rebased or amended, hash unknown) Gate @1\n";
    assert!(section(&text, "State").contains(wanted), "{text}");
}

#[test]
fn a_cell_of_code_mode_ends_when_the_client_says_so() {
    let script = "const r = await tools.exec_command({\"cmd\":\"cargo bench\"}); text(r.output);";
    for arguments in [json!({"input": script}), json!({"code": script})] {
        let begin = Call(
            "exec",
            arguments,
            "Script running with cell ID 46\nWall time 10.0 seconds\nOutput:\n",
        );
        let wait = |result| Call("wait", json!({"cell_id": "46"}), result);
        let goes_on = wait("Script running with cell ID 46\nWall time 9.0 seconds\nOutput:\n");
        let ends = wait("Script completed\nWall time 2.0 seconds\nOutput:\n\n12 rows");
        let steps = [begin, goes_on];
        assert_eq!(state(&steps), "still running: `cargo bench` (id 46) @1\n");
        let [begin, goes_on] = steps;
        assert!(!state(&[begin, goes_on, ends]).contains("still running"));
    }
}
