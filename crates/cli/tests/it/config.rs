//! `midfold.toml`: what it sets, what wins over it, and what `midfold print config` shows.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{folder, midfold, regex_of, root, seen};

/// In a folder, with a home of its own.
fn at(dir: &Path, home: &Path, args: &[&str]) -> Output {
    midfold(args).current_dir(dir).env("HOME", home).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_nearer_file_wins_and_flags_win_over_both() {
    let tmp = folder("config");
    let (home, below) = (tmp.join("home"), tmp.join("project/a/b"));
    fs::create_dir_all(home.join(".config/midfold")).unwrap();
    fs::create_dir_all(&below).unwrap();
    let user = "window = 9000\npreset = \"hermes\"\nprices = \"reference\"\n";
    fs::write(home.join(".config/midfold/config.toml"), user).unwrap();
    fs::write(tmp.join("project/mine.toml"), "base = \"lean\"\n").unwrap();
    let project = "window = 16000\npolicy = \"mine.toml\"\nstore = \"sqlite:s.db\"\n";
    fs::write(tmp.join("project/midfold.toml"), project).unwrap();

    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex_of(&tmp.display().to_string()), "[TMP]");
    // Columns are as wide as the path is long.
    settings.add_filter(" {2,}", "  ");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings
        .bind(|| insta::assert_snapshot!("config", seen(&at(&below, &home, &["print", "config"]))));

    let file = root().join("examples/coding-session.jsonl").display().to_string();
    let report = |more: &[&str]| {
        let args = [&["compact", &file, "--json"], more].concat();
        let json: serde_json::Value =
            serde_json::from_str(&text(&at(&below, &home, &args))).unwrap();
        (json["fold"]["budget"]["window"].clone(), json["fold"]["policy"].clone())
    };
    assert_eq!(report(&[]), (16_000.into(), "lean".into()));
    assert_eq!(report(&["--preset", "default"]), (16_000.into(), "default".into()));
    assert_eq!(report(&["--window", "20k"]), (20_000.into(), "lean".into()));

    text(&at(&below, &home, &["session", "new", "--id", "s"]));
    assert!(tmp.join("project/s.db").is_file(), "beside the file that names it");
    let other = format!("sqlite:{}", tmp.join("other.db").display());
    let named = midfold(&["session", "new", "--id", "s"])
        .current_dir(&below)
        .env("MIDFOLD_STORE", &other)
        .output()
        .unwrap();
    text(&named);
    assert!(tmp.join("other.db").is_file(), "the environment wins");
}

#[test]
fn a_slip_is_told_with_its_file() {
    let tmp = folder("config-slip");
    fs::write(tmp.join("midfold.toml"), "windw = 9\n").unwrap();
    let output = at(&tmp, &tmp, &["print", "config"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("midfold.toml") && said.contains("unknown field `windw`"), "{said}");
    fs::remove_file(tmp.join("midfold.toml")).unwrap();
    assert!(text(&at(&tmp, &tmp, &["print", "config"])).starts_with("nothing is set"));
}

/// A file holds for many transcripts: what one of them says of itself is nearer, a flag nearer still.
#[test]
fn inspect_takes_the_settings_that_compact_takes() {
    let tmp = folder("config-inspect");
    let request = |model: &str| {
        format!(r#"{{{model}"messages": [{{"role": "user", "content": "Fix the tests."}}]}}"#)
    };
    fs::write(tmp.join("named.json"), request(r#""model": "claude-sonnet-4-5", "#)).unwrap();
    fs::write(tmp.join("nameless.json"), request("")).unwrap();
    let inspect = |args: &[&str]| -> serde_json::Value {
        let args = [&["inspect"], args, &["--json"]].concat();
        serde_json::from_str(&text(&at(&tmp, &tmp, &args))).unwrap()
    };
    let without = inspect(&["nameless.json"]);
    assert_eq!((&without["layout"]["policy"], &without["model"]), (&"default".into(), &().into()));

    let set = "model = \"gpt-5\"\npreset = \"lean\"\ntiers = { results = 0.2 }\n";
    fs::write(tmp.join("midfold.toml"), set).unwrap();
    let nameless = inspect(&["nameless.json"]);
    assert_eq!((&nameless["model"], &nameless["window"]), (&"gpt-5".into(), &272_000.into()));
    assert_eq!(nameless["layout"]["policy"], "lean");
    assert_eq!(nameless["presets"][0]["name"], "lean (yours)", "it has a cap that `lean` has not");
    let named = inspect(&["named.json"]);
    assert_eq!(named["model"], "claude-sonnet-4-5");
    assert_eq!(named["window"], 200_000);
    let flags = inspect(&["named.json", "--preset", "hermes", "--window", "50k"]);
    assert_eq!((&flags["layout"]["policy"], &flags["window"]), (&"hermes".into(), &50_000.into()));

    fs::write(tmp.join("midfold.toml"), "window = 30000\npreset = \"lean\"\n").unwrap();
    let set = inspect(&["named.json"]);
    assert_eq!(set["window"], 30_000, "no transcript names a window of its own");
    assert_eq!(set["presets"].as_array().unwrap().len(), 8, "a preset is not listed twice");
}

/// Whoever clones a folder has not agreed to what a file in it wants to run or to send.
#[test]
fn a_file_that_comes_with_a_folder_runs_no_command_and_sends_nothing_away() {
    let tmp = folder("config-foreign");
    let ran = tmp.join("ran");
    let file = root().join("fixtures/openai-chat.json").display().to_string();
    let policy = format!(
        "base = \"default\"\nengine = {{ command = [\"sh\", \"-c\", \"touch '{}'; cat\"] }}\n",
        ran.display()
    );
    fs::write(tmp.join("p.toml"), policy).unwrap();
    fs::write(tmp.join("midfold.toml"), "policy = \"p.toml\"\n").unwrap();
    let refused = |args: &[&str], what: &str| {
        let output = at(&tmp, &tmp, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("midfold.toml names") && said.contains(what), "{said}");
    };
    refused(&["compact", &file], "a policy that runs a command");
    assert!(!ran.exists(), "the command ran");
    // Who names something else, or names it himself, has decided.
    text(&at(&tmp, &tmp, &["compact", &file, "--preset", "lean"]));
    assert!(!ran.exists());
    at(&tmp, &tmp, &["compact", &file, "--policy", "p.toml"]);
    assert!(ran.exists());

    fs::write(tmp.join("midfold.toml"), "store = \"postgres://somebody@127.0.0.1:1/x\"\n").unwrap();
    refused(&["session", "list"], "a store on a server");
    fs::write(tmp.join("midfold.toml"), "store = \"memory.db\"\n").unwrap();
    let no_store = at(&tmp, &tmp, &["session", "list"]);
    let said = String::from_utf8_lossy(&no_store.stderr);
    assert!(said.contains("`memory.db` names no store"), "{said}");
    text(&at(&tmp, &tmp, &["compact", &file]));
}
