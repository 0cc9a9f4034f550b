//! What was gathered of a span, and how one more thing is noted.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::event::Event;
use crate::ids::identifiers;
use crate::recap::checks::Check;
use crate::recap::idtable::IdTable;
use crate::recap::shown::{Shown, pieces};
use crate::recap::statement::{Kind, Statement};
use crate::redact::Secrets;
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
}

/// All that a recap may say about a span.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
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
    /// The last outcome of each check, in order.
    pub checks: Vec<Check>,
    /// Files by path.
    pub files: FxHashMap<String, FileUse>,
    /// Identifiers.
    pub ids: IdTable,
    /// The secrets of the events: nothing that is gathered holds one.
    pub secrets: Secrets,
    /// Whether an earlier recap handed identifiers on.
    pub(crate) carries: bool,
    /// Added to the seq of an event to get its number: an earlier recap stands for more messages
    /// than one.
    pub(super) shift: u32,
    pub(super) shown: Shown,
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

/// Most statements that are kept while gathering.
const KEEP: usize = 6_000;

impl Gathered {
    /// Nothing yet, beside secrets that are known already.
    pub(super) fn knowing(secrets: Secrets) -> Self {
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
    pub(super) fn push(&mut self, statement: Statement) {
        use std::hash::{BuildHasher, Hash};
        // A user who says the same again means it again.
        if statement.kind == Kind::Asked {
            self.statements.push(statement);
            return;
        }
        let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
        statement.lead.hash(&mut hasher);
        statement.parts.iter().for_each(|part| part.text.hash(&mut hasher));
        let hash = std::hash::Hasher::finish(&hasher);
        match self.known.get(&hash).and_then(|at| self.statements.get_mut(*at)) {
            Some(known) if known.kind == statement.kind => {
                known.times += statement.times;
                known.message = known.message.max(statement.message);
            }
            _ => {
                self.known.insert(hash, self.statements.len());
                self.statements.push(statement);
            }
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
        self.push(Statement::new(message, Kind::Found, lead, parts));
        if self.statements.len() > before {
            self.shown.add(before, &self.statements[before].parts);
        }
    }

    pub(crate) fn use_file(&mut self, path: &str, modified: bool, message: Option<u32>) {
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

    /// Notes the outcome of a check; the last one counts.
    pub(super) fn add_check(&mut self, mut check: Check) {
        check.watched |= self.checks.iter().any(|known| known.command == check.command);
        check.watched |= self.checks.iter().any(|known| check.settles(known) && !known.passed);
        self.checks.retain(|known| known.command != check.command);
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
        let used = |s: &Statement| s.kind != Kind::Found || s.parts.iter().any(|p| p.weight > 0);
        self.statements.retain(used);
        let asked = |s: &Statement| s.kind == Kind::Asked;
        let mut over = self.statements.len().saturating_sub(KEEP);
        self.statements.retain(|statement| {
            let goes = over > 0 && !asked(statement);
            over -= usize::from(goes);
            !goes
        });
        self.shown = Shown::default();
        self.known.clear();
        // What a user asked stays: where that alone is more, it is not looked through at each event.
        self.most = self.statements.len() + self.statements.len() / 2;
    }
}
