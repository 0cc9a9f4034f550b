//! Ollama's `/api/chat`: what is read and written, and that what is converted comes back.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold_core::{BlockKind, EventView, MediaKind, Role};
use midfold_formats::DialectKind::{self, Anthropic, Gemini, Ollama, OpenAiChat, OpenAiResponses};
use midfold_formats::convert::{ConvertedMessages, convert_all};
use midfold_formats::profile;
use midfold_formats::read::read;
use midfold_testkit::{emit, strategies};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::said::said;

const JPEG: &str = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////";

fn view(message: &str) -> EventView {
    Ollama.dialect().view(message.as_bytes())
}

fn convert(messages: &[impl AsRef<[u8]>], from: DialectKind, to: DialectKind) -> ConvertedMessages {
    let views: Vec<_> = messages.iter().map(|it| from.dialect().view(it.as_ref())).collect();
    let pairs: Vec<_> = messages.iter().map(AsRef::as_ref).zip(&views).collect();
    convert_all(&pairs, from, to)
}

fn values(converted: &ConvertedMessages) -> Vec<Value> {
    converted.messages.iter().map(|it| serde_json::from_slice(it).unwrap()).collect()
}

#[test]
fn messages_are_read() {
    let call = r#"{"role":"assistant","content":"ok","thinking":"hm","tool_calls":[{"function":{"name":"ls","arguments":{"p":1}}}]}"#;
    let found = view(call);
    assert_eq!(found.role, Role::Assistant);
    let kinds: Vec<_> = found.blocks.iter().map(|block| &block.kind).collect();
    assert!(
        matches!(
            kinds[..],
            [
                BlockKind::Text,
                BlockKind::Reasoning { bound: false },
                BlockKind::Call { id: None, .. }
            ]
        ),
        "{kinds:?}"
    );
    assert_eq!(found.blocks[2].text(call.as_bytes()), r#"{"p":1}"#);
    let result = r#"{"role":"tool","tool_name":"ls","content":"a.rs"}"#;
    let found = view(result);
    let BlockKind::Result { id: None, name: Some(name), .. } = &found.blocks[0].kind else {
        unreachable!("{found:?}")
    };
    assert_eq!((found.role, &*name.decode(result.as_bytes())), (Role::Tool, "ls"));
    let pictures = format!(r#"{{"role":"user","content":"look","images":["{JPEG}","{JPEG}"]}}"#);
    let found = view(&pictures);
    let media: Vec<_> = found.blocks.iter().flat_map(|block| &block.media).collect();
    assert!(media.len() == 2 && media.iter().all(|it| it.kind == MediaKind::Image));
    assert_eq!(view("[]").role, Role::Other);
}

#[test]
fn made_messages_are_in_its_words() {
    let dialect = Ollama.dialect();
    assert_eq!(
        dialect.made_result(b"", "", "ls", "x"),
        r#"{"role":"tool","tool_name":"ls","content":"x"}"#
    );
    assert_eq!(
        dialect.made_result(b"", "c", "ls", "x"),
        r#"{"role":"tool","tool_name":"ls","tool_call_id":"c","content":"x"}"#
    );
    assert_eq!(dialect.made_message(Role::Developer, "x"), r#"{"role":"system","content":"x"}"#);
    let shot = format!(r#"{{"role":"tool","tool_name":"see","content":"x","images":["{JPEG}"]}}"#);
    let told = dialect.results_as_text(shot.as_bytes(), &view(&shot), &[0]);
    let wanted = format!(r#"{{"role":"user","content":"[result of see] x","images":["{JPEG}"]}}"#);
    assert_eq!(told, wanted);
}

/// A client may keep the id of a call, and answer by the name alone.
#[test]
fn results_find_their_calls_by_name_in_every_other_format() {
    let messages = [
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"f","arguments":{}}},{"id":"c2","function":{"name":"g","arguments":{}}}]}"#,
        r#"{"role":"tool","tool_name":"g","content":"2"}"#,
        r#"{"role":"tool","tool_name":"f","content":"1"}"#,
        r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}},{"function":{"name":"f","arguments":{}}}]}"#,
        r#"{"role":"tool","tool_name":"f","content":"3"}"#,
        r#"{"role":"tool","tool_name":"f","content":"4"}"#,
    ];
    let chat = values(&convert(&messages, Ollama, OpenAiChat));
    let answered: Vec<_> = [1, 2, 4, 5].map(|at| chat[at]["tool_call_id"].clone()).into();
    assert_eq!(answered, ["c2", "c1", "call_0", "call_1"]);
    for to in [OpenAiChat, Anthropic] {
        let made = convert(&messages, Ollama, to);
        let profile = profile::for_dialect(to)[0];
        let found = profile::validate(&made.messages, to, &profile);
        assert!(found.iter().all(|it| it.rule == "first-role"), "{to}: {found:?}");
    }
}

#[test]
fn a_conversation_is_written_whole() {
    let messages = [
        r#"{"role":"developer","content":"Be brief."}"#.to_owned(),
        format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"a"}},{{"type":"image_url","image_url":{{"url":"data:image/jpeg;base64,{JPEG}"}}}},{{"type":"image_url","image_url":{{"url":"https://example.org/a.png"}}}},{{"type":"text","text":"b"}}]}}"#
        ),
        r#"{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]}"#.to_owned(),
        r#"{"role":"tool","tool_call_id":"c","content":"1"}"#.to_owned(),
    ];
    let made = convert(&messages, OpenAiChat, Ollama);
    assert_eq!(
        values(&made),
        [
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "user", "content": "a\nb", "images": [JPEG]}),
            json!({"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"x": 1}}}]}),
            json!({"role": "tool", "tool_name": "f", "tool_call_id": "c", "content": "1"}),
        ]
    );
    let codes: Vec<_> = made.problems.iter().map(|problem| (problem.code, problem.at)).collect();
    assert_eq!(codes, [("media", Some(1))]);
    // The type of a picture is in its bytes.
    let back = values(&convert(&made.messages, Ollama, Anthropic));
    assert_eq!(back[0]["content"][1]["source"]["media_type"], "image/jpeg");
}

#[test]
fn plain_messages_can_be_appended_and_calls_of_other_formats_cannot() {
    let fits = |lines: &str, kind| {
        let found = read(&Bytes::from(lines.to_owned()), None).unwrap();
        midfold_formats::role::fits(&found.conversations[0], kind)
    };
    let plain = r#"{"role":"user","content":"x"}"#;
    assert!(fits(plain, Ollama));
    let own = r#"{"role":"tool","tool_name":"f","content":"x"}"#;
    assert!(fits(own, Ollama) && fits(own, OpenAiChat) && !fits(own, Anthropic));
    let chat = r#"{"role":"tool","tool_call_id":"c","content":"x"}"#;
    assert!(fits(chat, OpenAiChat) && !fits(chat, Ollama));
}

/// What a conversation says, without what a blank text cannot tell.
fn all(messages: &[Bytes]) -> String {
    let (system, mut turns) = said(OpenAiChat, messages);
    turns.iter_mut().for_each(crate::said::Turn::without_blanks);
    format!("{system:?} {turns:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sessions_are_valid_and_come_back(session in strategies::session()) {
        let found = profile::validate(&emit::ollama(&session), Ollama, &profile::OLLAMA);
        prop_assert!(found.is_empty(), "{:?}", found);
        let chat: Vec<Bytes> = emit::openai_chat(&session).into_iter().map(Bytes::from).collect();
        let there = convert(&chat, OpenAiChat, Ollama);
        prop_assert!(there.problems.is_empty(), "{:?}", there.problems);
        prop_assert_eq!(profile::validate(&there.messages, Ollama, &profile::OLLAMA), []);
        let back = convert(&there.messages, Ollama, OpenAiChat);
        prop_assert_eq!(all(&back.messages), all(&chat));
        for to in [Anthropic, Gemini] {
            let direct = convert(&chat, OpenAiChat, to);
            prop_assert_eq!(&convert(&there.messages, Ollama, to).messages, &direct.messages);
        }
    }

    /// Whatever comes in, what comes out are messages of the dialect.
    #[test]
    fn hostile_messages_are_written_whole(messages in strategies::hostile()) {
        for from in [OpenAiChat, OpenAiResponses, Anthropic] {
            for message in convert(&messages, from, Ollama).messages {
                let value: Value = serde_json::from_slice(&message).unwrap();
                prop_assert!(value["content"].is_string(), "{}", value);
                let view = Ollama.dialect().view(&message);
                prop_assert!(view.role != Role::Other && view.role != Role::Developer);
                prop_assert!(view.blocks.iter().all(|block| block.kind != BlockKind::Opaque));
            }
        }
    }
}

/// Thoughts beside the text are other servers', too.
#[test]
fn a_thought_alone_makes_no_message_ollamas() {
    let rows = r#"{"role":"user","content":"hi"}
{"role":"assistant","content":"hello","thinking":"be kind"}"#;
    let input = Bytes::from_static(rows.as_bytes());
    let found = read(&input, None).unwrap();
    assert_eq!(found.conversations[0].format.dialect(), OpenAiChat);
}
