//! What a recap is composed for.

use rustc_hash::FxHashSet;

use crate::counter::Counter;
use crate::recap::words::Words;

/// What composing needs to know beside the gathered material.
pub struct Frame<'a> {
    /// The most the recap may cost, in counted tokens.
    pub cap: u64,
    /// Sections that a model wrote; they stand after the task. Empty without one.
    pub narration: &'a str,
    /// Counts tokens.
    pub counter: &'a dyn Counter,
    /// The schema's first line.
    pub header: &'a str,
    /// Identifiers that the context carries elsewhere: they need no place here.
    pub elsewhere: &'a FxHashSet<&'a str>,
    /// The newest request stands verbatim elsewhere.
    pub task_elsewhere: bool,
    /// Write `<read-files>` and `<modified-files>` blocks instead of a files section.
    pub file_blocks: bool,
    /// What a manual compaction asked to keep, as lower-case words.
    pub focus: &'a [String],
    /// Plain words that stand below the identifiers.
    pub words: Option<WordList<'a>>,
}

/// Words for a recap.
pub struct WordList<'a> {
    /// Those of the span.
    pub words: &'a Words,
    /// Those that the context carries elsewhere.
    pub elsewhere: &'a FxHashSet<&'a str>,
    /// What of the cap is theirs, in counted tokens.
    pub cap: u64,
}
