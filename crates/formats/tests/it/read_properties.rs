//! What holds for every conversation that the testkit can make.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::path::Path;

use bytes::Bytes;
use midfold_formats::read::{ReadError, ReadOutcome, TranscriptFormat, read};
use midfold_testkit::{TestMessage, emit, strategies};
use proptest::prelude::*;

fn outcome(text: String) -> ReadOutcome {
    read(&Bytes::from(text), None).unwrap()
}

/// The events of the one conversation, and the input put together again.
fn parts(found: &ReadOutcome) -> (Vec<&[u8]>, Option<Vec<u8>>) {
    assert_eq!(found.conversations.len(), 1);
    let conversation = &found.conversations[0];
    let events: Vec<_> = conversation.events.iter().map(|e| &e.bytes[..]).collect();
    let whole = conversation
        .envelope
        .wrapper
        .as_ref()
        .map(|w| [&w.before, &b"["[..], &events.join(&b','), b"]", &w.after].concat());
    (events, whole)
}

fn bytes(messages: &[String]) -> Vec<&[u8]> {
    messages.iter().map(|m| m.as_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_messages_come_back_as_they_were(messages in strategies::hostile()) {
        let request = emit::openai_request(&messages);
        let found = outcome(request.clone());
        let (events, whole) = parts(&found);
        prop_assert_eq!(events, bytes(&messages));
        prop_assert_eq!(whole.unwrap(), request.into_bytes());
        prop_assert!(found.problems.is_empty());
        let lines = read(&Bytes::from(messages.join("\n")), Some(TranscriptFormat::OpenAiChat)).unwrap();
        let kept: usize = lines.conversations.iter().map(|c| c.events.len()).sum();
        prop_assert_eq!(kept + lines.problems.len(), messages.len());
    }

    #[test]
    fn requests_of_each_dialect_come_back(session in strategies::session()) {
        let cases = [
            (emit::openai_request(&emit::openai_chat(&session)), TranscriptFormat::OpenAiChat),
            (emit::anthropic_request(&session), TranscriptFormat::Anthropic),
            (emit::responses_request(&session), TranscriptFormat::OpenAiResponses),
            (emit::gemini_request(&session), TranscriptFormat::Gemini),
            (emit::bedrock_request(&session), TranscriptFormat::Bedrock),
            (emit::ollama_request(&session), TranscriptFormat::Ollama),
            (emit::sharegpt("row", &session), TranscriptFormat::ShareGpt),
        ];
        for (text, format) in cases {
            let found = outcome(text.clone());
            prop_assert_eq!(found.conversations[0].format, format);
            prop_assert_eq!(parts(&found).1.unwrap(), text.into_bytes());
        }
    }

    #[test]
    fn session_files_hold_the_same_conversation(session in strategies::session()) {
        let spoken: Vec<TestMessage> =
            session.iter().filter(|m| !matches!(m, TestMessage::System(_))).cloned().collect();
        let pi = outcome(emit::pi(&session).join("\n"));
        let chat = emit::openai_chat(&spoken);
        prop_assert_eq!(parts(&pi).0, bytes(&chat));
        let codex = outcome(emit::codex(&session).join("\n"));
        let items = emit::responses(&spoken);
        prop_assert_eq!(parts(&codex).0, bytes(&items));
        let claude = outcome(emit::claude_code(&session).join("\n"));
        let (events, _) = parts(&claude);
        prop_assert_eq!(events.len(), spoken.len());
        prop_assert!(claude.problems.is_empty());
    }

    #[test]
    fn any_cut_is_read_or_refused_clearly(session in strategies::session(), at in 0.0..1.0f64) {
        for text in [emit::claude_code(&session).join("\n"), emit::anthropic_request(&session)] {
            let cut = (text.len() as f64 * at) as usize;
            match read(&Bytes::from(text).slice(..cut), None) {
                Ok(_) | Err(ReadError::Truncated { .. } | ReadError::Empty) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }

    #[test]
    fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&Bytes::from(bytes), None);
    }

    #[test]
    fn damaged_json_is_safe(
        messages in strategies::hostile(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut text = emit::openai_request(&messages).into_bytes();
        for (at, byte) in hits {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Ok(found) = read(&Bytes::from(text), None) {
            for event in found.conversations.iter().flat_map(|c| &c.events) {
                let json = serde_json::from_slice::<&serde_json::value::RawValue>(&event.bytes);
                prop_assert!(json.is_ok());
            }
        }
    }
}

#[test]
fn fixtures_are_what_their_names_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cases = [
        ("examples/coding-session.jsonl", TranscriptFormat::OpenAiChat, 1),
        ("fixtures/openai-chat.json", TranscriptFormat::OpenAiChat, 1),
        ("fixtures/openai-chat.jsonl", TranscriptFormat::OpenAiChat, 1),
        ("fixtures/openai-responses.json", TranscriptFormat::OpenAiResponses, 1),
        ("fixtures/anthropic.json", TranscriptFormat::Anthropic, 1),
        ("fixtures/gemini.json", TranscriptFormat::Gemini, 1),
        ("fixtures/bedrock.json", TranscriptFormat::Bedrock, 1),
        ("fixtures/ollama.json", TranscriptFormat::Ollama, 1),
        ("fixtures/sharegpt.jsonl", TranscriptFormat::ShareGpt, 2),
        ("fixtures/claude-code.jsonl", TranscriptFormat::ClaudeCode, 1),
        ("fixtures/codex.jsonl", TranscriptFormat::Codex, 1),
        ("fixtures/pi.jsonl", TranscriptFormat::Pi, 1),
        ("fixtures/fine-tuning.jsonl", TranscriptFormat::FineTuning, 2),
        ("fixtures/tau-bench.json", TranscriptFormat::TauBench, 2),
        ("fixtures/mini-swe-agent.traj.json", TranscriptFormat::MiniSweAgent, 1),
        ("fixtures/swe-agent.traj", TranscriptFormat::SweAgent, 1),
        ("fixtures/hostile.jsonl", TranscriptFormat::OpenAiChat, 1),
        ("fixtures/broken.jsonl", TranscriptFormat::OpenAiChat, 1),
    ];
    for (path, format, count) in cases {
        let found = outcome(std::fs::read_to_string(root.join(path)).unwrap());
        assert_eq!(found.conversations.len(), count, "{path}");
        assert!(found.conversations.iter().all(|c| c.format == format), "{path}");
        assert!(found.conversations.iter().all(|c| !c.events.is_empty()), "{path}");
    }
    let broken = outcome(std::fs::read_to_string(root.join("fixtures/broken.jsonl")).unwrap());
    let said: Vec<_> = broken.problems.iter().map(|p| (p.at.unwrap(), p.code)).collect();
    assert_eq!(
        said,
        [
            (1, "byte-order-mark"),
            (2, "bad-line"),
            (3, "unrecognised-record"),
            (6, "repaired"),
            (7, "repaired"),
            (8, "truncated-line")
        ]
    );
    assert_eq!(broken.conversations[0].events.len(), 4);
    let cut = std::fs::read(root.join("fixtures/truncated.json")).unwrap();
    assert!(matches!(read(&Bytes::from(cut), None), Err(ReadError::Truncated { line: 1, .. })));
}
