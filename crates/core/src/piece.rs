//! Pieces: the messages of a context, each with its fate.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Why a message was added to a context or an event was changed, so that the provider accepts it: the fault, and its
/// repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RepairReason {
    /// The log has no result for a call: one was added.
    UnansweredCall,
    /// A result has no call: it is sent as text.
    OrphanResult,
    /// Calls of one step share an id, or their id is empty: all but the first, and all that are empty, got one of
    /// their own, and so did their results.
    DuplicateId,
    /// A client that cuts texts left half a character (a lone surrogate): U+FFFD is in its place.
    HalfCharacter,
    /// The arguments of a call were cut, or are no object: they are sent as an object that holds them.
    Arguments,
    /// A message has no content: a fixed text was put in, or its blank blocks left out.
    EmptyMessage,
    /// A message has a shape that the provider does not know: its source is sent as text.
    OtherShape,
    /// The provider does not know a message's role: it is sent as the user's.
    UnknownRole,
    /// The provider takes no system message in the middle: it is sent as the user's.
    SystemInside,
    /// Signed reasoning is void after a fold: it was removed.
    BoundReasoning,
    /// Calls need reasoning in front of them that is void: they are sent as text.
    ToldCall,
    /// Two messages in a row have one role: a message was put between them.
    Bridge,
    /// A message of the model has no reasoning, and the model wants some in each: it got a blank one.
    BlankReasoning,
    /// A result of a tool that the provider runs itself has no call: it was left out.
    LoneServerResult,
    /// Results are behind the user's words in one message, where the provider wants them first: they were moved.
    ResultsBehind,
    /// Nothing follows reasoning that the provider wants something behind: it was added.
    LoneReasoning,
}

/// The fate of a piece: where this message of a context comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceFate {
    /// The event, byte for byte, sliced from the log.
    Verbatim(u32),
    /// The event as the fold edited it.
    Edited(u32),
    /// The event in another form, because the provider would refuse the original.
    Repaired(u32, RepairReason),
    /// The recap of a covered span.
    Recap,
    /// The marker for a covered span.
    Marker,
    /// A message that is not in the log, added because the provider requires it.
    Added(RepairReason),
}

/// One message of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPiece {
    /// The bytes; for a verbatim piece, the log's own buffer.
    pub bytes: Bytes,
    /// Counted tokens.
    pub tokens: u32,
    /// The fate.
    pub fate: PieceFate,
}

impl ContextPiece {
    /// The event that the piece shows, in whatever form; `None` for a recap, a marker and an added piece.
    pub(crate) fn seq(&self) -> Option<u32> {
        match self.fate {
            PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
                Some(seq)
            }
            PieceFate::Recap | PieceFate::Marker | PieceFate::Added(_) => None,
        }
    }
}
