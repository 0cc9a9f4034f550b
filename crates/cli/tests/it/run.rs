//! `midfold run` as a program: what a child is told, what becomes of its requests, how it ends.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    ScriptedUpstream, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::{folder, midfold, regex_of};

const STEPS: u32 = 20;
/// Makes this test's own program an agent: which dialect it speaks.
const DIALECT: &str = "MIDFOLD_TEST_DIALECT";
/// Makes this test's own program one that waits for a signal.
const WAITS: &str = "MIDFOLD_TEST_WAITS";

/// With a store in memory and the caller's path, for `sh`.
fn run(args: &[&str]) -> Command {
    let mut command = midfold(&["run", "--store", "memory"]);
    command.args(args).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn upstream() -> UpstreamSettings {
    UpstreamSettings {
        limit: Some(12_000),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    }
}

/// This program again, as what `midfold run` runs: one of the tests that are none by themselves.
fn as_program<'a>(command: &'a mut Command, test: &str) -> &'a mut Command {
    let me = std::env::current_exe().unwrap();
    command.arg("--").arg(me).args(["--ignored", "--exact", test, "--nocapture"])
}

/// This program again, as an agent that talks to the proxy.
fn as_agent(command: &mut Command, dialect: &str) -> Output {
    as_program(command, "run::an_agent").env(DIALECT, dialect).output().unwrap()
}

/// No test by itself: a program that says when it listens for signals, and which one it got. A shell
/// that waits for a child is none: a signal between its fork and its exec is lost.
#[cfg(unix)]
#[tokio::test]
#[ignore = "the program of a test below"]
async fn a_program_that_waits() {
    use tokio::signal::unix::{SignalKind, signal};

    if std::env::var_os(WAITS).is_none() {
        return;
    }
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    let mut hangup = signal(SignalKind::hangup()).unwrap();
    println!("ready");
    let code = tokio::select! {
        _ = terminate.recv() => 9,
        _ = hangup.recv() => 10,
    };
    std::process::exit(code);
}

/// No test by itself: this program as the agent that a proxy is run for.
#[tokio::test]
#[ignore = "the agent of the tests below"]
async fn an_agent() {
    let Ok(dialect) = std::env::var(DIALECT) else { return };
    let (dialect, variable) = match dialect.as_str() {
        "chat" => (WireDialect::Chat, "OPENAI_BASE_URL"),
        _ => (WireDialect::Messages, "ANTHROPIC_BASE_URL"),
    };
    let url = std::env::var(variable).unwrap();
    let agent = ClientAgent {
        task: task(STEPS),
        stream: true,
        ..ClientAgent::new(dialect, url.trim_end_matches("/v1"))
    };
    let ran = agent.run().await;
    assert!(matches!(ran.end, Some(RunEnd::Finished(_))), "{:?}", ran.end);
    std::process::exit(23);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_folded_and_the_saving_is_told() {
    let upstream = ScriptedUpstream::start(upstream()).await.unwrap();
    let mut command = run(&["--window", "12k", "--json", "--upstream", upstream.url()]);
    // The option wins over what was there before.
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let output = as_agent(&mut command, "chat");
    assert_eq!(output.status.code(), Some(23), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    let line = said.lines().find(|line| line.starts_with('{')).unwrap();
    let saved: serde_json::Value = serde_json::from_str(line).unwrap();
    let stats = upstream.stats();
    assert_eq!(stats.overflows, 0);
    let figure = |name: &str| saved[name].as_u64().unwrap();
    assert_eq!(figure("with_history"), u64::from(STEPS) + 1);
    assert!(figure("folds") > 0 && figure("folded") >= figure("folds"), "{saved}");
    assert!(figure("tokens_after") < figure("tokens_before"), "{saved}");
    assert!(figure("cache_read_tokens") > 0, "{saved}");
}

/// The session of the run, and not the one that changed before it, is what its end names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_names_the_session_of_the_run() {
    let upstream = ScriptedUpstream::start(upstream()).await.unwrap();
    let place = format!("sqlite:{}", folder("run-session").join("s.db").display());
    let mut command = midfold(&["run", "--store", &place, "--window", "12k", "--json"]);
    command.args(["--upstream", upstream.url()]).env("PATH", std::env::var_os("PATH").unwrap());
    let said = text(&as_agent(&mut command, "chat").stderr);
    let saved: serde_json::Value =
        serde_json::from_str(said.lines().find(|line| line.starts_with('{')).unwrap()).unwrap();
    let id = saved["session"].as_str().unwrap();
    let status = crate::stdout(&["session", "status", id, "--store", &place, "--json"], b"");
    assert!(status.contains(id), "{status}");
}

/// The address that was there before, in a variable or in a client's own file, is where the proxy sends to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_of_the_user_stays_behind_the_proxy() {
    let home = folder("run-gateway");
    for (dialect, by_file) in [("messages", false), ("chat", true)] {
        let upstream = ScriptedUpstream::start(upstream()).await.unwrap();
        let mut command = if by_file {
            let url = upstream.url();
            let own = format!("model:\n  provider: custom\n  base_url: {url}/v1\n");
            std::fs::write(home.join("config.yaml"), own).unwrap();
            run(&["--window", "12k", "--client", "hermes"])
        } else {
            run(&["--window", "12k"])
        };
        command.env("ANTHROPIC_BASE_URL", upstream.url()).env("HERMES_HOME", &home);
        let output = as_agent(&mut command, dialect);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(23), "{said}");
        assert_eq!(upstream.stats().overflows, 0);
        let start = format!("midfold: {} model requests, ", STEPS + 1);
        assert!(said.contains(&start) && said.contains("cost "), "{said}");
    }
}

#[test]
fn a_program_is_told_the_address_and_its_exit_code_passes() {
    let script = "echo $MIDFOLD_URL; env | grep -E '^[A-Z_]*_(BASE_URL|API_BASE|API_URL)='; exit 7";
    let output = run(&["--", "sh", "-c", script]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let out = text(&output.stdout);
    let (url, variables) = out.split_once('\n').unwrap();
    let mut variables: Vec<_> = variables.lines().map(|it| it.replace(url, "URL")).collect();
    variables.sort();
    let wanted = [
        "ANTHROPIC_API_BASE=URL",
        "ANTHROPIC_API_URL=URL",
        "ANTHROPIC_BASE_URL=URL",
        "GEMINI_API_BASE=URL/v1beta",
        "GEMINI_BASE_URL=URL/v1beta",
        "GOOGLE_GEMINI_BASE_URL=URL",
        "OPENAI_API_BASE=URL/v1",
        "OPENAI_BASE_URL=URL/v1",
    ];
    assert_eq!(variables, wanted);
    assert!(text(&output.stderr).contains("no request came through"));
    let address = url.strip_prefix("http://").unwrap();
    assert!(TcpStream::connect(address).is_err(), "the port is free again");
    let quiet = run(&["--quiet", "--", "sh", "-c", "exit 0"]).output().unwrap();
    assert_eq!((quiet.status.code(), text(&quiet.stderr).as_str()), (Some(0), ""));
}

#[test]
fn a_program_that_cannot_be_started_is_told_as_a_shell_does() {
    let missing = run(&["--", "no-such-agent"]).output().unwrap();
    let said = text(&missing.stderr);
    assert_eq!(missing.status.code(), Some(127), "{said}");
    assert!(
        said.contains("there is no program `no-such-agent`") && said.contains("hint:"),
        "{said}"
    );
    let folder = folder("run-folder").display().to_string();
    assert_eq!(run(&["--", &folder]).output().unwrap().status.code(), Some(126));
    let unknown = run(&["--client", "codx", "--", "sh"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("codex"), "{}", text(&unknown.stderr));
    let wrong =
        |args: &[&str]| run(args).env("OPENAI_BASE_URL", "https://joe:pw@h/v1").output().unwrap();
    let named = wrong(&["--", "true"]);
    let said = text(&named.stderr);
    assert!(named.status.code() == Some(2) && said.contains("OPENAI_BASE_URL"), "{said}");
    assert!(!said.contains("pw"), "{said}");
    // A client that does not read the variable does not send its requests there.
    assert_eq!(wrong(&["--client", "codex", "--", "true"]).status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_script_without_its_interpreter_is_not_said_to_be_missing() {
    use std::os::unix::fs::PermissionsExt as _;

    let orphan = folder("run-orphan").join("orphan.sh");
    std::fs::write(&orphan, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&orphan, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(orphan.parent().unwrap());
    for name in [orphan.display().to_string(), "orphan.sh".to_owned()] {
        let output = run(&["--", &name]).env("PATH", &path).output().unwrap();
        let said = text(&output.stderr);
        assert!(said.contains("the interpreter that its first line names is missing"), "{said}");
        assert_eq!(output.status.code(), Some(126), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn signals_go_on_to_the_program() {
    for (signal, code) in [("TERM", 9), ("HUP", 10)] {
        let mut command = run(&["--quiet"]);
        let mut child = as_program(&mut command, "run::a_program_that_waits")
            .env(WAITS, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let ready = out.by_ref().lines().any(|line| line.unwrap().ends_with("ready"));
        assert!(ready, "{signal}: the program ended before it was ready");
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
    let killed = run(&["--quiet", "--", "sh", "-c", "kill -KILL $$"]).output().unwrap();
    assert_eq!(killed.status.code(), Some(128 + 9));
}

/// At a hangup of the terminal, the whole group of a job gets the signal.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_of_the_terminal_arrives_once() {
    // A shell that only reads takes a signal faster than it is passed on, so that no two become one.
    const PROGRAM: &str = r#"trap 'echo hangup >>signals' HUP; trap 'echo end >>signals; exit' TERM
exec 3<>pipe; echo $PPID >signals; while :; do read _ <&3; done"#;
    let at = folder("run-hangup");
    std::fs::write(at.join("program"), PROGRAM).unwrap();
    assert!(Command::new("mkfifo").arg(at.join("pipe")).status().unwrap().success());
    // With a second command, the shell of the terminal does not become the first.
    let midfold = env!("CARGO_BIN_EXE_midfold");
    let line = format!("'{midfold}' run --store memory --quiet -- sh program; true");
    let mut terminal = Command::new("script")
        .args(["-qc", &line, "/dev/null"])
        .current_dir(&at)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let wait_for = |word: &str| loop {
        let signals = std::fs::read_to_string(at.join("signals")).unwrap_or_default();
        if signals.contains(word) {
            return signals;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let parent = wait_for("\n");
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    wait_for("hangup");
    let end = format!("kill -TERM {parent}");
    assert!(Command::new("sh").args(["-c", &end]).status().unwrap().success());
    assert_eq!(wait_for("end").matches("hangup").count(), 1);
}

/// Programs by the names of clients, which print what they are told.
#[cfg(unix)]
fn clients(at: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;

    const PRINT: &str = "#!/bin/sh
echo \"== ${0##*/}\"
for it; do case $it in *.js) cat \"$it\"; echo \"$it\" >&2;; *) echo \"argument $it\";; esac; done
env | grep -E '^(ANTHROPIC_BASE_URL|OPENAI_BASE_URL|CUSTOM|OPENCODE)' | sort
";
    let bin = at.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in ["claude", "codex", "opencode", "pi", "hermes", "qwen"] {
        std::fs::write(bin.join(name), PRINT).unwrap();
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bin.join(name), all).unwrap();
    }
    bin
}

/// A run that is killed leaves its file behind, which the next one takes away, and nothing else.
#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_run_left_is_gone_with_the_next_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let tmp = folder("run-killed");
    let temporary = tmp.join("t");
    std::fs::create_dir_all(&temporary).unwrap();
    let pi = tmp.join("pi");
    // It waits until nobody writes to it any more.
    std::fs::write(&pi, "#!/bin/sh\necho ready\nread line\n").unwrap();
    std::fs::set_permissions(&pi, std::fs::Permissions::from_mode(0o755)).unwrap();
    let pi = pi.display().to_string();
    let start = || {
        let mut child = run(&["--quiet", "--", &pi])
            .env("TMPDIR", &temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let _ = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        child
    };
    let left = || {
        let found = std::fs::read_dir(&temporary).unwrap();
        let mut names: Vec<_> = found.map(|it| it.unwrap().path()).collect();
        names.sort();
        names
    };
    let mut killed = start();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let files = left();
    assert!(matches!(&files[..], [folder] if folder.join("midfold.js").exists()), "{files:?}");

    let mut running = start();
    let files = left();
    assert_eq!(files.len(), 1, "of the killed one nothing is left: {files:?}");
    // Another process has its number by now; a link and a folder of somebody else's have such names.
    let me = std::process::id();
    std::fs::create_dir(temporary.join(format!("midfold-run-{me}-1-ab"))).unwrap();
    symlink(&tmp, temporary.join("midfold-run-1-1-ab")).unwrap();
    let kept = temporary.join("midfold-run-notes");
    std::fs::create_dir(&kept).unwrap();
    let output = run(&["--quiet", "--", "true"]).env("TMPDIR", &temporary).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut wanted = vec![temporary.join("midfold-run-1-1-ab"), kept];
    wanted.extend(files);
    wanted.sort();
    assert_eq!(left(), wanted);
    drop(running.stdin.take());
    assert!(running.wait().unwrap().code().is_some());
}

/// What each client is told, first without a configuration of its own.
#[cfg(unix)]
#[test]
fn each_client_is_told_in_its_own_way() {
    let tmp = folder("run-clients");
    let bin = clients(&tmp);
    let home = tmp.join("home");
    let told = |name: &str, args: &[&str]| {
        let program = bin.join(name).display().to_string();
        let args = [&["--quiet", "--", &program], args].concat();
        let output = run(&args).current_dir(&tmp).env("HOME", &home).output().unwrap();
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let file = text(&output.stderr);
        assert!(file.is_empty() || !Path::new(file.trim()).exists(), "{file} is still there");
        text(&output.stdout)
    };
    let plain: String = ["claude", "codex", "opencode", "pi", "hermes", "qwen"]
        .map(|name| told(name, &["--own", "an argument"]))
        .concat();
    let write = |path: &str, content: &str| {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    write(".claude/settings.json", r#"{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1/a"}}"#);
    let codex =
        "model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    write(".codex/config.toml", codex);
    let opencode = r#"{"model": "mine/m", "provider": {"mine": {"npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": "http://127.0.0.1:1/v1", "apiKey": "a-secret"}}}}"#;
    write(".config/opencode/opencode.json", opencode);
    let pi = r#"{"providers": {"mine": {"baseUrl": "http://127.0.0.1:1", "api": "anthropic-messages"}}}"#;
    write(".pi/agent/models.json", pi);
    let hermes = "model:\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n";
    write(".hermes/config.yaml", hermes);
    let own: String =
        ["claude", "codex", "opencode", "hermes"].map(|name| told(name, &[])).concat()
            + &told("pi", &["--provider", "mine"])
            + &told("pi", &["list"])
            + &told("claude", &["--settings", "{}"]);
    assert!(!own.contains("a-secret"));
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex_of(&tmp.display().to_string()), "[TMP]");
    settings.add_filter(r"127\.0\.0\.1:\d{4,5}", "[PROXY]");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("run-clients", plain));
    settings.bind(|| insta::assert_snapshot!("run-clients-own", own));
}

/// Where all of HTTP goes through a proxy, the way to this machine does not.
#[test]
fn this_machine_is_excepted_from_a_proxy() {
    let script = "echo \"$NO_PROXY $no_proxy\"";
    let rows: [(&[(&str, &str)], &str); 4] = [
        (&[], "127.0.0.1 127.0.0.1"),
        (&[("no_proxy", "corp.example")], "corp.example,127.0.0.1 corp.example,127.0.0.1"),
        (
            &[("NO_PROXY", "a.example"), ("no_proxy", "b.example")],
            "a.example,127.0.0.1 b.example,127.0.0.1",
        ),
        // `*` means all hosts where it is alone, and in a list it is a name.
        (&[("NO_PROXY", "*")], "* *"),
    ];
    for (variables, expected) in rows {
        let mut command = run(&["--quiet", "--", "sh", "-c", script]);
        command.env("HTTP_PROXY", "http://127.0.0.1:1").envs(variables.iter().copied());
        let output = command.output().unwrap();
        assert_eq!(text(&output.stdout).trim_end(), expected, "{variables:?}");
    }
}
