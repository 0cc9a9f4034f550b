//! Converts events of Copilot CLI to Chat Completions messages.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;
use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::spoken::SpokenParts;
use super::step::ClientStep;
use crate::fields::ObjectFields;
use crate::read::{
    InputSource,
    chat::{self, ChatCall, ContentPart, StringToken, token},
};

/// Facts about messages that are in other events of the session.
pub(super) struct CopilotFacts<'a> {
    input: &'a [u8],
    /// The result of each call: the `data` of the event that ends it.
    results: HashMap<String, Range<usize>>,
    /// The ids of the calls that the model made.
    call_ids: HashSet<String>,
    /// Media types and data of images, by the id that messages use for them.
    assets: HashMap<String, (StringToken<'a>, StringToken<'a>)>,
}

impl<'a> CopilotFacts<'a> {
    /// Collects the facts in one pass, because a message may come before the event that completes it.
    pub(super) fn of<'b>(
        input: &'a [u8],
        events: impl Iterator<Item = (&'b str, &'b Range<usize>)>,
    ) -> Self {
        let (results, call_ids, assets) = (HashMap::new(), HashSet::new(), HashMap::new());
        let mut facts = Self { input, results, call_ids, assets };
        for (kind, at) in events {
            let Some(data) = ObjectFields::of(input, at.clone()).object("data") else { continue };
            let fields = ObjectFields::of(input, data.clone());
            match kind {
                "tool.execution_complete" => {
                    facts.results.extend(fields.label("toolCallId").map(|id| (id, data)));
                }
                "assistant.message" => facts.call_ids.extend(
                    requests(input, &fields).filter_map(|(_, request)| request.label("toolCallId")),
                ),
                "session.binary_asset" => {
                    let bytes = chat::text_of(&fields, "data");
                    let mime = chat::text_of(&fields, "mimeType");
                    let whole = fields.label("assetId").zip(mime.zip(bytes));
                    facts.assets.extend(whole);
                }
                _ => {}
            }
        }
        facts
    }

    /// Whether the model made the call that this event ends.
    pub(super) fn is_asked(&self, data: &ObjectFields<'_>) -> bool {
        data.label("toolCallId").is_some_and(|id| self.call_ids.contains(&id))
    }

    /// The image in a part: its bytes, or those that its id names. `None` for other media.
    fn image(&self, part: &ObjectFields<'a>) -> Option<ContentPart<'a>> {
        let own = chat::text_of(part, "mimeType").zip(chat::text_of(part, "data"));
        let (mime, data) = own.or_else(|| self.assets.get(&part.label("assetId")?).cloned())?;
        let is_image = chat::inside(&mime).starts_with(b"image");
        is_image.then_some(ContentPart::Image { mime, data })
    }
}

fn requests<'a>(
    input: &'a [u8],
    data: &ObjectFields<'a>,
) -> impl Iterator<Item = (Range<usize>, ObjectFields<'a>)> {
    data.list("toolRequests").map(move |at| (at.clone(), ObjectFields::of(input, at)))
}

/// The text that a person typed, and around it the text that the client adds before it sends the message.
pub(super) fn user<'a>(
    source: &mut InputSource<'a>,
    data: &ObjectFields<'a>,
    at: &Range<usize>,
    facts: &CopilotFacts<'a>,
) -> Vec<RawEvent> {
    let input: &'a [u8] = source.input;
    let mut spoken = SpokenParts::default();
    let injected = Some(TextOrigin::Injected);
    let by_client = data.text("source").is_some_and(|source| source != "user")
        || data.is_true("isAutopilotContinuation");
    let origin = injected.filter(|_| by_client);
    let typed = chat::text_of(data, "content").unwrap_or_else(|| token(""));
    let quoted = |text: &[u8]| ContentPart::Text(Cow::Owned([b"\"", text, b"\""].concat()));
    let transformed = chat::text_of(data, "transformedContent");
    let inner = chat::inside(&typed);
    let place = transformed.as_ref().and_then(|transformed| {
        let transformed = chat::inside(transformed);
        let place = place_of(transformed, inner)?;
        Some((transformed[..place].to_vec(), transformed[place + inner.len()..].to_vec()))
    });
    let mut behind = Vec::new();
    match (transformed, place) {
        (_, Some((before, after))) => {
            spoken.push(injected, quoted(&before), at.clone());
            spoken.push(origin, ContentPart::Text(typed), at.clone());
            behind = after;
        }
        (Some(transformed), None) => {
            spoken.push(origin, ContentPart::Text(transformed), at.clone())
        }
        (None, None) => spoken.push(origin, ContentPart::Text(typed), at.clone()),
    }
    for part in data.list("attachments") {
        if let Some(image) = facts.image(&ObjectFields::of(input, part.clone())) {
            spoken.push(origin, image, part);
        } else if !data.has("transformedContent") {
            // The client has written the attachments into `transformedContent` already.
            spoken.push(injected, ContentPart::unknown(&input[part.clone()]), part);
        }
    }
    spoken.push(injected, quoted(&behind), at.clone());
    spoken.events(source)
}

/// The position of the inside of a string in the inside of another one. A match in the middle of an escape does not
/// count.
fn place_of(text: &[u8], inner: &[u8]) -> Option<usize> {
    let is_whole = |at: &usize| {
        let slashes = text[..*at].iter().rev().take_while(|byte| **byte == b'\\').count();
        slashes % 2 == 0
    };
    memmem::find_iter(text, inner).filter(|_| !inner.is_empty()).find(is_whole)
}

/// The message for the `content` of an event that the client makes, in the user's role.
pub(super) fn words<'a>(
    source: &mut InputSource<'a>,
    data: &ObjectFields<'a>,
    at: &Range<usize>,
    origin: TextOrigin,
) -> Vec<RawEvent> {
    let mut spoken = SpokenParts::default();
    if let Some(text) = chat::text_of(data, "content") {
        spoken.push(Some(origin), ContentPart::Text(text), at.clone());
    }
    spoken.events(source)
}

/// A message of the model, followed by the results of its calls.
pub(super) fn reply<'a>(
    source: &mut InputSource<'a>,
    data: &ObjectFields<'a>,
    at: &Range<usize>,
    facts: &CopilotFacts<'a>,
) -> Vec<RawEvent> {
    let input: &'a [u8] = source.input;
    let mut step = ClientStep::default();
    if let Some(text) = chat::text_of(data, "content") {
        step.say(ContentPart::Text(text), at.clone());
    }
    if let Some(text) = chat::text_of(data, "reasoningText") {
        step.think(text, at.clone());
    }
    for (at, request) in requests(input, data) {
        let named = |name| chat::text_of(&request, name).unwrap_or_else(|| token(""));
        let (id, name) = (named("toolCallId"), named("name"));
        let arguments = request.raw("arguments");
        step.call(ChatCall { id: id.clone(), name: name.clone(), arguments }, at);
        let result = request.label("toolCallId").and_then(|id| facts.results.get(&id));
        if let Some(result) = result {
            let fields = ObjectFields::of(input, result.clone());
            step.answer((id, name), result_parts(&fields, facts), result.clone(), false);
        }
    }
    step.finish(source, None)
}

/// The result of a call: the part that the model is sent, or its error.
fn result_parts<'a>(data: &ObjectFields<'a>, facts: &CopilotFacts<'a>) -> Vec<ContentPart<'a>> {
    let result = data.inner("result");
    let error = data.inner("error");
    let text = chat::text_of(&result, "content").or_else(|| chat::text_of(&error, "message"));
    // Older versions record the error as a string.
    let text = text.or_else(|| chat::text_of(data, "error").filter(|_| error.is_empty()));
    let images = result
        .list("binaryResultsForLlm")
        .filter_map(|at| facts.image(&ObjectFields::of(facts.input, at)));
    text.map(ContentPart::Text).into_iter().chain(images).collect()
}

/// The result of a tool that a person called, and not the model.
pub(super) fn by_hand<'a>(
    source: &mut InputSource<'a>,
    data: &ObjectFields<'a>,
    at: &Range<usize>,
    facts: &CopilotFacts<'a>,
) -> Vec<RawEvent> {
    let mut spoken = SpokenParts::default();
    for part in result_parts(data, facts) {
        spoken.push(Some(TextOrigin::Observation), part, at.clone());
    }
    spoken.events(source)
}

pub(super) fn is_reply(event: &RawEvent) -> bool {
    event.bytes.starts_with(br#"{"role":"assistant""#)
}
