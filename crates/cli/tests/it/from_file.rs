//! Questions about a transcript that nobody imported: `explain`, `recall` and `audit` of a file.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::session::{at, ok, parsed, shown, store};
use crate::{folder, midfold, regex_of, root, seen};

const FILE: &str = "examples/coding-session.jsonl";

#[test]
fn a_transcript_answers_as_its_session_would() {
    let store = &store("from-file");
    shown!("file-explain", store, ["explain", FILE, "LED-4101"]);
    shown!("file-recall-outline", store, ["recall", "outline", FILE, "--limit", "3"]);
    shown!("file-audit", store, ["check", "session", FILE]);
    assert!(!Path::new(store.strip_prefix("sqlite:").unwrap()).exists(), "nothing is stored");

    ok(store, &["import", FILE, "--id", "same"], b"");
    for ask in [
        &["recall", "find", "WHERE", "LED-4101", "--json"][..],
        &["recall", "show", "WHERE", "@6-9", "--json"],
        &["recall", "outline", "WHERE", "--json"],
        &["explain", "WHERE", "LED-4101", "--json"],
    ] {
        let of = |place| ask.iter().map(move |it| if *it == "WHERE" { place } else { *it });
        let [file, session] =
            [FILE, "same"].map(|place| ok(store, &of(place).collect::<Vec<_>>(), b""));
        assert!(!file.trim().is_empty());
        assert_eq!(file, session, "{ask:?}");
    }
    let text = fs::read(root().join(FILE)).unwrap();
    let piped = ok(store, &["recall", "find", "-", "LED-4101", "--json"], &text);
    assert_eq!(piped, ok(store, &["recall", "find", FILE, "LED-4101", "--json"], b""));
}

#[test]
fn a_session_alone_is_no_question_and_a_text_of_two_words_is_no_session() {
    let store = &store("from-file-alone");
    ok(store, &["import", FILE, "--id", "same"], b"");
    let refused = |ask: &[&str], says: &str| {
        let answer = at(store, ask, b"");
        let text = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert!(!answer.status.success() && text.contains(says), "{ask:?}: {text}");
    };
    for word in ["same", "last"] {
        refused(&["explain", word], &format!("midfold explain {word} TEXT"));
    }
    refused(&["explain", "two", "words"], "midfold explain last 'two words'");
    refused(&["recall", "find", "two", "words"], "midfold recall find last 'two words'");
    let elsewhere = at(store, &["explain", "zzyzx"], b"");
    assert!(String::from_utf8_lossy(&elsewhere.stderr).contains("midfold recall find zzyzx"));
    // `top` takes the same words for a session.
    let top = |word: &str| ok(store, &["top", word], b"");
    assert_eq!(top("last").lines().next(), top("same").lines().next());
}

#[test]
fn the_next_page_of_a_file_is_that_of_the_file() {
    let store = &store("from-file-pages");
    let page = ok(store, &["recall", "outline", FILE, "--limit", "2"], b"");
    let next = page.lines().last().unwrap().strip_prefix("next: midfold ").unwrap();
    let next = crate::stdout(&next.split(' ').collect::<Vec<_>>(), b"");
    assert!(page.contains("\n@0 system") && next.contains("\n@2 assistant"), "{page}{next}");
}

#[test]
fn what_a_transcript_cannot_tell_names_the_import() {
    let store = &store("from-file-not");
    let folder = folder("from-file-folder").display().to_string();
    for (name, ask) in [
        ("file-call", &["explain", FILE, "LED-4101", "--call", "1"][..]),
        ("file-folded", &["recall", "find", FILE, "LED", "--folded"]),
        ("file-describe", &["recall", "describe", FILE]),
        ("file-names", &["recall", "names", FILE]),
        ("file-active", &["recall", "show", FILE, "active"]),
        ("file-several", &["explain", "fixtures/tau-bench.json", "zebra"]),
        ("file-none", &["explain", "crates/cli/Cargo.toml", "zebra"]),
        ("file-folder", &["explain", &folder, "zebra"]),
    ] {
        shown!(name, store, *ask);
        let said = String::from_utf8(at(store, ask, b"").stderr).unwrap();
        assert!(said.contains("hint: `midfold import "), "{ask:?}: {said}");
    }
    shown!("file-missing", store, ["explain", "no/such.jsonl", "zebra"]);
    // Each conversation has its own account.
    let audit = ok(store, &["check", "session", "fixtures/tau-bench.json"], b"");
    assert!(audit.contains("fixtures/tau-bench.json#2: 0 folds"), "{audit}");
}

/// In a folder with a file `demo`, and a store.
fn beside(folder: &Path, args: &[&str]) -> Output {
    let url = format!("sqlite:{}", folder.join("store.db").display());
    midfold(args).current_dir(folder).args(["--store", &url]).output().unwrap()
}

#[test]
fn a_session_wins_over_a_file_of_its_name_and_that_is_said() {
    let folder = folder("from-file-both");
    fs::write(folder.join("demo"), "{\"role\":\"user\",\"content\":\"in the file\"}\n").unwrap();
    let grep = |word: &str| {
        let done = beside(&folder, &["recall", "find", word, "the", "--literal", "--json"]);
        assert!(done.status.success(), "{}", seen(&done));
        let hits = parsed(&String::from_utf8(done.stdout).unwrap()).to_string();
        (
            hits.contains("in the file"),
            hits.contains("in the store"),
            String::from_utf8(done.stderr).unwrap(),
        )
    };
    assert_eq!(grep("demo"), (true, false, String::new()), "there is no store");
    fs::write(folder.join("new.json"), "{\"role\":\"user\",\"content\":\"in the store\"}\n")
        .unwrap();
    assert!(beside(&folder, &["import", "new.json", "--id", "other"]).status.success());
    assert_eq!(grep("demo"), (true, false, String::new()), "there is no such session");
    assert!(beside(&folder, &["import", "new.json", "--id", "demo"]).status.success());
    let note = "note: demo is a session and a file: the session is meant; for the file: ./demo\n";
    assert_eq!(grep("demo"), (false, true, note.to_owned()));
    assert_eq!(grep("./demo"), (true, false, String::new()));
}

#[test]
fn several_words_are_one_text_and_a_file_alone_is_no_question() {
    let store = &store("from-file-words");
    for ask in [&["explain", FILE][..], &["recall", "find", FILE]] {
        let of = |words: &[&str]| ok(store, &[ask, words, &["--json"]].concat(), b"");
        assert_eq!(of(&["nightly", "settlement"]), of(&["nightly settlement"]), "{ask:?}");
    }
    let none = at(store, &["explain", FILE], b"");
    let text = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(2) && text.contains("give the text behind it"), "{text}");
}
