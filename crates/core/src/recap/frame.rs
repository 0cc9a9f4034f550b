//! What a recap is composed for: its cap, and what the rest of the context already says.

use rustc_hash::FxHashSet;

use crate::counter::Counter;
use crate::log::Event;
use crate::recap::gather::GatheredFacts;
use crate::recap::numbers::MessageNumbers;

/// The input of composing beside the gathered facts.
pub struct RecapFrame<'a> {
    /// The most the recap may cost, in counted tokens.
    pub cap: u64,
    /// Sections that a model wrote; they come after the state. Empty where there is no narration.
    pub narration: &'a str,
    /// The counter of the recap's tokens.
    pub counter: &'a dyn Counter,
    /// The first line of the recap, as the schema of the policy has it.
    pub header: &'a str,
    /// Identifiers that the rest of the context names: the recap need not name them.
    pub elsewhere: &'a FxHashSet<&'a str>,
    /// Whole lines at the end of the recap, for texts that are put back after each fold. They do not count towards the
    /// cap. Empty where there are none.
    pub put_back: &'a str,
    /// Facts from the messages behind the recap. The recap does not repeat them, and it leaves out any state that they
    /// changed.
    pub later: Option<&'a GatheredFacts>,
    /// Whether the user's first request is verbatim in the head.
    pub task_in_head: bool,
    /// Whether the user's newest request is verbatim elsewhere, or has been answered.
    pub task_elsewhere: bool,
    /// Whether to write `<read-files>` and `<modified-files>` blocks instead of a files section.
    pub file_blocks: bool,
    /// The events before the recap, from which its mark is computed. `None` for a recap that is never read back.
    pub before: Option<&'a [Event]>,
    /// The tool by which the agent reads folded messages again; `None` where it has none.
    pub recalls: Option<&'static str>,
    /// Words that a manual compaction asked to keep, in lower case.
    pub focus: &'a [String],
    /// Seqs of the user's messages that lie between the covered events and stay verbatim behind the recap.
    pub stayed: &'a [u32],
    /// Seqs of other older messages that stay behind the recap: pins, instructions, reminders.
    pub beside: &'a [u32],
    /// Whether lines have the numbers of their messages.
    pub numbers: MessageNumbers,
    /// The open request: its subject comes first. Empty where there is none.
    pub request: &'a str,
}

/// A recap with a cap of fewer tokens than this is short.
const SHORT: u64 = 1_200;

impl<'a> RecapFrame<'a> {
    /// A frame for a recap by itself: no other part of the context says anything, and it is never read back.
    #[must_use]
    pub fn alone(
        cap: u64,
        counter: &'a dyn Counter,
        header: &'a str,
        elsewhere: &'a FxHashSet<&'a str>,
    ) -> Self {
        Self {
            cap,
            narration: "",
            counter,
            header,
            elsewhere,
            put_back: "",
            later: None,
            task_in_head: false,
            task_elsewhere: false,
            file_blocks: false,
            before: None,
            recalls: None,
            focus: &[],
            stayed: &[],
            beside: &[],
            numbers: MessageNumbers::Shown,
            request: "",
        }
    }

    /// Whether the cap is so low that the recap has a one-line header and a one-line end.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.cap < SHORT
    }
}
