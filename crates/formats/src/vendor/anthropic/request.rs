//! Reads the compaction that a Messages request asks for, and the compaction blocks that it sends back.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use super::edits::{self, ContextEdit, present};
use super::{AnthropicRefusal, ErrorCode};
use crate::fields::ObjectFields;
use crate::request::without_member;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::list;

/// The most characters of instructions.
pub const INSTRUCTIONS_LIMIT: usize = 16_384;

/// The compaction that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnthropicRequest {
    /// The edits of `context_management.edits`, in their order.
    pub edits: Vec<ContextEdit>,
    /// The top-level `compaction`: the answer is to be a summary and nothing else.
    pub summarize: Option<SummarizeOption>,
}

impl AnthropicRequest {
    /// Whether the request asks for no compaction.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.summarize.is_none()
    }
}

/// The option `compaction: {"type": "summarize"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummarizeOption {
    /// A prompt in place of the default one. `None` where it is missing or blank.
    pub instructions: Option<String>,
}

/// Reads the compaction that a request asks for, and refuses what the vendor refuses.
///
/// # Errors
///
/// An [`AnthropicRefusal`] for an edit that is unknown or not valid, and for a `compaction` beside something with which
/// it cannot be combined.
///
/// ```
/// use midfold_formats::vendor::anthropic::{read_request, ContextEdit};
/// let request = br#"{"messages":[],"context_management":{"edits":[{"type":"compact_20260112"}]}}"#;
/// let parsed = read_request(request)?;
/// assert!(matches!(&parsed.edits[..], [ContextEdit::Compact(compact)] if compact.trigger == 150_000));
/// # Ok::<(), midfold_formats::vendor::anthropic::AnthropicRefusal>(())
/// ```
pub fn read_request(request: &[u8]) -> Result<AnthropicRequest, AnthropicRefusal> {
    let fields = ObjectFields::of(request, 0..request.len());
    let management = present(&fields, "context_management");
    let summarize = match present(&fields, "compaction") {
        None => None,
        Some(_) if management.is_some() => {
            return Err(incompatible("context_management"));
        }
        Some(_) => Some(summarize(request, &fields)?),
    };
    let edits = match management {
        Some(management) => edits::read(request, management)?,
        None => Vec::new(),
    };
    Ok(AnthropicRequest { edits, summarize })
}

fn incompatible(with: &str) -> AnthropicRefusal {
    AnthropicRefusal::invalid(format!(
        "compaction: cannot be combined with {with}; leave one of them out"
    ))
}

/// Reads the top-level `compaction`, and refuses what cannot be combined with it.
fn summarize(
    request: &[u8],
    fields: &ObjectFields<'_>,
) -> Result<SummarizeOption, AnthropicRefusal> {
    let compaction = fields.inner("compaction");
    if !compaction.is("type", "summarize") {
        return Err(AnthropicRefusal::invalid("compaction.type must be 'summarize'"));
    }
    let instructions = edits::text(&compaction, "instructions")
        .map_err(|()| AnthropicRefusal::invalid("compaction.instructions: must be a string"))?
        .filter(|text| !text.trim().is_empty());
    if instructions.as_ref().is_some_and(|text| text.chars().count() > INSTRUCTIONS_LIMIT) {
        return Err(AnthropicRefusal::invalid(format!(
            "compaction.instructions: must have at most {INSTRUCTIONS_LIMIT} characters"
        )));
    }
    let stops = fields.array("stop_sequences").unwrap_or(0..0);
    if scan::elements(request, stops).next().is_some() {
        return Err(incompatible("stop_sequences"));
    }
    let output = fields.inner("output_config");
    if present(&output, "format").is_some() {
        return Err(incompatible("output_config.format"));
    }
    if present(&output.inner("task_budget"), "remaining").is_some() {
        return Err(incompatible("output_config.task_budget.remaining"));
    }
    let choice = fields.inner("tool_choice");
    if choice.is("type", "any") || choice.is("type", "tool") {
        return Err(incompatible("a tool_choice of type 'any' or 'tool'"));
    }
    let messages = fields.array("messages").unwrap_or(0..0);
    let says = |message: &Range<usize>| {
        let message = ObjectFields::of(request, message.clone());
        let speaks = message.is("role", "user") || message.is("role", "assistant");
        speaks && !matches!(message.raw("content"), None | Some(b"null" | b"\"\"" | b"[]"))
    };
    let mut last = None;
    let mut is_empty = true;
    for message in scan::elements(request, messages) {
        is_empty &= !says(&message);
        last = Some(message);
    }
    let Some(last) = last.filter(|_| !is_empty) else {
        return Err(AnthropicRefusal::of(
            ErrorCode::NothingToSummarize,
            "compaction: messages holds nothing to summarize",
        ));
    };
    if let Some(call) = open_call(request, last) {
        return Err(AnthropicRefusal::of(
            ErrorCode::IncompleteTurn,
            format!("compaction: the call {call} has no result yet; send its result first"),
        ));
    }
    Ok(SummarizeOption { instructions })
}

/// The id of a call in the last message that has no result. `None` where there is no such call.
fn open_call(request: &[u8], last: Range<usize>) -> Option<String> {
    let message = ObjectFields::of(request, last);
    if !message.is("role", "assistant") {
        return None;
    }
    let content = message.array("content")?;
    let blocks =
        || scan::elements(request, content.clone()).map(|at| ObjectFields::of(request, at));
    let is_answered = |id: &str| blocks().any(|block| block.is("tool_use_id", id));
    blocks().find_map(|block| {
        let kind = block.text("type")?;
        let id = block.text("id").filter(|_| kind.ends_with("tool_use"))?;
        // The vendor's own tools are answered within the message.
        (kind == "tool_use" || !is_answered(&id)).then(|| id.into_owned())
    })
}

/// The request without the members that [`read_request`] reads. Edits of other types stay.
#[must_use]
pub fn without_asked(request: &Bytes) -> Bytes {
    let request = without_member(request, "compaction");
    let fields = ObjectFields::of(&request, 0..request.len());
    let Some(edits) = fields.inner("context_management").array("edits") else {
        return without_member(&request, "context_management");
    };
    let is_other = |at: &Range<usize>| {
        let edit = ObjectFields::of(&request, at.clone());
        edits::OURS.iter().all(|kind| !edit.is("type", kind))
    };
    let others: Vec<_> = scan::elements(&request, edits.clone()).filter(is_other).collect();
    if others.is_empty() {
        return without_member(&request, "context_management");
    }
    let mut splices = Splices::default();
    splices.replace(edits, list(others.into_iter().map(|at| &request[at])));
    splices.apply(&request).into()
}

/// The message with the blocks after the one at index `block`. `None` where there are none.
///
/// ```
/// use midfold_formats::vendor::anthropic::message_behind;
/// let message = br#"{"role":"assistant","content":[{"type":"compaction"},{"type":"text"}]}"#;
/// let behind = message_behind(message, 0);
/// assert_eq!(behind.as_deref(), Some(&br#"{"role":"assistant","content":[{"type":"text"}]}"#[..]));
/// assert_eq!(message_behind(message, 1), None);
/// ```
#[must_use]
pub fn message_behind(message: &[u8], block: usize) -> Option<Vec<u8>> {
    let content = ObjectFields::of(message, 0..message.len()).array("content")?;
    let rest: Vec<_> = scan::elements(message, content.clone()).skip(block + 1).collect();
    if rest.is_empty() {
        return None;
    }
    let mut splices = Splices::default();
    splices.replace(content, list(rest.into_iter().map(|at| &message[at])));
    Some(splices.apply(message))
}

/// A `compaction` block that a request sends back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedBlock {
    /// The index of its message in `messages`.
    pub message: usize,
    /// The index of the block in the message.
    pub block: usize,
    /// Whether its message is a system message, in which it is not allowed.
    pub in_system: bool,
    /// The range of the block in the request.
    pub range: Range<usize>,
    /// The summary. `None` where the compaction failed: the block then has no effect.
    pub content: Option<String>,
    /// The signature of a block that was made on demand.
    pub signature: Option<String>,
    /// The encrypted data that the vendor put beside it.
    pub encrypted_content: Option<String>,
}

/// The compaction blocks of a request, in their order.
#[must_use]
pub fn compaction_blocks(request: &[u8]) -> Vec<PlacedBlock> {
    // Most requests have no such block, and are large, so they are searched first.
    if memmem::find(request, b"compaction").is_none() {
        return Vec::new();
    }
    let messages = ObjectFields::of(request, 0..request.len()).array("messages").unwrap_or(0..0);
    let mut blocks = Vec::new();
    for (at, message) in scan::elements(request, messages).enumerate() {
        if memmem::find(&request[message.clone()], b"compaction").is_none() {
            continue;
        }
        let message = ObjectFields::of(request, message);
        let content = message.array("content").unwrap_or(0..0);
        for (place, range) in scan::elements(request, content).enumerate() {
            let block = ObjectFields::of(request, range.clone());
            if block.is("type", "compaction") {
                let text = |name| block.text(name).map(std::borrow::Cow::into_owned);
                blocks.push(PlacedBlock {
                    message: at,
                    block: place,
                    in_system: message.is("role", "system"),
                    content: text("content"),
                    signature: text("signature"),
                    encrypted_content: text("encrypted_content"),
                    range,
                });
            }
        }
    }
    blocks
}

/// Checks the places of signed blocks: a signed block has to be the only one with content, and the first of all. Blocks
/// without a signature may be anywhere: everything before the last of them is ignored.
///
/// # Errors
///
/// [`ErrorCode::BlockAmbiguous`] or [`ErrorCode::BlockMisplaced`].
pub fn check_placement(blocks: &[PlacedBlock]) -> Result<(), AnthropicRefusal> {
    let filled = || blocks.iter().filter(|block| block.content.is_some());
    let Some(signed) = filled().find(|block| block.signature.is_some()) else { return Ok(()) };
    if filled().count() > 1 {
        return Err(AnthropicRefusal::of(
            ErrorCode::BlockAmbiguous,
            "messages: there is more than one `compaction` block; send only the newest",
        ));
    }
    if (signed.message, signed.block) != (0, 0) || signed.in_system {
        return Err(AnthropicRefusal::of(
            ErrorCode::BlockMisplaced,
            format!(
                "messages.{}.content.{}: the `compaction` block must be sent first, in the place \
                 of the messages that it summarizes; remove those messages",
                signed.message, signed.block
            ),
        ));
    }
    Ok(())
}
