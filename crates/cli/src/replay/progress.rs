//! Shows on a terminal how far the work is.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::output;
use crate::replay::CorpusConversation;
use crate::words::plural;

/// Counts the finished replays and shows their number.
pub struct ReplayProgress {
    line: output::ProgressLine,
    count: AtomicUsize,
}

impl ReplayProgress {
    pub fn new(json: bool) -> Self {
        Self { line: output::ProgressLine::new(json), count: AtomicUsize::new(0) }
    }

    /// Counts one finished replay of a conversation.
    pub fn step(&self, recorded: &CorpusConversation) {
        let replays = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if self.line.is_shown() {
            let text = plural(replays as u64, "replay");
            let place = match recorded.file {
                (_, 1) => String::new(),
                (at, count) => format!("file {at} of {count}, "),
            };
            self.line.show(&format!("{place}{text}, {}", recorded.name));
        }
    }

    /// Clears the line on the terminal.
    pub fn end(&self) {
        self.line.end();
    }
}
