//! Gathering: one pass over covered events that collects what a recap may say.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::calls::{Calls, ResultSite};
use crate::ids::identifiers;
use crate::log::Event;
use crate::recap::idtable::IdTable;
use crate::recap::rules::rules;
use crate::reduce::{salient_lines, shorten, verdict};
use crate::tools::{CallFacts, ToolKind, ToolTable};
use crate::view::{BlockKind, Origin, Role};

/// A quotation from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The event that says it; `None` when an earlier recap handed it on.
    pub seq: Option<u32>,
    /// The words.
    pub text: String,
}

/// A file that calls read or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Was read.
    pub read: bool,
    /// Was written, created or removed.
    pub modified: bool,
    /// Order of the last use.
    pub last: u32,
    /// Number of the folded message that used it last, from 1; 0 where nothing tells.
    pub message: u32,
}

/// A command and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The command on one line.
    pub text: String,
    /// What came of it: `exit 1: E assert`.
    pub outcome: String,
}

/// All that a recap may say about a span.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// Messages covered, those of earlier recaps included.
    pub messages: usize,
    /// What the user asked, in order.
    pub requests: Vec<Quote>,
    /// Rules that the user stated.
    pub rules: Vec<Quote>,
    /// Text of earlier recaps that no section of ours claims.
    pub notes: Vec<String>,
    /// What the assistant said about its steps: the first words of its messages, in order.
    pub steps: Vec<String>,
    /// Files by path.
    pub files: FxHashMap<String, FileUse>,
    /// Commands in order.
    pub commands: Vec<Command>,
    /// Error lines in order.
    pub errors: Vec<String>,
    /// Identifiers.
    pub ids: IdTable,
    /// Whether it tells of what edits took out of messages that stay.
    pub edited: bool,
    /// Whether an earlier recap handed identifiers on.
    pub(crate) carries: bool,
    order: u32,
    /// Files have an order of their own, so that what identifiers are worth does not depend on it.
    file_order: u32,
    /// What was taken in.
    runs: Vec<Range<usize>>,
}

/// Longest command that is kept, in characters.
const COMMAND_CHARS: usize = 160;
/// Longest words about a step that are kept, in characters.
const STEP_CHARS: usize = 140;
/// Words about a step have more than one word: `Perfect!` tells nothing.
const STEP_WORDS: usize = 3;
/// Most steps, commands and error lines that are kept while gathering; the newest stay.
const KEEP: usize = 400;
/// A result of a tool that runs no command tells an outcome only if it is short, in bytes.
const OUTCOME_BYTES: usize = 2_000;
/// Salient lines taken from one result, in characters.
const RESULT_LINES: usize = 420;
impl Gathered {
    /// What these runs of events say. Goes on from what was gathered before where that is a part
    /// of it from the start; the answer is the same as that of gathering anew.
    #[must_use]
    pub fn over(
        before: Option<Self>,
        events: &[Event],
        runs: &[Range<usize>],
        tools: &ToolTable,
    ) -> Self {
        let mut gathered = before.filter(|before| before.starts(runs)).unwrap_or_default();
        let done = gathered.runs.clone();
        for (at, run) in runs.iter().enumerate() {
            let from = done.get(at).map_or(run.start, |done| done.end);
            if from < run.end {
                gathered.add(events, from..run.end, tools);
            }
        }
        gathered.runs = runs.to_vec();
        gathered
    }

    /// Whether what was taken in is the beginning of these runs.
    fn starts(&self, runs: &[Range<usize>]) -> bool {
        let last = self.runs.len().saturating_sub(1);
        let begins = |(at, (own, run)): (usize, (&Range<usize>, &Range<usize>))| {
            own.start == run.start && (own.end == run.end || (at == last && own.end < run.end))
        };
        self.runs.len() <= runs.len() && self.runs.iter().zip(runs).enumerate().all(begins)
    }

    /// Takes in the events of `range`.
    pub fn add(&mut self, events: &[Event], range: Range<usize>, tools: &ToolTable) {
        let calls = Calls::find(events, range.clone());
        let facts: Vec<CallFacts> = calls.calls.iter().map(|call| call.facts(tools)).collect();
        let mut results = calls.results.iter().peekable();
        let mut scratch = String::new();
        // About one new identifier comes every hundred bytes; growing the table is what costs.
        let bytes: usize = events[range.clone()].iter().map(|event| event.bytes.len()).sum();
        self.ids.reserve((bytes / 128).min(1 << 17));
        let mut made = calls.calls.iter().zip(&facts).peekable();
        for event in &events[range] {
            self.add_event(event, &mut scratch, |gathered, index, text| {
                // Results come in the order of the events, so the next one is the one wanted.
                while results.next_if(|r| (r.event.seq, r.index) < (event.seq, index)).is_some() {}
                if let Some(result) =
                    results.next_if(|r| (r.event.seq, r.index) == (event.seq, index))
                {
                    gathered.add_result(result, result.call.map(|call| &facts[call]), text, tools);
                }
            });
            while let Some((_, facts)) = made.next_if(|(call, _)| call.event.seq <= event.seq) {
                let message = u32::try_from(self.messages).unwrap_or(u32::MAX);
                facts.reads.iter().for_each(|path| self.use_file(path, false, message));
                facts.writes.iter().for_each(|path| self.use_file(path, true, message));
            }
        }
        keep_newest(&mut self.steps);
        keep_newest(&mut self.commands);
        keep_newest(&mut self.errors);
    }

    /// Takes in what edits took out of messages that stay: event and place of each block, in
    /// order. Calls and words of the assistant that are edited are still to be seen in part, so
    /// that only identifiers and outcomes are told of them.
    pub fn add_edited(&mut self, events: &[Event], blocks: &[(usize, usize)], tools: &ToolTable) {
        let (Some((first, _)), Some((last, _))) = (blocks.first(), blocks.last()) else { return };
        self.edited = true;
        let calls = Calls::find(events, *first..last + 1);
        let mut results = calls.results.iter().peekable();
        for (at, index) in blocks {
            let event = &events[*at];
            let block = &event.view.blocks[*index];
            if block.is_reasoning() {
                continue;
            }
            let text = block.plain(&event.bytes);
            self.add_ids(&text, event.view.role, &block.kind);
            while results.next_if(|r| (r.event.seq, r.index) < (event.seq, *index)).is_some() {}
            let Some(result) = results.next_if(|r| (r.event.seq, r.index) == (event.seq, *index))
            else {
                continue;
            };
            let facts = calls.call_of(result).map(|call| call.facts(tools));
            self.add_result(result, facts.as_ref(), &text, tools);
        }
    }

    /// The order of the newest use.
    pub(crate) fn newest(&self) -> u32 {
        self.order
    }

    /// A number that grows with every use, to order files and identifiers by.
    pub(crate) fn next_order(&mut self) -> u32 {
        self.order += 1;
        self.order
    }

    /// `on_result` is given the index and the text of each result, so that it is decoded once.
    fn add_event(
        &mut self,
        event: &Event,
        scratch: &mut String,
        mut on_result: impl FnMut(&mut Self, usize, &str),
    ) {
        let view = &event.view;
        if view.origin == Origin::Recap {
            self.add_recap(&event.text());
            return;
        }
        self.messages += 1;
        if view.is_real_user() {
            let text = view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
            self.add_request(event.seq, &text);
        }
        for (index, block) in view.blocks.iter().enumerate() {
            if block.is_reasoning() {
                continue;
            }
            let text = block.plain_with(&event.bytes, scratch);
            self.add_ids(text, view.role, &block.kind);
            match &block.kind {
                BlockKind::Text if view.role == Role::Assistant => self.steps.extend(step(text)),
                BlockKind::Call { name: Some(name), .. } => {
                    self.add_ids(&name.decode(&event.bytes), view.role, &block.kind);
                }
                _ => {}
            }
            if block.is_result() {
                on_result(self, index, text);
            }
        }
    }

    fn add_request(&mut self, seq: u32, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.requests.push(Quote { seq: Some(seq), text: text.to_owned() });
        for rule in rules(text) {
            if self.rules.iter().all(|known| known.text != rule) {
                self.rules.push(Quote { seq: Some(seq), text: rule });
            }
        }
    }

    fn add_ids(&mut self, text: &str, role: Role, kind: &BlockKind) {
        self.order += 1;
        let order = self.order;
        for id in identifiers(text) {
            let Some(used) = self.ids.once(id, order) else { continue };
            match (role, kind) {
                (_, BlockKind::Result { .. }) | (Role::Tool, _) => used.result += 1,
                (Role::Assistant, _) => used.said += 1,
                (Role::User, _) => used.user += 1,
                _ => used.result += 1,
            }
        }
    }

    fn add_result(
        &mut self,
        result: &ResultSite<'_>,
        facts: Option<&CallFacts>,
        text: &str,
        tools: &ToolTable,
    ) {
        let Some(facts) = facts else { return };
        let shell = facts.kind == ToolKind::Shell;
        let flagged = matches!(result.block.kind, BlockKind::Result { error: Some(true), .. });
        // What is long and comes from no command is content, not an outcome.
        if !shell && !flagged && text.len() > OUTCOME_BYTES {
            return;
        }
        let outcome = tools.outcome(facts.kind, text);
        let failed = flagged || outcome.error || outcome.exit.is_some_and(|code| code != 0);
        let lines = if failed { salient_lines(text, RESULT_LINES) } else { Vec::new() };
        // A look at files that worked stands in the list of files.
        let looked = facts.writes.is_empty() && !facts.reads.is_empty();
        if let (true, Some(command)) = (shell && (failed || !looked), &facts.command) {
            self.commands.push(Command {
                text: first_line(command),
                outcome: describe(outcome.exit, failed, verdict(&lines)),
            });
        }
        self.errors.extend(lines.into_iter().filter(|line| tells(line)).take(3));
    }

    pub(crate) fn use_file(&mut self, path: &str, modified: bool, message: u32) {
        if path.is_empty() || path.len() > 300 {
            return;
        }
        self.file_order += 1;
        let order = self.file_order;
        let file = self.files.entry(path.to_owned()).or_default();
        file.last = order;
        file.message = message;
        if modified {
            file.modified = true;
        } else {
            file.read = true;
        }
    }
}

fn keep_newest<T>(list: &mut Vec<T>) {
    if list.len() > KEEP {
        list.drain(..list.len() - KEEP);
    }
}

/// Whether a line says what went wrong, not only that or where.
fn tells(line: &str) -> bool {
    const OPENINGS: [&str; 4] = ["Traceback (most", "raise ", "def ", "\"\"\""];
    let line = line.trim_start();
    !OPENINGS.iter().any(|opening| line.starts_with(opening))
}

/// The first line of a text that says something, shortened.
fn step(text: &str) -> Option<String> {
    let says = |line: &&str| line.split_whitespace().nth(STEP_WORDS - 1).is_some();
    let line = text.lines().find(says)?;
    Some(shorten(line.trim_start_matches(['#', '*', '-', ' ']), STEP_CHARS))
}

/// A command on one line. What follows its first line is data more often than not: the body of a
/// script or of a file.
fn first_line(command: &str) -> String {
    let command = command.trim();
    match command.split_once('\n') {
        Some((first, _)) if first.len() < command.len() => {
            shorten(first, COMMAND_CHARS - 2).trim_end_matches('…').to_owned() + " …"
        }
        _ => shorten(command, COMMAND_CHARS),
    }
}

fn describe(exit: Option<i64>, error: bool, line: Option<&str>) -> String {
    let mut out = match (exit, error) {
        (Some(code), _) => format!("exit {code}"),
        (None, true) => "error".to_owned(),
        (None, false) => "ok".to_owned(),
    };
    if let Some(line) = line {
        out.push_str(": ");
        out.push_str(&shorten(line, 100));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{first_line, step, tells};

    #[test]
    fn a_step_is_told_by_its_first_line_that_says_something() {
        assert_eq!(
            step("Perfect!\n\n## Now run the tests\nmore").as_deref(),
            Some("Now run the tests")
        );
        assert_eq!(step("Done."), None);
    }

    #[test]
    fn a_command_stands_on_one_line_without_the_data_that_follows_it() {
        assert_eq!(first_line("cat > a.py << 'EOF'\nimport os\nEOF"), "cat > a.py << 'EOF' …");
        assert_eq!(first_line(" cargo test\n"), "cargo test");
    }

    #[test]
    fn an_error_line_says_what_went_wrong() {
        assert!(tells("E   AssertionError: 1 != 2"));
        assert!(!tells("Traceback (most recent call last):"));
        assert!(!tells("    raise ValueError("));
    }
}
