//! Writes the answers of Responses that report compaction.

use midfold_core::Usage;

use crate::vendor::write::{ObjectWriter, event, list};

/// A `compaction` item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionItem {
    /// The item's id: `cmp_…`
    pub id: String,
    /// The encrypted data that the client has to send back. Clients read an item without it as something else.
    pub encrypted_content: String,
}

impl CompactionItem {
    /// The item as a client gets it and sends it back.
    ///
    /// ```
    /// let item = midfold_formats::vendor::openai::CompactionItem { id: "cmp_1".into(), encrypted_content: "x".into() };
    /// assert_eq!(item.json(), br#"{"type":"compaction","id":"cmp_1","encrypted_content":"x"}"#);
    /// ```
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        ObjectWriter::of("compaction")
            .text("id", &self.id)
            .text("encrypted_content", &self.encrypted_content)
            .finish()
    }
}

/// The id, time and model of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The answer's id: `resp_…`
    pub id: String,
    /// The time, in seconds since 1970.
    pub created_at: u64,
    /// The model's name.
    pub model: String,
}

/// The counts as the vendor writes them: the input includes the cache.
fn counts(usage: &Usage) -> Vec<u8> {
    let input = ObjectWriter::new()
        .number("cached_tokens", usage.cache_read)
        .number("cache_write_tokens", usage.cache_write)
        .finish();
    ObjectWriter::new()
        .number("input_tokens", usage.prompt)
        .raw("input_tokens_details", &input)
        .number("output_tokens", usage.output)
        .raw("output_tokens_details", &ObjectWriter::new().number("reasoning_tokens", 0).finish())
        .number("total_tokens", usage.prompt.saturating_add(usage.output))
        .finish()
}

/// The answer of `POST /v1/responses/compact`: the messages that stay (items, byte for byte), followed by the
/// compaction item. Its output is the next input without any change.
#[must_use]
pub fn compacted(
    head: &ResponseHead,
    kept_items: &[&[u8]],
    item: &CompactionItem,
    usage: &Usage,
) -> Vec<u8> {
    let item = item.json();
    let output = list(kept_items.iter().copied().chain([&item[..]]));
    ObjectWriter::new()
        .text("id", &head.id)
        .text("object", "response.compaction")
        .number("created_at", head.created_at)
        .raw("output", &output)
        .raw("usage", &counts(usage))
        .finish()
}

/// The answer of `POST /v1/responses` to a trigger, not streamed: one compaction item.
#[must_use]
pub fn response(head: &ResponseHead, item: &CompactionItem, usage: &Usage) -> Vec<u8> {
    state(head, "completed", Some((item, usage)))
}

fn state(head: &ResponseHead, status: &str, answer: Option<(&CompactionItem, &Usage)>) -> Vec<u8> {
    let output = list(answer.map(|(item, _)| item.json()));
    let usage = answer.map_or_else(|| b"null".to_vec(), |(_, usage)| counts(usage));
    ObjectWriter::new()
        .text("id", &head.id)
        .text("object", "response")
        .number("created_at", head.created_at)
        .text("status", status)
        .raw("error", b"null")
        .raw("incomplete_details", b"null")
        .raw("instructions", b"null")
        .text("model", &head.model)
        .raw("output", &output)
        .raw("parallel_tool_calls", b"true")
        .text("tool_choice", "auto")
        .raw("tools", b"[]")
        .raw("usage", &usage)
        .finish()
}

/// The two events of an item: it was added, and it is done. The second event has the next sequence number.
#[must_use]
pub fn item_events(item: &CompactionItem, output_index: u64, sequence_number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, name) in
        (sequence_number..).zip(["response.output_item.added", "response.output_item.done"])
    {
        let data = ObjectWriter::of(name)
            .number("sequence_number", at)
            .number("output_index", output_index)
            .raw("item", &item.json())
            .finish();
        event(name, &data, &mut out);
    }
    out
}

/// The whole stream of [`response`].
#[must_use]
pub fn response_events(head: &ResponseHead, item: &CompactionItem, usage: &Usage) -> Vec<u8> {
    let mut out = Vec::new();
    let say = |name: &str, number: u64, state: &[u8], out: &mut Vec<u8>| {
        let data = ObjectWriter::of(name).number("sequence_number", number).raw("response", state);
        event(name, &data.finish(), out);
    };
    let started = state(head, "in_progress", None);
    say("response.created", 0, &started, &mut out);
    say("response.in_progress", 1, &started, &mut out);
    out.extend_from_slice(&item_events(item, 0, 2));
    say("response.completed", 4, &response(head, item, usage), &mut out);
    out
}
