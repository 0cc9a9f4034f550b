//! Parts of an answer that tell of compaction.

use midfold_core::Usage;

use crate::fields::ObjectFields;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::{ObjectWriter, list};

/// What an edit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppliedEdit {
    /// `clear_tool_uses_20250919`.
    ClearToolUses {
        /// Tool uses that were cleared.
        tool_uses: u64,
        /// Tokens that the prompt lost.
        input_tokens: u64,
    },
    /// `clear_thinking_20251015`.
    ClearThinking {
        /// Turns that lost their thinking.
        turns: u64,
        /// Tokens that the prompt lost.
        input_tokens: u64,
    },
}

/// The value of `context_management` in an answer; in a stream it stands in the last
/// `message_delta`. Its list is empty where nothing was applied.
///
/// ```
/// use midfold_formats::vendor::anthropic::{AppliedEdit, applied_edits};
/// let edit = AppliedEdit::ClearToolUses { tool_uses: 8, input_tokens: 50_000 };
/// assert_eq!(
///     applied_edits(&[edit]),
///     br#"{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":8,"cleared_input_tokens":50000}]}"#
/// );
/// ```
#[must_use]
pub fn applied_edits(edits: &[AppliedEdit]) -> Vec<u8> {
    let edit = |edit: &AppliedEdit| match *edit {
        AppliedEdit::ClearToolUses { tool_uses, input_tokens } => {
            ObjectWriter::of("clear_tool_uses_20250919")
                .number("cleared_tool_uses", tool_uses)
                .number("cleared_input_tokens", input_tokens)
                .done()
        }
        AppliedEdit::ClearThinking { turns, input_tokens } => {
            ObjectWriter::of("clear_thinking_20251015")
                .number("cleared_thinking_turns", turns)
                .number("cleared_input_tokens", input_tokens)
                .done()
        }
    };
    ObjectWriter::new().raw("applied_edits", &list(edits.iter().map(edit))).done()
}

/// What one call to a model was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationKind {
    /// The summary.
    Compaction,
    /// The reply.
    Message,
}

/// One call to a model, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// What it was for.
    pub kind: IterationKind,
    /// What it cost. The prompt includes what the cache read and wrote.
    pub usage: Usage,
}

/// The value of `usage.iterations`.
#[must_use]
pub fn iterations(all: &[Iteration]) -> Vec<u8> {
    let one = |one: &Iteration| {
        let kind = match one.kind {
            IterationKind::Compaction => "compaction",
            IterationKind::Message => "message",
        };
        counts(ObjectWriter::of(kind), &one.usage).done()
    };
    list(all.iter().map(one))
}

/// The vendor's counts: its input leaves out the cache.
fn counts(object: ObjectWriter, usage: &Usage) -> ObjectWriter {
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    object
        .number("input_tokens", usage.prompt.saturating_sub(cached))
        .number("cache_creation_input_tokens", usage.cache_write)
        .number("cache_read_input_tokens", usage.cache_read)
        .number("output_tokens", usage.output)
}

/// A `compaction` block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionBlock {
    /// The summary; `None` where none could be made.
    pub content: Option<String>,
    /// The signature of a block that is made on demand.
    pub signature: Option<String>,
    /// What is to come back beside it.
    pub encrypted_content: Option<String>,
}

impl CompactionBlock {
    /// The block as a client gets it, and sends it back byte for byte.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        ObjectWriter::of("compaction")
            .text_or_null("content", self.content.as_deref())
            .text_if("encrypted_content", self.encrypted_content.as_deref())
            .text_if("signature", self.signature.as_deref())
            .done()
    }
}

/// What opens an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHead {
    /// `msg_…`
    pub id: String,
    /// The model's name.
    pub model: String,
}

impl MessageHead {
    /// The message around this content.
    pub(super) fn message(
        &self,
        content: &[u8],
        stop_reason: Option<&str>,
        usage: &[u8],
    ) -> Vec<u8> {
        ObjectWriter::new()
            .text("id", &self.id)
            .text("type", "message")
            .text("role", "assistant")
            .text("model", &self.model)
            .raw("content", content)
            .text_or_null("stop_reason", stop_reason)
            .raw("stop_sequence", b"null")
            .raw("usage", usage)
            .done()
    }
}

/// The `usage` of an answer without a reply: nothing, beside what the iterations cost.
pub(super) fn no_reply(all: Option<&[Iteration]>) -> Vec<u8> {
    let usage = counts(ObjectWriter::new(), &Usage::default());
    match all {
        Some(all) => usage.raw("iterations", &iterations(all)),
        None => usage,
    }
    .done()
}

/// An answer that is a summary and nothing else: one made on demand, or after which the request
/// said to pause (`stop_reason` is `compaction`). One that could not be made on demand is an answer
/// without a block and with another `stop_reason`: `max_tokens`, `refusal`, `end_turn`, …
#[must_use]
pub fn message(
    head: &MessageHead,
    block: Option<&CompactionBlock>,
    stop_reason: &str,
    all: &[Iteration],
) -> Vec<u8> {
    let content = list(block.map(CompactionBlock::json));
    head.message(&content, Some(stop_reason), &no_reply(Some(all)))
}

/// The provider's answer to a request for a count of tokens, with the count that there would be without our edits:
/// `cleared` tokens more. An answer that holds no count is returned as it is.
///
/// ```
/// use midfold_formats::vendor::anthropic::counted;
/// assert_eq!(
///     counted(br#"{"input_tokens":40}"#, 60),
///     br#"{"input_tokens":40,"context_management":{"original_input_tokens":100}}"#
/// );
/// ```
#[must_use]
pub fn counted(body: &[u8], cleared: u64) -> Vec<u8> {
    let Some(whole) = crate::scan::value(body, 0) else { return body.to_vec() };
    let Some(tokens) = ObjectFields::of(body, whole.clone()).count("input_tokens") else {
        return body.to_vec();
    };
    let original = tokens.saturating_add(cleared);
    let told = ObjectWriter::new().number("original_input_tokens", original).done();
    let mut splices = Splices::default();
    splices.set(body, whole, "context_management", &told);
    splices.apply(body)
}
