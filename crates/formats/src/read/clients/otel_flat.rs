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

/// The messages that a call was sent, and those that came back. `None` where it holds none.
pub(super) fn messages(
    source: &mut InputSource<'_>,
    attributes: &SpanAttributes<'_>,
) -> Option<(Vec<RawEvent>, Vec<RawEvent>)> {
    NAMES.iter().find_map(|names| {
        let mut list = |list: &str| {
            let all = (0..).map_while(|at| message(source, attributes, names, list, at));
            all.collect::<Vec<_>>()
        };
        let inputs = list(names.request);
        (!inputs.is_empty()).then(|| (inputs, list(names.reply)))
    })
}

/// One message. `None` where there is no message of this number.
fn message(
    source: &mut InputSource<'_>,
    attributes: &SpanAttributes<'_>,
    names: &FlatNames,
    list: &str,
    number: usize,
) -> Option<RawEvent> {
    let member_name = |member: &str| format!("{list}.{number}.{}{member}", names.member);
    let token = |member: &str| attributes.token(&member_name(member)).map(Cow::Borrowed);
    let role = attributes.label(&[&member_name("role")])?;
    let mut words: Vec<_> = token("content").map(ContentPart::Text).into_iter().collect();
    words.extend((0..).map_while(|at| {
        let text = token(&format!("contents.{at}.message_content.text")).map(ContentPart::Text);
        let image = || token(&format!("contents.{at}.message_content.image.image.url"));
        text.or_else(|| image().map(ContentPart::Link))
    }));
    let calls = (0..).map_while(|at| {
        let [id, name, arguments] = names.call.map(|suffix| format!("tool_calls.{at}.{suffix}"));
        let arguments = attributes.token(&member_name(&arguments));
        Some(ChatCall {
            name: token(&name)?,
            id: token(&id).unwrap_or(Cow::Borrowed(b"\"\"")),
            arguments,
        })
    });
    let calls: Vec<_> = calls.collect();
    let bytes = match &*role {
        "assistant" => chat::reply(&words, &[], &calls),
        "system" => chat::message("system", &words),
        "tool" => {
            let id = attributes.token(&member_name("tool_call_id")).unwrap_or(b"\"\"");
            chat::result(id, None, &words)
        }
        _ => chat::message("user", &words),
    };
    let at = attributes.get(&member_name("role"))?;
    Some(source.built(bytes, vec![at]))
}
