//! Composes a recap within a token cap.
//!
//! The sections come in the order in which a reader needs them: the task, the state, work done and findings,
//! failures, files, and a line that counts everything left out. The state and the changed files come first, within a
//! share of the cap; words and deeds take the rest, then files that were only read, then output.

mod deeds;
mod files;
mod state;

use rustc_hash::FxHashSet;

use crate::counter::TextKind;
use crate::fold::IdList;
use crate::ids::identifiers;
use crate::log::RECALL_TOOL;
use crate::recap::choose::LeftOutCounts;
use crate::recap::escape;
use crate::recap::file_uses::{FileUses, common_root, distinct_files};
use crate::recap::frame::RecapFrame;
use crate::recap::gather::GatheredFacts;
use crate::recap::numbers::MessageNumbers;
use crate::recap::print::DeedPrinter;
use crate::recap::rank::{IdRanking, rank};
use crate::recap::{END, LEFT_OUT, NOTE_START, PATHS_BELOW};
use crate::redact::REPLACEMENT;
use crate::seal;

/// A composed recap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposedRecap {
    /// The text of the recap.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// The identifiers of the span that the recap or the rest of the context names, the most valuable first. A
    /// compound such as `db-prod-1:5432` is followed by its parts.
    pub kept_ids: IdList,
    /// The identifiers of the span that the context no longer names.
    pub lost_ids: IdList,
    /// How many files it names.
    pub files: usize,
    /// How many secrets were replaced.
    pub redacted: u32,
    /// Whether the narration had room.
    pub narrated: bool,
}

/// The largest share of the cap for the state of the work: a third. More of it is a list that nobody needs whole.
const STATE: u64 = 3;
/// The largest share of the cap for changed files, in percent …
const CHANGED: u64 = 10;
/// … and for all files, where blocks of tags list them.
const FILE_BLOCKS: u64 = 25;

/// The user's messages between the covered ones that were not folded are listed by number up to this many; of
/// more, only the count is given.
const STAYED: usize = 6;
/// How the heading of a section begins.
const SECTION: &str = "### ";
/// A sample of the line that counts what was left out. Its tokens are set aside before that line is known.
const LEFT_OUT_SAMPLE: &str = "[Left out: 999 sentences of the user, 999 sentences of the assistant, \
                               999 lines of changes, 999 commands, 9999 lines of output, 99 files.]\n";
/// The line of counts is written only where the recap has room for at least this many such lines; otherwise that
/// room goes to deeds.
const COUNTS: u64 = 8;
/// Tokens that the changed files get even in a short recap: the agent needs the names of changed files longer than
/// the details of the changes.
const LEAST_FILES: u64 = 96;

/// Composes a recap of the gathered facts within `frame.cap` tokens.
#[must_use]
pub fn compose(gathered: &GatheredFacts, frame: &RecapFrame<'_>) -> ComposedRecap {
    let root = common_root(gathered);
    let root = root.as_deref();
    let (printer, files) =
        (DeedPrinter { root, numbers: frame.numbers }, distinct_files(gathered, root));
    let mut writer =
        RecapWriter { out: String::new(), frame, gathered, printer, files, room: frame.cap };
    writer.push(&head_lines(gathered, frame, root));
    let end_of = |text: &str| match frame.before {
        Some(before) => seal::end_line(before, text, frame.is_short()),
        None => END.to_owned(),
    };
    // The end line carries a hash that is not known yet, and its digits may take a few tokens more.
    let end_cost = writer.cost(&end_of("")) + 4;
    writer.room = writer.room.saturating_sub(end_cost);
    let body = writer.room;
    let narrated = writer.narration(body);
    let head = std::mem::take(&mut writer.out);
    // The state is written first, and both may take more than all: it gets what the narration leaves.
    let narration = if narrated { writer.cost(frame.narration) } else { 0 };
    writer.room = writer.room.saturating_sub(narration);
    let checks = writer.state(body / STATE);
    if narrated {
        writer.out.push_str(frame.narration);
    }
    let state = std::mem::take(&mut writer.out);
    let files_share = if frame.file_blocks { FILE_BLOCKS } else { CHANGED };
    let for_files = (body.saturating_mul(files_share) / 100).max(LEAST_FILES.min(body / 3));
    // Written on trial: deeds leave just the tokens that the changed files take, and output those of read files, too.
    let for_all = writer.cost(&writer.files(for_files, true).0);
    let for_files = writer.cost(&writer.files(for_files, false).0);
    let for_counts = writer.cost(LEFT_OUT_SAMPLE);
    let for_counts = if for_counts <= body / COUNTS { for_counts } else { 0 };
    let room = writer.room.saturating_sub(for_files + for_counts);
    let deeds = writer.deeds(&checks, room, for_all - for_files, state.is_empty());
    // A reader needs the task first and then the state.
    writer.out = head + &deeds.task + &state + &deeds.rest;
    // A file can be read again, so deeds come before files that were only read.
    let most = if frame.file_blocks { for_files } else { u64::MAX };
    let (files, listed) = writer.files(writer.room.saturating_sub(for_counts).min(most), true);
    writer.push(&files);
    writer.left_out(deeds.left_out, listed);
    if frame.cap > 0 {
        writer.out.push_str(frame.put_back);
    }
    // Names are counted as the reader gets the text: a secret may take ordinary names with it.
    let shown = gathered.secrets.without(&writer.out);
    let mut named: FxHashSet<&str> = identifiers(&shown).collect();
    // The header names the folder of a shortened path.
    let shortened = gathered.files.keys().filter(|path| named.contains(printer.path(path)));
    let whole: Vec<&str> = shortened.map(String::as_str).collect();
    named.extend(whole);
    let IdRanking { kept_ids, lost_ids } = rank(gathered, frame, &named);
    let mut text = shown.clone().into_owned();
    text.push_str(&end_of(&text));
    let redacted = u32::try_from(text.matches(REPLACEMENT).count()).unwrap_or(u32::MAX);
    ComposedRecap {
        tokens: u64::from(frame.counter.count(&text, TextKind::Prose)),
        kept_ids,
        lost_ids,
        files: listed,
        text,
        redacted,
        narrated,
    }
}

/// The header and the note that says what a recap is. A short recap has a shorter note.
fn head_lines(gathered: &GatheredFacts, frame: &RecapFrame<'_>, root: Option<&str>) -> String {
    let count = gathered.messages;
    let (s, verb) = if count == 1 { ("", "is") } else { ("s", "are") };
    let numbers = gathered.numbers.filter(|_| frame.numbers == MessageNumbers::Shown);
    let which = numbers.map_or(String::new(), |(first, last)| format!(", @{first} to @{last},"));
    let root =
        root.map_or(String::new(), |root| format!("{PATHS_BELOW}{}.", escape::inline(root, 300)));
    let root = stayed(gathered, frame) + &root;
    if frame.is_short() {
        let which = which.trim_end_matches(',');
        let header = &frame.header;
        return format!("{header}\n{NOTE_START} {count} earlier message{s}{which}.{root}]\n");
    }
    let recall = frame.recalls.map_or_else(String::new, |name| match name {
        RECALL_TOOL => format!(", for {name}"),
        _ => ", for recall".to_owned(),
    });
    let number = frame.numbers.shown(format!(" @n is the number of a message{recall}."));
    format!(
        "{}\n{NOTE_START} {count} earlier message{s}{which} {verb} folded into this recap; newer ones \
         follow. Its words are of then; unmarked lines are the assistant's.{number}{root} Not covered here: file contents, full outputs, reasoning. Read again \
         what you need.]\n",
        frame.header
    )
}

/// The sentences that name the messages which lie between the covered ones and stay in the context.
fn stayed(gathered: &GatheredFacts, frame: &RecapFrame<'_>) -> String {
    let numbers_of = |seqs: &[u32]| -> Vec<String> {
        seqs.iter().map(|seq| format!("@{}", seq + gathered.shift)).collect()
    };
    let (numbers, others) = (numbers_of(frame.stayed), numbers_of(frame.beside));
    let others = match (others.first(), others.last()) {
        (Some(first), Some(last)) if others.len() > STAYED => {
            format!(" {} older messages ({first} to {last}) stay below, too.", others.len())
        }
        (Some(_), _) => format!(" Older messages that stay below, too: {}.", others.join(", ")),
        _ => String::new(),
    };
    let users = match numbers.first() {
        None => String::new(),
        Some(_) if numbers.len() <= STAYED => format!(
            " The user's {} stays below, word for word; what has a higher number came after it.",
            numbers.join(", ")
        ),
        Some(first) => format!(
            " {} messages of the user from {first} on stay below, word for word.",
            numbers.len()
        ),
    };
    users + &others
}

/// Writes a recap section by section, and keeps account of the tokens that are left.
struct RecapWriter<'a> {
    /// The text so far.
    out: String,
    frame: &'a RecapFrame<'a>,
    gathered: &'a GatheredFacts,
    printer: DeedPrinter<'a>,
    files: FileUses<'a>,
    /// Tokens that are left for further sections.
    room: u64,
}

impl RecapWriter<'_> {
    fn cost(&self, text: &str) -> u64 {
        u64::from(self.frame.counter.count(text, TextKind::Prose))
    }

    /// Appends a text, and takes its tokens from those that are left.
    fn push(&mut self, text: &str) {
        self.room = self.room.saturating_sub(self.cost(text));
        self.out.push_str(text);
    }

    /// Whether the narration has room. It may take at most three quarters of the recap's tokens, so that computed
    /// lines have room, too.
    fn narration(&mut self, body: u64) -> bool {
        let text = self.frame.narration;
        !text.is_empty() && self.cost(text) * 4 <= body * 3
    }

    /// Writes a section with the lines that fit. `best_first` holds each line with its place: the best lines are
    /// chosen first, then written in the order of their places. Returns the places that were written.
    fn list(
        &mut self,
        name: &str,
        best_first: Vec<(usize, String)>,
        allowed: u64,
    ) -> FxHashSet<usize> {
        let header = format!("### {name}\n");
        let mut room = allowed.min(self.room).saturating_sub(self.cost(&header));
        let mut chosen: Vec<(usize, String)> = Vec::new();
        for (place, line) in best_first {
            let cost = self.cost(&line);
            // A line that does not fit is passed over: a shorter one of less worth may still fit.
            if cost <= room {
                room -= cost;
                chosen.push((place, line));
            }
        }
        if chosen.is_empty() {
            return FxHashSet::default();
        }
        chosen.sort_by_key(|(place, _)| *place);
        let places = chosen.iter().map(|(place, _)| *place).collect();
        self.push(&chosen.into_iter().fold(header, |text, (_, line)| text + &line));
        places
    }

    /// Writes the line that counts what was left out, by kind.
    fn left_out(&mut self, counts: LeftOutCounts, files: usize) {
        let files = self.files.len().saturating_sub(files);
        let kinds = [
            (counts.of_user, "sentence", " of the user"),
            (counts.of_application, "sentence", " of the application"),
            (counts.of_notes, "sentence", " of notes"),
            (counts.of_assistant, "sentence", " of the assistant"),
            (counts.changes, "line", " of changes"),
            (counts.commands, "command", ""),
            (counts.output, "line", " of output"),
            (files, "file", ""),
        ];
        let list: Vec<String> = kinds
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, name, of)| {
                let s = if count == 1 { "" } else { "s" };
                format!("{count} {name}{s}{of}")
            })
            .collect();
        let how = match self.frame.recalls {
            Some(RECALL_TOOL) => ". midfold_recall brings them back by @n",
            Some(_) => ". Tools bring them back by @n",
            None => "",
        };
        let line = format!("{LEFT_OUT}{}{how}.]\n", list.join(", "));
        if !list.is_empty() && self.cost(&line) <= self.room {
            self.push(&line);
        }
    }
}

#[cfg(test)]
mod tests;
