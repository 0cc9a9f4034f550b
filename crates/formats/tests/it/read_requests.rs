//! Requests, rows and lists, and what is wrong with them.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold_core::BlockKind;
use midfold_formats::DialectKind;
use midfold_formats::read::{Conversation, ReadError, ReadOutcome, TranscriptFormat, detect, read};

fn outcome(text: impl AsRef<[u8]>) -> ReadOutcome {
    read(&Bytes::copy_from_slice(text.as_ref()), None).unwrap()
}

fn failure(text: impl AsRef<[u8]>) -> ReadError {
    read(&Bytes::copy_from_slice(text.as_ref()), None).unwrap_err()
}

fn events(conversation: &Conversation) -> Vec<&str> {
    conversation.events.iter().map(|e| std::str::from_utf8(&e.bytes).unwrap()).collect()
}

/// The input again, from the wrapper and the messages.
fn joined(conversation: &Conversation) -> Vec<u8> {
    let wrapper = conversation.envelope.wrapper.as_ref().unwrap();
    let list = events(conversation).join(",");
    [&wrapper.before[..], b"[", list.as_bytes(), b"]", &wrapper.after[..]].concat()
}

#[test]
#[rustfmt::skip]
fn tells_the_dialects_apart() {
    let cases: [(&str, TranscriptFormat); 32] = [
        (r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#, TranscriptFormat::OpenAiChat),
        (r#"{"model":"m","system":"s","messages":[{"role":"user","content":"x"}]}"#, TranscriptFormat::Anthropic),
        (r#"{"tools":[{"name":"t","input_schema":{}}],"messages":[]}"#, TranscriptFormat::Anthropic),
        (r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}]}"#, TranscriptFormat::Anthropic),
        (r#"[{"role":"tool","tool_call_id":"1","content":"x"}]"#, TranscriptFormat::OpenAiChat),
        (r#"{"model":"m","input":[{"role":"user","content":"x"}]}"#, TranscriptFormat::OpenAiResponses),
        (r#"{"model":"m","input":"x"}"#, TranscriptFormat::OpenAiResponses),
        (r#"[{"type":"function_call","call_id":"1","name":"n","arguments":"{}"}]"#, TranscriptFormat::OpenAiResponses),
        (r#"{"contents":[{"parts":[{"text":"x"}]}]}"#, TranscriptFormat::Gemini),
        (r#"[{"role":"user","parts":[{"text":"x"}]}]"#, TranscriptFormat::Gemini),
        (r#"{"role":"model","parts":[{"functionCall":{"name":"n","args":{}}}]}"#, TranscriptFormat::Gemini),
        (r#"{"model":"m","messages":[{"role":"user","content":"x","images":["iVBORw0KGgo"]}]}"#, TranscriptFormat::Ollama),
        (r#"[{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"n","arguments":{}}}]}]"#, TranscriptFormat::Ollama),
        (r#"{"role":"tool","tool_name":"n","content":"x"}"#, TranscriptFormat::Ollama),
        (r#"{"model":"m","messages":[{"role":"user","content":"x"}],"options":{"num_ctx":4096}}"#, TranscriptFormat::Ollama),
        (r#"{"role":"user","content":"x","images":["iVBORw0KGgo="]}"#, TranscriptFormat::Ollama),
        (r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":{}}}]}"#, TranscriptFormat::OpenAiChat),
        (r#"{"modelId":"m","messages":[{"role":"user","content":[{"text":"x"}]}]}"#, TranscriptFormat::Bedrock),
        (r#"{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"x"}]}]}"#, TranscriptFormat::Bedrock),
        (r#"[{"role":"user","content":[{"text":"x"}]}]"#, TranscriptFormat::Bedrock),
        (r#"{"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"n","input":{}}}]}]}"#, TranscriptFormat::Bedrock),
        (r#"{"conversations":[{"from":"human","value":"x"}]}"#, TranscriptFormat::ShareGpt),
        (r#"{"messages":[{"from":"human","value":"x"}]}"#, TranscriptFormat::ShareGpt),
        (r#"{"conversations":[{"role":"user","content":"x"}]}"#, TranscriptFormat::OpenAiChat),
        (r#"{"from":"human","value":"x"}"#, TranscriptFormat::ShareGpt),
        (r#"[{"traj":[{"role":"user","content":"x"}],"task_id":0}]"#, TranscriptFormat::TauBench),
        (r#"{"info":{"model_stats":{}},"messages":[{"role":"exit"}]}"#, TranscriptFormat::MiniSweAgent),
        (r#"{"history":[{"role":"user","content":"x"}]}"#, TranscriptFormat::SweAgent),
        (r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user"}}"#, TranscriptFormat::ClaudeCode),
        (r#"{"type":"response_item","timestamp":"","payload":{}}"#, TranscriptFormat::Codex),
        (r#"{"type":"session","id":"1","timestamp":"t","cwd":"/"}"#, TranscriptFormat::Pi),
        (r#"{"custom_id":"1","body":{"model":"m","messages":[{"role":"user","content":""}]}}"#, TranscriptFormat::OpenAiChat),
    ];
    for (text, format) in cases {
        assert_eq!(detect(text.as_bytes()), Some(format), "{text}");
    }
    let row = r#"{"messages":[{"role":"user","content":"x"}]}"#;
    assert_eq!(detect(format!("{row}\n{row}\n").as_bytes()), Some(TranscriptFormat::FineTuning));
    let called = r#"{"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"n","arguments":{}}}]}]}"#;
    assert_eq!(detect(format!("{called}\n{called}\n").as_bytes()), Some(TranscriptFormat::FineTuning));
    assert_eq!(detect(br#"{"messages_display":"user: hi"}"#), None);
    assert_eq!(detect(b"hello"), None);
}

#[test]
fn keeps_every_byte_around_the_messages() {
    let text = concat!(
        r#"{"model":"m", "x":1.50,"messages":[{"role":"user","content":"a"},"#,
        r#"{"role" : "assistant","content":null}],"tools":[{"b":2}],"z":1e3}"#
    );
    let found = outcome(format!("  {text}\n"));
    let [conversation] = &found.conversations[..] else { panic!("one conversation") };
    assert_eq!(joined(conversation), text.as_bytes());
    assert_eq!(conversation.envelope.model.as_deref(), Some("m"));
    assert_eq!(conversation.envelope.tools.as_deref(), Some(&br#"[{"b":2}]"#[..]));
    assert_eq!(conversation.events[0].source.first(), Some(&(37..66)));
    assert!(found.problems.is_empty());
}

#[test]
fn reads_logs_of_requests_with_their_outside() {
    let text = concat!(
        r#"{"at":1,"request":{"model":"m","messages":[{"role":"user","content":"a"}]},"#,
        r#""response":{}}"#
    );
    let found = outcome(format!("{text}\n{text}"));
    assert_eq!(found.conversations.len(), 2);
    assert_eq!(joined(&found.conversations[1]), text.as_bytes());
    assert_eq!(found.conversations[1].envelope.model.as_deref(), Some("m"));
    assert_eq!(found.conversations[1].line, 2);
}

#[test]
fn a_lone_string_becomes_a_user_message() {
    let found = outcome(r#"{"model":"m","input":"say \u00e9"}"#);
    assert_eq!(events(&found.conversations[0]), [r#"{"role":"user","content":"say \u00e9"}"#]);
}

#[test]
fn messages_a_line_are_one_conversation() {
    let found =
        outcome("{\"role\":\"user\",\"content\":\"a\"}\r\n\n{\"role\":\"user\",\"content\":\"b\"}");
    assert_eq!(found.conversations.len(), 1);
    assert_eq!(found.conversations[0].events.len(), 2);
    assert_eq!(found.conversations[0].envelope.wrapper, None);
    assert!(found.problems.is_empty());
}

#[test]
fn bad_lines_cost_only_themselves() {
    let good = r#"{"role":"user","content":"a"}"#;
    let text = format!("{good}\n{{\"role\":oops}}\n7\n{good}\n{{\"role\":\"us");
    let found = outcome(&text);
    assert_eq!(found.conversations[0].events.len(), 2);
    let said: Vec<_> = found.problems.iter().map(|p| (p.at.unwrap(), p.code)).collect();
    assert_eq!(said, [(2, "bad-line"), (3, "unrecognised-record"), (5, "truncated-line")]);
    // The first line may be the bad one.
    let found = outcome(format!("{{\"role\":oops}}\n{good}\n"));
    assert_eq!(found.conversations[0].events.len(), 1);
    assert_eq!(found.problems[0].at, Some(1));
}

#[test]
fn repairs_only_the_message_that_needs_it() {
    let mut text = br#"[{"role":"user","content":"a"},{"role":"user","content":"b"#.to_vec();
    text.extend(
        b"\xFF\x01\"},\n{\"role\":\"user\",\"content\":\"c\",\"n\":NaN,\"m\":[-Infinity]}]",
    );
    let found = outcome(&text);
    let conversation = &found.conversations[0];
    assert_eq!(
        events(conversation),
        [
            r#"{"role":"user","content":"a"}"#,
            "{\"role\":\"user\",\"content\":\"b\u{FFFD}\\u0001\"}",
            r#"{"role":"user","content":"c","n":null,"m":[null]}"#
        ]
    );
    let said: Vec<_> = found.problems.iter().map(|p| (p.at.unwrap(), p.code)).collect();
    assert_eq!(said, [(1, "repaired"), (2, "repaired")]);
    assert_eq!(conversation.events[0].source.first(), Some(&(1..30)));
}

#[test]
fn a_byte_order_mark_is_no_obstacle() {
    let found = outcome("\u{FEFF}{\"role\":\"user\",\"content\":\"a\"}");
    assert_eq!(found.conversations[0].events.len(), 1);
    assert_eq!(found.problems[0].code, "byte-order-mark");
}

#[test]
fn indented_values_one_after_the_other() {
    let found = outcome("{\n \"messages\": [\n]}\n{\n\"messages\":[{\"role\":\"user\"}]}");
    let sizes: Vec<_> = found.conversations.iter().map(|c| (c.line, c.events.len())).collect();
    assert_eq!(sizes, [(1, 0), (4, 1)]);
}

#[test]
fn deep_nesting_is_carried() {
    let deep = [vec![b'['; 1_000_000], vec![b']'; 1_000_000]].concat();
    let text = [br#"{"messages":[{"role":"user","content":"#, &deep[..], b"}]}"].concat();
    assert_eq!(outcome(&text).conversations[0].events.len(), 1);
    let logs = [br#"{"request":"#.repeat(100_000), b"1".to_vec(), b"}".repeat(100_000)].concat();
    assert!(matches!(failure(&logs), ReadError::Unrecognised { .. }));
}

#[test]
fn says_what_is_wrong() {
    assert_eq!(failure(" \n"), ReadError::Empty);
    assert_eq!(failure(b"\x89PNG\r\n\x1a\n\0"), ReadError::Binary { offset: 0 });
    let cut = failure("{\"messages\":[\n{\"role\":\"user\"");
    assert_eq!(cut, ReadError::Truncated { line: 2, column: 14 });
    assert!(matches!(failure("# Title\ntext"), ReadError::NotJson { line: 1, column: 1, .. }));
    let error = failure(r#"{"messages_display":"user: hi"}"#).to_string();
    assert!(error.contains("`messages_display`") && error.contains("--from"), "{error}");
    let forced =
        read(&Bytes::from_static(b"[{\"x\":1}]"), Some(TranscriptFormat::OpenAiChat)).unwrap();
    assert_eq!(forced.conversations[0].events.len(), 1);
}

#[test]
fn events_are_slices_of_the_input() {
    let input = Bytes::from(r#"{"messages":[{"role":"user","content":"a"}]}"#.to_owned());
    let found = read(&input, None).unwrap();
    let event = &found.conversations[0].events[0].bytes;
    assert!(input.as_ptr_range().contains(&event.as_ptr()));
}

#[test]
fn reads_rows_of_batch_files() {
    let row = concat!(
        r#"{"custom_id":"a","params":{"model":"m","system":"s","#,
        r#""messages":[{"role":"user","content":"x"}]}}"#
    );
    let found = outcome(row);
    let conversation = &found.conversations[0];
    assert_eq!(
        (conversation.format, conversation.id.as_deref()),
        (TranscriptFormat::Anthropic, Some("a"))
    );
    assert_eq!(conversation.envelope.system.as_deref(), Some(&br#""s""#[..]));
    assert_eq!(joined(conversation), row.as_bytes());
}

#[test]
fn a_forced_format_is_obeyed() {
    let text = Bytes::from_static(br#"{"messages":[{"role":"user","content":"x"}]}"#);
    for format in
        [TranscriptFormat::Anthropic, TranscriptFormat::OpenAiChat, TranscriptFormat::FineTuning]
    {
        assert_eq!(read(&text, Some(format)).unwrap().conversations[0].format, format);
    }
    let other = read(&text, Some(TranscriptFormat::Codex));
    assert!(matches!(other, Err(ReadError::Unrecognised { .. })));
    for format in TranscriptFormat::ALL {
        assert_eq!(TranscriptFormat::from_name(format.name()), Some(format));
    }
}

/// Lists that clients of their own shape call as a provider does, each of which holds words.
const OF_OTHERS: [&str; 8] = [
    r#"{"info":{"id":"s"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"x"}]}]}"#,
    r#"{"messages":[{"type":"user","content":"x"},{"type":"gemini","content":"y"}]}"#,
    r#"{"messages":[{"role":"user","parts":[{"type":"text","text":"x"}]}]}"#,
    r#"[{"role":"assistant","content":"","parts":[{"type":"tool-invocation","toolInvocation":{"args":"x"}}]}]"#,
    r#"{"messages":[{"sender":"human","text":"x"}]}"#,
    r#"{"messages":[{"role":"user","text":"x"},{"role":"bot","text":"y"}]}"#,
    r#"{"chat_history":[],"message":"x","model":"command"}"#,
    r#"{"type":"message","timestamp":"t","message":{"author":"a","body":"x"}}"#,
];

#[test]
fn what_no_dialect_reads_is_refused() {
    for text in OF_OTHERS {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        assert_eq!(detect(&bytes), None, "{text}");
        let error = read(&bytes, None).expect_err(text).to_string();
        assert!(error.contains("no messages"), "{error}");
        let lines = Bytes::from(format!("{text}\n{text}\n"));
        assert!(read(&lines, None).is_err(), "{text}");
    }
}

#[test]
fn a_message_of_another_shape_among_others_is_carried_whole() {
    let odd = r#"{"role":"user","parts":[{"type":"text","text":"Never touch the tests."}]}"#;
    let text = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"a"}},{odd}]}}"#);
    let found = outcome(text);
    let event = &found.conversations[0].events[1];
    assert_eq!(&event.bytes[..], odd.as_bytes());
    for kind in [DialectKind::OpenAiChat, DialectKind::Anthropic, DialectKind::Bedrock] {
        let view = kind.dialect().view(&event.bytes);
        assert_eq!(view.blocks.len(), 1, "{kind}");
        assert_eq!(view.blocks[0].kind, BlockKind::Opaque, "{kind}");
    }
    // What says nothing is empty, and a server may add to it what it likes.
    for empty in [
        r#"{"role":"assistant","content":"","metadata":{"a":"b"}}"#,
        r#"{"role":"assistant","content":null,"extra":{"response":[{"type":"x"}]}}"#,
        r#"{"role":"user","id":"1","timestamp":"now"}"#,
        r#"{"role":"user","content":[],"parts":[]}"#,
    ] {
        let blocks = DialectKind::OpenAiChat.dialect().view(empty.as_bytes()).blocks;
        assert!(blocks.iter().all(|block| block.kind == BlockKind::Text), "{empty}");
    }
}
