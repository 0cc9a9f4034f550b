//! A transcript that grows is followed, step by step.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Parser;
use midfold::Setup;
use midfold_args::{Cli, Command, ImportArgs};
use midfold_cli::inside::{FileFollower, OpenStore, StoreCreation};

fn parsed(path: &Path) -> ImportArgs {
    let path = path.display().to_string();
    let cli = Cli::parse_from(["midfold", "import", &path, "--watch", "--store", "memory"]);
    match cli.command {
        Command::Import(args) => *args,
        other => panic!("{other:?}"),
    }
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("midfold-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn message(text: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n")
}

/// A file of Claude Code's: a message, and a reply of so many blocks.
fn claude(blocks: usize, stop: &str) -> String {
    let about = |uuid: &str| format!(r#""uuid":"{uuid}","sessionId":"session-c""#);
    let mut text = format!(
        "{{\"type\":\"user\",\"parentUuid\":null,{},\"message\":{{\"role\":\"user\",\"content\":\"go\"}}}}\n",
        about("u")
    );
    for block in 0..blocks {
        text += &format!(
            "{{\"type\":\"assistant\",\"parentUuid\":\"u\",{},\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"stop_reason\":{stop},\"content\":[{{\"type\":\"text\",\"text\":\"{block}\"}}]}}}}\n",
            about(&format!("r{block}"))
        );
    }
    text
}

/// What each step brings: the session, new messages, all messages.
async fn steps(follower: &mut FileFollower<'_>) -> Vec<(String, u64, u64)> {
    let done = follower.step().await.unwrap();
    let new = done.into_iter().filter(|done| done.new > 0);
    new.map(|done| (done.id, done.new, done.messages)).collect()
}

fn one(id: &str, new: u64, all: u64) -> Vec<(String, u64, u64)> {
    vec![(id.to_owned(), new, all)]
}

#[tokio::test]
async fn lines_come_once_they_are_whole() {
    let file = folder("watch-lines").join("run.jsonl");
    fs::write(&file, "").unwrap();
    let (args, mut setup) = (parsed(&file), Setup::new());
    let host = OpenStore::open(&args.at, StoreCreation::Yes).await.unwrap();
    let mut follower = FileFollower::new(&host, &args, &mut setup, None);
    assert_eq!(steps(&mut follower).await, []);
    let (one_line, two) = (message("one"), message("two"));
    fs::write(&file, one_line.clone() + &two[..12]).unwrap();
    assert_eq!(steps(&mut follower).await, one("run", 1, 1));
    assert_eq!(steps(&mut follower).await, []);
    fs::write(&file, one_line.clone() + &two).unwrap();
    assert_eq!(steps(&mut follower).await, one("run", 1, 2));
    // Cut: nothing is lost. Gone for a moment: nothing happens. Written anew: another session.
    fs::write(&file, &one_line).unwrap();
    assert_eq!(steps(&mut follower).await, []);
    fs::remove_file(&file).unwrap();
    assert_eq!(steps(&mut follower).await, []);
    fs::write(&file, message("other") + &two + &one_line).unwrap();
    assert_eq!(steps(&mut follower).await, one("run-2", 3, 3));
    fs::write(&file, message("other") + &two + &one_line + &one_line).unwrap();
    assert_eq!(steps(&mut follower).await, one("run-2", 1, 4));
}

#[tokio::test]
async fn a_reply_comes_once_it_is_finished() {
    let file = folder("watch-reply").join("c.jsonl");
    fs::write(&file, claude(1, "null")).unwrap();
    let (args, mut setup) = (parsed(&file), Setup::new());
    let host = OpenStore::open(&args.at, StoreCreation::Yes).await.unwrap();
    let mut follower = FileFollower::new(&host, &args, &mut setup, None);
    assert_eq!(steps(&mut follower).await, one("session-c", 1, 1));
    assert_eq!((steps(&mut follower).await, follower.waiting), (vec![], 1));
    fs::write(&file, claude(3, "\"end_turn\"")).unwrap();
    assert_eq!(steps(&mut follower).await, [], "it was written just now");
    assert_eq!(steps(&mut follower).await, one("session-c", 1, 2));
    assert_eq!(steps(&mut follower).await, []);
    assert!(follower.last().await.unwrap().iter().all(|done| done.new == 0));
}

/// A client may say nothing of the end of a reply, and write its next block after a while.
#[tokio::test]
async fn a_reply_that_grows_after_a_while_stays_in_its_session() {
    let file = folder("watch-grown").join("c.jsonl");
    let silent = |blocks: usize| claude(blocks, "null").replace("\"stop_reason\":null,", "");
    fs::write(&file, silent(1)).unwrap();
    let (args, mut setup) = (parsed(&file), Setup::new());
    let host = OpenStore::open(&args.at, StoreCreation::Yes).await.unwrap();
    let mut follower = FileFollower::new(&host, &args, &mut setup, None);
    assert_eq!(steps(&mut follower).await, one("session-c", 1, 1));
    assert_eq!(steps(&mut follower).await, one("session-c", 1, 2));
    for (blocks, all) in [(2, 3), (4, 4)] {
        fs::write(&file, silent(blocks)).unwrap();
        assert_eq!(steps(&mut follower).await, [], "it was written just now");
        assert_eq!(steps(&mut follower).await, one("session-c", 1, all));
    }
    assert_eq!(steps(&mut follower).await, []);
}

#[tokio::test]
async fn the_newest_file_of_a_folder_is_followed() {
    let place = folder("watch-folder");
    let (args, mut setup) = (parsed(&place), Setup::new());
    let host = OpenStore::open(&args.at, StoreCreation::Yes).await.unwrap();
    let mut follower = FileFollower::new(&host, &args, &mut setup, None);
    assert_eq!(steps(&mut follower).await, []);
    let write = |name: &str, text: String, second: u64| {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + second);
        fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
    };
    write("a.jsonl", message("one"), 1);
    assert_eq!(steps(&mut follower).await, one("a", 1, 1));
    // The session before is read to its end.
    write("a.jsonl", message("one") + &message("two"), 2);
    write("2026/b.jsonl", message("three"), 3);
    write("notes.txt", message("four"), 4);
    let both = [one("a", 1, 2), one("b", 1, 1)].concat();
    assert_eq!(steps(&mut follower).await, both);
    write("2026/b.jsonl", message("three") + &message("four"), 5);
    assert_eq!(steps(&mut follower).await, one("b", 1, 2));
}
