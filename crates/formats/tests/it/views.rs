//! Properties of views over messages that no one would write by hand.

use midfold_core::{
    BlockKind, BlockView, ByteRange, Dialect, EventView, TextCoding, TextRef, jsonstr,
};
use midfold_formats::{DialectKind, convert, profile};
use proptest::prelude::*;

/// JSON source of one value, in spellings that a round trip through a parser would change.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1.0".to_owned()),
        Just("1".to_owned()),
        Just("-0.0e+3".to_owned()),
        Just("12345678901234567890".to_owned()),
        text(),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|all| format!("[ {}]", all.join(" , "))),
            prop::collection::vec((key(), inner), 0..6).prop_map(|all| object(&all)),
            message_like(),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#""""#.to_owned()),
        Just(r#""\ud800 \u0041 \ude00""#.to_owned()),
        Just(r#""\u003cthink\u003e a</think>""#.to_owned()),
        Just(r#""<tool_call>{\"name\":\"f\",\"arguments\":{\"x\":\"\\n\"}}</tool_call> <tool_response>""#.to_owned()),
        Just(r#""<tool_response>\n{\"tool_call_id\":\"\\u0061\",\"content\":\"é\\\"\"}\n</tool_response>b""#.to_owned()),
        Just(r#""data:image\/png;base64,iVBORw0KGgo=""#.to_owned()),
        Just(r#""<system-reminder>x</system-reminder>""#.to_owned()),
        "[a-z<>/ \u{e9}]{0,12}".prop_map(|text| jsonstr::encode(&text)),
        prop::sample::select(KINDS).prop_map(|kind| format!("\"{kind}\"")),
    ]
}

const KINDS: &[&str] = &[
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "tool_result",
    "image",
    "image_url",
    "file",
    "input_text",
    "refusal",
    "function_call",
    "custom_tool_call",
    "function_call_output",
    "reasoning",
    "message",
    "local_shell_call",
    "computer_call_output",
    "user",
    "assistant",
    "tool",
    "system",
    "gpt",
    "human",
    "function",
];

const KEYS: &[&str] = &[
    "role",
    "content",
    "type",
    "text",
    "tool_calls",
    "tool_call_id",
    "function",
    "custom",
    "arguments",
    "input",
    "name",
    "id",
    "thinking",
    "signature",
    "tool_use_id",
    "is_error",
    "source",
    "data",
    "output",
    "call_id",
    "summary",
    "encrypted_content",
    "reasoning_content",
    "reasoning_details",
    "function_call",
    "refusal",
    "audio",
    "images",
    "image_url",
    "from",
    "value",
    "action",
    "r\\u006fle",
    "x",
    "",
];

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(KEYS)
}

fn object(members: &[(&str, String)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(key, value)| format!("\n\"{key}\" : {value}\t")).collect();
    format!("{{{}}}", members.join(","))
}

/// Something that at least starts like a message or block, so that the deep paths are walked.
fn message_like() -> impl Strategy<Value = String> {
    let part = (prop::sample::select(KINDS), prop::collection::vec((key(), text()), 0..5))
        .prop_map(|(kind, mut members)| {
            members.push(("type", format!("\"{kind}\"")));
            members.push(("content", format!("[{}]", object(&members.clone()))));
            members.push(("input", object(&members.clone())));
            object(&members)
        });
    prop::collection::vec(part, 0..4).prop_map(|parts| format!("[{}]", parts.join(",")))
}

fn message() -> impl Strategy<Value = String> {
    let member = (key(), prop_oneof![value(), message_like(), text()]);
    (prop::sample::select(KINDS), prop::collection::vec(member, 0..8), any::<prop::sample::Index>())
        .prop_map(|(role, mut members, at)| {
            let at = at.index(members.len() + 1);
            members.insert(at, ("role", format!("\"{role}\"")));
            object(&members)
        })
}

/// The token borders of a JSON text: starts and ends of all values and members.
fn is_value(source: &[u8]) -> bool {
    serde_json::from_slice::<&serde_json::value::RawValue>(source).is_ok()
}

fn is_value_or_member(source: &[u8]) -> bool {
    is_value(source) || is_value(&[b"{", source, b"}"].concat())
}

fn check_text(bytes: &[u8], text: &TextRef) {
    let token = text.token.of(bytes);
    assert!(text.token.end as usize <= bytes.len());
    if text.token.is_empty() {
        return;
    }
    assert!(is_value(token), "{}", String::from_utf8_lossy(token));
    if text.coding == TextCoding::Str {
        assert!(token.starts_with(b"\"") && token.ends_with(b"\""));
    }
    if let Some((inner, coding)) = text.nested {
        let decoded = jsonstr::decode(token);
        let slice = decoded.get(inner.to_usize());
        assert!(slice.is_some(), "a range on character borders");
        let slice = slice.unwrap_or_default();
        assert!(coding == TextCoding::Raw || slice.starts_with('"') && is_value(slice.as_bytes()));
    }
    let _ = text.decode(bytes);
}

fn check_block(bytes: &[u8], block: &BlockView) {
    let outer = block.outer.of(bytes);
    assert!(is_value_or_member(outer), "{}", String::from_utf8_lossy(outer));
    // A block that is only kept or dropped as a whole has itself for a body.
    let whole = block.body.token == block.outer;
    if !whole {
        check_text(bytes, &block.body);
    }
    block.texts.iter().for_each(|text| check_text(bytes, text));
    for media in &block.media {
        assert!(is_value_or_member(media.outer.of(bytes)));
    }
    let inside =
        |inner: ByteRange| inner.start >= block.outer.start && inner.end <= block.outer.end;
    assert!(inside(block.body.token));
    assert!(block.texts.iter().all(|text| inside(text.token)));
    // An edit with the same content changes nothing.
    let body = block.body.token.to_usize();
    let again = [&bytes[..body.start], &bytes[body.clone()], &bytes[body.end..]].concat();
    assert_eq!(again, bytes);
    // An edit with a new text leaves JSON.
    if !whole && !block.body.token.is_empty() && block.body.nested.is_none() {
        let edited = [&bytes[..body.start], b"\"new\"", &bytes[body.end..]].concat();
        assert!(is_value(&edited));
    }
}

fn check_view(dialect: &dyn Dialect, bytes: &[u8]) -> EventView {
    let view = dialect.view(bytes);
    view.blocks.iter().for_each(|block| check_block(bytes, block));
    // A message with words where its dialect has them is read.
    if let [only] = view.blocks.as_slice() {
        let is_whole = only.kind == BlockKind::Opaque && only.outer.len() == bytes.len();
        let value: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
        let content = value.get("content").and_then(|content| content.as_str());
        let says = content.is_some_and(|content| !content.trim().is_empty());
        let takes_strings = ["openai-chat", "anthropic"].contains(&dialect.name());
        assert!(!(takes_strings && is_whole && says), "{}", dialect.name());
    }
    let starts: Vec<_> = view.blocks.iter().map(|block| block.outer.start).collect();
    assert!(starts.is_sorted());
    view
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn views_lie_on_token_borders(message in message()) {
        for kind in DialectKind::ALL {
            check_view(kind.dialect(), message.as_bytes());
        }
    }

    #[test]
    fn views_are_total(message in message(), cut in any::<prop::sample::Index>(), noise in any::<u8>()) {
        let mut bytes = message.into_bytes();
        let at = cut.index(bytes.len());
        for kind in DialectKind::ALL {
            for block in kind.dialect().view(&bytes[..at]).blocks {
                prop_assert!(block.outer.end as usize <= at);
                let _ = block.text(&bytes[..at]);
            }
        }
        bytes[at] = noise;
        for kind in DialectKind::ALL {
            for block in kind.dialect().view(&bytes).blocks {
                prop_assert!(block.outer.end as usize <= bytes.len());
                let _ = block.text(&bytes);
            }
        }
    }

    #[test]
    fn all_else_is_total_too(messages in prop::collection::vec(message(), 0..6)) {
        for kind in DialectKind::ALL {
            let dialect = kind.dialect();
            let views: Vec<_> = messages.iter().map(|m| dialect.view(m.as_bytes())).collect();
            let pairs: Vec<_> = messages.iter().map(|m| m.as_bytes()).zip(&views).collect();
            for profile in profile::ALL {
                let found = profile::validate_views(&pairs, profile);
                prop_assert!(found.iter().all(|v| v.index < pairs.len().max(1)));
                // One that grows is told as one that is read at once.
                let mut growing = profile::Validator::new(profile);
                for (at, (bytes, view)) in pairs.iter().enumerate() {
                    prop_assert_eq!(growing.violations(), profile::validate_views(&pairs[..at], profile));
                    growing.push(bytes, view);
                }
                prop_assert_eq!(growing.violations(), found);
            }
            for to in [DialectKind::OpenAiChat, DialectKind::Anthropic] {
                for message in convert::convert_all(&pairs, kind, to).messages {
                    prop_assert!(is_value(&message));
                }
            }
            for (bytes, view) in &pairs {
                let results: Vec<_> = (0..view.blocks.len()).filter(|&at| view.blocks[at].is_result()).collect();
                if !results.is_empty() {
                    let text = dialect.results_as_text(bytes, view, &results);
                    prop_assert!(is_value(&text), "{}", String::from_utf8_lossy(&text));
                    prop_assert!(!dialect.view(&text).has_results());
                }
            }
        }
    }
}
