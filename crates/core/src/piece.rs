//! Pieces: the messages of a context, and what each of them is.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Why a piece was added or an event was rendered otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RepairReason {
    /// A result for a call that the log never answered.
    UnansweredCall,
    /// A result without its call, rendered as text.
    OrphanResult,
    /// Calls of one step that share an id, or whose id is empty: all but the first, and all that are empty, got
    /// one of their own, and so did their results.
    DuplicateId,
    /// Half a character, as a client that cuts texts leaves it: U+FFFD is in its place.
    HalfCharacter,
    /// A message without content.
    EmptyMessage,
    /// A message of another shape than the provider's, as text: its source.
    OtherShape,
    /// A role that the provider does not know, rendered as the user's.
    UnknownRole,
    /// A system message in the middle, rendered as the user's.
    SystemInside,
    /// Reasoning that is void after a fold, removed.
    BoundReasoning,
    /// Calls that would have to stand behind reasoning that is void, told as text.
    ToldCall,
    /// A message between two of one role.
    Bridge,
    /// Reasoning without what it led to, completed.
    LoneReasoning,
}

/// What a piece of a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceFate {
    /// The event, byte for byte, sliced from the log.
    Verbatim(u32),
    /// The event, edited by the fold.
    Edited(u32),
    /// The event, rendered otherwise because the provider would reject it.
    Repaired(u32, RepairReason),
    /// The recap of a covered span.
    Recap,
    /// The marker for a covered span.
    Marker,
    /// A piece that validity asks for.
    Added(RepairReason),
}

/// One message of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPiece {
    /// Its bytes: for a verbatim piece the log's own buffer.
    pub bytes: Bytes,
    /// Its tokens.
    pub tokens: u32,
    /// What it is.
    pub fate: PieceFate,
}

impl ContextPiece {
    /// The event that it is, in whatever form.
    pub(crate) fn seq(&self) -> Option<u32> {
        match self.fate {
            PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
                Some(seq)
            }
            PieceFate::Recap | PieceFate::Marker | PieceFate::Added(_) => None,
        }
    }
}
