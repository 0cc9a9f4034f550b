//! Messages of another shape, whose content is in a member that no dialect reads. Such a message stays or is folded as
//! a whole, and no repair treats it as empty.

use midfold_core::{BlockKind, BlockView, ByteRange, EventView, Role};

use crate::fields::ObjectFields;
use crate::{origins, scan};

/// Members that describe a message and hold nothing of its content.
const BESIDE: [&str; 32] = [
    "annotations",
    "attachments",
    "cache_control",
    "createdAt",
    "created_at",
    "date",
    "extra",
    "finish_reason",
    "id",
    "index",
    "is_demo",
    "message_type",
    "metadata",
    "model",
    "name",
    "object",
    "provider",
    "providerOptions",
    "provider_specific_fields",
    "refusal",
    "response_metadata",
    "role",
    "status",
    "stop_reason",
    "stop_sequence",
    "time",
    "timestamp",
    "tool_call_id",
    "ts",
    "type",
    "usage",
    "uuid",
];

/// Members in which some dialect has the content.
const READ: [&str; 14] = [
    "audio",
    "content",
    "conversations",
    "function_call",
    "images",
    "parts",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "thinking",
    "thinking_blocks",
    "tool_calls",
    "value",
];

/// The view of a message whose dialect has the content in these `members`. Where the message has content only
/// elsewhere, its view is one opaque block, which nothing edits.
pub(super) fn view(
    role: Role,
    mut blocks: Vec<BlockView>,
    bytes: &[u8],
    members: &[&str],
) -> EventView {
    if blocks.iter().all(|block| is_blank(block, bytes)) {
        let whole = scan::value(bytes, 0).unwrap_or_default();
        if says_elsewhere(&ObjectFields::of(bytes, whole.clone()), members) {
            blocks = vec![BlockView::opaque(ByteRange::new(whole.start, whole.end))];
        }
    }
    let origin = origins::origin(role, &blocks, bytes);
    EventView { role, origin, blocks }
}

fn is_blank(block: &BlockView, bytes: &[u8]) -> bool {
    block.kind == BlockKind::Text && block.text(bytes).trim().is_empty()
}

/// Whether the message has content that no dialect reads.
pub(crate) fn is_unread(fields: &ObjectFields<'_>) -> bool {
    let typed = |parts| has_types(fields.bytes(), parts);
    if fields.array("parts").is_some_and(typed) {
        // Gemini's parts have no types. These are a client's own parts, with or without plain content beside them.
        return !["content", "tool_calls"].iter().any(|name| holds_words(fields, name));
    }
    let is_read = READ.iter().any(|name| fields.has(name));
    !is_read && says_elsewhere(fields, &READ)
}

fn says_elsewhere(fields: &ObjectFields<'_>, members: &[&str]) -> bool {
    let is_beside = |name: &str| BESIDE.contains(&name);
    if members.iter().any(|name| fields.has(name)) {
        // The message has a content member, and it is empty. A list of typed parts beside it is a client's own copy of
        // the content.
        return fields.keys().filter(|key| !members.contains(&&**key)).any(|key| {
            !is_beside(&key) && fields.array(&key).is_some_and(|at| has_types(fields.bytes(), at))
        });
    }
    fields.keys().any(|key| !is_beside(&key) && holds_words(fields, &key))
}

/// Whether the elements of a list have a `type`. The first one decides.
fn has_types(bytes: &[u8], list: std::ops::Range<usize>) -> bool {
    let first = scan::elements(bytes, list).next();
    first.is_some_and(|first| ObjectFields::of(bytes, first).has("type"))
}

/// Whether the value is a string, or contains one, that is not blank.
fn holds_words(fields: &ObjectFields<'_>, name: &str) -> bool {
    let mut rest = fields.raw(name).unwrap_or_default();
    while let Some(at) = memchr::memchr(b'"', rest) {
        let Some(end) = scan::string_end(rest, at) else { return false };
        let after = scan::skip_space(rest, end);
        let is_key = rest.get(after) == Some(&b':');
        if !is_key && !rest[at + 1..end - 1].trim_ascii().is_empty() {
            return true;
        }
        rest = &rest[end..];
    }
    false
}
