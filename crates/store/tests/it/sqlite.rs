//! The conformance suite on `SQLite`, and what only a file can get wrong.

use midfold_store::single::SingleChange as _;
use std::sync::atomic::{AtomicU32, Ordering};

use midfold_store::{FailureKind, StoreError, conformance};

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_passes_the_conformance_suite() {
    let folder = tempfile::tempdir().unwrap();
    let files = AtomicU32::new(0);
    let made = || {
        let name = format!("new folder/{}.db", files.fetch_add(1, Ordering::Relaxed));
        let url = format!("sqlite:{}", folder.path().join(name).display());
        async move { midfold_store::open(&url).await }
    };
    if let Err(failed) = conformance::run(made).await {
        panic!("{failed}");
    }
}

#[tokio::test]
async fn a_file_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "these are my notes, and more than a page of them\n".repeat(99)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = midfold_store::open(&format!("sqlite:{}", path.display())).await.map(drop);
    assert!(error.unwrap_err().to_string().contains("something else"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_store_that_has_to_be_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    let url = format!("sqlite:{}", path.display());
    let error = midfold_store::open_existing(&url).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("there is no store at"), "{error}");
    assert!(!path.exists());
    midfold_store::open(&url).await.unwrap();
    midfold_store::open_existing(&url).await.unwrap();
}

/// Both ways to open a store read its URL alike, and make nothing where they refuse it.
#[tokio::test]
async fn a_url_without_a_path_is_refused_before_a_file_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let with_options = format!("sqlite:{}?mode=ro", folder.path().join("a.db").display());
    for (url, why) in [
        ("sqlite:", "needs a path"),
        ("sqlite://", "needs a path"),
        ("sqlite::memory:", "needs a path"),
        (&*with_options, "takes no options"),
    ] {
        let opened = midfold_store::open(url).await.map(drop).unwrap_err().to_string();
        let existing = midfold_store::open_existing(url).await.map(drop).unwrap_err().to_string();
        assert!(opened.contains(why), "{opened}");
        assert_eq!(opened, existing, "{url}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn file_and_folder_are_the_users_alone() {
    use midfold_store::NewSession;
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let url = format!("sqlite:{}", data.join("a.db").display());
    let store = midfold_store::open(&url).await.unwrap();
    store.create(NewSession { id: "s".to_owned(), ..NewSession::default() }).await.unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(format!("{:o}", mode(&data)), "700");
    for entry in std::fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(format!("{:o}", mode(&path)), "600", "{}", path.display());
    }
}

#[tokio::test]
async fn urls_that_name_no_store_say_what_does() {
    for (url, says) in [
        ("sqlite:", "needs a path"),
        ("mysql://u:secret@h/d", "sqlite:PATH"),
        ("", "names no store"),
        ("sqlite:/proc/no/such/folder.db", "folder"),
    ] {
        let error = midfold_store::open(url).await.map(drop).unwrap_err();
        assert!(matches!(
            error,
            StoreError::Foreign(_) | StoreError::Url(_) | StoreError::Backend { .. }
        ));
        let text = error.to_string();
        assert!(text.contains(says) && !text.contains("secret"), "{url}: {text}");
    }
}

/// A disk that is full in the middle of a session: the error says so, nothing is half-written, and
/// the same store goes on as soon as there is room again.
#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_over_when_it_is_over() {
    use midfold_core::Hash;
    use midfold_store::{AppendRequest, NewEvent, NewJob, NewSession, SessionChanges, Store, fsck};
    use sqlx::Connection;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.db");
    let store = midfold_store::SqliteStore::open(&path).await.unwrap();
    store.create(NewSession { id: "s".to_owned(), ..NewSession::default() }).await.unwrap();
    let (mut head, mut hash) = (0u64, Hash::ROOT);
    store.limit_pages(Some(64)).await.unwrap();
    let mut refused = 0;
    for round in 0..60u64 {
        // One event, a batch, a keyed append with a job, and a batch of several statements.
        let count = [1, 20, 3, 150][(round % 4) as usize];
        let mut end = hash;
        let event = |at: u64| {
            let bytes = format!("{:>4000}", at + head).into_bytes();
            end = end.chain(&bytes);
            NewEvent {
                bytes: bytes.into(),
                hash: end,
                turn: 0,
                tokens: 1,
                usage: None,
                origin: None,
            }
        };
        let events: Vec<NewEvent> = (0..count).map(event).collect();
        let keyed = round % 4 == 2;
        let job = keyed.then(|| NewJob {
            key: "job".to_owned(),
            session: "s".to_owned(),
            start: 0,
            end: 1,
            through: Hash::ROOT,
            body: "{}".to_owned(),
            run_at: 0,
        });
        let key = keyed.then(|| format!("key {round}"));
        let append = AppendRequest { expected: head, key, events, now: 0 };
        let appended = Some(append);
        let changes = SessionChanges { appended, job, ..SessionChanges::default() };
        match store.commit("s", &changes).await {
            Ok(outcome) => {
                head += outcome.appended.map_or(0, |appended| appended.count);
                hash = end;
            }
            Err(StoreError::Backend { text: why, .. }) => {
                assert!(why.contains("disk is full"), "{why}");
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
        let row = store.session("s").await.unwrap();
        assert_eq!((row.head, row.head_hash), (head, hash), "after round {round}");
        if round == 40 {
            store.limit_pages(None).await.unwrap();
        }
    }
    assert!(refused > 3, "only {refused} appends met the full disk");
    assert!(head > 500, "{head} events: nothing was written after the disk had room again");
    let report = fsck(&store).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    let mut db = sqlx::SqliteConnection::connect(&store.place()).await.unwrap();
    let ok: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut db).await.unwrap();
    assert_eq!(ok, "ok");
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_removed_or_replaced_takes_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let url = format!("sqlite:{}", path.display());
    let store = midfold_store::open(&url).await.unwrap();
    assert!(store.is_there().is_ok() && store.sessions(None, 1).await.is_ok());
    let away = folder.path().join("away.db");
    std::fs::rename(&path, &away).unwrap();
    let gone =
        |error: StoreError| matches!(error, StoreError::Backend { kind: FailureKind::Gone, .. });
    assert!(gone(store.is_there().unwrap_err()));
    assert!(gone(store.sessions(None, 1).await.unwrap_err()), "it is not read");
    assert!(gone(store.save_state("s", 0, "{}").await.unwrap_err()), "nor written");
    std::fs::copy(&away, &path).unwrap();
    let error = store.is_there().unwrap_err();
    assert!(error.to_string().contains("replaced"), "{error}");
    std::fs::rename(&away, &path).unwrap();
    assert!(store.sessions(None, 1).await.is_ok(), "it is back");
}

/// A file on a disk of half a megabyte, which only root can make.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_seen_without_a_write_of_a_session() {
    use std::process::Command;

    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let run = |name: &str, args: &[&str]| {
        let done = Command::new(name).args(args).arg(&disk).output();
        done.is_ok_and(|done| done.status.success())
    };
    if !run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) {
        return println!("skipped: no disk can be mounted here");
    }
    let store = midfold_store::open(&format!("sqlite:{}/a.db", disk.display())).await.unwrap();
    let before = store.has_room();
    let filler = disk.join("filler");
    let filled = std::fs::write(&filler, vec![1; 2 << 20]);
    let full = store.has_room();
    std::fs::remove_file(&filler).unwrap();
    let after = store.has_room();
    let left = std::fs::read_dir(&disk).unwrap().count();
    drop(store);
    assert!(run("umount", &["-l"]));
    assert!(before.is_ok() && filled.is_err() && after.is_ok(), "{before:?} {filled:?} {after:?}");
    let is_full = matches!(full, Err(StoreError::Backend { kind: FailureKind::Full, .. }));
    assert!(is_full, "{full:?}");
    assert!(left <= 3, "{left} files: the database, its log and its index");
}
