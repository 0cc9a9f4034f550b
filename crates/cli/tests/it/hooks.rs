//! `midfold hooks`: what is written into settings, and what happens when Claude Code calls. The calls are
//! as version 2.1.197 makes them; `tools/hooks-check` has it make them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{folder, midfold, regex_of, seen};

const ID: &str = "91d47077-1b7c-49d7-87a6-6f5d9755beef";

/// A project, and the user's home.
pub struct Place {
    pub at: PathBuf,
}

impl Place {
    pub fn new(name: &str) -> Self {
        let at = folder(name);
        fs::create_dir_all(at.join("project/.claude")).unwrap();
        Self { at }
    }

    pub fn settings(&self) -> PathBuf {
        self.at.join("project/.claude/settings.json")
    }

    fn transcript(&self) -> PathBuf {
        self.at.join("session.jsonl")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = midfold(args);
        command.current_dir(self.at.join("project")).env("HOME", self.at.join("home"));
        command.env("XDG_DATA_HOME", self.at.join("data"));
        command
    }

    pub fn run(&self, args: &[&str], stdin: &str) -> Output {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }

    pub fn ok(&self, args: &[&str], stdin: &str) -> String {
        let output = self.run(args, stdin);
        assert!(output.status.success(), "{}", seen(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.at.join("data/midfold/hooks.log")).unwrap_or_default()
    }
}

fn call(event: &str, transcript: &Path, more: &str) -> String {
    let path = transcript.display();
    format!(
        r#"{{"session_id":"{ID}","transcript_path":"{path}","cwd":"/p","hook_event_name":"{event}",{more}}}"#
    )
}

fn pre_compact(place: &Place) -> String {
    call("PreCompact", &place.transcript(), r#""trigger":"auto","custom_instructions":null"#)
}

fn session_start(source: &str) -> String {
    call("SessionStart", Path::new("/t"), &format!(r#""source":"{source}","model":"m""#))
}

/// Records of a transcript: steps with a command each.
fn steps(from: usize, to: usize) -> String {
    let record = |n: usize, at: usize, kind: &str, message: String| {
        let parent =
            if n + at == 0 { "null".to_owned() } else { format!(r#""u{}""#, n * 3 + at - 1) };
        format!(
            r#"{{"type":"{kind}","uuid":"u{}","parentUuid":{parent},"sessionId":"{ID}","message":{message}}}"#,
            n * 3 + at
        ) + "\n"
    };
    let step = |n: usize| {
        let ask = format!(
            r#"{{"role":"user","content":"Check part {n}; its port must stay 80{n:02}."}}"#
        );
        let reply = format!(
            r#"{{"id":"m{n}","role":"assistant","stop_reason":"tool_use","content":[{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{"command":"check part_{n}.py"}}}}]}}"#
        );
        let result = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{n}","content":"{}part_{n}.py: code K{n}-77\n3 passed"}}]}}"#,
            "looked at a line of the file\\n".repeat(40)
        );
        [record(n, 0, "user", ask), record(n, 1, "assistant", reply), record(n, 2, "user", result)]
            .concat()
    };
    (from..to).map(step).collect()
}

/// What the client writes when it compacted.
fn boundary(after: usize) -> String {
    let parent = after * 3 - 1;
    format!(
        r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{after}","parentUuid":null,"logicalParentUuid":"u{parent}","sessionId":"{ID}","content":"Conversation compacted"}}
{{"type":"user","uuid":"s{after}","parentUuid":"b{after}","sessionId":"{ID}","isCompactSummary":true,"message":{{"role":"user","content":"Some parts were checked."}}}}
"#
    )
}

fn context(output: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(output).unwrap();
    let answer = &value["hookSpecificOutput"];
    assert_eq!(answer["hookEventName"], "SessionStart");
    answer["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn hooks_come_and_go_and_all_else_stays() {
    let place = Place::new("hooks-install");
    let own = "{\n\t\"env\": {\"A\":\"1\"}, \"model\" :\"opus\",\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\":\"command\",\"command\":\"say done\"}]}]}\n}\n";
    fs::write(place.settings(), own).unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex_of(env!("CARGO_BIN_EXE_midfold")), "[MIDFOLD]");
    settings.add_filter(&regex_of(env!("CARGO_TARGET_TMPDIR")), "[TMP]");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    let install = ["connect", "claude", "--store", "sqlite:../claude.db"];
    let all = [&install[..], &install, &["connect"]].map(|args| seen(&place.run(args, "")));
    let written = fs::read_to_string(place.settings()).unwrap();
    let gone = [(); 2].map(|()| seen(&place.run(&["connect", "claude", "--remove"], "")));
    settings.bind(|| {
        insta::assert_snapshot!("hooks-install", all.join("\n") + "\n" + &gone.join("\n"));
        insta::assert_snapshot!("hooks-settings", written);
    });
    assert_eq!(fs::read_to_string(place.settings()).unwrap(), own);

    // The user's own file is made where there is none, and goes with what it was made for.
    let file = place.at.join("home/.claude/settings.json");
    place.ok(&["connect", "claude", "--user"], "");
    assert!(file.exists());
    let status: serde_json::Value =
        serde_json::from_str(&place.ok(&["connect", "--json"], "")).unwrap();
    assert_eq!(status["files"][0]["hooks"].as_array().unwrap().len(), 0, "{status}");
    assert_eq!(status["files"][1]["hooks"].as_array().unwrap().len(), 2, "{status}");
    place.ok(&["connect", "claude", "--remove", "--user"], "");
    assert!(!file.exists());
}

#[test]
fn settings_that_cannot_be_read_are_left_alone() {
    let place = Place::new("hooks-broken");
    let own = "{\n  \"model\": \"opus\", // mine\n}\n";
    fs::write(place.settings(), own).unwrap();
    for args in [&["connect", "claude"][..], &["connect", "claude", "--remove"]] {
        let output = place.run(args, "");
        let said = seen(&output);
        assert!(said.contains(".claude/settings.json: not JSON at line 2, column 20"), "{said}");
        assert_eq!(
            (output.status.code(), fs::read_to_string(place.settings()).unwrap().as_str()),
            (Some(1), own)
        );
    }
    let in_memory = place.run(&["connect", "claude", "--store", "memory"], "");
    assert_eq!(in_memory.status.code(), Some(2));
    let no_store = seen(&place.run(&["connect", "claude", "--store", "memory.db"], ""));
    assert!(no_store.contains("--store sqlite:memory.db"), "{no_store}");
    let secret = place.run(&["connect", "claude", "--store", "postgres://me:pw@h/d"], "");
    let said = seen(&secret);
    assert!(secret.status.code() == Some(2) && !said.contains("pw@"), "{said}");
}

/// Both hooks, over two compactions of one session; and the commands that the model is told work.
#[test]
fn what_a_compaction_takes_away_is_kept_and_told() {
    let place = Place::new("hooks-calls");
    fs::write(place.transcript(), steps(0, 9)).unwrap();
    assert_eq!(
        place.ok(&["hooks", "pre-compact"], &pre_compact(&place)),
        "",
        "it would be read as instructions"
    );
    let first = context(&place.ok(&["hooks", "session-start"], &session_start("compact")));
    assert!(first.starts_with("midfold keeps 27 messages from before the compaction, "), "{first}");
    for told in ["port must stay 8000", "port must stay 8008", "### ", "@26"] {
        assert!(first.contains(told), "{told}: {first}");
    }
    assert!(first.chars().count() <= 9_000);
    let lines = first.lines().next().unwrap();
    let commands: Vec<&str> = lines.split('`').skip(1).step_by(2).collect();
    let [grep, expand] = commands[..] else { panic!("{lines}") };
    for (command, found) in
        [(grep.replace("WORDS", "K4"), "part_4.py"), (expand.replace("@12", "@14"), "K4-77")]
    {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let said = place.ok(&words, "");
        assert!(said.contains(found), "{command}: {said}");
    }

    // The client's compaction took it away, and that is known.
    for text in ["port must stay 8003", "part_3.py: code K3-77"] {
        let explained = place.ok(&["explain", ID, text], "");
        let left = explained.contains(": recap, computed from the messages");
        assert!(left && !explained.contains("word for word"), "{explained}");
    }

    // A second time, after more work; a line is half written.
    let more = steps(0, 9) + &boundary(9) + &steps(9, 12) + "{\"type\":\"user\",\"uu";
    fs::write(place.transcript(), more).unwrap();
    for _ in 0..2 {
        place.ok(&["hooks", "pre-compact"], &pre_compact(&place));
    }
    let second = context(&place.ok(&["hooks", "session-start"], &session_start("compact")));
    assert!(second.starts_with("midfold keeps 37 messages from before"), "{second}");
    assert!(
        second.contains("port must stay 8000") && second.contains("port must stay 8011"),
        "{second}"
    );
    // A plain import finds the same session, and nothing new.
    let path = place.transcript().display().to_string();
    let again: serde_json::Value =
        serde_json::from_str(&place.ok(&["import", &path, "--json"], "")).unwrap();
    assert_eq!((&again[0]["id"], &again[0]["new"]), (&ID.into(), &0.into()));
    assert_eq!(place.log(), "");
}

/// A client that goes back to an older state of its transcript goes on with the session of that state.
#[test]
fn an_older_transcript_that_goes_on_is_the_newest_again() {
    let place = Place::new("hooks-back");
    let rewritten = steps(0, 6).replace("Check part 0;", "Look at part 0;");
    for (transcript, keeps) in [(steps(0, 9), 27), (rewritten, 18), (steps(0, 12), 36)] {
        fs::write(place.transcript(), transcript).unwrap();
        place.ok(&["hooks", "pre-compact"], &pre_compact(&place));
        let told = context(&place.ok(&["hooks", "session-start"], &session_start("compact")));
        assert!(told.starts_with(&format!("midfold keeps {keeps} messages")), "{told}");
    }
    assert_eq!(place.log(), "");
}

/// The client goes on, whatever is wrong.
#[test]
fn a_hook_that_fails_says_so_in_its_log_alone() {
    let place = Place::new("hooks-fail");
    let missing = call("PreCompact", Path::new("/no/such.jsonl"), r#""trigger":"manual""#);
    let compact = session_start("compact");
    for (hook, stdin, says) in [
        ("pre-compact", "", "the call of the hook"),
        ("pre-compact", "{\"session_id\":7}", "the call of the hook"),
        ("pre-compact", &missing, "/no/such.jsonl: there is no such file"),
        ("session-start", "[", "the call of the hook"),
        ("session-start", &compact, "there is no store at"),
    ] {
        let before = place.log().lines().count();
        let output = place.run(&["hooks", hook], stdin);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{}", seen(&output));
        let (log, said) = (place.log(), seen(&output));
        assert_eq!(log.lines().count(), before + 1, "{log}");
        let line = log.lines().last().unwrap();
        assert!(line.contains(&format!(" UTC {hook}: ")) && line.contains(says), "{line}");
        assert!(said.contains(says), "{said}");
    }
    // Other starts are none of its business.
    let before = place.log();
    assert_eq!(place.ok(&["hooks", "session-start"], &session_start("startup")), "");
    assert_eq!(place.log(), before);
}

/// What a user writes behind `/compact` weighs in what the model is told after it.
#[test]
fn instructions_of_a_compaction_weigh_in_the_recap() {
    let told = |name: &str, instructions: &str| {
        let place = Place::new(name);
        fs::write(place.transcript(), steps(0, 120)).unwrap();
        let more = format!(r#""trigger":"manual","custom_instructions":{instructions}"#);
        place.ok(&["hooks", "pre-compact"], &call("PreCompact", &place.transcript(), &more));
        place.ok(&["hooks", "session-start"], &session_start("compact"))
    };
    let (without, with) = (told("hook-plain", "null"), told("hook-focus", r#""keep part_3.py""#));
    let count = |text: &str| text.matches("part_3.py").count();
    assert!(count(&with) >= count(&without) && count(&with) > 0, "{without}\n{with}");
}
