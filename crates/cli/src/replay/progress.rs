//! How far the work is, on a terminal.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::output;
use crate::replay::Recorded;
use crate::words::plural;

/// The replays that are done.
pub struct Progress {
    line: output::Progress,
    done: AtomicUsize,
}

impl Progress {
    pub fn new(json: bool) -> Self {
        Self { line: output::Progress::new(json), done: AtomicUsize::new(0) }
    }

    /// One replay of a conversation is done.
    pub fn step(&self, recorded: &Recorded) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.line.is_shown() {
            let done = plural(done as u64, "replay");
            let place = match recorded.file {
                (_, 1) => String::new(),
                (at, count) => format!("file {at} of {count}, "),
            };
            self.line.say(&format!("{place}{done}, {}", recorded.name));
        }
    }

    /// Clears the line.
    pub fn end(&self) {
        self.line.end();
    }
}
