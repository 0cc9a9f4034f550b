//! Real transcripts, where they are at hand: views hold, conversions are accepted.
#![expect(clippy::print_stdout, reason = "says what was checked, and what was skipped")]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use midfold_core::EventView;
use midfold_formats::{DialectKind, convert, profile, scan};

fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("MIDFOLD_CORPUS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    named.or(Some(beside)).filter(|path| path.is_dir())
}

fn files(folder: &Path, ending: &str, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, ending, out);
        } else if path.to_string_lossy().ends_with(ending) {
            out.push(path);
        }
    }
}

/// Conversations of lines (or of one document) that keep their messages under `key`.
fn conversations(corpus: &Path, folder: &str, ending: &str, key: &str) -> Vec<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    files(&corpus.join(folder), ending, &mut found);
    let mut out = Vec::new();
    for path in found {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let mut at = 0;
        while let Some(value) = scan::value(&bytes, at) {
            at = value.end;
            let rows = match bytes[value.start] {
                b'[' => scan::elements(&bytes, value).collect(),
                _ => vec![value],
            };
            for row in rows {
                let Some(messages) = scan::get(&bytes, row, key) else { continue };
                out.push(
                    scan::elements(&bytes, messages).map(|range| bytes[range].to_vec()).collect(),
                );
            }
        }
    }
    out
}

fn check(name: &str, dialect: DialectKind, conversations: &[Vec<Vec<u8>>]) -> usize {
    let (mut messages, mut blocks, mut opaque) = (0, 0, 0);
    for conversation in conversations {
        let views: Vec<EventView> =
            conversation.iter().map(|m| dialect.dialect().view(m)).collect();
        let pairs: Vec<_> = conversation.iter().map(Vec::as_slice).zip(&views).collect();
        messages += views.len();
        for view in &views {
            blocks += view.blocks.len();
            opaque +=
                view.blocks.iter().filter(|b| b.kind == midfold_core::BlockKind::Opaque).count();
        }
        let own = &profile::for_dialect(dialect)[0];
        assert_eq!(profile::validate_views(&pairs, own), [], "{name}");
        let bytes: Vec<_> = conversation.iter().map(|m| Bytes::copy_from_slice(m)).collect();
        for to in [DialectKind::Gemini, DialectKind::Bedrock] {
            crate::said::there_and_back(dialect, &bytes, to);
        }
        for to in convert::TARGETS {
            let converted = convert::convert_all(&pairs, dialect, to);
            let found = profile::validate(&converted.messages, to, &profile::for_dialect(to)[0]);
            let found: Vec<_> = found.iter().filter(|v| v.rule != "first-role").collect();
            assert!(found.is_empty(), "{name} as {to}: {found:?}");
        }
    }
    println!(
        "{name}: {} conversations, {messages} messages, {blocks} blocks, {opaque} opaque",
        conversations.len()
    );
    assert!(messages > 0 && opaque == 0, "{name}");
    messages
}

#[test]
fn real_conversations_view_convert_and_validate() {
    let Some(corpus) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let chat = DialectKind::OpenAiChat;
    let mut total = 0;
    total += check("tau-bench", chat, &conversations(&corpus, "tau-bench", ".json", "traj"));
    total += check("tau2-bench", chat, &conversations(&corpus, "tau2-bench", ".jsonl", "messages"));
    total += check(
        "mini-swe-agent",
        chat,
        &conversations(&corpus, "mini-swe-agent", ".json", "messages"),
    );
    let rows = conversations(&corpus, "sharegpt", ".jsonl", "conversations");
    total += check("sharegpt", DialectKind::ShareGpt, &rows);
    println!("{total} messages checked");
}
