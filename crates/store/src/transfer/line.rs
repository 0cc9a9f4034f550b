//! The lines of an export, and the errors of a transfer.

use bytes::Bytes;
use midfold_core::{Hash, TextOrigin};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::types::{NewFold, NewSession};

/// Why an export or an import stopped.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A session was deleted after a part of it was written.
    #[error("session `{0}` was deleted while it was exported: export again")]
    Deleted(String),
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A line of the file is not valid.
    #[error("line {line}: {problem}")]
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// A description of the fault.
        problem: String,
    },
}

/// How many records were written or read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferCounts {
    /// How many sessions.
    pub sessions: u64,
    /// How many events.
    pub events: u64,
    /// How many folds.
    pub folds: u64,
    /// How many model calls.
    pub calls: u64,
}

/// One line of an export, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum TransferLine {
    Midfold {
        version: u32,
    },
    Session {
        new: NewSession,
        head: u64,
        active: Option<Hash>,
        state: String,
    },
    Event {
        bytes: EventContent,
        hash: Hash,
        turn: u32,
        tokens: u32,
        usage: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<TextOrigin>,
    },
    Fold(Box<FoldLine>),
    Call {
        number: u64,
        head: u64,
        fold: Option<Hash>,
        hash: Hash,
        body: String,
        now: u64,
        usage: Option<String>,
    },
    End(TransferCounts),
}

impl From<FoldLine> for NewFold {
    fn from(line: FoldLine) -> Self {
        let FoldLine { id, start, end, before, through, policy, recap, kept, now, body } = line;
        let kept = kept.into_iter().map(|(from, to)| from..to).collect();
        Self { id, start, end, before, through, policy, recap, kept, body, now }
    }
}

/// The line of a fold. What [`TransferLine`] denies does not reach the types of its lines.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FoldLine {
    pub(super) id: Hash,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) before: Hash,
    pub(super) through: Hash,
    pub(super) policy: Hash,
    pub(super) recap: Hash,
    pub(super) kept: Vec<(u64, u64)>,
    pub(super) now: u64,
    pub(super) body: String,
}

/// The bytes of an event: as text where they are UTF-8, and otherwise as hex digits.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EventContent {
    Text(String),
    Hex(String),
}

impl EventContent {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => {
                let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
                Self::Hex(bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect())
            }
        }
    }

    /// The bytes of the event. Fails where the hex digits are not valid.
    pub(super) fn bytes(self) -> Result<Bytes, String> {
        match self {
            Self::Text(text) => Ok(text.into_bytes().into()),
            Self::Hex(digits) => {
                let value = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
                let pair = |pair: &[u8]| match pair {
                    [high, low] => Some(value(*high)? << 4 | value(*low)?),
                    _ => None,
                };
                let all: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
                all.map(Bytes::from)
                    .ok_or_else(|| "the bytes are no pairs of hex digits".to_owned())
            }
        }
    }
}

/// The version of the format.
pub const VERSION: u32 = 1;

/// How many events are read or appended at a time.
pub(super) const PAGE: usize = 64;
