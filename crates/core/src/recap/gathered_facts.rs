//! What was gathered of a span, and how one more thing is noted.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::event::Event;
use crate::ids::identifiers;
use crate::recap::background::RunningCommands;
use crate::recap::checks::CheckResult;
use crate::recap::first_shown::{FirstShown, pieces};
use crate::recap::history::WorkHistory;
use crate::recap::idtable::IdTable;
use crate::recap::open_failures::{InnerCommands, OpenFailure};
use crate::recap::statement::{Statement, StatementKind};
use crate::recap::tasks::TaskList;
use crate::redact::KnownSecrets;
use crate::tools::programs::programs;
use crate::view::{BlockKind, Role};

/// A quotation from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Number of the message that says it.
    pub message: u32,
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
    /// Number of the message that used it last; `None` where nothing tells.
    pub message: Option<u32>,
    /// Number of the message that changed it last, where that is known.
    pub changed: Option<u32>,
    /// It is no part of the work: it lies in a temporary folder, among the agent's own plans, or was
    /// created and removed again.
    pub scratch: bool,
    /// It was removed, and not made again.
    pub gone: bool,
    /// The first use wrote it: it may be the agent's own.
    pub(super) made: bool,
}

/// All that a recap may say about a span.
#[derive(Clone, Debug, Default)]
pub struct GatheredFacts {
    /// Messages covered, those of earlier recaps included.
    pub messages: usize,
    /// Numbers of the first and the last of them.
    pub numbers: Option<(u32, u32)>,
    /// What was said and done, in order.
    pub statements: Vec<Statement>,
    /// Text of earlier recaps that no section of ours claims.
    pub notes: Vec<String>,
    /// The agent's newest to-do list, an item a line.
    pub todo: Option<Quote>,
    pub(super) tasks: TaskList,
    pub(super) running: RunningCommands,
    /// What is committed and pushed.
    pub history: WorkHistory,
    /// The newest verdict of each check that no newer one covers, in order.
    pub checks: Vec<CheckResult>,
    /// Checks that ended without a word, which passed if the client flags each failure.
    silent: Vec<CheckResult>,
    /// The client flags each command that does not exit with 0: a flagged one was seen.
    pub(super) flags_each: bool,
    /// Failures and rejections that nothing settled yet.
    pub(super) open: Vec<OpenFailure>,
    /// The statement of a rejection without a word, while the user's next one may come.
    pub(super) awaits: Option<usize>,
    /// Number of the last message of which a call was rejected.
    pub(super) refused_at: Option<u32>,
    /// What scripts of the project run, as far as it was shown.
    pub(super) inner: Vec<InnerCommands>,
    /// Statements by the error that they tell.
    errors: FxHashMap<u64, usize>,
    /// Files by path.
    pub files: FxHashMap<String, FileUse>,
    /// Identifiers.
    pub ids: IdTable,
    /// The secrets of the events: nothing that is gathered holds one.
    pub secrets: KnownSecrets,
    /// Whether an earlier recap handed identifiers on.
    pub(crate) carries: bool,
    /// Added to the seq of an event to get its number: an earlier recap stands for more messages
    /// than one.
    pub(super) shift: u32,
    pub(super) shown: FirstShown,
    /// Statements by what they say, so that a repetition is counted and not told again.
    known: FxHashMap<u64, usize>,
    /// After a pruning, statements up to this many stay.
    most: usize,
    order: u32,
    /// Files have an order of their own, so that what identifiers are worth does not depend on it.
    file_order: u32,
    /// What was taken in.
    pub(super) runs: Vec<Range<usize>>,
}

/// Most commands whose last outcome is kept.
const CHECKS: usize = 64;
/// What a statement weighs that costs nothing to leave out.
pub(super) const TRIFLE: u32 = 10;

/// Most statements that are kept while gathering.
const KEEP: usize = 6_000;

impl GatheredFacts {
    /// Nothing yet, beside secrets that are known already.
    pub(super) fn knowing(secrets: KnownSecrets) -> Self {
        Self { secrets, ..Self::default() }
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

    /// The number of an event.
    pub(super) fn number(&self, event: &Event) -> u32 {
        event.seq + self.shift
    }

    /// Adds a statement; one that repeats an earlier one is counted there and told as the newest.
    /// The answer is its place.
    pub(super) fn push(&mut self, statement: Statement) -> usize {
        use std::hash::{BuildHasher, Hash};
        // A user who says the same again means it again.
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

    /// Adds a statement of a call, and what the call showed besides.
    pub(super) fn push_seen(&mut self, statement: Statement, lines: &[String]) {
        // What showed something else is another run.
        let statement = Statement { seen: pieces(lines, 0), ..statement };
        let before = self.statements.len();
        self.push(statement);
        if let Some(told) = self.statements.get(before) {
            self.shown.add(before, &told.seen);
        }
    }

    /// The statement that told this error before.
    pub(super) fn told_error(&self, error: u64) -> Option<usize> {
        self.errors.get(&error).copied()
    }

    /// What told an error the first time weighs nothing once it is told again. The answer is how often
    /// that was of the same call.
    pub(super) fn forget(&mut self, statement: usize, lead: &str) -> u32 {
        let Some(told) = self.statements.get_mut(statement) else { return 0 };
        if told.kind != StatementKind::Ran || told.lead != lead {
            return 0;
        }
        told.parts.iter_mut().for_each(|part| part.weight = part.weight.min(TRIFLE));
        told.times
    }

    /// Notes which statement tells an error.
    pub(super) fn tells_error(&mut self, error: u64, statement: usize) {
        self.errors.insert(error, statement);
    }

    /// The client flags what fails: what ended without a word passed.
    pub(super) fn client_flags(&mut self) {
        self.flags_each = true;
        for check in std::mem::take(&mut self.silent) {
            self.settle(|open| check.covers(&open.runs));
            self.add_check(check);
        }
    }

    /// Notes a check that ended without a word.
    pub(super) fn add_silent(&mut self, check: CheckResult) {
        if self.silent.len() < CHECKS {
            self.silent.push(check);
        }
    }

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

    /// What a look-up showed: told as far as later messages use it.
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

    /// Notes that a file is gone. One that was made in this session was scratch.
    pub(super) fn remove_file(&mut self, path: &str) {
        if let Some(file) = self.files.get_mut(path) {
            file.scratch |= file.made;
            file.gone = true;
        }
    }

    /// Notes that a file was there before its first use: a part of it was changed.
    pub(super) fn was_there(&mut self, path: &str) {
        if let Some(file) = self.files.get_mut(path) {
            file.made = false;
        }
    }

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
            // What was taken away is there again.
            file.scratch = programs().places.is_aside(path);
            file.modified = true;
            file.changed = message;
        } else {
            file.read = true;
        }
    }

    /// Notes the verdict of a check; the newest one counts.
    pub(super) fn add_check(&mut self, check: CheckResult) {
        if self.checks.iter().any(|known| known.message > check.message && known.supersedes(&check))
        {
            return;
        }
        self.checks.retain(|known| !check.supersedes(known));
        // Of a chain each part may have its newer verdict elsewhere.
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

    /// Keeps a long session's statements bounded: look-ups that nobody used go first, then the
    /// oldest.
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
        self.shown = FirstShown::default();
        self.open.clear();
        self.errors.clear();
        self.known.clear();
        // What a user asked stays: where that alone is more, it is not looked through at each event.
        self.most = self.statements.len() + self.statements.len() / 2;
    }
}
