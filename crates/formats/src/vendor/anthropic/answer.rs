//! Writes the parts of an answer that report compaction.

use midfold_core::Usage;

use crate::fields::ObjectFields;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::{ObjectWriter, list};

/// The effect of one edit of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppliedEdit {
    /// `clear_tool_uses_20250919`.
    ClearToolUses {
        /// The number of tool uses that were cleared.
        tool_uses: u64,
        /// The tokens that the prompt lost.
        input_tokens: u64,
    },
    /// `clear_thinking_20251015`.
    ClearThinking {
        /// The number of turns that lost their thinking.
        turns: u64,
        /// The tokens that the prompt lost.
        input_tokens: u64,
    },
}

/// The value of `context_management` in an answer. A stream has it in the last `message_delta`. Its list is empty where
/// no edit was applied.
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
                .finish()
        }
        AppliedEdit::ClearThinking { turns, input_tokens } => {
            ObjectWriter::of("clear_thinking_20251015")
                .number("cleared_thinking_turns", turns)
                .number("cleared_input_tokens", input_tokens)
                .finish()
        }
    };
    ObjectWriter::new().raw("applied_edits", &list(edits.iter().map(edit))).finish()
}

/// The purpose of one call to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationKind {
    /// A call for the summary.
    Compaction,
    /// A call for the reply.
    Message,
}

/// One call to a model, with its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// The purpose of the call.
    pub kind: IterationKind,
    /// The tokens of the call. The prompt includes the tokens that the cache read and wrote.
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
        counts(ObjectWriter::of(kind), &one.usage).finish()
    };
    list(all.iter().map(one))
}

/// The counts as the vendor writes them: the input leaves out the cache.
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
    /// The signature of a block that was made on demand.
    pub signature: Option<String>,
    /// The encrypted data that the client has to send back with it.
    pub encrypted_content: Option<String>,
}

impl CompactionBlock {
    /// The block as a client gets it. The client sends it back byte for byte.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        ObjectWriter::of("compaction")
            .text_or_null("content", self.content.as_deref())
            .text_if("encrypted_content", self.encrypted_content.as_deref())
            .text_if("signature", self.signature.as_deref())
            .finish()
    }
}

/// The id and the model of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHead {
    /// The message's id: `msg_…`
    pub id: String,
    /// The model's name.
    pub model: String,
}

impl MessageHead {
    /// The message with this content.
    pub(super) fn message(
        &self,
        content: &[u8],
        stop_reason: Option<&str>,
        usage: &[u8],
    ) -> ObjectWriter {
        ObjectWriter::new()
            .text("id", &self.id)
            .text("type", "message")
            .text("role", "assistant")
            .text("model", &self.model)
            .raw("content", content)
            .text_or_null("stop_reason", stop_reason)
            .raw("stop_sequence", b"null")
            .raw("usage", usage)
    }
}

/// The `usage` of an answer without a reply: zeros, with the usage of the iterations beside them.
pub(super) fn no_reply(all: Option<&[Iteration]>) -> Vec<u8> {
    let usage = counts(ObjectWriter::new(), &Usage::default());
    match all {
        Some(all) => usage.raw("iterations", &iterations(all)),
        None => usage,
    }
    .finish()
}

/// An answer that holds nothing but a summary. The summary was made on demand, or the request wants a pause after it.
#[derive(Clone, Copy, Debug)]
pub struct SummaryMessage<'a> {
    /// The message's id and model.
    pub head: &'a MessageHead,
    /// The summary.
    pub block: &'a CompactionBlock,
    /// The calls that made it.
    pub iterations: &'a [Iteration],
    /// The effects of the edits that the request asks for; `None` if it has none.
    pub edits: Option<&'a [AppliedEdit]>,
}

impl SummaryMessage<'_> {
    /// The reason for which such an answer stops.
    pub(super) const STOP_REASON: &'static str = "compaction";

    /// The answer as one document.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        let content = list([self.block.json()]);
        let usage = no_reply(Some(self.iterations));
        let message = self.head.message(&content, Some(Self::STOP_REASON), &usage);
        self.with_edits(message).finish()
    }

    /// The object with the effects of the edits at its end.
    pub(super) fn with_edits(&self, object: ObjectWriter) -> ObjectWriter {
        match self.edits {
            Some(edits) => object.raw("context_management", &applied_edits(edits)),
            None => object,
        }
    }
}

/// The provider's answer to a request for a count of tokens, with the count before the edits added: `cleared` tokens
/// more. An answer without a count is returned as it is.
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
    let management = ObjectWriter::new().number("original_input_tokens", original).finish();
    let mut splices = Splices::default();
    splices.set(body, whole, "context_management", &management);
    splices.apply(body)
}
