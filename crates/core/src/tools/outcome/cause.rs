//! Why something failed: the line of its output that tells most of it, and the lines that tell nothing.

use std::borrow::Cow;

use super::known_lines::KnownOutcomes;
use super::lines::{self, raised};

/// The rank of the line of an exception among those of `causes`: behind what a test run tells of itself.
const EXCEPTION: usize = 5;
/// The same for a name alone, without words.
const NAME: usize = 8;

/// The line of an output that tells why it failed.
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
        let found = match raised(text, start).map(lines::clean) {
            Some(line) => {
                let rank = if line.contains(": ") { EXCEPTION } else { NAME };
                Some((rank, line))
            }
            None => {
                let ranks = known.causes.iter().filter(|(_, glob)| glob.matches(&line));
                ranks.map(|(rank, _)| *rank).min().map(|rank| (rank, line))
            }
        };
        let Some((rank, line)) = found else { continue };
        // Of exceptions that follow from each other the last is what came out.
        let better =
            |known: &usize| rank < *known || chained && rank == *known && rank == EXCEPTION;
        if best.as_ref().is_none_or(|(known, _)| better(known)) {
            best = Some((rank, told(&line)));
        }
        chained = false;
    }
    best.map(|(_, line)| line)
}

/// pytest begins the lines of an error with `E`, as deep as the source above: that says nothing.
fn plain(line: Cow<'_, str>) -> Cow<'_, str> {
    match line.strip_prefix("E    ") {
        Some(error) => Cow::Owned(format!("E   {}", error.trim_start())),
        None => line,
    }
}

/// A line as it is told.
fn told(line: &str) -> String {
    let line = ["E   ", "- "].iter().find_map(|mark| line.strip_prefix(*mark)).unwrap_or(line);
    lines::telling(line.trim_start())
}

fn is_chain(line: &str) -> bool {
    line.starts_with("During handling of the above exception")
        || line.starts_with("The above exception was the direct cause")
}

/// The lines of a failure that may tell why: without the source that tools echo around it, and
/// without what they say of other tests.
pub(super) fn telling_lines(known: &KnownOutcomes, text: &str) -> Vec<String> {
    let mut reader = OutputReader::default();
    let tells = |raw: &&str| !reader.echoes(raw);
    let lines: Vec<_> = text.split('\n').filter(tells).map(lines::clean).collect();
    let tells = |line: &str| lines::says(line) && !known.is_idle(line) && !known.wraps(line);
    lines.iter().filter(|line| tells(line)).map(|line| told(line)).collect()
}

/// Reads an output line by line, and knows which lines are source that a tool echoes.
#[derive(Default)]
struct OutputReader {
    /// The indentation of the line of a traceback above: what is deeper is source.
    frame: Option<usize>,
    /// In the report of a failed test of pytest: what is indented is source.
    report: bool,
}

impl OutputReader {
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
        // `____ test_it ____` opens a report, and `==== short test summary ====` ends it.
        if margin == 0 && line.starts_with("____") {
            self.report = true;
        } else if line.starts_with("====") {
            self.report = false;
        }
        self.report && margin >= 4 || is_numbered(line) || margin == 0 && raw.starts_with(">    ")
    }
}

/// `1481: raise x`, `12 | let x`, `47→let x`.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && [": ", " | ", " |\t", "→", "\t"].iter().any(|mark| rest.starts_with(mark))
}
