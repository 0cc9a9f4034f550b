//! What a recap is composed for.

use rustc_hash::FxHashSet;

use crate::counter::Counter;
use crate::log::Event;
use crate::recap::gather::Gathered;

/// What composing needs to know beside the gathered material.
pub struct Frame<'a> {
    /// The most the recap may cost, in counted tokens.
    pub cap: u64,
    /// Sections that a model wrote; they are after the state. Empty without one.
    pub narration: &'a str,
    /// Counts tokens.
    pub counter: &'a dyn Counter,
    /// The schema's first line.
    pub header: &'a str,
    /// Identifiers that the context carries elsewhere: they need no place here.
    pub elsewhere: &'a FxHashSet<&'a str>,
    /// What the messages behind the recap say: it is not told twice, and a state that they change
    /// is not told at all.
    pub later: Option<&'a Gathered>,
    /// The first request is verbatim in the head.
    pub task_in_head: bool,
    /// The newest request is verbatim elsewhere.
    pub task_elsewhere: bool,
    /// Write `<read-files>` and `<modified-files>` blocks instead of a files section.
    pub file_blocks: bool,
    /// The events before the recap, for its mark; a recap that nobody reads back has none.
    pub before: Option<&'a [Event]>,
    /// The agent has a tool that brings folded messages back.
    pub recalls: bool,
    /// What a manual compaction asked to keep, as lower-case words.
    pub focus: &'a [String],
}
