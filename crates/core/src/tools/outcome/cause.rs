//! Finds the line of an output that says why something failed, and the lines that say nothing about it.

use std::borrow::Cow;

use super::known_lines::KnownOutcomes;
use super::lines::{self, raised};
use crate::salient::may_be_salient;

/// The rank of an exception's line among the patterns of `causes`. A lower rank says more; a test run's own messages
/// come first.
const EXCEPTION: usize = 5;
/// The rank of an exception's line that has no message.
const NAME: usize = 8;

/// The line of an output that says why it failed; `None` where no line does.
pub(super) fn cause(known: &KnownOutcomes, text: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let mut chained = false;
    let mut reader = OutputReader::default();
    let mut at = 0;
    for raw in text.split('\n') {
        let start = at;
        at += raw.len() + 1;
        if reader.echoes(raw) {
            continue;
        }
        let line = plain(lines::clean(raw));
        if line.is_empty() {
            continue;
        }
        chained |= is_chain(&line);
        let candidate = match raised(text, start).map(lines::clean) {
            Some(line) => {
                let rank = if line.contains(": ") { EXCEPTION } else { NAME };
                Some((rank, line))
            }
            None => known.cause_rank(&line).map(|rank| (rank, line)),
        };
        let Some((rank, line)) = candidate else { continue };
        // Where one exception caused another, the last one is what the program reported.
        let better =
            |known: &usize| rank < *known || chained && rank == *known && rank == EXCEPTION;
        if best.as_ref().is_none_or(|(known, _)| better(known)) {
            best = Some((rank, without_mark(&line)));
        }
        chained = false;
    }
    best.map(|(_, line)| line)
}

/// Removes the extra indentation that pytest puts behind the `E` of an error line, to match the source above.
fn plain(line: Cow<'_, str>) -> Cow<'_, str> {
    match line.strip_prefix("E    ") {
        Some(error) => Cow::Owned(format!("E   {}", error.trim_start())),
        None => line,
    }
}

/// A line without the mark that a tool puts in front of it.
fn without_mark(line: &str) -> String {
    let line = ["E   ", "- "].iter().find_map(|mark| line.strip_prefix(*mark)).unwrap_or(line);
    lines::telling(line.trim_start())
}

/// Whether Python writes this line between two exceptions, of which the first caused the second.
fn is_chain(line: &str) -> bool {
    line.starts_with("During handling of the above exception")
        || line.starts_with("The above exception was the direct cause")
}

/// The salient lines that may say why something failed, without echoed source and without lines about other tests.
pub(super) fn telling_lines(known: &KnownOutcomes, text: &str) -> Vec<String> {
    let mut reader = OutputReader::default();
    let tells = |raw: &&str| !reader.echoes(raw);
    let lines: Vec<_> = text.split('\n').filter(tells).map(lines::clean).collect();
    // Most lines hold no word that speaks of a failure: they are not matched with all patterns.
    let tells = |line: &str| {
        may_be_salient(line) && lines::says(line) && !known.is_idle(line) && !known.wraps(line)
    };
    lines.iter().filter(|line| tells(line)).map(|line| without_mark(line)).collect()
}

/// Reads an output line by line, and recognises lines of source that a tool echoes.
#[derive(Default)]
struct OutputReader {
    /// The indentation of the `File "…"` line above: deeper lines are source. `None` outside a traceback.
    frame: Option<usize>,
    /// Whether the line is in pytest's report of a failed test, where indented lines are source.
    report: bool,
}

impl OutputReader {
    /// Whether a line is echoed source. Lines have to come in order.
    fn echoes(&mut self, raw: &str) -> bool {
        let line = raw.trim_start();
        let margin = raw.len() - line.len();
        if line.is_empty() {
            return false;
        }
        if let Some(frame) = self.frame {
            if margin > frame {
                return true;
            }
            self.frame = None;
        }
        if line.starts_with("File \"") && line.contains("\", line ") {
            self.frame = Some(margin);
        }
        // `____ test_it ____` begins a report, and `==== short test summary ====` ends it.
        if margin == 0 && line.starts_with("____") {
            self.report = true;
        } else if line.starts_with("====") {
            self.report = false;
        }
        self.report && margin >= 4 || is_numbered(line) || margin == 0 && raw.starts_with(">    ")
    }
}

/// Whether a line is source with its number: `1481: raise x`, `12 | let x`, `47→let x`.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && [": ", " | ", " |\t", "→", "\t"].iter().any(|mark| rest.starts_with(mark))
}
