//! Histories of Cline and Roo Code.

use bytes::Bytes;
use midfold_formats::read::{ReadError, TranscriptFormat, detect, read};

use super::{codes, events, fixture, outcome, recorded, told};

#[test]
fn cline_texts_with_a_label_are_the_results_of_their_calls() {
    assert_eq!(
        told(&outcome(fixture("cline.json"))),
        include_str!("../../fixtures/told/cline.txt")
    );
}

#[test]
fn roo_sends_from_its_summary_on_without_what_it_truncated() {
    let text = fixture("roo.json");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/roo.txt"));
    let before = recorded(text);
    let counts: Vec<_> = before.conversations.iter().map(|c| events(c).len()).collect();
    assert_eq!(counts, [3, 4, 7]);
    assert_eq!(codes(&before), ["encrypted-reasoning"]);
}

/// Each truncation hides the older half: before it, the newer half was sent as well, and what an earlier truncation hid
/// was not.
#[test]
fn roo_sent_both_halves_before_a_truncation() {
    let message = |name: &str, hidden: Option<&str>| {
        let hidden = hidden.map_or_else(String::new, |id| format!(r#","truncationParent":"{id}""#));
        let role = if name.starts_with('u') { "user" } else { "assistant" };
        format!(r#"{{"role":"{role}","content":"{name}","ts":1{hidden}}}"#)
    };
    let marker = |id: &str| {
        format!(
            r#"{{"role":"user","content":"marker {id}","isTruncationMarker":true,"truncationId":"{id}"}}"#
        )
    };
    let all = [
        message("u0", None),
        message("a1", Some("t")),
        message("u2", Some("t")),
        marker("t"),
        message("a3", Some("s")),
        message("u4", Some("s")),
        marker("s"),
        message("a5", None),
        message("u6", None),
        message("a7", None),
    ];
    let found = recorded(&format!("[{}]", all.join(",")));
    let texts = |conversation: &midfold_formats::read::Conversation| {
        let text = |event: &str| event.split('"').nth(7).unwrap_or_default().to_owned();
        events(conversation).into_iter().map(text).collect::<Vec<_>>()
    };
    let texts: Vec<_> = found.conversations.iter().map(texts).collect();
    assert_eq!(texts[0], ["u0", "a1", "u2", "a3", "u4"]);
    assert_eq!(texts[1], ["u0", "marker t", "a3", "u4", "a5", "u6"]);
    assert_eq!(texts[2], ["u0", "marker t", "marker s", "a5", "u6", "a7"]);
}

/// A summary that was taken back hides nothing.
#[test]
fn roo_messages_whose_summary_is_gone_are_sent() {
    let text = r#"[{"role":"user","content":"one","condenseParent":"x"},{"role":"assistant","content":"two","truncationParent":"y"}]"#;
    let found = outcome(text);
    assert_eq!(found.conversations[0].format, TranscriptFormat::Cline);
    assert_eq!(events(&found.conversations[0]).len(), 2);
}

/// The label of a server's tool is not the name of the call: with one open call there is no doubt.
#[test]
fn a_label_of_another_name_answers_the_only_open_call() {
    let message = |calls: &str| {
        format!(
            r#"[{{"role":"assistant","content":[{calls}]}},{{"role":"user","content":[{{"type":"text","text":"[use_mcp_tool for 'docs'] Result:\nfound"}}]}}]"#
        )
    };
    let call =
        |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"c0mcp0find","input":{{}}}}"#);
    let one = outcome(&message(&call("a")));
    assert!(events(&one.conversations[0])[1].contains(r#""tool_use_id":"a""#));
    let two = outcome(&message(&[call("a"), call("b")].join(",")));
    assert!(!events(&two.conversations[0])[1].contains("tool_use_id"));
}

#[test]
fn a_session_of_cline_is_read_with_its_compaction() {
    let text = fixture("cline-session.jsonl");
    assert_eq!(told(&outcome(text)), include_str!("../../fixtures/told/cline-session.txt"));
    let before = recorded(text);
    let counts: Vec<_> = before.conversations.iter().map(|c| events(c).len()).collect();
    assert_eq!(counts, [3, 5]);
    let usage = before.conversations[0].events[1].usage.unwrap();
    assert_eq!((usage.prompt, usage.output, usage.cache_read), (900, 7, 100));
    // A message that is in Anthropic's shape leaves as it is.
    assert!(text.contains(events(&before.conversations[1])[2]));
    let (messages, compaction) = text.split_once('\n').unwrap();
    assert_eq!(events(&outcome(messages).conversations[0]).len(), 7);
    assert_eq!(codes(&outcome(compaction)), ["missing-messages"]);
}

/// Anthropic takes no thought without its signature.
#[test]
fn reasoning_of_other_providers_is_left_out() {
    let text = r#"[{"role":"user","content":"go","isSummary":true,"ts":1},{"role":"assistant","content":[{"type":"reasoning","text":"hm","summary":[]},{"type":"thinking","thinking":"hm","signature":""},{"type":"thinking","thinking":"own","signature":"s"},{"type":"reasoning","summary":[],"encrypted_content":"x"},{"type":"text","text":"done"},{"type":"thoughtSignature","thoughtSignature":"y"}],"ts":2}]"#;
    let found = outcome(text);
    assert_eq!(
        events(&found.conversations[0])[1],
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"own","signature":"s"},{"type":"text","text":"done"}],"ts":2}"#
    );
    assert_eq!(codes(&found), ["encrypted-reasoning", "unsigned-reasoning"]);
}

#[test]
fn what_cline_shows_is_refused_with_where_the_conversation_is() {
    let shown = r#"[{"ts":1,"type":"say","say":"task","text":"Fix it."},{"ts":2,"type":"ask","ask":"tool","text":"{}"}]"#;
    let error = read(&Bytes::from_static(shown.as_bytes()), None).unwrap_err();
    assert!(matches!(error, ReadError::Beside { .. }));
    assert!(error.to_string().contains("api_conversation_history.json"));
    assert_eq!(detect(br#"[{"role":"user","content":"hi"}]"#), Some(TranscriptFormat::OpenAiChat));
}
