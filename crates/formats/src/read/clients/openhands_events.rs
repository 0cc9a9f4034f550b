//! Reads events of OpenHands' SDK, each with its `kind`. [`super::openhands`] names the sources of their shapes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use midfold_core::TextOrigin;
use midfold_core::event::RawEvent;

use super::openhands_view::{OpenhandsItem, condense, labels};
use crate::fields::ObjectFields;
use crate::read::{
    Conversation, InputSource, UnsentCount,
    chat::{self, ChatCall, ContentPart, StringToken},
    tree,
};
use crate::scan;

/// The text before a failed result when it is sent.
const FAILED: &str = "[An error occurred during execution.]\n";

/// Whether an object is an event.
pub(super) fn is_event(fields: &ObjectFields<'_>) -> bool {
    let kind = fields.text("kind").unwrap_or_default();
    fields.has("id")
        && fields.has("source")
        && fields.has("timestamp")
        && (kind.ends_with("Event")
            || kind.ends_with("Observation")
            || kind.starts_with("Condensation"))
}

pub(super) fn read(
    source: &mut InputSource<'_>,
    about: &Conversation,
    events: &[Range<usize>],
) -> Vec<Conversation> {
    let path = path(source, events);
    let (views, unsent) = views(source, &path);
    let detail = "{} errors and notices that the client does not send are left out";
    unsent.note(source, "not-sent", detail);
    views.iter().map(|view| conversation(source, about.beside(), view)).collect()
}

/// The events from the root to the newest one. An event without a parent follows the event before it.
fn path(source: &mut InputSource<'_>, events: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut by_id: HashMap<String, usize> = HashMap::new();
    let mut parents = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
        let fields = ObjectFields::of(source.input, event.clone());
        let before = at.checked_sub(1);
        // Without a known parent, an event goes on from the one before it, as in files that name no parents.
        parents.push(match fields.text("parent_id").as_deref() {
            Some("__root__") => None,
            Some(id) => by_id.get(id).copied().or(before),
            None => before,
        });
        if let Some(id) = fields.label("id") {
            by_id.insert(id, at);
        }
    }
    let path = tree::path(events.len().checked_sub(1), |at| parents[at]);
    let off = events.len() - path.len();
    if off > 0 {
        let detail = format!("{off} events of other branches of the tree are left out");
        source.note(events[events.len() - 1].start, "abandoned-branch", detail);
    }
    path.into_iter().map(|at| events[at].clone()).collect()
}

/// The context before each condensation, where the whole recording is wanted, and the context now. The second value
/// counts the events whose words are never sent.
fn views(
    source: &mut InputSource<'_>,
    path: &[Range<usize>],
) -> (Vec<Vec<OpenhandsItem>>, UnsentCount) {
    let mut views = Vec::new();
    let mut view: Vec<OpenhandsItem> = Vec::new();
    let mut unsent = UnsentCount::default();
    for at in path {
        let fields = ObjectFields::of(source.input, at.clone());
        match &*fields.text("kind").unwrap_or_default() {
            "Condensation" => {
                let forgotten = labels(source.input, fields.array("forgotten_event_ids"));
                let offset = fields.count("summary_offset");
                if source.recorded {
                    views.push(view.clone());
                }
                let summary = fields.string("summary").zip(offset);
                condense(source, &mut view, &forgotten, summary, at.start);
            }
            "MessageEvent"
            | "ActionEvent"
            | "ObservationEvent"
            | "UserRejectObservation"
            | "AgentErrorEvent"
            | "SystemPromptEvent"
            | "CondensationSummaryEvent" => {
                view.push(OpenhandsItem::Event { at: at.clone(), id: fields.label("id") });
            }
            _ if ["detail", "error", "message"]
                .iter()
                .any(|name| fields.string(name).is_some()) =>
            {
                unsent.add(at.start);
            }
            _ => {}
        }
    }
    views.push(view);
    (views, unsent)
}

/// Builds the conversation of a view.
fn conversation(
    source: &mut InputSource<'_>,
    mut conversation: Conversation,
    view: &[OpenhandsItem],
) -> Conversation {
    let input = source.input;
    let mut at = 0;
    while let Some(seen) = view.get(at) {
        at += 1;
        let range = match seen {
            OpenhandsItem::Summary(text) => {
                conversation.events.push(source.recap(text.clone()));
                continue;
            }
            OpenhandsItem::Event { at, .. } => at.clone(),
        };
        let fields = ObjectFields::of(input, range.clone());
        match &*fields.text("kind").unwrap_or_default() {
            "ActionEvent" => {
                // The calls of one response are neighbouring events.
                let response = fields.raw("llm_response_id");
                let mut batch = vec![range];
                while let Some(OpenhandsItem::Event { at: next, .. }) = view.get(at) {
                    let fields = ObjectFields::of(input, next.clone());
                    let same = response.is_some() && fields.raw("llm_response_id") == response;
                    if !same || !fields.is("kind", "ActionEvent") {
                        break;
                    }
                    batch.push(next.clone());
                    at += 1;
                }
                conversation.events.push(actions(source, batch));
            }
            "SystemPromptEvent" => {
                // Other shapes of tools are not those of Chat Completions, the dialect of this conversation.
                let tools = fields.array("tools").filter(|list| {
                    let first = scan::elements(input, list.clone()).next();
                    first.is_some_and(|tool| ObjectFields::of(input, tool).has("function"))
                });
                conversation.envelope.tools = tools.map(|tools| source.slice(tools));
                let parts: Vec<ContentPart<'_>> = ["system_prompt", "dynamic_context"]
                    .iter()
                    .filter_map(|name| chat::text_of(&fields.inner(name), "text"))
                    .map(ContentPart::Text)
                    .collect();
                conversation
                    .events
                    .push(source.built(chat::message("system", &parts), vec![range]));
            }
            "MessageEvent" => messages(source, range, &fields, &mut conversation.events),
            "CondensationSummaryEvent" => {
                conversation.events.extend(fields.string("summary").map(|text| source.recap(text)));
            }
            _ => conversation.events.push(result(source, range, &fields)),
        }
    }
    conversation
}

/// One reply: the words and reasoning of its first call, and all calls.
fn actions(source: &mut InputSource<'_>, batch: Vec<Range<usize>>) -> RawEvent {
    let input = source.input;
    let mut parts = Vec::new();
    let mut thoughts = Vec::new();
    let mut calls = Vec::new();
    for at in &batch {
        let fields = ObjectFields::of(input, at.clone());
        parts.extend(content(input, fields.array("thought")));
        thoughts.extend(reasoning(input, &fields));
        let call = fields.inner("tool_call");
        let or_own = |name: &str, own: &str| {
            let token = call.raw(name).or_else(|| fields.raw(own));
            Cow::Borrowed(token.unwrap_or(b"\"\""))
        };
        let arguments = call.raw("arguments").or_else(|| fields.raw("action"));
        let (id, name) = (or_own("id", "tool_call_id"), or_own("name", "tool_name"));
        calls.push(ChatCall { id, name, arguments });
    }
    source.built(chat::reply(&parts, &thoughts, &calls), batch)
}

/// The reasoning as plain text, or else from the blocks of one provider.
fn reasoning<'a>(input: &'a [u8], fields: &ObjectFields<'a>) -> Vec<StringToken<'a>> {
    if let Some(plain) = chat::text_of(fields, "reasoning_content").filter(|text| text.len() > 2) {
        return vec![plain];
    }
    let blocks = fields.list("thinking_blocks");
    let mut thoughts: Vec<StringToken<'a>> =
        blocks.filter_map(|at| chat::text_of(&ObjectFields::of(input, at), "thinking")).collect();
    if thoughts.is_empty() {
        let item = fields.inner("responses_reasoning_item");
        let summary = item.list("summary");
        let strings = summary.filter(|at| input.get(at.start) == Some(&b'"'));
        thoughts.extend(strings.map(|at| Cow::Borrowed(&input[at])));
    }
    thoughts
}

/// The texts and images of a list.
fn content(input: &[u8], list: Option<Range<usize>>) -> Vec<ContentPart<'_>> {
    let mut parts = Vec::new();
    for at in scan::elements(input, list.unwrap_or(0..0)) {
        let part = ObjectFields::of(input, at.clone());
        if let Some(text) = chat::text_of(&part, "text").filter(|_| part.is("type", "text")) {
            parts.push(ContentPart::Text(text));
        } else if let Some(urls) = part.array("image_urls") {
            let urls = scan::elements(input, urls);
            parts.extend(urls.map(|at| ContentPart::Link(Cow::Borrowed(&input[at]))));
        } else {
            parts.push(ContentPart::unknown(&input[at]));
        }
    }
    parts
}

/// Adds a message of a person, of the model or of the client, and the text that the client adds to it.
fn messages(
    source: &mut InputSource<'_>,
    at: Range<usize>,
    fields: &ObjectFields<'_>,
    events: &mut Vec<RawEvent>,
) {
    let input = source.input;
    let message = fields.inner("llm_message");
    let parts = match message.string("content") {
        Some(text) => vec![ContentPart::Text(Cow::Borrowed(&input[text]))],
        None => content(input, message.array("content")),
    };
    let is_reply = message.is("role", "assistant");
    let bytes = if is_reply {
        chat::reply(&parts, &reasoning(input, &message), &[])
    } else {
        chat::message(if message.is("role", "system") { "system" } else { "user" }, &parts)
    };
    let mut event = source.built(bytes, vec![at.clone()]);
    // The agent and the environment write in the user's role as well.
    if message.is("role", "user") && !fields.is("source", "user") {
        event.origin = Some(TextOrigin::Injected);
    }
    events.push(event);
    let added = content(input, fields.array("extended_content"));
    if !added.is_empty() {
        let mut event = source.built(chat::message("user", &added), vec![at]);
        event.origin = Some(TextOrigin::Injected);
        events.push(event);
    }
}

/// The result of a call: its output, an error of the client, or a rejection.
fn result(source: &mut InputSource<'_>, at: Range<usize>, fields: &ObjectFields<'_>) -> RawEvent {
    let input = source.input;
    let observation = fields.inner("observation");
    let mut parts = Vec::new();
    if observation.is_true("is_error") {
        parts.push(ContentPart::Text(chat::token(FAILED)));
    }
    match observation.array("content") {
        Some(list) => parts.extend(content(input, Some(list))),
        None if fields.has("error") => {
            parts.extend(chat::text_of(fields, "error").map(ContentPart::Text))
        }
        None if fields.has("rejection_reason") => {
            let reason = fields.text("rejection_reason").unwrap_or_default();
            parts.push(ContentPart::Text(chat::token(&format!("Action rejected: {reason}"))));
        }
        None => {
            let text = ["output", "text", "content"]
                .iter()
                .find_map(|name| observation.string(name))
                .map(|text| ContentPart::Text(Cow::Borrowed(&input[text])));
            let whole = || fields.raw("observation").map(ContentPart::unknown);
            parts.extend(text.or_else(whole));
        }
    }
    parts.extend(content(input, fields.array("extended_content")));
    let id = fields.raw("tool_call_id").unwrap_or(b"\"\"");
    source.built(chat::result(id, fields.raw("tool_name"), &parts), vec![at])
}
