//! What a recap is composed for.

use rustc_hash::FxHashSet;

use crate::counter::Counter;
use crate::log::Event;
use crate::recap::gather::GatheredFacts;

/// What composing needs to know beside the gathered material.
pub struct RecapFrame<'a> {
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
    /// Whole lines that end the recap beyond its cap: what is put back. Empty without any.
    pub put_back: &'a str,
    /// What the messages behind the recap say: it is not told twice, and a state that they change
    /// is not told at all.
    pub later: Option<&'a GatheredFacts>,
    /// The first request is verbatim in the head.
    pub task_in_head: bool,
    /// The newest request is verbatim elsewhere, or has its answer.
    pub task_elsewhere: bool,
    /// Write `<read-files>` and `<modified-files>` blocks instead of a files section.
    pub file_blocks: bool,
    /// The events before the recap, for its mark; a recap that nobody reads back has none.
    pub before: Option<&'a [Event]>,
    /// The agent has a tool that brings folded messages back.
    pub recalls: Option<&'static str>,
    /// What a manual compaction asked to keep, as lower-case words.
    pub focus: &'a [String],
    /// Events of the user's between the covered ones that stay as they are, behind the recap.
    pub stayed: &'a [u32],
    /// Words of the request that is open, in lower case: without a focus, what was seen of them is told where room is
    /// left.
    pub open: &'a [String],
}

/// Below so many tokens a recap is short.
const SHORT: u64 = 1_200;

impl RecapFrame<'_> {
    /// Whether there is so little room that the frame is one line, and one that ends it.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.cap < SHORT
    }
}
