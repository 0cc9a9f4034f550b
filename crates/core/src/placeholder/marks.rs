//! The marks that a fold printed, and those among them that a call copies.

use std::borrow::Cow;

use super::leaves::{ArgumentText, texts};
use super::{ArgumentPlaceholder, MarkKind, OriginalTexts};
use crate::dialect::Dialect;
use crate::exchanges::own_tool;
use crate::fold::{BlockEdit, EditKind, Fold, FoldEntry};
use crate::log::is_recall;
use crate::policy::ReducerName;
use crate::recap::LEFT_OUT;
use crate::recap::read_line::{is_joined, told_call};
use crate::reduce::{cut_end, gap_lines, may_cut};
use crate::tools::{ToolKind, ToolTable, code_mode};
use crate::view::{BlockView, EventView};

/// A shorter line is too common to be a mark.
const LEAST: usize = 12;
/// So many characters in front of the end of a cut argument are printed with it: a copy of both is no mention.
const BEFORE: usize = 8;

/// A text that a fold printed in the place of what it left out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PrintedMark {
    text: String,
    /// The text in front of it, in its line. Empty for a mark that is a whole line.
    before: String,
    kind: MarkKind,
    /// The numbers of the messages that it may stand for, each with all that was printed in front of it there.
    messages: Vec<(u32, String)>,
}

/// The marks that a fold printed.
#[derive(Clone, Debug, Default)]
pub struct PrintedMarks {
    marks: Vec<PrintedMark>,
    /// Arguments that were replaced as a whole, and the numbers of their messages.
    whole: Vec<(String, Vec<u32>)>,
    /// How many events the log had when the fold was made.
    events: u32,
}

impl PrintedMarks {
    /// Reads the marks that a fold printed.
    #[must_use]
    pub fn of(fold: &Fold, dialect: &dyn Dialect) -> Self {
        let mut printed = Self { events: fold.accounts.events, ..Self::default() };
        let mut edits = &fold.edits[..];
        for entry in &fold.entries {
            match entry {
                FoldEntry::Edited { seq, bytes } => {
                    // Both lists are in the order of the log.
                    let from = edits.partition_point(|edit| edit.seq < *seq);
                    let to = edits.partition_point(|edit| edit.seq <= *seq);
                    printed.add_edits(&edits[from..to], bytes.as_bytes(), dialect);
                    edits = &edits[to..];
                }
                FoldEntry::Marker { bytes } => {
                    let view = dialect.view(bytes.as_bytes());
                    for block in &view.blocks {
                        printed.add(&block.text(bytes.as_bytes()), MarkKind::Recap, &[]);
                    }
                }
                FoldEntry::Recap { .. } | FoldEntry::Verbatim { .. } => {}
            }
        }
        if let Some(recap) = &fold.recap {
            printed.add_recap(&recap.text);
        }
        printed
    }

    /// Adds the marks of a message whose results are shown cut beside the fold.
    pub fn add_cut(&mut self, seq: u32, view: &EventView, bytes: &[u8]) {
        for block in view.blocks.iter().filter(|block| may_cut(block)) {
            self.add_gaps(block, &block.text(bytes), &[seq]);
        }
    }

    /// Adds the lines of a block in the place of what is left out. In arguments they are inside strings.
    fn add_gaps(&mut self, block: &BlockView, text: &str, seq: &[u32]) {
        if !block.is_call() {
            gap_lines(text).for_each(|line| self.add(line, MarkKind::CutResult, seq));
            return;
        }
        for argument in texts(text) {
            gap_lines(&argument.text).for_each(|line| self.add(line, MarkKind::CutArgument, seq));
        }
    }

    /// Whether a message with this number was there when the fold was made.
    #[must_use]
    pub fn is_before(&self, seq: usize) -> bool {
        seq < self.events as usize
    }

    /// Whether the fold printed no mark.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.whole.is_empty()
    }

    /// The placeholders in a call of this tool. `arguments` is JSON or a text; `originals` is asked only where a mark is
    /// found.
    #[must_use]
    pub fn copied(
        &self,
        tool: &str,
        arguments: &str,
        tools: &ToolTable,
        originals: impl FnOnce() -> OriginalTexts,
    ) -> Vec<ArgumentPlaceholder> {
        let (tool, arguments) =
            code_mode::inner_call(Cow::Borrowed(tool), Cow::Borrowed(arguments));
        let kind = tools.facts(&tool, &arguments).kind;
        if self.is_empty() || own_tool(&tool).is_some() || is_recall(&tool) || only_asks(kind) {
            return Vec::new();
        }
        let mut copies = self.replaced(&arguments);
        for argument in texts(&arguments) {
            let marks = self.marks.iter().filter(|mark| mark.may_be_content(kind));
            copies.extend(marks.filter_map(|mark| mark.copied_into(&argument)));
        }
        if !copies.is_empty() {
            let originals = originals();
            copies.retain(|copy| !originals.hold(&copy.mark));
        }
        copies
    }

    /// Arguments that are wholly a replacement.
    fn replaced(&self, arguments: &str) -> Vec<ArgumentPlaceholder> {
        let same = self.whole.iter().filter(|(text, _)| text.trim() == arguments.trim());
        let placeholder = |(text, messages): &(String, Vec<u32>)| ArgumentPlaceholder {
            mark: text.clone(),
            kind: MarkKind::CutArgument,
            argument: String::new(),
            messages: messages.clone(),
        };
        same.map(placeholder).collect()
    }

    /// Reads the edits of one message.
    fn add_edits(&mut self, edits: &[BlockEdit], bytes: &[u8], dialect: &dyn Dialect) {
        let view = dialect.view(bytes);
        let mut removed = 0;
        for edit in edits {
            if edit.kind == EditKind::Removed {
                removed += 1;
                continue;
            }
            let Some(block) =
                (edit.block as usize).checked_sub(removed).and_then(|at| view.blocks.get(at))
            else {
                continue;
            };
            let text = block.text(bytes);
            let seq = [edit.seq];
            match edit.reducer {
                ReducerName::Arguments => self.add_arguments(&text, edit.seq),
                ReducerName::Cut => self.add_gaps(block, &text, &seq),
                _ => self.add(text.lines().next().unwrap_or_default(), MarkKind::Line, &seq),
            }
        }
    }

    /// Reads clipped arguments.
    fn add_arguments(&mut self, text: &str, seq: u32) {
        let mut is_cut = false;
        for argument in texts(text) {
            let Some(end) = cut_end(&argument.text) else { continue };
            is_cut = true;
            let before = &argument.text[..argument.text.len() - end.len()];
            let line = before.rsplit('\n').next().unwrap_or_default();
            let from = line.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
            let messages = vec![(seq, before.to_owned())];
            self.push(end, &line[from..], MarkKind::CutArgument, messages);
        }
        if !is_cut {
            match self.whole.iter_mut().find(|(known, _)| known == text) {
                Some((_, messages)) => messages.push(seq),
                None => self.whole.push((text.to_owned(), vec![seq])),
            }
        }
    }

    /// Reads the lines of a recap that tell of calls, and of what it left out. Words of people are content wherever
    /// they are written.
    fn add_recap(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((message, quoted)) = told_call(line) {
                self.add(line, MarkKind::Recap, &[message]);
                // What the line quotes is content, unless it is no text of the original any more.
                if is_joined(quoted) {
                    self.add(quoted, MarkKind::Recap, &[message]);
                }
            } else if line.starts_with(LEFT_OUT) {
                self.add(line, MarkKind::Recap, &[]);
            }
        }
    }

    fn add(&mut self, line: &str, kind: MarkKind, messages: &[u32]) {
        let messages = messages.iter().map(|at| (*at, String::new())).collect();
        self.push(line.trim(), "", kind, messages);
    }

    fn push(&mut self, text: &str, before: &str, kind: MarkKind, messages: Vec<(u32, String)>) {
        if text.chars().count() < LEAST {
            return;
        }
        let is_same = |mark: &&mut PrintedMark| mark.text == text && mark.before == before;
        if let Some(known) = self.marks.iter_mut().find(is_same) {
            known.messages.extend(messages);
            return;
        }
        let (text, before) = (text.to_owned(), before.to_owned());
        self.marks.push(PrintedMark { text, before, kind, messages });
    }
}

/// Whether a call of this kind only looks for something, or keeps the agent's own list: a mark in it does no harm.
fn only_asks(kind: ToolKind) -> bool {
    matches!(
        kind,
        ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Web | ToolKind::Todo
    )
}

impl PrintedMark {
    /// Whether it can be meant as content in a call of this kind: an agent may hand on to another what a recap says.
    fn may_be_content(&self, kind: ToolKind) -> bool {
        self.kind != MarkKind::Recap || kind != ToolKind::Task
    }

    /// The placeholder, where a text holds the mark as content: as a whole line, or behind what it was printed behind.
    /// Any other place is a mention.
    fn copied_into(&self, argument: &ArgumentText) -> Option<ArgumentPlaceholder> {
        let text = argument.text.as_str();
        let mut places = memchr::memmem::find_iter(text.as_bytes(), &self.text);
        let at = places.find(|at| {
            let at = *at;
            let (before, behind) = (&text[..at], &text[at + self.text.len()..]);
            let line = before.rsplit('\n').next().unwrap_or_default();
            let rest = behind.split('\n').next().unwrap_or_default();
            let is_line = line.trim().is_empty() && rest.trim().is_empty();
            is_line || !self.before.trim().is_empty() && line.ends_with(&self.before)
        })?;
        Some(ArgumentPlaceholder {
            mark: self.text.clone(),
            kind: self.kind,
            argument: argument.name.clone(),
            messages: self.messages_behind(&text[..at]),
        })
    }

    /// The messages for which a mark behind this text may stand: those in which all of it was printed there, or else
    /// all.
    fn messages_behind(&self, text: &str) -> Vec<u32> {
        let of = |fits: &dyn Fn(&str) -> bool| {
            let fitting = self.messages.iter().filter(|(_, before)| fits(before));
            let mut messages: Vec<u32> = fitting.map(|(message, _)| *message).collect();
            messages.sort_unstable();
            messages.dedup();
            messages
        };
        let whole = of(&|before| text.ends_with(before));
        if whole.is_empty() { of(&|_| true) } else { whole }
    }
}
