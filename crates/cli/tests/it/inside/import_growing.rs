//! A file that its client still writes: cut anywhere and then whole, it is one session.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use midfold::store::{Store, open};
use midfold::{Policy, Setup};
use midfold_cli::inside::import::{ImportExtent, ImportPlan, TranscriptRecordings};

macro_rules! files {
    ($($name:literal: $path:literal,)*) => {
        [$(($name, include_str!(concat!("../../../../../", $path)))),*]
    };
}

/// A file of each client that writes a line for each step.
const FILES: [(&str, &str); 12] = files! {
    "Claude Code": "fixtures/claude-code.jsonl",
    "Codex": "fixtures/codex.jsonl",
    "pi": "fixtures/pi.jsonl",
    "Kimi's wire": "crates/formats/tests/fixtures/clients/kimi-wire.jsonl",
    "Kimi's context": "crates/formats/tests/fixtures/clients/kimi-context.jsonl",
    "Kimi Code": "crates/formats/tests/fixtures/clients/kimi-code.jsonl",
    "Qwen Code": "crates/formats/tests/fixtures/clients/qwen.jsonl",
    "Droid": "crates/formats/tests/fixtures/clients/droid.jsonl",
    "Copilot CLI": "crates/formats/tests/fixtures/clients/copilot.jsonl",
    "Gemini CLI": "crates/formats/tests/fixtures/clients/gemini-cli.jsonl",
    "Copilot Chat": "crates/formats/tests/fixtures/clients/copilot-chat.jsonl",
    "Goose": "crates/formats/tests/fixtures/clients/goose.jsonl",
};

/// The ends of all lines, and the middle of each.
fn cuts(text: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let middle = (start + line.len() / 2..).find(|at| text.is_char_boundary(*at));
        cuts.extend(middle);
        start += line.len();
        cuts.push(start);
    }
    cuts
}

/// Imports every conversation of a file into its session. Returns what went wrong.
async fn bring(store: &Arc<dyn Store>, found: &TranscriptRecordings) -> Result<(), String> {
    let mut setup = Setup::new();
    for (at, recording) in found.recordings.iter().enumerate() {
        let mut import = ImportPlan {
            store: store.clone(),
            setup: &mut setup,
            policy: Policy::preset("default").unwrap(),
            output_reserve: 0,
            source: None,
            extent: ImportExtent::Live,
            numbered: false,
        };
        if !recording.is_empty() {
            let done = import.bring(recording, &format!("session-{at}"), 0).await;
            done.map_err(|error| error.message)?;
        }
    }
    Ok(())
}

/// The bytes of all messages in the sessions.
async fn stored(store: &Arc<dyn Store>, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    for at in 0..count {
        let id = format!("session-{at}");
        let Ok(row) = store.session(&id).await else { continue };
        let rows = store.events(&id, 0..row.head).await.unwrap();
        texts.extend(rows.iter().map(|row| String::from_utf8_lossy(&row.event.bytes).into_owned()));
    }
    texts
}

/// The marked words in some messages: `USERWORD7` and the like.
fn words(texts: &[String]) -> BTreeSet<String> {
    let all = texts.join(" ");
    let parts = all.split(|c: char| !c.is_ascii_alphanumeric());
    let is_marked = |word: &&str| word.contains("WORD");
    parts.filter(is_marked).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_growing_file_of_any_client_stays_one_session() {
    let mut failed = Vec::new();
    let mut tried = 0;
    for (name, text) in FILES {
        let whole = TranscriptRecordings::read(&Bytes::from(text), None).unwrap();
        let live = whole.recordings.iter().flat_map(|it| &it.live().events);
        let live: Vec<_> =
            live.map(|event| String::from_utf8_lossy(&event.bytes).into_owned()).collect();
        for cut in cuts(text) {
            let before = Bytes::copy_from_slice(&text.as_bytes()[..cut]);
            let Ok(before) = TranscriptRecordings::read(&before, None) else { continue };
            let store = open("memory").await.unwrap();
            bring(&store, &before).await.unwrap();
            let first = stored(&store, 9).await;
            // What a person takes back, and a command that the client answers itself a moment later, are in the session
            // that was made before. Then it is another conversation.
            let is_gone = |word: &String| word.starts_with("GONE") || word.starts_with("LATE");
            let has_command = first.iter().any(|text| text.contains(r#"{"text":"/docs"}"#));
            if has_command || words(&first).iter().any(is_gone) {
                continue;
            }
            tried += 1;
            if let Err(error) = bring(&store, &whole).await {
                failed.push(format!("{name}, {cut} bytes: {error}"));
                continue;
            }
            let after = stored(&store, 9).await;
            let missing: Vec<_> = words(&live).difference(&words(&after)).cloned().collect();
            let mut once = after.clone();
            once.sort();
            once.dedup();
            let twice = after.len() - once.len();
            if !missing.is_empty() || twice > 0 || !after.starts_with(&first[..first.len().min(1)])
            {
                failed.push(format!("{name}, {cut} bytes: missing {missing:?}, {twice} twice"));
            }
        }
    }
    assert_eq!(failed, [""; 0]);
    assert!(tried > 150, "{tried} cuts");
}
