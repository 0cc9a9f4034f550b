//! `midfold doctor`: a machine where all is well, and one where little is.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use midfold::core::Hash;
use midfold::store::types::LearnedWindow;
use midfold_testkit::upstream::{ScriptedUpstream, UpstreamSettings};

use crate::{folder, midfold, regex_of, seen};

/// With a home, a path and a working directory of the test's own, and a port that is free.
fn doctor(tmp: &Path, args: &[&str]) -> Command {
    let mut command = midfold(&["doctor", "--listen", "127.0.0.1:0"]);
    command.args(args).current_dir(tmp).env("HOME", tmp.join("home")).env("PATH", tmp.join("bin"));
    command.env("COLUMNS", "80");
    command
}

fn shown(name: &str, tmp: &Path, output: &Output) {
    let mut settings = insta::Settings::clone_current();
    // A path is as long as the machine has it, and lines break where it ends.
    settings.add_filter(r"\n {17}( {2})?(?P<rest>[^→\s])", " $rest");
    settings.add_filter(&regex_of(&tmp.display().to_string()), "[TMP]");
    settings.add_filter(r"http://127\.0\.0\.1:\d{4,5}", "[UPSTREAM]");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, seen(output)));
}

fn json(mut command: Command) -> serde_json::Value {
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

fn check<'a>(all: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    all["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

fn program(tmp: &Path, name: &str) {
    fs::create_dir_all(tmp.join("bin")).unwrap();
    fs::write(tmp.join("bin").join(name), "").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_where_all_is_well() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let tmp = folder("doctor-well");
    program(&tmp, "claude");
    program(&tmp, "codex");
    let store = format!("sqlite:{}", tmp.join("midfold/s.db").display());
    let before = doctor(&tmp, &["--store", &store, "--upstream", upstream.url(), "--json"]);
    let before = json(before);
    assert!(check(&before, "store")["says"].as_str().unwrap().ends_with("when it is first used"));
    assert!(!tmp.join("midfold").exists(), "looking makes nothing");
    let made = midfold(&["session", "new", "--store", &store]).output().unwrap();
    assert!(made.status.success());
    let args = ["--store", &store, "--upstream", upstream.url(), "--narrator", upstream.url()];
    shown("doctor-well", &tmp, &doctor(&tmp, &args).output().unwrap());
    let all = json(doctor(&tmp, &[&args[..], &["--json"]].concat()));
    assert_eq!(all["ok"], true);
    let checks = all["checks"].as_array().unwrap();
    // The date of a server on this machine says nothing of this machine's clock.
    assert!(checks.iter().all(|check| check["name"] != "clock"), "{checks:?}");
    assert!(checks.iter().all(|check| check["state"] == "ok" && check["says"].is_string()));
}

/// A fix names the proxy that the address takes, if it takes one; an address of this machine takes none.
#[test]
fn a_fix_names_the_proxy_of_the_address() {
    let tmp = folder("doctor-proxy");
    let fix = |variable: &str, url: &str| {
        let upstream = format!("openai={url}");
        let mut command = doctor(&tmp, &["--store", "memory", "--upstream", &upstream, "--json"]);
        command.env(variable, "http://127.0.0.1:9");
        check(&json(command), "openai")["fix"].as_str().unwrap().to_owned()
    };
    let (here, http, https) = ("http://127.0.0.1:1", "http://192.0.2.1:1", "https://192.0.2.1:1");
    for variable in ["HTTPS_PROXY", "HTTP_PROXY"] {
        let fix = fix(variable, here);
        assert!(fix.starts_with("start it, or correct the address"), "{variable}: {fix}");
    }
    for (variable, url) in [("HTTPS_PROXY", https), ("HTTP_PROXY", http), ("all_proxy", http)] {
        let fix = fix(variable, url);
        assert!(fix.contains(&format!("the proxy of {variable} leads")), "{variable}: {fix}");
    }
}

#[test]
fn a_machine_where_little_is() {
    let tmp = folder("doctor-ill");
    program(&tmp, "claude");
    fs::write(tmp.join("midfold.toml"), "windw = 9\n").unwrap();
    fs::create_dir_all(tmp.join("s.db")).unwrap();
    let store = format!("sqlite:{}", tmp.join("s.db").display());
    let nobody = "http://127.0.0.1:1";
    let mut command =
        doctor(&tmp, &["--store", &store, "--upstream", nobody, "--narrator", nobody]);
    let output = command.env("ANTHROPIC_BASE_URL", nobody).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    shown("doctor-ill", &tmp, &output);
}

#[test]
fn faults_of_the_settings_are_lines_of_the_table() {
    let tmp = folder("doctor-settings");
    let store = format!("sqlite:{}", tmp.join("s.db").display());
    let config = tmp.join("home/.config/midfold");
    fs::create_dir_all(&config).unwrap();
    let args = ["--store", &store, "--upstream", "http://127.0.0.1:1", "--json"];
    for (file, says) in [
        ("[serve.upstream]\nopenai = \"ftp://x y\"\n", "openai"),
        ("[serve]\nca = \"/nope.pem\"\n", "/nope.pem"),
        ("[serve]\ntls_cert = \"/nope.pem\"\ntls_key = \"/nope.pem\"\n", "/nope.pem"),
    ] {
        fs::write(config.join("config.toml"), file).unwrap();
        let all = json(doctor(&tmp, &args));
        let settings = check(&all, "settings");
        assert_eq!(settings["state"], "fail", "{file}");
        assert!(settings["says"].as_str().unwrap().contains(says), "{settings}");
    }
}

#[test]
fn the_port_is_that_of_the_settings() {
    let tmp = folder("doctor-port");
    let store = format!("sqlite:{}", tmp.join("s.db").display());
    let args = ["doctor", "--store", &store, "--upstream", "http://127.0.0.1:1", "--json"];
    let mut command = midfold(&args);
    command.current_dir(&tmp).env("HOME", tmp.join("home")).env("MIDFOLD_LISTEN", "127.0.0.1:0");
    let port = json(command);
    assert!(check(&port, "port")["says"].as_str().unwrap().starts_with("127.0.0.1:0 is free"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_that_providers_taught_are_counted() {
    let tmp = folder("doctor-windows");
    let store = format!("sqlite:{}", tmp.join("s.db").display());
    let opened = midfold::store::open(&store).await.unwrap();
    let learned = u64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis());
    let window =
        LearnedWindow { tokens: 32_000, learned: learned.unwrap(), ..LearnedWindow::default() };
    opened
        .put_window(Hash::ROOT.chain(b"old"), &LearnedWindow { learned: 1, ..window })
        .await
        .unwrap();
    opened.put_window(Hash::ROOT.chain(b"new"), &window).await.unwrap();
    drop(opened);
    let all = json(doctor(&tmp, &["--store", &store, "--json"]));
    let says = &check(&all, "windows")["says"];
    assert_eq!(says, "1 window learned from what providers refused in the last 7 days");
}

#[cfg(unix)]
#[test]
fn a_store_that_others_can_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;

    let tmp = folder("doctor-open");
    let path = tmp.join("midfold/s.db");
    let store = format!("sqlite:{}", path.display());
    assert!(midfold(&["session", "new", "--store", &store]).output().unwrap().status.success());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let args = ["--store", &store, "--upstream", "http://127.0.0.1:1", "--json"];
    let output = doctor(&tmp, &args).output().unwrap();
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let access = check(&all, "access");
    assert_eq!(access["state"], "warn");
    assert_eq!(access["fix"], format!("chmod 600 {}", path.display()));
}

#[test]
fn nothing_secret_is_printed() {
    let tmp = folder("doctor-secret");
    program(&tmp, "qwen");
    let store = "postgres://me:swordfish@127.0.0.1:1/x";
    let args = ["--store", store, "--upstream", "http://127.0.0.1:1"];
    let mut command = doctor(&tmp, &args);
    let gateway = "https://joe:swordfish@gw.example/v1?key=swordfish";
    let output = command.env("OPENAI_BASE_URL", gateway).output().unwrap();
    let said = seen(&output);
    assert!(said.contains("gw.example/v1"), "{said}");
    assert!(!said.contains("swordfish"), "{said}");
}

/// A server that runs is known by its answer, for the port and for a client that is pointed at it.
#[test]
fn a_midfold_that_runs_is_known() {
    let tmp = folder("doctor-serve");
    program(&tmp, "claude");
    let mut server = midfold(&["serve", "--listen", "127.0.0.1:0", "--json", "--store", "memory"]);
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = said["listen"].as_str().unwrap();
    let address = url.strip_prefix("http://").unwrap();
    let doctor = |upstream: &str| {
        let mut command = midfold(&["doctor", "--store", "memory", "--upstream", upstream]);
        command.args(["--listen", address, "--narrator", upstream]);
        command.current_dir(&tmp).env("PATH", tmp.join("bin")).env("COLUMNS", "140");
        seen(&command.env("ANTHROPIC_BASE_URL", url).output().unwrap())
    };
    let (said, circle) = (doctor("http://127.0.0.1:1"), doctor(url));
    let _ = server.kill();
    let _ = server.wait();
    // It is no model server, neither as a provider nor as the one that narrates.
    assert_eq!(circle.matches("is a midfold, and no model server").count(), 4, "{circle}");
    assert!(said.contains(&format!("`midfold serve` runs on {address}")), "{said}");
    assert!(said.contains("Claude Code goes through midfold (ANTHROPIC_BASE_URL)"), "{said}");
}

/// Whether a port is free is tried by listening there: that is no model server that answers.
#[test]
fn a_model_server_that_is_down_at_the_own_address_is_down() {
    let tmp = folder("doctor-down");
    for _ in 0..8 {
        // The listener is dropped, and nobody has the port.
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("http://{address}");
        let listen = address.to_string();
        let mut command = midfold(&["doctor", "--store", "memory", "--json", "--listen", &listen]);
        command.args(["--upstream", &url, "--narrator", &url]).current_dir(&tmp);
        let all = json(command);
        for name in ["openai", "anthropic", "gemini", "narrator"] {
            let says = check(&all, name)["says"].as_str().unwrap();
            assert!(says.ends_with("nothing listens there"), "{name}: {says}");
        }
        let says = check(&all, "port")["says"].as_str().unwrap();
        assert!(says.contains("is free"), "{says}");
    }
}
