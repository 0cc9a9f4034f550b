//! The facts that were gathered of a span, and how each new fact is added.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::event::Event;
use crate::ids::identifiers;
use crate::recap::checks::CheckResult;
use crate::recap::first_shown::{FirstShown, pieces};
use crate::recap::history::WorkHistory;
use crate::recap::idtable::IdTable;
use crate::recap::open_failures::{InnerCommands, OpenFailure};
use crate::recap::standing::StandingFacts;
use crate::recap::statement::{Statement, StatementKind};
use crate::recap::tasks::TaskList;
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
    pub gone: bool,
    /// Whether its first use wrote it. Then it may be the agent's own file.
    pub(super) made: bool,
}

/// All facts about a span that a recap may use.
#[derive(Clone, Debug, Default)]
pub struct GatheredFacts {
    /// How many messages are covered, those of earlier recaps included.
    pub messages: usize,
    /// Numbers of the first and the last covered message; `None` before the first one.
    pub numbers: Option<(u32, u32)>,
    /// Statements about all words and deeds, in order.
    pub statements: Vec<Statement>,
    /// Lines of earlier recaps that are in no section which midfold writes.
    pub notes: Vec<String>,
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
    /// Index of the statement about each error, by the error's hash.
    errors: FxHashMap<u64, usize>,
    /// The files that calls used, by path.
    pub files: FxHashMap<String, FileUse>,
    /// The identifiers that were used, with how and when.
    pub ids: IdTable,
    /// The secrets of the events, which are removed from everything that is gathered.
    pub secrets: KnownSecrets,
    /// Whether an earlier recap handed identifiers on, so that their weights include their age.
    pub(crate) carries: bool,
    /// The number of an event is its seq plus this, because one earlier recap counts for several messages.
    pub(super) shift: u32,
    /// The pieces of output that first showed a name.
    pub(super) shown: FirstShown,
    /// Index of each statement by the hash of its words, so that a repeated statement is counted instead of added.
    known: FxHashMap<u64, usize>,
    /// Pruning begins only above this many statements.
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
/// The weight of a part that may well be left out.
pub(super) const TRIFLE: u32 = 10;

/// At most this many statements are kept while gathering.
const KEEP: usize = 6_000;

impl GatheredFacts {
    /// Empty facts with secrets that are known already.
    pub(super) fn knowing(secrets: KnownSecrets) -> Self {
        Self { secrets, ..Self::default() }
    }

    /// The number of the newest use: see [`Self::next_order`].
    pub(crate) fn newest(&self) -> u32 {
        self.order
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

    /// Adds a statement, and returns its index. A statement with the same words as an earlier one is only counted
    /// there, and gives it its newer message number.
    pub(super) fn push(&mut self, statement: Statement) -> usize {
        use std::hash::{BuildHasher, Hash};
        // A repeated request of the user is a new request.
        if statement.kind == StatementKind::Asked {
            self.statements.push(statement);
            return self.statements.len() - 1;
        }
        let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
        statement.lead.hash(&mut hasher);
        let parts = statement.parts.iter().chain(&statement.seen);
        parts.for_each(|part| part.text.hash(&mut hasher));
        let hash = std::hash::Hasher::finish(&hasher);
        let at = self.known.get(&hash).copied().unwrap_or(usize::MAX);
        match self.statements.get_mut(at) {
            // A failure that was settled has another kind by now, so the same failure is a new statement.
            Some(known) if known.kind == statement.kind => {
                known.times += statement.times;
                known.message = known.message.max(statement.message);
                at
            }
            _ => {
                self.known.insert(hash, self.statements.len());
                self.statements.push(statement);
                self.statements.len() - 1
            }
        }
    }

    /// Adds the statement about a call, together with the output of the call.
    pub(super) fn push_seen(&mut self, statement: Statement, lines: &[String]) {
        // The output is part of the statement, so a run with another output is another statement.
        let statement = Statement { seen: pieces(lines, 0), ..statement };
        let before = self.statements.len();
        self.push(statement);
        if let Some(told) = self.statements.get(before) {
            self.shown.add(before, &told.seen);
        }
    }

    /// Index of the earlier statement about this error; `None` where it is new.
    pub(super) fn told_error(&self, error: u64) -> Option<usize> {
        self.errors.get(&error).copied()
    }

    /// Lowers the weight of the first statement about an error, because a newer one repeats it. Returns how often that
    /// statement was counted, or 0 where it is about another call.
    pub(super) fn forget(&mut self, statement: usize, lead: &str) -> u32 {
        let Some(told) = self.statements.get_mut(statement) else { return 0 };
        if told.kind != StatementKind::Ran || told.lead != lead {
            return 0;
        }
        told.parts.iter_mut().for_each(|part| part.weight = part.weight.min(TRIFLE));
        told.times
    }

    /// Notes that a statement is about an error.
    pub(super) fn tells_error(&mut self, error: u64, statement: usize) {
        self.errors.insert(error, statement);
    }

    /// Notes that the client flags every failure. So each check that ended without output passed.
    pub(super) fn client_flags(&mut self) {
        self.flags_each = true;
        for check in std::mem::take(&mut self.silent) {
            self.settle(|open| check.covers(&open.runs));
            self.add_check(check);
        }
    }

    /// Notes a check that ended without output.
    pub(super) fn add_silent(&mut self, check: CheckResult) {
        if self.silent.len() < CHECKS {
            self.silent.push(check);
        }
    }

    /// Counts the identifiers in a text, each once, by who wrote it.
    pub(super) fn add_ids(&mut self, text: &str, role: Role, kind: &BlockKind, message: u32) {
        self.order += 1;
        let order = self.order;
        for id in identifiers(text) {
            let Some(used) = self.ids.once(id, order) else { continue };
            used.message = message;
            match (role, kind) {
                (_, BlockKind::Result { .. }) | (Role::Tool, _) => used.result += 1,
                (Role::Assistant, _) => used.said += 1,
                (Role::User, _) => used.user += 1,
                _ => used.result += 1,
            }
        }
    }

    /// Adds the output of a look-up. A recap uses the pieces of it that later messages name.
    pub(super) fn add_found(&mut self, message: u32, lead: String, lines: &[String], weight: u32) {
        let parts = pieces(lines, weight);
        if parts.is_empty() {
            return;
        }
        let before = self.statements.len();
        self.push(Statement::new(message, StatementKind::Found, lead, parts));
        if self.statements.len() > before {
            self.shown.add(before, &self.statements[before].parts);
        }
    }

    /// Notes that a file was removed. A file that this session made was scratch.
    pub(super) fn remove_file(&mut self, path: &str) {
        if let Some(file) = self.files.get_mut(path) {
            file.scratch |= file.made;
            file.gone = true;
        }
    }

    /// Notes that a file existed before its first use, because that use changed only a part of it.
    pub(super) fn was_there(&mut self, path: &str) {
        if let Some(file) = self.files.get_mut(path) {
            file.made = false;
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
            made: modified,
            scratch: programs().places.is_aside(path),
            ..FileUse::default()
        };
        let file = self.files.entry(path.to_owned()).or_insert_with(new);
        file.last = order;
        file.gone = false;
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
        let gone: Vec<u32> = chains
            .filter(|known| known.message < check.message)
            .filter(|known| {
                let newer = |other: &&CheckResult| other.message > known.message;
                let others = self.checks.iter().filter(newer).chain([&check]);
                known.each_covered(others)
            })
            .map(|known| known.message)
            .collect();
        self.checks.retain(|known| !known.is_chain() || !gone.contains(&known.message));
        self.checks.push(check);
        if self.checks.len() > CHECKS {
            self.checks.remove(0);
        }
    }

    /// Keeps the number of statements bounded in a long session. Look-ups whose output nobody used are removed first,
    /// then the oldest statements. Requests of the user always stay.
    pub(super) fn prune(&mut self) {
        if self.statements.len() <= KEEP.max(self.most) {
            return;
        }
        let used =
            |s: &Statement| s.kind != StatementKind::Found || s.parts.iter().any(|p| p.weight > 0);
        self.statements.retain(used);
        let asked = |s: &Statement| s.kind == StatementKind::Asked;
        let mut over = self.statements.len().saturating_sub(KEEP);
        self.statements.retain(|statement| {
            let goes = over > 0 && !asked(statement);
            over -= usize::from(goes);
            !goes
        });
        // These tables hold indices of statements, which have just changed.
        self.shown = FirstShown::default();
        self.open.clear();
        self.errors.clear();
        self.known.clear();
        // Where the kept requests alone exceed the limit, this avoids pruning again at every event.
        self.most = self.statements.len() + self.statements.len() / 2;
    }
}
