//! Compaction of Responses, in the exact shapes that clients parse; and our own blob.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use midfold_core::Usage;
use midfold_formats::DialectKind;
use midfold_formats::answer::{AnswerFraming, AnswerTee};
use midfold_formats::vendor::blob::{Blob, BlobError};
use midfold_formats::vendor::openai::*;
use proptest::prelude::*;

fn string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn requests_are_read() {
    let none = read_request(br#"{"input":"hi","context_management":null}"#).unwrap();
    assert_eq!(none, OpenaiRequest::default());
    let default =
        read_request(br#"{"input":[],"context_management":[{"type":"compaction"}]}"#).unwrap();
    assert_eq!((default.compacts, default.threshold), (true, None));
    let other = read_request(br#"{"context_management":[{"type":"clear_thinking"}]}"#).unwrap();
    assert!(!other.compacts);
    let request = br#"{"input":[{"role":"user","content":"say compaction_trigger"}, {"type":"compaction_trigger"}]}"#;
    let trigger = read_request(request).unwrap().trigger.unwrap();
    assert_eq!(&request[trigger], br#"{"type":"compaction_trigger"}"#);
}

#[test]
fn requests_that_the_vendor_refuses_are_refused() {
    for threshold in ["999", "\"9000\"", "1.5", "-1"] {
        let request = format!(
            r#"{{"context_management":[{{"type":"compaction","compact_threshold":{threshold}}}]}}"#
        );
        let refusal = read_request(request.as_bytes()).unwrap_err();
        assert_eq!(refusal.param, "context_management[0].compact_threshold");
    }
    for (input, at) in [
        (r#"[{"type":"compaction_trigger"},{"role":"user","content":"a"}]"#, "input[0]"),
        (r#"[{"type":"compaction_trigger"},{"type":"compaction_trigger"}]"#, "input[0]"),
        (
            r#"[{"role":"user","content":"compaction_trigger"},{"type":"compaction_trigger"},{"role":"user","content":"compaction_trigger"}]"#,
            "input[1]",
        ),
    ] {
        let request = format!(r#"{{"input":{input}}}"#);
        assert_eq!(read_request(request.as_bytes()).unwrap_err().param, at);
    }
}

#[test]
fn items_that_come_back_are_found_where_they_stand() {
    let request = br#"{"input":[{"role":"user","content":"compaction"},{"type":"compaction","id":"cmp_1","encrypted_content":"a\/b"},{"type":"compaction_trigger"}]}"#;
    let found = compaction_items(request);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].item, found[0].id.as_deref()), (1, Some("cmp_1")));
    assert_eq!(found[0].encrypted_content, "a/b");
    assert!(request[found[0].range.clone()].starts_with(br#"{"type":"compaction""#));
}

fn item() -> CompactionItem {
    CompactionItem { id: "cmp_1".into(), encrypted_content: "mf1.x".into() }
}

fn head() -> ResponseHead {
    ResponseHead { id: "resp_1".into(), created_at: 1_764_000_000, model: "gpt-5.6".into() }
}

const USAGE: Usage = Usage { prompt: 100, output: 20, cache_read: 64, cache_write: 0 };
const COUNTS: &str = r#""usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64,"cache_write_tokens":0},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":120}"#;
const ITEM: &str = r#"{"type":"compaction","id":"cmp_1","encrypted_content":"mf1.x"}"#;

#[test]
fn the_compact_endpoint_answers_with_the_next_input() {
    let kept = br#"{"type":"message", "role":"user","content":"hi"}"#;
    assert_eq!(
        string(compacted(&head(), &[kept], &item(), &USAGE)),
        format!(
            r#"{{"id":"resp_1","object":"response.compaction","created_at":1764000000,"output":[{{"type":"message", "role":"user","content":"hi"}},{ITEM}],{COUNTS}}}"#
        )
    );
}

#[test]
fn a_trigger_is_answered_with_one_item() {
    let state = |status: &str, output: &str, usage: &str| {
        format!(
            r#"{{"id":"resp_1","object":"response","created_at":1764000000,"status":"{status}","error":null,"incomplete_details":null,"instructions":null,"model":"gpt-5.6","output":[{output}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],{usage}}}"#
        )
    };
    let (started, done) =
        (state("in_progress", "", r#""usage":null"#), state("completed", ITEM, COUNTS));
    assert_eq!(string(response(&head(), &item(), &USAGE)), done);
    let stream = response_events(&head(), &item(), &USAGE);
    let wanted = [
        ("response.created", format!(r#""sequence_number":0,"response":{started}"#)),
        ("response.in_progress", format!(r#""sequence_number":1,"response":{started}"#)),
        (
            "response.output_item.added",
            format!(r#""sequence_number":2,"output_index":0,"item":{ITEM}"#),
        ),
        (
            "response.output_item.done",
            format!(r#""sequence_number":3,"output_index":0,"item":{ITEM}"#),
        ),
        ("response.completed", format!(r#""sequence_number":4,"response":{done}"#)),
    ]
    .map(|(name, rest)| format!("event: {name}\ndata: {{\"type\":\"{name}\",{rest}}}\n\n"));
    assert_eq!(string(stream.clone()), wanted.concat());
    let mut tee = AnswerTee::new(DialectKind::OpenAiResponses, AnswerFraming::Sse);
    tee.push(&stream);
    let seen = tee.finish();
    assert_eq!(seen.output, [ITEM.as_bytes()]);
    assert_eq!((seen.usage, seen.is_complete), (Some(USAGE), true));
}

const REPLY: &str = "event: response.created
data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_9\",\"output\":[]}}

: ping

event: response.output_item.added
data: {\"type\":\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,\"item\":{\"id\":\"m\"}}

event: response.output_text.delta
data: {\"type\":\"response.output_text.delta\", \"sequence_number\": 2, \"output_index\":0,\"content_index\":0,\"delta\":\"a\"}

event: response.completed
data: {\"type\":\"response.completed\",\"sequence_number\":3,\"response\":{\"id\":\"resp_9\",\"output\":[{\"id\":\"m\"}],\"usage\":null}}

";

#[test]
fn an_item_is_put_before_a_reply_and_moves_what_follows() {
    let events = string(item_events(&item(), 0, 1));
    let wanted = REPLY
        .replace(
            "event: response.output_item.added",
            &format!("{events}event: response.output_item.added"),
        )
        .replace(
            r#""sequence_number":1,"output_index":0,"item":{"id":"m"}"#,
            r#""sequence_number":3,"output_index":1,"item":{"id":"m"}"#,
        )
        .replace(
            r#""sequence_number": 2, "output_index":0"#,
            r#""sequence_number": 4, "output_index":1"#,
        )
        .replace(r#""sequence_number":3,"response""#, r#""sequence_number":5,"response""#)
        .replace(r#""output":[{"id":"m"}]"#, &format!(r#""output":[{ITEM},{{"id":"m"}}]"#));
    for size in [1, 9, 100, 10_000] {
        let (mut insertion, mut out) = (ItemInsertion::new(&item()), Vec::new());
        REPLY.as_bytes().chunks(size).for_each(|chunk| insertion.push(chunk, &mut out));
        insertion.finish(&mut out);
        assert_eq!(string(out), wanted, "{size}");
    }
    let failed = "data: {\"type\":\"response.failed\",\"sequence_number\":1,\"response\":{\"output\":[]}}\n\n";
    let (mut insertion, mut out) = (ItemInsertion::new(&item()), Vec::new());
    insertion.push(failed.as_bytes(), &mut out);
    assert_eq!(string(out), failed, "a refusal stays the first thing that is said");
    assert_eq!(
        string(insert(&item(), br#"{"id":"r","output":[]}"#)),
        format!(r#"{{"id":"r","output":[{ITEM}]}}"#)
    );
}

fn blob() -> Blob {
    Blob {
        dialect: DialectKind::OpenAiResponses,
        session: "s1".into(),
        messages: 300,
        through: [7; 32],
        recap: "What was done: é".into(),
        context: "[{}]".into(),
        ids: vec!["call_1".into(), String::new()],
    }
}

#[test]
fn a_blob_is_decoded_strictly() {
    let bytes = blob().encode();
    assert_eq!(Blob::decode(&bytes), Ok(blob()));
    for end in 0..bytes.len() {
        let found = Blob::decode(&bytes[..end]);
        let is_told = matches!(found, Err(BlobError::Foreign | BlobError::Short(_)));
        assert!(is_told, "{end}: {found:?}");
    }
    assert_eq!(Blob::decode(&[&bytes[..], b"x"].concat()), Err(BlobError::Long(1)));
    assert_eq!(Blob::decode(b"gAAAAA"), Err(BlobError::Foreign));
    let change = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        Blob::decode(&bytes)
    };
    assert_eq!(change(3, 2), Err(BlobError::Version(2)));
    assert_eq!(change(5, b'x'), Err(BlobError::Invalid("dialect")));
    assert_eq!(change(5, 0xff), Err(BlobError::Invalid("dialect")));
    // A length may claim anything.
    let long = [b"mfb\x01", &[0xff; 9][..], &[0x01]].concat();
    assert_eq!(Blob::decode(&long), Err(BlobError::Short("dialect")));
    let over = [b"mfb\x01", &[0xff; 10][..]].concat();
    assert_eq!(Blob::decode(&over), Err(BlobError::Invalid("dialect")));
    let padded = b"mfb\x01\x80\x00";
    assert_eq!(Blob::decode(padded), Err(BlobError::Invalid("dialect")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_blob_has_one_spelling(
        kind in 0_usize..6,
        session in ".{0,20}",
        messages in any::<u64>(),
        through in any::<[u8; 32]>(),
        recap in "(?s).{0,300}",
        context in "(?s).{0,300}",
        ids in prop::collection::vec(".{0,12}", 0..5),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let dialect = DialectKind::ALL[kind];
        let blob = Blob { dialect, session, messages, through, recap, context, ids };
        let mut bytes = blob.encode();
        prop_assert_eq!(Blob::decode(&bytes), Ok(blob));
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(other) = Blob::decode(&bytes) {
            prop_assert_eq!(other.encode(), bytes);
        }
    }
}
