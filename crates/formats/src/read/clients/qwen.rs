//! Session files of Qwen Code: a tree of records, one a line, whose messages are Gemini contents.

use std::collections::HashMap;

use super::super::outline::Doc;
use super::super::source::Source;
use super::super::text::Record;
use super::super::{Conversation, Format};
use crate::fields::Fields;

/// Whether a record of a turn holds a content of Gemini's.
pub(super) fn is_of(doc: Doc<'_>, records: &[Record]) -> bool {
    records.iter().any(|record| {
        let fields = doc.fields(record.range.clone());
        fields.has("uuid")
            && fields.has("sessionId")
            && fields.inner("message").array("parts").is_some()
    })
}

pub(super) fn read(source: &mut Source<'_>, records: &[Record]) -> Vec<Conversation> {
    let Some(first) = records.first() else { return Vec::new() };
    let mut conversation = Conversation::new(Format::Qwen, first.line);
    let mut by_uuid: HashMap<String, usize> = HashMap::new();
    let mut parents = Vec::with_capacity(records.len());
    for (at, record) in records.iter().enumerate() {
        let fields = Fields::of(source.input, record.range.clone());
        parents.push(fields.text("parentUuid").and_then(|id| by_uuid.get(&*id).copied()));
        if let Some(uuid) = fields.text("uuid") {
            by_uuid.insert(uuid.into_owned(), at);
        }
    }
    // Parents are before their children, so this ends.
    let mut path: Vec<usize> =
        std::iter::successors(records.len().checked_sub(1), |at| parents[*at]).collect();
    path.reverse();
    for at in path {
        let fields = Fields::of(source.input, records[at].range.clone());
        conversation.id = conversation.id.or_else(|| fields.label("sessionId"));
        conversation.envelope.model = fields.label("model").or(conversation.envelope.model);
        if let Some(message) = fields.object("message") {
            conversation.events.push(source.event(message));
        }
    }
    if conversation.events.is_empty() { Vec::new() } else { vec![conversation] }
}
