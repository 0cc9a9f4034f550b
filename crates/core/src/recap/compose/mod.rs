//! Composes a recap within a token cap.
//!
//! The sections come in the order in which a reader needs them: the task, the state, work done and findings,
//! failures, files, and a line that counts everything left out. The task, the state and the changed files each have a
//! maximum share of the cap. Statements take the rest, and files that were only read take whatever room remains.

mod files;
mod state;
mod task;

use rustc_hash::FxHashSet;

use crate::counter::TextKind;
use crate::fold::IdList;
use crate::ids::identifiers;
use crate::log::RECALL_TOOL;
use crate::recap::escape;
use crate::recap::frame::RecapFrame;
use crate::recap::gather::GatheredFacts;
use crate::recap::group::{GroupedStatement, common_root, group};
use crate::recap::rank::{rank, with_parts};
use crate::recap::select::RankedStatements;
use crate::recap::statement::StatementKind;
use crate::recap::{END, LEFT_OUT, NOTE_START, section};
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
    pub kept: IdList,
    /// The identifiers of the span that the context no longer names.
    pub lost: IdList,
    /// How many files it names.
    pub files: usize,
    /// How many secrets were replaced.
    pub redacted: u32,
    /// Whether the narration had room.
    pub narrated: bool,
}

/// The largest share of the cap that a section takes, in percent.
mod share {
    pub const TASK: u64 = 16;
    pub const NOTES: u64 = 8;
    pub const STATE: u64 = 14;
    pub const CHANGED: u64 = 8;
    pub const FILES: u64 = 14;
    pub const FILE_BLOCKS: u64 = 25;
}

/// The user's messages between the covered ones that were not folded are listed by number up to this many; of
/// more, only the count is given.
const STAYED: usize = 6;
/// How the heading of a section begins.
const SECTION: &str = "### ";
/// A section with less room than this is left out: it would hold little beside its heading. In tokens.
const MIN_SECTION: u64 = 12;
/// A sample of the line that counts what was left out. Its tokens are set aside before that line is known.
const LEFT_OUT_SAMPLE: &str = "[Left out: 99 messages of the user, 999 statements of the assistant, \
                               99 changes, 999 commands, 999 look-ups, 99 files.]\n";
/// The line of counts is written only where the recap has room for at least this many such lines; otherwise that
/// room goes to statements.
const COUNTS: u64 = 12;
/// How many times composing tries another number of characters for the statements.
const TRIES: usize = 8;
/// Tokens that the changed files get even in a short recap: the agent needs the names of changed files longer than
/// the details of the changes.
const LEAST_FILES: u64 = 96;

/// Composes a recap of the gathered facts within `frame.cap` tokens.
#[must_use]
pub fn compose(gathered: &GatheredFacts, frame: &RecapFrame<'_>) -> ComposedRecap {
    let mut writer = RecapWriter { out: String::new(), frame, gathered, left: frame.cap };
    let root = common_root(gathered);
    writer.push(&head_lines(gathered, frame, root.as_deref()));
    let end_of = |text: &str| match frame.before {
        Some(before) => seal::end_line(before, text, frame.is_short()),
        None => END.to_owned(),
    };
    // The end line carries a hash that is not known yet, and its digits may take a few tokens more.
    let end_cost = writer.cost(&end_of("")) + 4;
    writer.left = writer.left.saturating_sub(end_cost);
    let body = writer.left;
    let narrated = writer.narration(body);
    // A cap of 0 comes from policies without a computed recap: they need only the names that leave the context.
    let mut statements = match frame.cap {
        0 => Vec::new(),
        _ => group(gathered, frame, root.as_deref()),
    };
    let told = writer.task(&statements, body * share::TASK / 100);
    statements.retain(|one| {
        one.statement.kind != StatementKind::Asked || !told.contains(&one.statement.message)
    });
    writer.notes(body * share::NOTES / 100);
    // A failed check that the state lists is not repeated among the statements.
    let checked = writer.state(body * share::STATE / 100);
    statements.retain(|one| {
        one.statement.kind != StatementKind::Failed || !checked.contains(&one.statement.message)
    });
    if narrated {
        writer.push(frame.narration);
    }
    let files_share = if frame.file_blocks { share::FILE_BLOCKS } else { share::CHANGED };
    let for_files = (body * files_share / 100).max(LEAST_FILES.min(body / 3));
    // Written on trial: statements leave just the tokens that the changed files take.
    let for_files = writer.cost(&writer.files(for_files, false).0);
    let for_counts = writer.cost(LEFT_OUT_SAMPLE);
    let for_counts = if for_counts <= body / COUNTS { for_counts } else { 0 };
    let room = writer.left.saturating_sub(for_files + for_counts);
    let told = writer.statements(&statements, room);
    // Statements have priority over files that were only read, because a file can be read again.
    let most = match frame.file_blocks {
        true => u64::MAX,
        false => for_files.max(body * share::FILES / 100),
    };
    let (files, listed) = writer.files(writer.left.saturating_sub(for_counts).min(most), true);
    writer.push(&files);
    writer.left_out(&statements, &told, listed);
    if frame.cap > 0 {
        writer.out.push_str(frame.put_back);
    }
    // Names are counted as the reader gets the text: a secret may take ordinary names with it.
    let shown = gathered.secrets.without(&writer.out);
    let said: FxHashSet<&str> = identifiers(&shown).collect();
    let mut ranked = rank(gathered, frame, &said);
    // A later message revealed that such a name is a secret: it is listed neither as kept nor as lost.
    ranked.lost.retain(|name| !gathered.secrets.touch(name));
    ranked.kept.retain(|name| !gathered.secrets.touch(name));
    let mut text = shown.clone().into_owned();
    text.push_str(&end_of(&text));
    let redacted = u32::try_from(text.matches(REPLACEMENT).count()).unwrap_or(u32::MAX);
    ComposedRecap {
        tokens: u64::from(frame.counter.count(&text, TextKind::Prose)),
        kept: IdList::of(ranked.kept.iter().copied().flat_map(with_parts), 0),
        lost: IdList::of(ranked.lost.iter().copied(), ranked.rest),
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
    let which =
        gathered.numbers.map_or(String::new(), |(first, last)| format!(", @{first} to @{last},"));
    let root = root.map_or(String::new(), |root| {
        format!(" Paths of statements are below {}.", escape::inline(root, 300))
    });
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
    format!(
        "{}\n{NOTE_START} {count} earlier message{s}{which} {verb} folded into this recap; newer ones \
         follow. Its words are of then; unmarked lines are the assistant's. @n is the number of a \
         message{recall}.{root} Not covered here: file contents, full outputs, reasoning. Read again \
         what you need.]\n",
        frame.header
    )
}

/// The sentence that names the user's messages which lie between the covered ones and stay in the context.
fn stayed(gathered: &GatheredFacts, frame: &RecapFrame<'_>) -> String {
    let numbers: Vec<String> =
        frame.stayed.iter().map(|seq| format!("@{}", seq + gathered.shift)).collect();
    match numbers.first() {
        None => String::new(),
        Some(_) if numbers.len() <= STAYED => format!(
            " The user's {} stays below, word for word; what has a higher number came after it.",
            numbers.join(", ")
        ),
        Some(first) => format!(
            " {} messages of the user from {first} on stay below, word for word.",
            numbers.len()
        ),
    }
}

/// Writes a recap section by section, and keeps account of the tokens that are left.
struct RecapWriter<'a> {
    /// The text so far.
    out: String,
    frame: &'a RecapFrame<'a>,
    gathered: &'a GatheredFacts,
    /// Tokens that are left for further sections.
    left: u64,
}

impl RecapWriter<'_> {
    fn cost(&self, text: &str) -> u64 {
        u64::from(self.frame.counter.count(text, TextKind::Prose))
    }

    /// Appends a text, and takes its tokens from those that are left.
    fn push(&mut self, text: &str) {
        self.left = self.left.saturating_sub(self.cost(text));
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
        let mut left = allowed.min(self.left).saturating_sub(self.cost(&header));
        let mut chosen: Vec<(usize, String)> = Vec::new();
        for (place, line) in best_first {
            let cost = self.cost(&line);
            // A line that does not fit is passed over: a shorter one of less worth may still fit.
            if cost <= left {
                left -= cost;
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

    /// Writes the notes of earlier recaps, as far as they fit into `allowed` tokens.
    fn notes(&mut self, allowed: u64) {
        if self.gathered.notes.is_empty() || allowed < MIN_SECTION {
            return;
        }
        let notes = escape::block(&self.gathered.notes.join("\n"));
        let lines = notes.lines().enumerate().map(|(at, line)| (at, format!("{line}\n")));
        self.list(section::NOTES, lines.collect(), allowed);
    }

    /// Writes the sections about work done and failures. Returns the indices of the statements in them.
    fn statements(&mut self, statements: &[GroupedStatement], allowed: u64) -> Vec<usize> {
        if allowed < MIN_SECTION {
            return Vec::new();
        }
        let nothing = Vec::new();
        let later = self.frame.later.map_or(&nothing, |later| &later.statements);
        let ranked = RankedStatements::of(statements, later, self.frame.focus);
        // Statements are chosen by characters, but the limit is in tokens. Each try writes the text, counts its tokens
        // and corrects the number of characters.
        let mut best = (String::new(), Vec::new());
        let (mut fits, mut over) = (0, None);
        // The first try takes a token for four characters.
        let mut chars = allowed.saturating_mul(4);
        for _ in 0..TRIES {
            let lines = ranked.lines(usize::try_from(chars).unwrap_or(usize::MAX));
            let text = self.sections(statements, &lines);
            let (cost, written) = (self.cost(&text), text.chars().count() as u64);
            if cost <= allowed {
                best = (text, lines);
                fits = chars;
                // Too few tokens are left for another line.
                if allowed - cost <= (allowed / 32).max(MIN_SECTION) {
                    break;
                }
            } else {
                // With all lines written, `written` is the lower limit: more characters add nothing.
                over = Some(chars.min(written));
            }
            // Stops where every line has room, or where the limits are so close that another try gains little.
            let Some(over) = over.filter(|over| (over - fits.min(*over)) * 16 > fits) else {
                break;
            };
            // One hundredth below proportion, so that the try most often fits. A guess between the limits is used, else
            // their middle.
            let guess = written * allowed / cost.max(1) * 99 / 100;
            chars = if (fits + 1..over).contains(&guess) { guess } else { (fits + over) / 2 };
        }
        let (text, lines) = best;
        self.push(&text);
        lines.into_iter().map(|(place, _)| place).collect()
    }

    /// The lines by section, each section in the order of the messages.
    fn sections(&self, statements: &[GroupedStatement], lines: &[(usize, String)]) -> String {
        let mut text = String::new();
        let failed = |kind| {
            matches!(kind, StatementKind::Failed | StatementKind::Rejected | StatementKind::Stopped)
        };
        for (name, wanted) in [(section::DONE, false), (section::FAILED, true)] {
            let of = |(at, _): &&(usize, String)| failed(statements[*at].statement.kind) == wanted;
            let mut chosen: Vec<_> = lines.iter().filter(of).collect();
            if chosen.is_empty() {
                continue;
            }
            chosen.sort_by_key(|(at, _)| statements[*at].statement.message);
            // A recap too short for headings has one list, so this one needs no heading.
            let is_all =
                name == section::DONE && self.frame.is_short() && !self.out.contains(SECTION);
            if !is_all {
                text.push_str(&format!("{SECTION}{name}\n"));
            }
            for (_, line) in chosen {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }

    /// Writes the line that counts what was left out, by kind.
    fn left_out(&mut self, statements: &[GroupedStatement], told: &[usize], files: usize) {
        let told: FxHashSet<usize> = told.iter().copied().collect();
        let mut counts = [0_usize; 5];
        let untold = statements.iter().enumerate().filter(|(at, _)| !told.contains(at));
        for (_, one) in untold {
            let kind = match one.statement.kind {
                StatementKind::Asked => 0,
                StatementKind::Said | StatementKind::Concluded => 1,
                StatementKind::Changed => 2,
                StatementKind::Found => 4,
                _ => 3,
            };
            counts[kind] += 1;
        }
        let files = self.gathered.files.len().saturating_sub(files);
        let names = ["message", "statement", "change", "command", "look-up", "file"];
        let whose = [" of the user", " of the assistant", "", "", "", ""];
        let counts = counts.into_iter().chain([files]).zip(names).zip(whose);
        let list: Vec<String> = counts
            .filter(|((count, _), _)| *count > 0)
            .map(|((count, name), whose)| {
                let s = if count == 1 { "" } else { "s" };
                format!("{count} {name}{s}{whose}")
            })
            .collect();
        let how = match self.frame.recalls {
            Some(RECALL_TOOL) => ". midfold_recall brings them back by @n",
            Some(_) => ". Tools bring them back by @n",
            None => "",
        };
        let line = format!("{LEFT_OUT}{}{how}.]\n", list.join(", "));
        if !list.is_empty() && self.cost(&line) <= self.left {
            self.push(&line);
        }
    }
}

#[cfg(test)]
mod tests;
