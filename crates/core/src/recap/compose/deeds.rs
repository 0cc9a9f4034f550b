//! The sections of a recap with words and deeds.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::{RecapWriter, SECTION};
use crate::recap::choose::{DeedChoice, LeftOutCounts};
use crate::recap::deed::{Deed, DeedKind, Speaker};
use crate::recap::edits::tellable;
use crate::recap::elsewhere::ListedElsewhere;
use crate::recap::interest::ReaderInterest;
use crate::recap::print::{DeedPrinter, text};
use crate::recap::{escape, section};

/// How often deeds are chosen for the tokens that counting their lines as a whole has left.
const ROUNDS: usize = 6;
/// How often deeds are chosen anew for less room, because their lines as a whole were longer than counted.
const TRIES: usize = 4;
/// The headings of these sections.
const HEADINGS: &str = "### Task\n### Notes from before\n### Done so far\n### Tried and failed\n";

/// The sections with words and deeds.
#[derive(Default)]
pub(super) struct DeedSections {
    /// The section with the task; empty where the context shows the task elsewhere.
    pub task: String,
    /// All other sections.
    pub rest: String,
    /// What they leave out.
    pub left_out: LeftOutCounts,
}

/// The deeds that a recap may tell, and how it tells them.
struct DeedDraft<'a> {
    deeds: &'a [Cow<'a, Deed>],
    /// The indices of the deeds that say what the task is.
    task: Vec<usize>,
    printer: DeedPrinter<'a>,
    /// Whether no heading is needed where all lines are of one section.
    is_bare: bool,
}

impl RecapWriter<'_> {
    /// Writes the sections with words and deeds into `room` tokens. `checks` are the messages of checks that the state
    /// lists; output leaves `for_read` tokens; `is_first` says that nothing comes between the header and these sections.
    pub(super) fn deeds(
        &mut self,
        checks: &FxHashSet<u32>,
        room: u64,
        for_read: u64,
        is_first: bool,
    ) -> DeedSections {
        // A cap of 0 comes from policies without a computed recap: they need only the names that leave the context.
        if self.frame.cap == 0 {
            return DeedSections::default();
        }
        let Self { frame, gathered, printer, .. } = *self;
        let deeds = tellable(gathered, frame.later);
        let task = self.task(&deeds);
        let asides = gathered.files.iter().filter(|(_, used)| used.scratch);
        let asides: FxHashSet<&str> = asides.map(|(path, _)| path.as_str()).collect();
        let words = frame.later.into_iter().flat_map(|later| &later.deeds);
        let words = words.filter(|deed| deed.speaker().is_some());
        let texts = words.flat_map(|deed| &deed.parts).map(|part| &*part.text).collect();
        let listed = ListedElsewhere { checks, asides: &asides, texts, task: &task, for_read };
        let interest = ReaderInterest::of(frame.request, frame.focus, frame.later);
        let table = &gathered.words;
        let is_bare = frame.is_short() && is_first;
        let draft = DeedDraft { deeds: &deeds, task: task.clone(), printer, is_bare };
        let with_headings = room.saturating_sub(self.cost(HEADINGS));
        let shorter = std::iter::successors(Some(with_headings), |limit| Some(limit - limit / 8));
        let mut limits = is_bare.then_some(room).into_iter().chain(shorter.take(TRIES));
        let fitting = limits.find_map(|limit| {
            let listed = listed.clone();
            let choice = DeedChoice::of(&deeds, table, &interest, listed, printer, frame.counter);
            self.fill(choice, &draft, limit, room)
        });
        let (best, used) = fitting.unwrap_or_default();
        self.room = self.room.saturating_sub(used);
        best
    }

    /// Chooses deeds for `limit` tokens, and writes them. `None` where the text takes more than `room` tokens, because
    /// the counter counts parts lower than the whole.
    fn fill(
        &self,
        mut choice: DeedChoice<'_>,
        draft: &DeedDraft<'_>,
        limit: u64,
        room: u64,
    ) -> Option<(DeedSections, u64)> {
        let mut best: Option<(DeedSections, u64)> = None;
        // Parts are counted one by one, and a text mostly takes fewer tokens. So what is left is given again.
        let mut chosen = 0;
        for _ in 0..ROUNDS {
            let used = best.as_ref().map(|(_, used)| *used);
            choice.take(used.map_or(limit, |used| room - used));
            let used = used.unwrap_or(0);
            let sections = draft.sections(&choice);
            let cost = self.cost(&sections.task) + self.cost(&sections.rest);
            if cost > room || best.is_some() && cost <= used {
                break;
            }
            best = Some((sections, cost));
            chosen = choice.count();
        }
        // Counted once, because every deed is looked at.
        if let Some((sections, _)) = &mut best {
            sections.left_out = choice.left_out(chosen);
        }
        best
    }

    /// The indices of the user's first and newest message, where the context shows them nowhere else.
    fn task(&self, deeds: &[Cow<'_, Deed>]) -> Vec<usize> {
        let first = deeds.iter().position(|deed| deed.is_users());
        let newest = deeds.iter().rposition(|deed| deed.is_users());
        let first = first.filter(|_| !self.frame.task_in_head);
        let mut task: Vec<usize> =
            first.into_iter().chain(newest.filter(|_| !self.frame.task_elsewhere)).collect();
        task.dedup();
        task
    }
}

impl DeedDraft<'_> {
    /// Writes the chosen lines, each section in the order of the messages.
    fn sections(&self, choice: &DeedChoice<'_>) -> DeedSections {
        let lines = choice.lines();
        // A recap too short for headings has one list, so this one needs no heading.
        let is_all = self.is_bare && lines.iter().all(|(at, _)| self.section(*at) == section::DONE);
        let mut written = DeedSections::default();
        for name in [section::TASK, section::NOTES, section::DONE, section::FAILED] {
            let own: Vec<_> = lines.iter().filter(|(at, _)| self.section(*at) == name).collect();
            let out = if name == section::TASK { &mut written.task } else { &mut written.rest };
            if !own.is_empty() && !is_all {
                out.push_str(&format!("{SECTION}{name}\n"));
            }
            for (at, parts) in own {
                match name {
                    section::NOTES => out.push_str(&note(&self.deeds[*at], parts)),
                    _ => {
                        out.push_str(&self.printer.line(&self.deeds[*at], parts));
                        out.push('\n');
                    }
                }
            }
        }
        written
    }

    /// The section that a deed belongs to.
    fn section(&self, at: usize) -> &'static str {
        match &self.deeds[at].kind {
            _ if self.task.contains(&at) => section::TASK,
            DeedKind::Words(Speaker::Note) => section::NOTES,
            _ if self.deeds[at].went_wrong() => section::FAILED,
            _ => section::DONE,
        }
    }
}

/// The chosen parts of a note, as indented lines, so that none can be taken for a line of midfold's own.
fn note(deed: &Deed, parts: &[usize]) -> String {
    let mut lines = String::new();
    for part in parts.iter().filter_map(|at| deed.parts.get(*at)) {
        lines.push(if part.begins_line { '\n' } else { ' ' });
        lines.push_str(&text(part));
    }
    escape::block(lines.trim())
}
