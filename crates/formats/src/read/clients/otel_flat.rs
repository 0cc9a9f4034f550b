//! Reads spans that have an attribute for each member of a message, as OpenInference and OpenLLMetry write them.
//!
//! Shapes: `spec/semantic_conventions.md` of Arize-ai/openinference, and `opentelemetry-semantic-conventions-ai` of
//! traceloop/openllmetry.

use std::borrow::Cow;

use midfold_core::event::RawEvent;

use super::otel_span::SpanAttributes;
use crate::read::{
    InputSource,
    chat::{self, ChatCall, ContentPart},
};

/// The names of the attributes, before and after the number of a message.
struct FlatNames {
    request: &'static str,
    reply: &'static str,
    /// What each member of a message begins with.
    member: &'static str,
    /// The id, the name and the arguments of a call.
    call: [&'static str; 3],
}

const NAMES: [FlatNames; 2] = [
    FlatNames {
        request: "llm.input_messages",
        reply: "llm.output_messages",
        member: "message.",
        call: ["tool_call.id", "tool_call.function.name", "tool_call.function.arguments"],
    },
    FlatNames {
        request: "gen_ai.prompt",
        reply: "gen_ai.completion",
        member: "",
        call: ["id", "name", "arguments"],
    },
];

/// The id, the name and the arguments of a call by a message's old member `function_call`, which has no id.
const FUNCTION_CALL: [&str; 3] = ["", "function_call_name", "function_call_arguments_json"];

/// The messages that a call was sent, and those that came back. `None` where it holds none.
pub(super) fn messages(
    source: &mut InputSource<'_>,
    attributes: &SpanAttributes<'_>,
) -> Option<(Vec<RawEvent>, Vec<RawEvent>)> {
    NAMES.iter().find_map(|names| {
        let mut list = |list: &str, speaker: &str| {
            let all = (0..).map_while(|number| {
                let start = format!("{list}.{number}.{}", names.member);
                attributes.first_below(&start).map(|_| start)
            });
            all.filter_map(|start| message(source, attributes, names, &start, speaker))
                .collect::<Vec<_>>()
        };
        let inputs = list(names.request, "user");
        (!inputs.is_empty()).then(|| (inputs, list(names.reply, "assistant")))
    })
}

/// The message whose attributes begin with `start`. `speaker` is its role where it names none. `None` where it holds
/// nothing.
fn message(
    source: &mut InputSource<'_>,
    attributes: &SpanAttributes<'_>,
    names: &FlatNames,
    start: &str,
    speaker: &str,
) -> Option<RawEvent> {
    let member_name = |member: &str| format!("{start}{member}");
    let token = |member: &str| attributes.token(&member_name(member));
    let role = attributes.label(&[&member_name("role")]);
    let mut words: Vec<_> =
        token("content").map(Cow::Borrowed).map(ContentPart::Text).into_iter().collect();
    let (parts, unread) = content_parts(attributes, start);
    words.extend(parts);
    if let Some(at) = unread {
        source.note(at, "media", "a part that is neither text nor an image is left out");
    }
    let call = |[id, name, arguments]: [&str; 3]| {
        Some(ChatCall {
            name: token(name).map(Cow::Borrowed)?,
            id: Cow::Borrowed(token(id).unwrap_or(b"\"\"")),
            arguments: token(arguments),
        })
    };
    let calls = (0..).map_while(|at| {
        let [id, name, arguments] = names.call.map(|suffix| format!("tool_calls.{at}.{suffix}"));
        call([&id, &name, &arguments])
    });
    let calls: Vec<_> = calls.chain(call(FUNCTION_CALL)).collect();
    if role.is_none() && words.is_empty() && calls.is_empty() {
        return None;
    }
    let bytes = match role.as_deref().unwrap_or(speaker) {
        "assistant" => chat::reply(&words, &[], &calls),
        role @ ("system" | "developer") => chat::message(role, &words),
        "tool" | "function" => {
            chat::result(token("tool_call_id").unwrap_or(b"\"\""), token("name"), &words)
        }
        _ => chat::message("user", &words),
    };
    let at = attributes.get(&member_name("role")).or_else(|| attributes.first_below(start))?;
    Some(source.built(bytes, vec![at]))
}

/// The texts and images of a message, and the place of the first part that is neither.
fn content_parts<'a>(
    attributes: &SpanAttributes<'a>,
    start: &str,
) -> (Vec<ContentPart<'a>>, Option<usize>) {
    let (mut parts, mut unread) = (Vec::new(), None);
    for number in 0.. {
        let part = format!("{start}contents.{number}.");
        let Some(first) = attributes.first_below(&part) else { break };
        let token = |name: &str| {
            attributes.token(&format!("{part}message_content.{name}")).map(Cow::Borrowed)
        };
        let image = || token("image.image.url").map(ContentPart::Link);
        match token("text").map(ContentPart::Text).or_else(image) {
            Some(part) => parts.push(part),
            None => unread = unread.or(Some(first.start)),
        }
    }
    (parts, unread)
}
