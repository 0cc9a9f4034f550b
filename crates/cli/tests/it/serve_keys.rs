//! Keys and settings of `midfold serve`, from the command line to the provider.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use midfold_testkit::upstream::{ScriptedUpstream, UpstreamScript, UpstreamSettings};

use crate::{folder, midfold, root, stdout};

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;

/// A server that runs, until it is dropped.
struct Server {
    child: Child,
    listen: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(command: &mut Command) -> Self {
        command.args(["serve", "--json", "--store", "memory"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        Self { child, listen: said["listen"].as_str().unwrap_or_default().to_owned() }
    }

    /// The status of a request with this header.
    fn post(&self, header: &str) -> u16 {
        let mut stream = TcpStream::connect(self.listen.trim_start_matches("http://")).unwrap();
        let length = CHAT.len();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n{header}\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n{CHAT}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }
}

fn new_key(file: &Path, name: &str) -> String {
    let made = stdout(&["serve", "key", "new", name, "--keys", &file.display().to_string()], b"");
    assert!(made.starts_with("mf_") && made.trim().len() == 46, "{made}");
    made.trim().to_owned()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_file_of_keys_may_be_named_by_the_settings() {
    let tmp = folder("serve-keys-named");
    let file = tmp.join("keys.toml");
    let asked = |args: &[&str]| {
        let output = midfold(args).env("MIDFOLD_KEYS", &file).output().unwrap();
        assert!(output.status.success(), "{}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    asked(&["serve", "key", "new", "ann"]);
    assert!(fs::read_to_string(&file).unwrap().contains("name = \"ann\""));
    assert!(asked(&["serve", "key", "list"]).contains("ann"));
    let none = midfold(&["serve", "key", "list"]).output().unwrap();
    assert!(error(&none).contains("name one: --keys keys.toml"), "{}", error(&none));
    // A check that says all is well while the server cannot start is worse than none.
    let mut doctor = midfold(&["doctor", "--upstream", "http://127.0.0.1:1"]);
    let doctor = doctor.env("MIDFOLD_KEYS", tmp.join("no.toml")).output().unwrap();
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned() + &error(&doctor);
    assert!(!doctor.status.success() && text.contains("no.toml"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_made_asked_for_and_taken_away() {
    let script = UpstreamScript::fixed("fine");
    let upstream =
        ScriptedUpstream::start(UpstreamSettings { script, ..UpstreamSettings::default() })
            .await
            .unwrap();
    let tmp = folder("serve-keys");
    let (file, log) = (tmp.join("keys.toml"), tmp.join("log.jsonl"));
    let (ann, bob) = (new_key(&file, "ann"), new_key(&file, "bob"));
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(&ann) && text.contains("hash = \"blake3:"), "{text}");
    #[cfg(unix)]
    {
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    let mut command = midfold(&["-vv", "--log"]);
    command
        .arg(&log)
        .env("MIDFOLD_LISTEN", "127.0.0.1:0")
        .env("MIDFOLD_KEYS", &file)
        .env("MIDFOLD_UPSTREAM", upstream.url())
        // Nobody has to be asked for it.
        .env("MIDFOLD_WINDOW", "32k")
        .env("MIDFOLD_UPSTREAM_KEY_OPENAI", "sk-of-the-server")
        .stderr(fs::File::create(tmp.join("stderr")).unwrap());
    let server = Server::start(&mut command);
    assert_eq!(server.post("x-other: 1"), 401);
    assert_eq!(server.post(&format!("authorization: Bearer {ann}")), 200);
    assert_eq!(server.post(&format!("midfold-key: {bob}")), 200);
    let sent = upstream.requests();
    assert_eq!(sent[0].header("authorization"), Some("Bearer sk-of-the-server"));
    assert_eq!(sent[1].header("authorization"), None);
    // What goes wrong is logged, and no key with it.
    drop(upstream);
    // A connection that is open still may be answered once more.
    let mut answers = (0..100).map(|_| server.post(&format!("authorization: Bearer {ann}")));
    assert!(answers.any(|status| status == 502));
    stdout(&["serve", "key", "remove", "bob", "--keys", &file.display().to_string()], b"");
    #[cfg(unix)]
    {
        let hup = Command::new("kill").args(["-HUP", &server.child.id().to_string()]).status();
        assert!(hup.unwrap().success());
        while server.post(&format!("midfold-key: {bob}")) != 401 {}
        assert_eq!(server.post(&format!("authorization: Bearer {ann}")), 502);
    }
    drop(server);
    let told = fs::read_to_string(&log).unwrap() + &fs::read_to_string(tmp.join("stderr")).unwrap();
    assert!(told.contains("no answer"), "{told}");
    for secret in [&ann[3..], &bob[3..], "sk-of-the-server"] {
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn keys_are_listed_and_a_second_one_of_a_name_is_refused() {
    let file = folder("key-list").join("keys.toml").display().to_string();
    stdout(&["serve", "key", "new", "ann", "--keys", &file], b"");
    let more = ["--scope", "admin", "--requests-per-minute", "60", "--longest-body", "16m"];
    stdout(&[&["serve", "key", "new", "ops", "--keys", &file][..], &more[..]].concat(), b"");
    let listed = stdout(&["serve", "key", "list", "--keys", &file, "--json"], b"");
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["name"], &listed[0]["scopes"][0]), (&"ann".into(), &"proxy".into()));
    assert_eq!(
        (&listed[1]["scopes"][0], &listed[1]["longest_body"]),
        (&"admin".into(), &(16 << 20).into())
    );
    let refused = midfold(&["serve", "key", "new", "ann", "--keys", &file]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty() && error(&refused).contains("there are two of this name"));
    let unknown = midfold(&["serve", "key", "remove", "eve", "--keys", &file]).output().unwrap();
    assert!(error(&unknown).contains("there is no key `eve`"), "{}", error(&unknown));
    let made = stdout(&["serve", "key", "new", "eve", "--json"], b"");
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    assert!(made["lines"].as_str().unwrap().starts_with("[[key]]\nname = \"eve\"\n"), "{made}");
}

#[test]
fn what_a_server_cannot_start_with_is_said() {
    let tmp = folder("serve-wrong");
    let tls = root().join("crates/serve/tests/tls");
    let tls = |name: &str| tls.join(name).display().to_string();
    fs::write(tmp.join("keys.toml"), "[[key]]\nname = \"a\"\nhash = \"x\"\n").unwrap();
    let (keys, none) = (tmp.join("keys.toml").display().to_string(), tls("none.pem"));
    let (cert, key, other) = (tls("cert.pem"), tls("key.pem"), tls("other.pem"));
    for (args, says) in [
        (&["--listen", "0.0.0.0:0"][..], "midfold serve key new NAME"),
        (&["--keys", &none], "there is no such file"),
        (&["--keys", &keys], "64 hexadecimal digits"),
        (&["--upstream-key", "openai=NOT_SET"], "none are asked for"),
        (&["--tls-cert", &cert], "one is missing"),
        (&["--tls-cert", &none, "--tls-key", &key], "there is no such file"),
        (&["--tls-cert", &key, "--tls-key", &key], "there is no certificate in it"),
        (&["--tls-cert", &cert, "--tls-key", &cert], "there is no private key in it"),
        (&["--tls-cert", &cert, "--tls-key", &other], "cannot be used"),
    ] {
        let output = midfold(&["serve", "--store", "memory"]).args(args).output().unwrap();
        let said = error(&output);
        assert!(!output.status.success() && said.contains(says), "{args:?}: {said}");
        assert!(said.contains("hint:") || said.contains("no such file"), "{args:?}: {said}");
    }
    let mut command = midfold(&["--color", "never"]);
    command.env("MIDFOLD_TLS_CERT", cert).env("MIDFOLD_TLS_KEY", key);
    command.env("MIDFOLD_LISTEN", "127.0.0.1:0");
    assert!(Server::start(&mut command).listen.starts_with("https://127.0.0.1:"));
}

/// Whoever clones a folder has not agreed to where its file sends conversations, or who may ask.
#[test]
fn a_file_that_comes_with_a_folder_does_not_say_where_conversations_go() {
    let tmp = folder("serve-foreign");
    let home = tmp.join("home/.config/midfold");
    fs::create_dir_all(&home).unwrap();
    let serve = |args: &[&str]| {
        let mut command = midfold(&["serve"]);
        command.args(args).current_dir(&tmp).env("HOME", tmp.join("home")).output().unwrap()
    };
    for setting in [
        "upstream = { openai = \"http://127.0.0.1:9\" }",
        "upstream_key = { openai = \"SOME\" }",
        "keys = \"keys.toml\"",
        "listen = \"127.0.0.1:0\"",
        "open = true",
        "recall = true",
    ] {
        fs::write(tmp.join("midfold.toml"), format!("[serve]\n{setting}\n")).unwrap();
        let said = error(&serve(&[]));
        assert!(said.contains("midfold.toml names addresses, keys or files"), "{setting}: {said}");
    }
    // `strict` may stand there; the user's own file may say all, and paths are meant from its folder.
    fs::write(tmp.join("midfold.toml"), "[serve]\nstrict = true\n").unwrap();
    let user = "[serve]\nlisten = \"127.0.0.1:0\"\nkeys = \"keys.toml\"\n\
        upstream = { openai = \"http://joe:pw@h\", gemini = \"http://g\" }\n";
    fs::write(home.join("config.toml"), user).unwrap();
    let said = error(&serve(&[]));
    assert!(said.contains("the upstream openai is not usable"), "{said}");
    let said = error(&serve(&["--upstream", "http://127.0.0.1:9"]));
    let keys = home.join("keys.toml").display().to_string();
    assert!(said.contains(&keys) && said.contains("no such file"), "{said}");
    let shown = midfold(&["print", "config", "--json"])
        .current_dir(&tmp)
        .env("HOME", tmp.join("home"))
        .env("MIDFOLD_UPSTREAM_GEMINI", "http://nearer")
        .env("MIDFOLD_UPSTREAM_KEY_GEMINI", "secret")
        .env("MIDFOLD_RECALL", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(!text.contains("secret") && !text.contains("pw"), "{text}");
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    let gemini = &shown["serve.upstream.gemini"];
    assert_eq!(gemini["value"], "http://nearer");
    assert_eq!(gemini["from"], "MIDFOLD_UPSTREAM_GEMINI");
    assert_eq!(shown["serve.upstream_key.gemini"]["value"], "MIDFOLD_UPSTREAM_KEY_GEMINI");
    assert_eq!(shown["serve.strict"]["value"], true);
    assert_eq!(shown["serve.recall"]["from"], "MIDFOLD_RECALL");
}
