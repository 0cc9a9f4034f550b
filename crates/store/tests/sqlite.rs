//! The conformance suite on `SQLite`, and what only a file can get wrong.
#![cfg(feature = "sqlite")]

use std::sync::atomic::{AtomicU32, Ordering};

use midfold_store::{StoreError, conformance};

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
async fn urls_that_name_no_store_say_what_does() {
    for (url, says) in [
        ("sqlite:", "needs a path"),
        ("mysql://u:secret@h/d", "sqlite:PATH"),
        ("", "names no store"),
        ("sqlite:/proc/no/such/folder.db", "folder"),
    ] {
        let error = midfold_store::open(url).await.map(drop).unwrap_err();
        assert!(matches!(error, StoreError::Url(_) | StoreError::Backend(_)));
        let text = error.to_string();
        assert!(text.contains(says) && !text.contains("secret"), "{url}: {text}");
    }
}
