//! The wishes that a session keeps for its agent, and those for one fold.

use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::exchanges::{NOTE_TOOL, is_hidden};
use crate::log::EventLog;
use crate::put_back::PutBack;
use crate::view::{BlockKind, Role};

/// A history, named by its number of events and its chain hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedHistory {
    /// The number of its events.
    pub events: u32,
    /// The chain hash of these events.
    pub hash: Hash,
    /// Whether the call that wrote the note has to follow in the log. Of two histories with the same beginning only one
    /// has it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_called: bool,
}

impl NotedHistory {
    /// The history that a log has now.
    #[must_use]
    pub fn of(log: &EventLog) -> Self {
        let events = u32::try_from(log.len()).unwrap_or(u32::MAX);
        Self { events, hash: log.head_hash(), is_called: false }
    }

    /// Whether a log begins with this history. `None` where the log is too short to say.
    fn begins(self, log: &EventLog) -> Option<bool> {
        let events = self.events as usize;
        (events <= log.len()).then(|| log.hash_before(events) == self.hash)
    }
}

/// A note of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredNote")]
pub struct AgentNote {
    /// Its text.
    pub text: String,
    /// All that the agent had read when it wrote the note. No other history may have it. `None` for a note of a version
    /// that did not keep this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<NotedHistory>,
}

impl AgentNote {
    /// Whether the note is of this log.
    pub(super) fn is_of(&self, log: &EventLog) -> bool {
        let is_here = |read: NotedHistory| !read.is_called || self.is_called_behind(read, log);
        self.read.is_none_or(|read| read.begins(log) == Some(true) && is_here(read))
    }

    /// Whether the note is of another history than this log's.
    pub(super) fn is_foreign(&self, log: &EventLog) -> bool {
        let goes_on = |read: NotedHistory| (read.events as usize) < log.len();
        self.read.is_some_and(|read| {
            read.begins(log) == Some(false)
                || read.is_called && goes_on(read) && !self.is_called_behind(read, log)
        })
    }

    /// Whether the answer behind this history has the call that wrote the note. An answer may be several messages, and
    /// another one follows the results of own calls.
    fn is_called_behind(&self, read: NotedHistory, log: &EventLog) -> bool {
        let (mut was_models, mut is_ours) = (false, false);
        for event in log.events().get(read.events as usize..).unwrap_or_default() {
            let is_models = event.view.role == Role::Assistant;
            is_ours &= was_models || !is_models;
            was_models = is_models;
            if !is_models && !is_ours {
                return false;
            }
            for block in event.view.blocks.iter().filter(|_| is_models) {
                let BlockKind::Call { name: Some(name), .. } = &block.kind else { continue };
                let name = name.decode(&event.bytes);
                is_ours |= is_hidden(block, &event.bytes);
                if name == NOTE_TOOL && self.is_in(&block.plain(&event.bytes)) {
                    return true;
                }
            }
        }
        false
    }

    fn is_in(&self, words: &str) -> bool {
        words.split_whitespace().collect::<Vec<_>>().join(" ").contains(&self.text)
    }
}

/// A note as a store has it. Earlier versions stored the text alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredNote {
    Text(String),
    Placed { text: String, read: Option<NotedHistory> },
}

impl From<StoredNote> for AgentNote {
    fn from(stored: StoredNote) -> Self {
        match stored {
            StoredNote::Text(text) => Self { text, read: None },
            StoredNote::Placed { text, read } => Self { text, read },
        }
    }
}

/// The wishes of an agent for its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentWishes {
    /// Notes that each recap repeats, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<AgentNote>,
    /// Whether a fold is to be made with the next context.
    #[serde(skip_serializing_if = "is_false")]
    pub wants_fold: bool,
    /// Text that says how the agent goes on. In that fold, statements with its words weigh more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
}

fn is_false(is: &bool) -> bool {
    !is
}

impl AgentWishes {
    /// Whether the agent asked for nothing.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.notes.is_empty() && !self.wants_fold
    }
}

/// The wishes that one fold has to respect.
#[derive(Default)]
pub(super) struct FoldWishes {
    /// Events that hooks keep.
    pub pins: Vec<u32>,
    /// A recap that the host wrote in place of ours.
    pub recap: Option<String>,
    /// The size of the context in tokens of the provider, where the policy's own is not the reason for the fold.
    pub size: Option<u64>,
    /// Notes of the agent and texts of the host that end the recap.
    pub put_back: PutBack,
    /// How the agent goes on, where it asked for this fold.
    pub keep: Option<String>,
}
