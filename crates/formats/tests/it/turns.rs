//! Gemini and Bedrock Converse: what they read and write, and that what is converted comes back.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold_core::edit::{BlockChange, apply};
use midfold_core::{BlockKind, MediaKind, Role};
use midfold_formats::DialectKind::{self, Anthropic, Bedrock, Gemini, OpenAiChat};
use midfold_formats::convert::{convert_all, convert_conversation};
use midfold_formats::read::{Conversation, read};
use midfold_formats::{profile, scan};
use midfold_testkit::{emit, strategies};
use proptest::prelude::*;

const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Kind, text and label of each block.
fn show(kind: DialectKind, message: &str) -> (Role, Vec<String>) {
    let bytes = message.as_bytes();
    let view = kind.dialect().view(bytes);
    let label = |label: &Option<midfold_core::TextRef>| {
        label.map_or_else(|| "-".to_owned(), |label| label.decode(bytes).into_owned())
    };
    let blocks = view.blocks.iter().map(|block| {
        let kind = match &block.kind {
            BlockKind::Call { id, name } => format!("call {} {}", label(id), label(name)),
            BlockKind::Result { id, name, error } => {
                format!("result {} {} {error:?}", label(id), label(name))
            }
            kind => format!("{kind:?}").to_lowercase(),
        };
        let media: String = block.media.iter().map(|m| format!(" {:?}", m.kind)).collect();
        format!("{kind}: {}{media}", block.text(bytes))
    });
    (view.role, blocks.collect())
}

#[test]
fn gemini_parts() {
    let message = format!(
        r#"{{"role":"model","parts":[{{"text":"hm","thought":true,"thoughtSignature":"s"}},{{"text":"ok"}},{{"functionCall":{{"id":"1","name":"ls","args":{{"p":1}}}},"thoughtSignature":"s"}},{{"function_call":{{"name":"ls"}}}},{{"inlineData":{{"mimeType":"image/png","data":"{PICTURE}"}}}},{{"fileData":{{"mimeType":"video/mp4","fileUri":"gs://a"}}}},{{"text":"","thoughtSignature":"s"}},{{"executableCode":{{"code":"1"}}}}]}}"#
    );
    let (role, blocks) = show(Gemini, &message);
    assert_eq!(role, Role::Assistant);
    assert_eq!(
        blocks,
        [
            "reasoning { bound: true }: hm",
            "text: ok",
            r#"call 1 ls: {"p":1}"#,
            "call - ls: ",
            "media:  Image",
            "media:  Video",
            "reasoning { bound: true }: ",
            "opaque: ",
        ]
    );
    let view = Gemini.dialect().view(message.as_bytes());
    assert_eq!(view.blocks[4].media[0].pixels(), Some((1, 1)));
    assert_eq!(show(Gemini, r#"{"parts":[{"text":"hi"}]}"#).0, Role::User);
    assert_eq!(show(Gemini, r#"{"role":"critic","parts":[{"text":"hi"}]}"#).0, Role::Other);
}

#[test]
fn gemini_responses() {
    let message = r#"{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"x"}}},{"functionResponse":{"id":"2","name":"b","response":{"error":"no"}}},{"functionResponse":{"name":"c","response":{"out":"x","code":1}}},{"functionResponse":{"name":"d","response":{"result":{"n":1}}}},{"functionResponse":{"name":"e","response":{}}}]}"#;
    let (role, blocks) = show(Gemini, message);
    assert_eq!(role, Role::User);
    assert_eq!(
        blocks,
        [
            "result - a None: x",
            "result 2 b Some(true): no",
            r#"result - c None: {"out":"x","code":1}"#,
            r#"result - d None: {"n":1}"#,
            "result - e None: ",
        ]
    );
}

#[test]
fn bedrock_blocks() {
    let message = format!(
        r#"{{"role":"user","content":[{{"toolResult":{{"toolUseId":"1","content":[{{"text":"x"}}],"status":"success"}}}},{{"toolResult":{{"toolUseId":"2","content":[{{"json":{{"n":1}}}},{{"text":"y"}},{{"image":{{"format":"png","source":{{"bytes":"{PICTURE}"}}}}}}],"status":"error"}}}},{{"cachePoint":{{"type":"default"}}}},{{"text":"go"}},{{"image":{{"format":"png","source":{{"bytes":"{PICTURE}"}}}}}},{{"document":{{"name":"d","format":"pdf","source":{{"bytes":"{PICTURE}"}}}}}},{{"guardContent":{{"text":{{"text":"g"}}}}}},{{"toolAddition":{{}}}}]}}"#
    );
    let (role, blocks) = show(Bedrock, &message);
    assert_eq!(role, Role::User);
    assert_eq!(
        blocks,
        [
            "result 1 - Some(false): x",
            "result 2 - Some(true): {\"n\":1}\ny Image",
            "text: go",
            "media:  Image",
            "media:  File",
            "text: g",
            "opaque: ",
        ]
    );
    let said = r#"{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"reasoningContent":{"redactedContent":"AAAA"}},{"toolUse":{"toolUseId":"1","name":"ls","input":{"p":1}}}]}"#;
    assert_eq!(
        show(Bedrock, said).1,
        ["reasoning { bound: true }: hm", "reasoning { bound: true }: ", r#"call 1 ls: {"p":1}"#]
    );
}

/// An edited result is still what its provider takes: an object, a list of blocks.
#[test]
fn an_edited_result_keeps_its_form() {
    let cases = [
        (
            Gemini,
            r#"{"parts":[{"functionResponse":{"name":"a","response":{"out":"x","code":1}}}]}"#,
            r#"{"parts":[{"functionResponse":{"name":"a","response":{"output":"…"}}}]}"#,
        ),
        (
            Gemini,
            r#"{"parts":[{"functionResponse":{"name":"a","response":{"result":[1]}}}]}"#,
            r#"{"parts":[{"functionResponse":{"name":"a","response":{"result":"…"}}}]}"#,
        ),
        (
            Gemini,
            r#"{"parts":[{"functionResponse":{"name":"a","response":{}}}]}"#,
            r#"{"parts":[{"functionResponse":{"name":"a","response":{"output":"…"}}}]}"#,
        ),
        (
            Bedrock,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"x"}]}}]}"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"…"}]}}]}"#,
        ),
        (
            Bedrock,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"json":{}}],"status":"error"}}]}"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"…"}],"status":"error"}}]}"#,
        ),
    ];
    for (kind, before, after) in cases {
        let view = kind.dialect().view(before.as_bytes());
        let change = BlockChange::Replace("…".to_owned());
        let edited = apply(before.as_bytes(), &[(&view.blocks[0], &change)]);
        assert_eq!(std::str::from_utf8(&edited).unwrap(), after);
        assert_eq!(kind.dialect().view(&edited).blocks[0].text(&edited), "…");
    }
}

#[test]
fn made_messages_and_results_as_text() {
    let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    let gemini = Gemini.dialect();
    assert_eq!(
        text(gemini.made_message(Role::Assistant, "a")),
        r#"{"role":"model","parts":[{"text":"a"}]}"#
    );
    assert_eq!(
        text(gemini.made_result(b"", "", "ls", "r")),
        r#"{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"r"}}}]}"#
    );
    let bedrock = Bedrock.dialect();
    assert_eq!(
        text(bedrock.made_result(b"", "1", "ls", "r")),
        r#"{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"r"}]}}]}"#
    );
    let message = br#"{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"x"}]}},{"toolResult":{"toolUseId":"2","content":[]}},{"text":"go"}]}"#;
    assert_eq!(
        text(bedrock.results_as_text(message, &bedrock.view(message), &[0])),
        r#"{"role":"user","content":[{"toolResult":{"toolUseId":"2","content":[]}},{"text":"[result of a tool (1)] x"},{"text":"go"}]}"#
    );
}

fn conversation(text: String) -> Conversation {
    read(&Bytes::from(text), None).unwrap().conversations.remove(0)
}

#[test]
fn the_envelope_is_read_and_converted() {
    let session = midfold_testkit::session(3, 1);
    let tools = r#""tools":[{"functionDeclarations":[]}],"contents":"#;
    let request = emit::gemini_request(&session).replacen(r#""contents":"#, tools, 1);
    let mut found = conversation(request.clone());
    assert_eq!(found.envelope.tools.as_deref(), Some(&br#"[{"functionDeclarations":[]}]"#[..]));
    let system = scan::get(request.as_bytes(), 0..request.len(), "systemInstruction").unwrap();
    assert_eq!(found.envelope.system.as_deref(), Some(&request.as_bytes()[system]));
    let problems = convert_conversation(&mut found, Bedrock);
    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    assert!(
        codes.contains(&"tools-left-out") && codes.contains(&"encrypted-reasoning"),
        "{codes:?}"
    );
    let system = found.envelope.system.unwrap();
    assert!(system.starts_with(br#"[{"text":"#), "{system:?}");
    let mut found = conversation(emit::bedrock_request(&session));
    assert_eq!(found.envelope.model.as_deref(), Some("anthropic.claude-sonnet-4-5-20250929-v1:0"));
    let _ = convert_conversation(&mut found, Gemini);
    assert!(found.envelope.system.unwrap().starts_with(br#"{"parts":[{"text":"#));
}

/// Without ids, results find their calls by name, then by order.
#[test]
fn gemini_results_pair_by_name_and_order() {
    let call = |name: &str| format!(r#"{{"functionCall":{{"name":"{name}","args":{{}}}}}}"#);
    let result = |name: &str, text: &str| {
        format!(r#"{{"functionResponse":{{"name":"{name}","response":{{"output":"{text}"}}}}}}"#)
    };
    let messages = [
        r#"{"role":"user","parts":[{"text":"go"}]}"#.to_owned(),
        format!(r#"{{"role":"model","parts":[{},{},{}]}}"#, call("a"), call("b"), call("a")),
        format!(
            r#"{{"role":"user","parts":[{},{},{}]}}"#,
            result("b", "2"),
            result("a", "1"),
            result("a", "3")
        ),
    ];
    let views: Vec<_> = messages.iter().map(|m| Gemini.dialect().view(m.as_bytes())).collect();
    let pairs: Vec<_> = messages.iter().map(|m| m.as_bytes()).zip(&views).collect();
    assert_eq!(profile::validate_views(&pairs, &profile::GEMINI), []);
    let chat = convert_all(&pairs, Gemini, OpenAiChat).messages;
    let ids: Vec<_> = chat[2..].iter().map(|m| String::from_utf8(m.to_vec()).unwrap()).collect();
    for (message, (id, text)) in ids.iter().zip([(1, 2), (0, 1), (2, 3)]) {
        assert!(message.contains(&format!(r#""call_{id}","content":"{text}""#)), "{message}");
    }
}

#[test]
fn pictures_are_carried_where_a_provider_takes_them() {
    let message = format!(
        r#"{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{PICTURE}"}}}},{{"type":"image_url","image_url":{{"url":"https://example.org/a.png"}}}}]}}"#
    );
    let view = OpenAiChat.dialect().view(message.as_bytes());
    for (to, kept) in [(Gemini, 2), (Bedrock, 1), (Anthropic, 2)] {
        let made = convert_all(&[(message.as_bytes(), &view)], OpenAiChat, to);
        let view = to.dialect().view(&made.messages[0]);
        let pictures: Vec<_> = view.blocks.iter().flat_map(|block| &block.media).collect();
        assert_eq!(pictures.len(), kept, "{to}");
        assert!(pictures.iter().all(|media| media.kind == MediaKind::Image), "{to}");
        assert_eq!(pictures[0].pixels(), Some((1, 1)), "{to}");
        assert_eq!(made.problems.len(), 2 - kept, "{to}");
        crate::said::there_and_back(to, &made.messages, to);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sessions_are_valid_and_come_back(session in strategies::session()) {
        for (kind, messages) in
            [(Gemini, emit::gemini(&session).1), (Bedrock, emit::bedrock(&session).1)]
        {
            let found = profile::validate(&messages, kind, &profile::for_dialect(kind)[0]);
            let found: Vec<_> = found.iter().filter(|v| v.rule != "first-role").collect();
            prop_assert!(found.is_empty(), "{:?}", found);
        }
        let chat: Vec<_> = emit::openai_chat(&session).into_iter().map(Bytes::from).collect();
        for to in [Gemini, Bedrock] {
            crate::said::there_and_back(OpenAiChat, &chat, to);
        }
    }

    /// Whatever comes in, what comes out are messages of the dialect.
    #[test]
    fn hostile_messages_are_written_whole(messages in strategies::hostile()) {
        let views: Vec<_> =
            messages.iter().map(|m| OpenAiChat.dialect().view(m.as_bytes())).collect();
        let pairs: Vec<_> = messages.iter().map(|m| m.as_bytes()).zip(&views).collect();
        for to in [Gemini, Bedrock] {
            for message in convert_all(&pairs, OpenAiChat, to).messages {
                prop_assert!(serde_json::from_slice::<serde_json::Value>(&message).is_ok());
                let view = to.dialect().view(&message);
                prop_assert!(matches!(view.role, Role::User | Role::Assistant));
                prop_assert!(view.blocks.iter().all(|block| block.kind != BlockKind::Opaque));
            }
        }
    }
}
