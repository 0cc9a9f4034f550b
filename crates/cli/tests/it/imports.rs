//! `midfold import` of several files and of folders.

use std::fs;
use std::path::Path;

use crate::session::{at, ok, parsed, shown, store};
use crate::{folder, regex_of, seen};

fn write(path: &Path, messages: &[&str]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let line = |text: &&str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    fs::write(path, messages.iter().map(line).collect::<String>()).unwrap();
}

/// Two transcripts of one name, one of another, and what is none.
fn runs(name: &str) -> String {
    let folder = folder(name);
    write(&folder.join("a/run.jsonl"), &["one", "two"]);
    write(&folder.join("b/run.jsonl"), &["three"]);
    write(&folder.join("other.jsonl"), &["four"]);
    fs::write(folder.join("package.json"), "{\"name\": \"x\"}").unwrap();
    fs::write(folder.join("notes.md"), "# Notes\n").unwrap();
    folder.display().to_string()
}

/// The sessions of a store and how many messages they hold.
fn sessions(store: &str) -> Vec<(String, u64)> {
    let rows = parsed(&ok(store, &["session", "list", "--json"], b""));
    let rows = rows.as_array().unwrap().iter();
    let mut rows: Vec<_> = rows
        .map(|row| (row["id"].as_str().unwrap().to_owned(), row["events"].as_u64().unwrap()))
        .collect();
    rows.sort();
    rows
}

fn named(all: &[(&str, u64)]) -> Vec<(String, u64)> {
    all.iter().map(|(id, count)| ((*id).to_owned(), *count)).collect()
}

#[test]
fn a_folder_is_imported_once_and_goes_on_whatever_comes_before() {
    let store = &store("imports");
    let runs = runs("imports-runs");
    shown!("import-folder", store, ["import", &runs]);
    shown!("import-folder-again", store, ["import", &runs]);
    let all = named(&[("other", 1), ("run", 2), ("run-2", 1)]);
    assert_eq!(sessions(store), all);
    // A file that is looked at first takes nobody's name, and one that grew goes on.
    write(&Path::new(&runs).join("a/0/run.jsonl"), &["five"]);
    write(&Path::new(&runs).join("b/run.jsonl"), &["three", "six"]);
    ok(store, &["import", &runs], b"");
    assert_eq!(sessions(store), named(&[("other", 1), ("run", 2), ("run-2", 2), ("run-3", 1)]));
}

#[test]
fn a_file_that_was_named_is_told_and_the_others_are_done() {
    let store = &store("imports-named");
    let runs = runs("imports-named-runs");
    let [good, none, missing] = ["other.jsonl", "package.json", "no.jsonl"]
        .map(|name| Path::new(&runs).join(name).display().to_string());
    shown!("import-named", store, ["import", &none, &missing, &good]);
    assert_eq!(sessions(store), named(&[("other", 1)]));
    let args = ["import", &runs, &good, "--id", "x", "--json"];
    let done = at(store, &args, b"");
    assert!(done.status.success(), "{}", seen(&done));
    let ids = parsed(&String::from_utf8(done.stdout).unwrap());
    let ids: Vec<_> = ids.as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, ["x-run", "x-run-2", "x-other", "x-other"]);
    shown!("import-only-several", store, ["import", &runs, "--only", "1"]);
    shown!("import-watch-several", store, ["import", &runs, &good, "--watch"]);
}

#[test]
fn a_folder_without_a_transcript_makes_no_store() {
    let store = &store("imports-none");
    let folder = folder("imports-none-files");
    fs::write(folder.join("package.json"), "{\"name\": \"x\"}").unwrap();
    fs::write(folder.join("empty.jsonl"), "").unwrap();
    shown!("import-none", store, ["import", &folder.display().to_string()]);
    assert!(!Path::new(store.strip_prefix("sqlite:").unwrap()).exists());
}

#[test]
fn a_file_that_does_not_fit_the_settings_is_told_and_the_others_are_done() {
    let store = &store("imports-profile");
    let folder = folder("imports-profile-files");
    let other = folder.join("b.json");
    write(&folder.join("a.jsonl"), &["one"]);
    fs::copy(crate::root().join("fixtures/gemini.json"), &other).unwrap();
    write(&folder.join("c.jsonl"), &["two", "three"]);
    let runs = folder.display().to_string();
    let done = at(store, &["import", &runs, "--profile", "openai"], b"");
    let said = seen(&done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("error: {}: ", other.display())), "{said}");
    assert_eq!(sessions(store), named(&[("a", 1), ("c", 2)]));
}

/// The records of a session of Claude Code whose replies have a record for each block.
fn claude() -> String {
    let record = |at: usize, kind: &str, message: &str| {
        let parent = at.checked_sub(1).map_or("null".to_owned(), |at| format!("\"r{at}\""));
        format!(
            r#"{{"type":"{kind}","uuid":"r{at}","parentUuid":{parent},"sessionId":"session-c","message":{message}}}"#
        ) + "\n"
    };
    let reply = |id: &str, block: &str| {
        format!(r#"{{"id":"{id}","role":"assistant","model":"m","content":[{block}]}}"#)
    };
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"sow","input":{{}}}}"#);
    let result = |id: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"of {id}"}}]}}"#
        )
    };
    [
        record(0, "user", r#"{"role":"user","content":"Sow the beds."}"#),
        record(1, "assistant", &reply("m1", r#"{"type":"text","text":"First two."}"#)),
        record(2, "assistant", &reply("m1", &call("a"))),
        record(3, "assistant", &reply("m1", &call("b"))),
        record(4, "user", &result("a")),
        record(5, "user", &result("b")),
        record(6, "assistant", &reply("m2", r#"{"type":"text","text":"Both are sown."}"#)),
    ]
    .concat()
}

/// All messages of a session as text.
fn messages(store: &str, id: &str) -> String {
    ok(store, &["session", "log", id], b"")
}

#[test]
fn a_file_that_is_still_written_goes_on_wherever_it_was_cut() {
    let whole = claude();
    for cut in (40..whole.len()).step_by(61) {
        let store = &store(&format!("imports-grown-{cut}"));
        let at = folder(&format!("imports-grown-{cut}"));
        let file = at.join("run.jsonl").display().to_string();
        fs::write(&file, &whole[..cut]).unwrap();
        fs::write(at.join("other.jsonl"), "{\"role\":\"user\",\"content\":\"other\"}\n").unwrap();
        // A file that is cut within its first record holds nothing yet, and the other one is imported all the same.
        ok(store, &["import", &at.display().to_string()], b"");
        fs::write(&file, &whole).unwrap();
        ok(store, &["import", &file], b"");
        ok(store, &["import", &at.display().to_string()], b"");
        let all = sessions(store);
        let ids: Vec<_> = all.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["other", "session-c"], "cut at {cut}: {all:?}");
        let text = messages(store, "session-c");
        for (said, times) in
            [("First two.", 1), ("{}", 2), ("of a", 1), ("of b", 1), ("Both are sown.", 1)]
        {
            assert_eq!(text.matches(said).count(), times, "cut at {cut}: {said} in {text}");
        }
    }
}

#[test]
fn a_file_that_says_something_else_is_another_session() {
    let store = &store("imports-else");
    let file = folder("imports-else").join("run.jsonl").display().to_string();
    fs::write(&file, claude()).unwrap();
    ok(store, &["import", &file, "--id", "g"], b"");
    fs::write(&file, claude().replace("First two.", "First one.")).unwrap();
    let output =
        crate::midfold(&["import", &file, "--id", "g", "--store", store]).output().unwrap();
    assert!(!output.status.success());
    assert!(seen(&output).contains("message 1 differs"), "{}", seen(&output));
}

/// What is said of the other conversations of a file is no matter of the one that is chosen.
#[test]
fn notes_are_of_the_conversation_that_is_chosen() {
    let store = &store("imports-only");
    let file = folder("imports-only-files").join("two.jsonl");
    let record = |uuid: &str, parent: &str, session: &str| {
        format!(
            r#"{{"uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","type":"user","message":{{"role":"user","parts":[{{"text":"{uuid}"}}]}}}}"#
        )
    };
    let cut = record("p", r#""gone""#, "sess-B");
    fs::write(&file, [record("x", "null", "sess-A"), cut].join("\n")).unwrap();
    let notes = |only: &str| {
        let done = at(store, &["import", &file.display().to_string(), "--only", only], b"");
        assert!(done.status.success(), "{}", seen(&done));
        seen(&done).contains("is not in this file")
    };
    assert_eq!(["1", "2"].map(notes), [false, true]);
}
