//! The facts that were gathered of a span, and how each new fact is added.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::event::Event;
use crate::ids::identifiers;
use crate::recap::checks::CheckResult;
use crate::recap::deed::{CallDeed, CallEnding, CallSubject, Deed, DeedKind, DeedPart, PartKind};
use crate::recap::history::WorkHistory;
use crate::recap::idtable::IdTable;
use crate::recap::open_failures::{InnerCommands, OpenFailure};
use crate::recap::print::DeedPrinter;
use crate::recap::standing::StandingFacts;
use crate::recap::tasks::TaskList;
use crate::recap::words::WordTable;
use crate::redact::KnownSecrets;
use crate::tools::programs::programs;
use crate::view::{BlockKind, Role};

/// A quotation from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Number of the message with these words.
    pub message: u32,
    /// The quoted words.
    pub text: String,
}

/// A file that calls read or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Whether a call read it.
    pub read: bool,
    /// Whether a call wrote, created or removed it.
    pub modified: bool,
    /// Grows with every use of a file: the file with the highest number was used last.
    pub last: u32,
    /// Number of the message that used it last; `None` where it is not known.
    pub message: Option<u32>,
    /// Number of the message that changed it last; `None` where none did, or where it is not known.
    pub changed: Option<u32>,
    /// Whether it is no part of the work: it lies in a temporary folder or among the agent's own plans, or was created
    /// and removed again.
    pub scratch: bool,
    /// Whether it was removed and not made again.
    pub is_removed: bool,
    /// Whether its first use wrote it. Then it may be the agent's own file.
    pub(super) is_created: bool,
}

impl FileUse {
    /// Adds the uses of the same file under another path.
    pub(super) fn join(&mut self, other: &Self) {
        if other.last > self.last {
            (self.last, self.message, self.is_removed) =
                (other.last, other.message, other.is_removed);
        }
        self.read |= other.read;
        self.modified |= other.modified;
        self.changed = self.changed.max(other.changed);
        self.scratch &= other.scratch;
        self.is_created &= other.is_created;
    }
}

/// All facts about a span that a recap may use.
#[derive(Clone, Debug, Default)]
pub struct GatheredFacts {
    /// How many messages are covered, those of earlier recaps included.
    pub messages: usize,
    /// Numbers of the first and the last covered message; `None` before the first one.
    pub numbers: Option<(u32, u32)>,
    /// All words and deeds, in order.
    pub deeds: Vec<Deed>,
    /// How common the words of the deeds are.
    pub(super) words: WordTable,
    /// The agent's newest to-do list, one item on each line; `None` where it has none.
    pub todo: Option<Quote>,
    pub(super) tasks: TaskList,
    /// What holds on: what runs, where the agent works, modes, the plan.
    pub(super) standing: StandingFacts,
    /// Commits, pushes and requests to merge.
    pub history: WorkHistory,
    /// The newest verdict of each check, in order, without those that a newer verdict covers.
    pub checks: Vec<CheckResult>,
    /// Checks that ended without output and without an exit code. They count as passed once the client is known to
    /// flag every failure.
    silent: Vec<CheckResult>,
    /// Whether the client flags every command that does not exit with 0. That is known once one flagged command was
    /// seen.
    pub(super) flags_each: bool,
    /// Failures and rejections that nothing has settled yet.
    pub(super) open: Vec<OpenFailure>,
    /// Index of a rejection without a reason, while the user's next message may still give one.
    pub(super) awaits: Option<usize>,
    /// Number of the last message that holds a rejected call.
    pub(super) refused_at: Option<u32>,
    /// The commands that scripts of the project run, as far as their output showed them.
    pub(super) inner: Vec<InnerCommands>,
    /// Index of the deed that failed with each error, by the error's hash.
    errors: FxHashMap<u64, usize>,
    /// The files that calls used, by path.
    pub files: FxHashMap<String, FileUse>,
    /// The identifiers that were used, and in what order.
    pub ids: IdTable,
    /// The secrets of the events, which are removed from everything that is gathered.
    pub secrets: KnownSecrets,
    /// The number of an event is its seq plus this, because one earlier recap counts for several messages.
    pub(super) shift: u32,
    /// Index of each deed by the hash of its words, so that a repeated one is counted instead of added.
    known: FxHashMap<u64, usize>,
    /// Pruning begins only above this many deeds.
    most: usize,
    /// The number of uses so far, by which identifiers are ordered.
    order: u32,
    /// Files are counted separately, so that the worth of identifiers does not depend on them.
    file_order: u32,
    /// The runs of events that were read.
    pub(super) runs: Vec<Range<usize>>,
}

/// At most this many checks are kept.
const CHECKS: usize = 64;
/// At most this many lines of one result are kept …
pub(super) const OUTPUT_LINES: usize = 256;
/// … and a longer line is cut at separators into pieces of at most this many characters.
const PIECE_CHARS: usize = 180;

/// At most this many deeds are kept while gathering.
const KEEP: usize = 6_000;

impl GatheredFacts {
    /// Empty facts with secrets that are known already.
    pub(super) fn knowing(secrets: KnownSecrets) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// Returns a number that grows with every use, to order identifiers by.
    pub(crate) fn next_order(&mut self) -> u32 {
        self.order += 1;
        self.order
    }

    /// The number of an event.
    pub(super) fn number(&self, event: &Event) -> u32 {
        event.seq + self.shift
    }

    /// Adds a deed, and returns its index. A deed with the same words and outcome as an earlier one is only counted
    /// there, and gives it its newer message number.
    pub(super) fn push(&mut self, deed: Deed) -> usize {
        use std::hash::{BuildHasher, Hash, Hasher};
        let by_assistant = deed.is_assistants().then_some(deed.message);
        self.words.add(deed.parts.iter().map(|part| &part.words), by_assistant);
        // A repeated request of the user is a new request.
        if deed.is_users() {
            return self.push_new(deed);
        }
        let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
        DeedPrinter::default().title(&deed).hash(&mut hasher);
        deed.parts.iter().for_each(|part| part.text.hash(&mut hasher));
        let hash = hasher.finish();
        let at = self.known.get(&hash).copied().unwrap_or(usize::MAX);
        match self.deeds.get_mut(at) {
            // A failure that was settled ended otherwise, so the same failure is a new deed.
            Some(known) if known.kind == deed.kind => {
                known.times += deed.times;
                known.message = known.message.max(deed.message);
                known.bound_by(&self.words);
                at
            }
            _ => {
                self.known.insert(hash, self.deeds.len());
                self.push_new(deed)
            }
        }
    }

    fn push_new(&mut self, mut deed: Deed) -> usize {
        deed.bound_by(&self.words);
        self.deeds.push(deed);
        self.deeds.len() - 1
    }

    /// Index of the earlier deed that failed with this error; `None` where it is new.
    pub(super) fn failed_with(&self, error: u64) -> Option<usize> {
        self.errors.get(&error).copied()
    }

    /// Notes that a deed failed with an error. An earlier deed with the same call and error becomes a part of it.
    pub(super) fn note_error(&mut self, error: u64, deed: usize) {
        let before = self.errors.insert(error, deed);
        let same = |before: &Deed, deed: &Deed| match (&before.kind, &deed.kind) {
            (DeedKind::Call(before), DeedKind::Call(call)) => before.subject == call.subject,
            _ => false,
        };
        if let Some(before) = before.filter(|before| *before != deed)
            && let (Some(old), Some(new)) = (self.deeds.get(before), self.deeds.get(deed))
            && old.ending() == Some(CallEnding::Ended)
            && same(old, new)
        {
            let times = std::mem::take(&mut self.deeds[before].times);
            self.deeds[deed].times += times;
            self.deeds[deed].bound = None;
        }
    }

    /// Notes that the client flags every failure. So each check that ended without output passed.
    pub(super) fn client_flags(&mut self) {
        self.flags_each = true;
        for check in std::mem::take(&mut self.silent) {
            self.settle(check.message, |open| check.covers(&open.runs));
            self.add_check(check);
        }
    }

    /// Notes a check that ended without output.
    pub(super) fn add_silent(&mut self, check: CheckResult) {
        if self.silent.len() < CHECKS {
            self.silent.push(check);
        }
    }

    /// Notes the identifiers in a text.
    pub(super) fn add_ids(&mut self, text: &str, role: Role, kind: &BlockKind) {
        self.order += 1;
        let order = self.order;
        let is_result = matches!(kind, BlockKind::Result { .. });
        let written = !is_result && matches!(role, Role::Assistant | Role::User);
        for id in identifiers(text) {
            self.ids.note(id, order, written);
        }
    }

    /// Adds a call that showed something.
    pub(super) fn add_shown(&mut self, message: u32, subject: CallSubject, lines: Vec<DeedPart>) {
        let call = CallDeed::new(subject, CallEnding::Shown);
        self.push(Deed::new(message, DeedKind::Call(call), lines));
    }

    /// Notes that a file was removed. A file that this session made was scratch.
    pub(super) fn remove_file(&mut self, path: &str) {
        if let Some(file) = self.files.get_mut(path) {
            file.scratch |= file.is_created;
            file.is_removed = true;
        }
    }

    /// Notes that a file existed before its first use, because that use changed only a part of it.
    pub(super) fn was_there(&mut self, path: &str) {
        if let Some(file) = self.files.get_mut(path) {
            file.is_created = false;
        }
    }

    /// Notes that a call read a file, or changed it where `modified` is true. Paths of more than 300 bytes are
    /// ignored.
    pub(crate) fn use_file(&mut self, path: &str, modified: bool, message: Option<u32>) {
        if path.is_empty() || path.len() > 300 {
            return;
        }
        self.file_order += 1;
        let order = self.file_order;
        let new = || FileUse {
            is_created: modified,
            scratch: programs().places.is_aside(path),
            ..FileUse::default()
        };
        let file = self.files.entry(path.to_owned()).or_insert_with(new);
        file.last = order;
        file.is_removed = false;
        file.message = message;
        if modified {
            // A removed file is written again.
            file.scratch = programs().places.is_aside(path);
            file.modified = true;
            file.changed = message;
        } else {
            file.read = true;
        }
    }

    /// Notes the verdict of a check, unless a newer verdict supersedes it. Older verdicts that it covers are removed.
    pub(super) fn add_check(&mut self, check: CheckResult) {
        if self.checks.iter().any(|known| known.message > check.message && known.supersedes(&check))
        {
            return;
        }
        self.checks.retain(|known| !check.supersedes(known));
        // A chain of checks is removed once newer verdicts cover each of its parts.
        let chains = self.checks.iter().filter(|known| known.is_chain());
        let covered: Vec<u32> = chains
            .filter(|known| known.message < check.message)
            .filter(|known| {
                let newer = |other: &&CheckResult| other.message > known.message;
                let others = self.checks.iter().filter(newer).chain([&check]);
                known.each_covered(others)
            })
            .map(|known| known.message)
            .collect();
        self.checks.retain(|known| !known.is_chain() || !covered.contains(&known.message));
        self.checks.push(check);
        if self.checks.len() > CHECKS {
            self.checks.remove(0);
        }
    }

    /// Keeps the number of deeds bounded in a long session. Look-ups are removed first, then the oldest deeds. The
    /// user's words always stay.
    pub(super) fn prune(&mut self) {
        if self.deeds.len() <= KEEP.max(self.most) {
            return;
        }
        let mut over = self.deeds.len().saturating_sub(KEEP * 3 / 4);
        for is_lost in
            [|deed: &Deed| deed.ending() == Some(CallEnding::Shown), |deed: &Deed| !deed.is_users()]
        {
            self.deeds.retain(|deed| {
                let is_dropped = over > 0 && is_lost(deed);
                over -= usize::from(is_dropped);
                !is_dropped
            });
        }
        // These tables hold indices of deeds, which have just changed.
        self.open.clear();
        self.errors.clear();
        self.known.clear();
        self.awaits = None;
        // Where the user's words alone exceed the limit, this avoids pruning again at every event.
        self.most = self.deeds.len() + self.deeds.len() / 2;
    }
}

/// The lines of an output. A long line is cut at separators such as commas.
pub(super) fn output(lines: &[String]) -> Vec<DeedPart> {
    let mut parts = Vec::new();
    for line in lines {
        let mut rest = without_number(line.trim());
        while !rest.is_empty() && parts.len() < OUTPUT_LINES {
            let (piece, tail) = rest.split_at(end_of_piece(rest));
            parts.push(DeedPart::new(piece.trim(), PartKind::Output));
            rest = tail.trim_start();
        }
    }
    parts
}

/// Removes the number that file readers put in front of a line: `  47→let x`.
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    match rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')) {
        Some(text) if digits > 0 => text.trim_start(),
        _ => line,
    }
}

/// Byte offset at which the first piece of a line ends: behind the last separator that fits, or at the limit where
/// that would leave a very short piece.
fn end_of_piece(line: &str) -> usize {
    let Some((limit, _)) = line.char_indices().nth(PIECE_CHARS) else { return line.len() };
    let cut = ["}, ", "},", ". ", "; ", ", ", ",", " "]
        .iter()
        .find_map(|mark| line[..limit].rfind(mark).map(|at| at + mark.len()));
    cut.filter(|at| *at > limit / 3).unwrap_or(limit)
}
