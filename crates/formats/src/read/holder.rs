//! The object that holds the messages, and its other parts.

use std::ops::Range;

use super::conversation::{Envelope, MessageWrapper};
use super::outline::InputDocument;
use super::source::InputSource;
use crate::fields::ObjectFields;

/// The members in which log entries keep the request.
pub(super) const LOG_MEMBERS: [&str; 3] = ["request", "body", "params"];

/// The envelope of the messages, read from their own object, which may be inside a log entry.
pub(super) fn envelope(
    source: &mut InputSource<'_>,
    doc: InputDocument<'_>,
    outer: Range<usize>,
    messages: Range<usize>,
) -> Envelope {
    let fields = holder_of(doc, outer.clone(), &messages).in_either_spelling();
    let named = |names: &[&str]| names.iter().find_map(|name| fields.get(name));
    let system = named(&["system", "instructions", "systemInstruction"]);
    let model =
        fields.text("model").or_else(|| fields.text("modelId")).map(std::borrow::Cow::into_owned);
    let tools = named(&["tools", "toolConfig"]);
    let info = fields.inner("info").inner("config").inner("model");
    Envelope {
        system: system.map(|at| source.slice(at)),
        tools: tools.map(|at| source.slice(at)),
        model: model.or_else(|| info.text("model_name").map(std::borrow::Cow::into_owned)),
        wrapper: Some(MessageWrapper {
            before: source.slice(outer.start..messages.start),
            after: source.slice(messages.end..outer.end),
        }),
    }
}

/// The members of the object that holds the messages: the request inside a log entry, or the outer object.
fn holder_of<'a>(
    doc: InputDocument<'a>,
    outer: Range<usize>,
    messages: &Range<usize>,
) -> ObjectFields<'a> {
    let fields = doc.fields(outer);
    let holds = |at: &Range<usize>| at.start < messages.start && messages.end < at.end;
    let inside = LOG_MEMBERS.into_iter().find_map(|name| fields.object(name).filter(holds));
    inside.map_or(fields, |at| doc.fields(at))
}
