//! Records of folds come out of the store as they went in, whatever they hold, and take little room.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold_core::Hash;
use midfold_store::inside::{pack, unpack};
use midfold_store::single::SingleChange as _;
use midfold_store::{MemoryStore, NewFold, NewSession, SqliteStore, Store};
use midfold_testkit::Rng;

/// A text of pieces that repeat, with escapes of every depth.
fn text(rng: &mut Rng) -> String {
    const PARTS: [&str; 12] = [
        "\\n",
        "\\\\n",
        "\\\"",
        "\\",
        "\\\\",
        "a line ",
        "é",
        "\\u00e9",
        "{\"a\":1}",
        "",
        "\\é",
        "\n",
    ];
    (0..rng.between(0, 60)).map(|_| *rng.pick(&PARTS)).collect()
}

#[test]
fn what_was_packed_comes_back_with_its_base() {
    let mut rng = Rng::new(5);
    for _ in 0..4_000 {
        let (base, body) = (text(&mut rng), text(&mut rng));
        let packed = pack(&body, &base).unwrap();
        assert_eq!(unpack(&packed, &base).unwrap(), body);
    }
}

#[test]
fn damaged_bytes_are_an_error() {
    let mut rng = Rng::new(6);
    let body = "one\\ntwo\\none\\n".repeat(9);
    let packed = pack(&body, "").unwrap();
    for at in 0..packed.len() {
        let mut other = packed.clone();
        other[at] ^= 1 << rng.between(0, 7);
        // An error or another text, and never a panic.
        let _ = unpack(&other, "").map(|text| text.len());
        let _ = unpack(&packed[..at], "");
    }
}

/// A recap of `lines` lines, as a record has it: once as text and once as a message.
fn record(lines: std::ops::Range<u64>) -> String {
    let mut rng = Rng::new(9);
    let told: Vec<String> = (0..lines.end).map(|at| format!("@{at} {}", rng.hex(40))).collect();
    let recap = told[usize::try_from(lines.start).unwrap()..].join("\n");
    let message = serde_json::json!({"role": "user", "content": recap}).to_string();
    serde_json::json!({"recap": recap, "entries": [message]}).to_string()
}

#[tokio::test]
async fn a_fold_costs_what_is_new_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let stores: [&dyn Store; 2] = [&SqliteStore::open(&path).await.unwrap(), &MemoryStore::new()];
    for store in stores {
        let new = NewSession { id: "s".to_owned(), ..NewSession::default() };
        store.create(new).await.unwrap();
        let bodies: Vec<String> = (0..20).map(|at| record(at * 20..at * 20 + 800)).collect();
        for (at, body) in bodies.iter().enumerate() {
            let id = Hash::ROOT.chain(&at.to_le_bytes());
            let [before, through, policy, recap] = [id; 4];
            let (start, end, now) = (0, 1, 0);
            let kept = Vec::new();
            let body = body.clone();
            let fold = NewFold { id, start, end, before, through, policy, recap, kept, body, now };
            store.put_fold("s", &fold).await.unwrap();
            store
                .activate(
                    "s",
                    at.checked_sub(1).map(|at| Hash::ROOT.chain(&at.to_le_bytes())),
                    Some(id),
                )
                .await
                .unwrap();
            // One fold alone is read as well as all of them.
            assert_eq!(store.load("s").await.unwrap().fold.unwrap().fold.body, fold.body);
        }
        let found = store.folds("s").await.unwrap();
        assert!(found.iter().map(|row| &row.fold.body).eq(&bodies));
        let (took, are) = (store.extent("s").await.unwrap().bytes, bodies.concat().len() as u64);
        assert!(took * 10 < are, "{took} bytes for {are}");
    }
}
