//! Every real transcript that is at hand. None of them is part of the project.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "test helpers may fail loudly"
)]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use midfold_core::view::TextOrigin;
use midfold_formats::read::{Conversation, ReadError, ReadOutcome, TranscriptFormat, read};
use serde::de::IgnoredAny;

fn corpus() -> Option<PathBuf> {
    let near = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("MIDFOLD_CORPUS").map_or_else(near, PathBuf::from);
    let found = root.is_dir();
    if !found {
        println!("skipped: no corpus at {} (set MIDFOLD_CORPUS)", root.display());
    }
    found.then_some(root)
}

fn files(root: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// All transcripts below `folder`, by name.
fn transcripts(root: &Path, folder: &str) -> Vec<(String, Bytes)> {
    let mut found = Vec::new();
    files(&root.join(folder), &mut found);
    found.sort();
    let is_transcript = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "json" || e == "jsonl" || e == "traj")
    };
    let load = |path: PathBuf| {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        (name, Bytes::from(std::fs::read(&path).unwrap()))
    };
    found.into_iter().filter(is_transcript).map(load).collect()
}

fn assert_sound(name: &str, input: &Bytes, outcome: &ReadOutcome) {
    for conversation in &outcome.conversations {
        assert!(!conversation.events.is_empty(), "{name}: empty conversation");
        for event in &conversation.events {
            assert!(serde_json::from_slice::<IgnoredAny>(&event.bytes).is_ok(), "{name}");
            assert!(!event.source.is_empty(), "{name}");
            if let [range] = &event.source[..]
                && conversation.format != TranscriptFormat::Pi
                && range.len() == event.bytes.len()
            {
                assert_eq!(&input[range.clone()], &event.bytes[..], "{name}");
            }
        }
        if let Some(wrapper) = &conversation.envelope.wrapper {
            let list: Vec<_> = conversation.events.iter().map(|e| &e.bytes[..]).collect();
            let whole = [&wrapper.before, &b"["[..], &list.join(&b','), b"]", &wrapper.after];
            assert!(serde_json::from_slice::<IgnoredAny>(&whole.concat()).is_ok(), "{name}");
        }
    }
}

fn outcomes(folder: &str) -> Vec<(String, ReadOutcome)> {
    let Some(root) = corpus() else { return Vec::new() };
    transcripts(&root, folder)
        .into_iter()
        .filter_map(|(name, input)| match read(&input, None) {
            Ok(outcome) => {
                assert_sound(&name, &input, &outcome);
                Some((name, outcome))
            }
            Err(ReadError::Empty) => {
                assert!(input.is_empty(), "{name}");
                None
            }
            Err(ReadError::Unrecognised { .. }) => {
                assert!(name.contains("few_shot"), "{name}");
                None
            }
            Err(error) => panic!("{name}: {error}"),
        })
        .collect()
}

/// Conversations and events of each file of a folder.
fn sizes(found: &[(String, ReadOutcome)], format: TranscriptFormat) -> Vec<(usize, usize)> {
    let size = |outcome: &ReadOutcome| {
        assert!(outcome.conversations.iter().all(|c| c.format == format));
        let events = outcome.conversations.iter().map(|c| c.events.len()).sum();
        (outcome.conversations.len(), events)
    };
    found.iter().map(|(_, outcome)| size(outcome)).collect()
}

fn usages(conversation: &Conversation) -> usize {
    conversation.events.iter().filter(|event| event.usage.is_some()).count()
}

#[test]
fn benches_and_training_rows() {
    let tau = outcomes("tau-bench");
    if tau.is_empty() {
        return;
    }
    assert_eq!(sizes(&tau, TranscriptFormat::TauBench), [(200, 5308)]);
    assert_eq!(tau[0].1.conversations[3].id.as_deref(), Some("3"));
    let tau2 = outcomes("tau2-bench");
    assert_eq!(sizes(&tau2, TranscriptFormat::FineTuning), [(24, 806)]);
    assert!(tau2[0].1.conversations.iter().all(|c| c.envelope.tools.is_some()));
    let rows = outcomes("sharegpt");
    let rows: Vec<_> = sizes(&rows, TranscriptFormat::ShareGpt).iter().map(|size| size.0).collect();
    assert_eq!(rows, [9, 182, 24]);
}

#[test]
fn coding_agents() {
    let mini = outcomes("mini-swe-agent");
    if mini.is_empty() {
        return;
    }
    assert_eq!(sizes(&mini, TranscriptFormat::MiniSweAgent).len(), 9);
    for (name, outcome) in &mini {
        let conversation = &outcome.conversations[0];
        assert!(usages(conversation) > 40, "{name}");
        assert!(conversation.envelope.model.is_some(), "{name}");
    }
    let swe = outcomes("SWE-agent");
    assert_eq!(sizes(&swe, TranscriptFormat::SweAgent).len(), 6);
    for (name, outcome) in &swe {
        let events = &outcome.conversations[0].events;
        let observed = events.iter().filter(|e| e.origin == Some(TextOrigin::Observation)).count();
        assert_eq!(observed > 0, name.contains("ctf"), "{name}");
        let answered = events.iter().filter(|e| e.bytes.ends_with(b"\"}") && e.source.len() == 2);
        assert_eq!(answered.count() > 0, !name.contains("ctf"), "{name}");
    }
    let pi = outcomes("pi-mono");
    assert_eq!(sizes(&pi, TranscriptFormat::Pi), [(1, 914)]);
    assert!(usages(&pi[0].1.conversations[0]) > 400);
}

#[test]
fn claude_code_sessions() {
    let found = outcomes("claude-code");
    if found.is_empty() {
        return;
    }
    // Two of the 27 files are empty, one holds nothing but snapshots.
    assert_eq!(found.len(), 25);
    let events = |part: &str| {
        let (_, outcome) = found.iter().find(|(name, _)| name.contains(part)).unwrap();
        (
            outcome.conversations.len(),
            outcome.conversations.iter().map(|c| c.events.len()).sum::<usize>(),
        )
    };
    // Assistant records count once for each message id.
    assert_eq!(events("7acd37a8"), (1, 79 + 36));
    assert_eq!(events("a7da6a22"), (1, 122 + 103));
    // What a hook added and a reminder of tasks stand beside the messages.
    assert_eq!(events("ef958aa1-0e93-49f0-bb71-150f63befcd1.jsonl"), (1, 45 + 17 + 2));
    assert_eq!(events("agent-a2271d1"), (1, 25 + 10));
    assert_eq!(events("a95fea4a"), (0, 0));
    // One of two questions was taken back.
    assert_eq!(events("03eb5929"), (1, 9 + 6));
    let (_, rewound) = found.iter().find(|(name, _)| name.contains("03eb5929")).unwrap();
    assert!(rewound.problems.iter().any(|p| p.code == "abandoned-branch"));
}

#[test]
fn a_cut_anywhere_is_no_surprise() {
    let Some(root) = corpus() else { return };
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for (name, input) in transcripts(&root, "") {
        for _ in 0..8 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let cut = usize::try_from(seed >> 33).unwrap() % input.len().max(1);
            match read(&input.slice(..cut), None) {
                Ok(_) | Err(ReadError::Truncated { .. } | ReadError::Empty) => {}
                Err(ReadError::Unrecognised { .. }) => {
                    assert!(name.contains("few_shot"), "{name} {cut}")
                }
                Err(error) => panic!("{name} cut at {cut}: {error}"),
            }
        }
    }
}
