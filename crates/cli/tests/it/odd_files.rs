//! Names that lead to no file, or to one under other names as well: links to nowhere, pipes, folders, devices. Nothing
//! waits for them, nothing reads them for ever, and none becomes another kind.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{folder, midfold, run, seen};

/// A project with the settings of a client, and a home.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let at = folder(name);
        fs::create_dir_all(at.join("project/.claude")).unwrap();
        fs::create_dir_all(at.join("data/midfold")).unwrap();
        Self(at)
    }

    fn settings(&self) -> PathBuf {
        self.0.join("project/.claude/settings.json")
    }

    fn run(&self, args: &[&str], stdin: &str) -> Output {
        let mut command = midfold(args);
        command.current_dir(self.0.join("project")).env("HOME", self.0.join("home"));
        command.env("XDG_DATA_HOME", self.0.join("data"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Neither a pipe without another end nor a folder is settings, and each stays what it is.
#[test]
fn settings_that_are_no_file_are_refused_and_left() {
    let place = Place::new("odd-settings");
    let settings = place.settings();
    for kind in ["pipe", "folder", "device"] {
        match kind {
            "pipe" => pipe(&settings),
            "folder" => fs::create_dir(&settings).unwrap(),
            _ => symlink("/dev/zero", &settings).unwrap(),
        }
        for args in [&["connect", "claude"][..], &["connect", "claude", "--remove"], &["connect"]] {
            let output = place.run(args, "");
            let said = seen(&output);
            assert_eq!(output.status.code(), Some(1), "{kind} {args:?}: {said}");
            assert!(said.contains("settings.json cannot be read"), "{kind} {args:?}: {said}");
        }
        let meta = fs::symlink_metadata(&settings).unwrap();
        match kind {
            "pipe" => assert!(meta.file_type().is_fifo()),
            "folder" => assert!(meta.is_dir()),
            _ => assert!(meta.is_symlink()),
        }
        match kind {
            "folder" => fs::remove_dir(&settings).unwrap(),
            _ => fs::remove_file(&settings).unwrap(),
        }
    }
}

/// What a link leads to is written where it is to be, and the link stays; a second name stays one of the same file.
#[test]
fn links_and_other_names_stay_what_they_are() {
    let place = Place::new("odd-links");
    let (settings, target) = (place.settings(), place.0.join("dotfiles.json"));
    symlink(&target, &settings).unwrap();
    let output = place.run(&["connect", "claude"], "");
    assert!(output.status.success(), "{}", seen(&output));
    assert!(fs::symlink_metadata(&settings).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("hooks pre-compact"));
    let output = place.run(&["connect", "claude", "--remove"], "");
    assert!(output.status.success(), "{}", seen(&output));
    assert!(fs::symlink_metadata(&settings).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}\n");

    fs::remove_file(&settings).unwrap();
    fs::hard_link(&target, &settings).unwrap();
    let output = place.run(&["connect", "claude"], "");
    assert!(output.status.success(), "{}", seen(&output));
    assert!(fs::read_to_string(&target).unwrap().contains("hooks pre-compact"));
    let number = |path: &Path| fs::metadata(path).unwrap().ino();
    assert_eq!(number(&settings), number(&target));

    // Where it leads to a folder that is not there, nothing is made.
    fs::remove_file(&settings).unwrap();
    symlink(place.0.join("nowhere/settings.json"), &settings).unwrap();
    let output = place.run(&["connect", "claude"], "");
    assert_eq!(output.status.code(), Some(1), "{}", seen(&output));
    assert!(fs::symlink_metadata(&settings).unwrap().is_symlink());
    // Nor where it leads to itself.
    fs::remove_file(&settings).unwrap();
    symlink(&settings, &settings).unwrap();
    let output = place.run(&["connect", "claude"], "");
    assert_eq!(output.status.code(), Some(1), "{}", seen(&output));
}

/// The client waits for its hooks.
#[test]
fn a_transcript_or_a_log_that_is_no_file_holds_no_hook_up() {
    let place = Place::new("odd-transcript");
    let (fifo, nowhere) = (place.0.join("fifo"), place.0.join("nowhere"));
    pipe(&fifo);
    symlink(place.0.join("gone"), &nowhere).unwrap();
    let log = place.0.join("data/midfold/hooks.log");
    for path in [&fifo, &nowhere, &place.0, Path::new("/dev/zero"), Path::new("/dev/urandom")] {
        let call = format!(
            r#"{{"session_id":"s","transcript_path":"{}","cwd":"/p","hook_event_name":"PreCompact","trigger":"auto"}}"#,
            path.display()
        );
        for log_kind in ["file", "pipe"] {
            let _ = fs::remove_file(&log);
            if log_kind == "pipe" {
                pipe(&log);
            }
            let output = place.run(&["hooks", "pre-compact"], &call);
            let said = seen(&output);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{said}");
            assert!(said.contains(&path.display().to_string()), "{said}");
        }
        assert!(fs::symlink_metadata(&log).unwrap().file_type().is_fifo());
    }
}

/// A device that never ends is read as far as it says.
#[test]
fn what_has_no_end_is_refused_with_the_bound() {
    let transcript = folder("odd-endless").join("t.jsonl");
    fs::write(&transcript, "{\"role\":\"user\",\"content\":\"hi\"}\n").unwrap();
    let file = transcript.display().to_string();
    for args in [
        &["compact", "/dev/zero"][..],
        &["inspect", "/dev/urandom"],
        &["compact", &file, "--policy", "/dev/zero"],
        &["import", "/dev/zero", "--store", "memory"],
    ] {
        let output = run(args, b"");
        let said = seen(&output);
        assert!(output.status.code().is_some_and(|code| code != 0), "{args:?}: {said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("does not end within 256 MiB"), "{args:?}: {said}");
        assert!(flat.contains("name a file, which is read whole"), "{args:?}: {said}");
    }
    let endless = fs::File::open("/dev/zero").unwrap();
    let output = midfold(&["compact", "-"]).stdin(endless).output().unwrap();
    let said = seen(&output);
    assert!(said.contains("standard input does not end within 256 MiB"), "{said}");
}

/// A pipe that a shell makes (`<(…)`) is read to its end.
#[test]
fn a_pipe_that_somebody_writes_to_is_read() {
    let fifo = folder("odd-pipe").join("fifo");
    pipe(&fifo);
    let writer = fifo.clone();
    let writing = std::thread::spawn(move || {
        fs::write(writer, "{\"role\":\"user\",\"content\":\"hello there\"}\n").unwrap();
    });
    let output = run(&["inspect", &fifo.display().to_string()], b"");
    writing.join().unwrap();
    assert!(output.status.success(), "{}", seen(&output));
}

/// A store with one session.
fn small_store(name: &str) -> String {
    let place = folder(name);
    let (transcript, store) = (place.join("t.jsonl"), place.join("store.db"));
    fs::write(&transcript, "{\"role\":\"user\",\"content\":\"hello there\"}\n").unwrap();
    let store = format!("sqlite:{}", store.display());
    let output = run(&["import", &transcript.display().to_string(), "--store", &store], b"");
    assert!(output.status.success(), "{}", seen(&output));
    store
}

/// A pipe gets the bytes and stays a pipe; a link stays a link.
#[test]
fn outputs_are_written_into_pipes_and_through_links() {
    let store = small_store("odd-export");
    let place = folder("odd-outputs");
    let (fifo, link, target) = (place.join("fifo"), place.join("link"), place.join("target"));
    symlink(&target, &link).unwrap();
    let transcript = place.join("t.jsonl");
    fs::write(&transcript, "{\"role\":\"user\",\"content\":\"hello there\"}\n").unwrap();
    let transcript = transcript.display().to_string();
    let commands: [(&[&str], &[&str]); 2] = [
        (&["store", "export"], &["--store", &store]),
        (&["compact", &transcript, "-o"], &["--window", "8k"]),
    ];
    for (before, after) in commands {
        let to = |path: &Path| run(&[before, &[&path.display().to_string()], after].concat(), b"");
        pipe(&fifo);
        let read = fifo.clone();
        let reading = std::thread::spawn(move || fs::read_to_string(read).unwrap());
        let output = to(&fifo);
        assert!(output.status.success(), "{before:?}: {}", seen(&output));
        assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo(), "{before:?}");
        assert!(reading.join().unwrap().contains("hello there"), "{before:?}");
        fs::remove_file(&fifo).unwrap();
        let output = to(&link);
        assert!(output.status.success(), "{before:?}: {}", seen(&output));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{before:?}");
        assert!(fs::read_to_string(&target).unwrap().contains("hello there"), "{before:?}");
        fs::remove_file(&target).unwrap();
    }
    pipe(&fifo);
    let output = run(&["trajectories", &transcript, "-o", &fifo.display().to_string()], b"");
    assert!(seen(&output).contains("is no file to write to"), "{}", seen(&output));
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
}

#[test]
fn a_new_export_is_the_users_alone_and_an_old_file_keeps_its_mode() {
    let store = small_store("odd-mode");
    let file = folder("odd-modes").join("all.jsonl");
    let to = file.display().to_string();
    let export = || run(&["store", "export", &to, "--force", "--store", &store], b"");
    let mode = || fs::metadata(&file).unwrap().mode() & 0o777;
    assert!(export().status.success());
    assert_eq!(mode(), 0o600);
    for kept in [0o644, 0o440] {
        fs::set_permissions(&file, fs::Permissions::from_mode(kept)).unwrap();
        assert!(export().status.success());
        assert_eq!(mode(), kept);
    }
    // What is there is not replaced unasked.
    fs::write(&file, "mine").unwrap();
    let output = run(&["store", "export", &to, "--store", &store], b"");
    assert!(!output.status.success() && seen(&output).contains("--force"), "{}", seen(&output));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

/// Runs a command in a terminal; nothing where there is no `script` to make one.
fn in_terminal(command: &str) -> Option<String> {
    let works = Command::new("script").args(["-qec", "true", "/dev/null"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stdout(), "skipped: there is no `script` of util-linux");
        return None;
    }
    let output = Command::new("script")
        .args(["-qec", command, "/dev/null"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Names, texts and logs of others, in a terminal.
#[test]
fn a_terminal_gets_no_controls_of_others() {
    let at = folder("odd-terminal");
    let odd = "o\u{202e}d\u{1b}[2J\u{9b}d";
    let file = at.join(format!("{odd}.jsonl"));
    let said = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x\u{202e}y\u{2066}z");
    fs::write(&file, said).unwrap();
    let midfold = env!("CARGO_BIN_EXE_midfold");
    let file = file.display();
    for command in [
        format!("'{midfold}' inspect '{file}'"),
        format!("'{midfold}' compact '{file}'"),
        format!("'{midfold}' -v compact '{file}'"),
        format!("'{midfold}' compact '{file}.gone'"),
        format!("'{midfold}' inspect '{file}' --json"),
    ] {
        let Some(shown) = in_terminal(&command) else { return };
        assert!(!shown.is_empty(), "{command:?}");
        for hidden in ['\u{202e}', '\u{2066}', '\u{1b}', '\u{9b}'] {
            assert!(!shown.contains(hidden), "{command:?}: {shown:?}");
        }
    }
}
