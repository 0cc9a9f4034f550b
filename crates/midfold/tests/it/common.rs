//! The corpus of recorded transcripts (`MIDFOLD_CORPUS`, or `../shared/data` beside the project).

use std::path::{Path, PathBuf};

use bytes::Bytes;
use midfold::EventLog;
use midfold::formats::read;

/// The folder of recorded transcripts, where there is one.
pub fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("MIDFOLD_CORPUS").map_or(beside, PathBuf::from);
    root.is_dir().then_some(root)
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "jsonl" || e == "json" || e == "traj") {
            out.push(path);
        }
    }
}

/// Every conversation of the corpus, with the file it is in.
pub fn conversations(root: &Path) -> Vec<(String, read::Conversation)> {
    let mut paths = Vec::new();
    files(root, &mut paths);
    let mut all = Vec::new();
    for path in paths {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if let Ok(found) = read::read(&bytes, None) {
            all.extend(found.conversations.into_iter().map(|c| (name.clone(), c)));
        }
    }
    all
}

/// The log of a conversation.
pub fn log(
    conversation: &read::Conversation,
    profile: midfold::ProviderProfile,
    counter: &str,
) -> EventLog {
    let counter = midfold::tokens::by_name(counter).unwrap();
    let dialect = conversation.format.dialect().shared();
    let mut log = EventLog::of(dialect, profile, counter, conversation.events.iter().cloned());
    let envelope = &conversation.envelope;
    log.set_envelope([&envelope.system, &envelope.tools].into_iter().flatten().map(|b| &b[..]));
    log
}
