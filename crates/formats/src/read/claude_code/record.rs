//! A record of a session file: its message, its speaker, and its place in the tree.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::event::Usage;
use midfold_core::view::TextOrigin;

use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::{scan, usage};

/// The part that a record has in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// A message that a person typed.
    RealUser,
    /// Any other message in the user's role.
    User(Option<TextOrigin>),
    /// A message that is sent beside those of the tree: what a person typed while the agent worked, or what the client
    /// adds.
    Beside(Option<TextOrigin>),
    Assistant,
    /// The place where the client compacted.
    Boundary,
    /// A record that only links others.
    Link,
}

/// The facts about a `message` object, found in one scan.
#[derive(Clone, Default)]
pub(super) struct RecordMessage {
    /// The range of the object in the file.
    pub range: Range<usize>,
    /// The range of its list of blocks.
    pub blocks: Option<Range<usize>>,
    pub id: Option<String>,
    pub model: Option<String>,
    pub usage: Option<Usage>,
    /// The message that the reader made of the record. `None` where the record holds a message as it is sent.
    pub built: Option<Bytes>,
}

impl RecordMessage {
    pub(super) fn of(input: &[u8], range: Range<usize>) -> Self {
        let fields = ObjectFields::of(input, range.clone());
        Self {
            range,
            blocks: fields.array("content"),
            id: fields.text("id").map(Cow::into_owned),
            model: fields.text("model").filter(|m| *m != "<synthetic>").map(Cow::into_owned),
            usage: usage::anthropic(&fields.inner("usage")),
            built: None,
        }
    }

    /// A message that the reader made of this part of a record.
    pub(super) fn built(range: Range<usize>, bytes: Vec<u8>) -> Self {
        Self { range, built: Some(bytes.into()), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Whether the message holds results. They come before all other blocks, so the first block decides.
    pub(super) fn has_results(&self, input: &[u8]) -> bool {
        let Some(blocks) = &self.blocks else { return false };
        // The range may end after the first block, but the search stops at its `type`.
        let kind = scan::members(input, blocks.start + 1..blocks.end).find(|m| m.is(input, "type"));
        kind.is_some_and(|kind| input.get(kind.value) == Some(br#""tool_result""#))
    }

    /// Whether nobody but the client speaks in it: the echo of `/exit` or `/login`.
    pub(super) fn is_echo(&self, input: &[u8]) -> bool {
        if self.range.len() > ECHO {
            return false;
        }
        let view = DialectKind::Anthropic.dialect().view(&input[self.range.clone()]);
        view.origin == TextOrigin::Injected
    }
}

/// The most bytes of the echo of a command.
const ECHO: usize = 1 << 16;

/// One line of the file.
pub(super) struct RecordLine {
    pub kind: RecordKind,
    /// The `message` object; empty for a line without one.
    pub message: RecordMessage,
    /// The line's number in the file, from 1.
    pub line: usize,
    /// The index of the parent among the lines of the file. `None` where it has none or is in another file.
    pub parent: Option<usize>,
    /// Whether the parent is `null`, and not only missing in the file.
    pub is_root: bool,
    /// The index of its conversation: 0 is the main one.
    pub group: usize,
    /// Whether the line is not sent: it is of an abandoned branch or of an earlier session.
    pub dropped: bool,
    /// Whether it looks like a message of the user but only repeats a command of the client.
    pub is_echo: bool,
    /// For a boundary, the numbers of the lines that the client kept from before it.
    pub kept_lines: Vec<usize>,
}

/// One conversation of the file.
pub(super) struct RecordGroup {
    pub id: Option<String>,
    pub is_main: bool,
}

/// Whether the record says that the client wrote its content, and not a person.
pub(super) fn is_clients(fields: &ObjectFields<'_>) -> bool {
    let origin = fields.inner("origin").text("kind");
    fields.is_true("isMeta")
        || fields.is("promptSource", "system")
        || origin.is_some_and(|kind| kind != "human")
}
