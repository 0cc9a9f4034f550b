//! What a record of a session file is: the message in it, who speaks, and where in the tree it hangs.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::event::Usage;
use midfold_core::view::TextOrigin;

use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::{scan, usage};

/// What a record is for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// Something that a person typed.
    RealUser,
    /// Anything else that is sent in the user's role.
    User(Option<TextOrigin>),
    /// It is sent with the messages and is no message itself: what a person typed while the agent worked, and what the
    /// client adds.
    Beside(Option<TextOrigin>),
    Assistant,
    /// Where the client compacted.
    Boundary,
    /// Only a link of the tree.
    Link,
}

/// What is asked about a `message` object, found in one walk over it.
#[derive(Clone, Default)]
pub(super) struct RecordMessage {
    pub range: Range<usize>,
    /// Its list of blocks.
    pub blocks: Option<Range<usize>>,
    pub id: Option<String>,
    pub model: Option<String>,
    pub usage: Option<Usage>,
    /// The message that was made of the record, where the record has none in the form that is sent.
    pub made: Option<Bytes>,
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
            made: None,
        }
    }

    /// A message that was made of this part of a record.
    pub(super) fn made(range: Range<usize>, bytes: Vec<u8>) -> Self {
        Self { range, made: Some(bytes.into()), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Results are before everything else in a message, so the first block tells.
    pub(super) fn has_results(&self, input: &[u8]) -> bool {
        let Some(blocks) = &self.blocks else { return false };
        // The range may end behind the block: nothing is read after its `type`.
        let kind = scan::members(input, blocks.start + 1..blocks.end).find(|m| m.is(input, "type"));
        kind.is_some_and(|kind| input.get(kind.value) == Some(br#""tool_result""#))
    }

    /// Whether the client alone speaks in it: the echo of `/exit`, of `/login`.
    pub(super) fn is_echo(&self, input: &[u8]) -> bool {
        if self.range.len() > ECHO {
            return false;
        }
        let view = DialectKind::Anthropic.dialect().view(&input[self.range.clone()]);
        view.origin == TextOrigin::Injected
    }
}

/// Most bytes of the echo of a command.
const ECHO: usize = 1 << 16;

/// One line of the file.
pub(super) struct RecordLine {
    pub kind: RecordKind,
    /// The `message` object; empty for lines without one.
    pub message: RecordMessage,
    /// Its number in the file, from 1.
    pub line: usize,
    /// Index of the parent among the lines of the file.
    pub parent: Option<usize>,
    /// The parent is `null` (and not merely missing in the file).
    pub is_root: bool,
    /// Which conversation: 0 is the main one.
    pub group: usize,
    pub dropped: bool,
    /// It looks like a message of the user's, and only repeats a command of the client.
    pub is_echo: bool,
    /// Of a boundary: the lines of the file that the client kept from before it.
    pub kept: Vec<usize>,
}

/// One conversation of the file: its id, and whether it is the main one.
pub(super) struct RecordGroup {
    pub id: Option<String>,
    pub is_main: bool,
}

/// Whether the client says that nobody typed what a record holds.
pub(super) fn is_clients(fields: &ObjectFields<'_>) -> bool {
    let origin = fields.inner("origin").text("kind");
    fields.is_true("isMeta")
        || fields.is("promptSource", "system")
        || origin.is_some_and(|kind| kind != "human")
}
