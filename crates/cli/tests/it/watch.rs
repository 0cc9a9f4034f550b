//! `midfold import --watch` as a program: its lines say when it has seen what was written.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use crate::{folder, midfold, seen, stdout};

#[cfg(unix)]
#[test]
fn a_growing_transcript_is_followed_until_ctrl_c() {
    let at = folder("watch");
    let file = at.join("run.jsonl");
    let store = format!("sqlite:{}", at.join("store.db").display());
    let message = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    fs::write(&file, message("one") + &message("two")).unwrap();
    let path = file.display().to_string();
    let mut command = midfold(&["import", &path, "--watch", "--store", &store]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        line
    };
    let write = |text: &str| {
        let mut file = OpenOptions::new().append(true).open(&file).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    assert_eq!(next(), "run: 2 new messages, 2 in all\n");
    let third = message("three");
    write(&third[..10]);
    write(&(third[10..].to_owned() + &message("four")));
    assert!(["run: 2 new messages, 4 in all\n"].contains(&next().as_str()));
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let status = child.wait().unwrap();
    let (mut rest, mut said) = (String::new(), String::new());
    out.read_to_string(&mut rest).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((status.code(), rest.as_str(), said.as_str()), (Some(0), "", ""));
    let again = stdout(&["import", &path, "--json", "--store", &store], b"");
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&again[0]["new"], &again[0]["messages"]), (&0.into(), &4.into()));
}

#[test]
fn what_cannot_be_watched_is_said_at_once() {
    for (name, says) in
        [("-", "standard input cannot be watched"), ("no/such", "there is no such file")]
    {
        let output = midfold(&["import", name, "--watch", "--store", "memory"]).output().unwrap();
        assert!(!output.status.success());
        assert!(seen(&output).contains(says), "{}", seen(&output));
    }
}
