//! How far the work is, on a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::replay::Recorded;
use crate::words::plural;

/// A line that is written over; nothing where nobody looks.
pub struct Progress {
    shown: bool,
    done: AtomicUsize,
}

impl Progress {
    pub fn new(json: bool) -> Self {
        Self { shown: !json && stderr().is_terminal(), done: AtomicUsize::new(0) }
    }

    /// One replay of a conversation is done.
    pub fn step(&self, recorded: &Recorded) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shown {
            let name: String = recorded.name.chars().take(60).collect();
            let done = plural(done as u64, "replay");
            let place = match recorded.file {
                (_, 1) => String::new(),
                (at, count) => format!("file {at} of {count}, "),
            };
            let _ = write!(stderr().lock(), "\r\x1b[2K{place}{done}, {name}");
        }
    }

    /// Something else that is under way.
    pub fn say(&self, text: &str) {
        if self.shown {
            let _ = write!(stderr().lock(), "\r\x1b[2K{text}");
        }
    }

    /// Clears the line.
    pub fn end(&self) {
        if self.shown {
            let _ = write!(stderr().lock(), "\r\x1b[2K");
        }
    }
}
