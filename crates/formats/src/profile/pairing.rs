//! Calls and results: who answers whom, and is it where the provider wants it?

use std::borrow::Cow;

use midfold_core::profile::Pairing;
use midfold_core::{Block, BlockKind, Profile, Role, TextRef, View, Violation};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::validate::{Message, violation};
use crate::dialect::DialectKind;

/// A call that waits for its result.
#[derive(Clone, Copy)]
struct Open {
    index: usize,
    run: usize,
}

/// All calls of one id, newest last.
#[derive(Default)]
struct Calls {
    open: SmallVec<[Open; 2]>,
    answered: bool,
}

/// The bytes of an id's text: as they stand where nothing in them is escaped.
type Id<'a> = Cow<'a, [u8]>;

fn id_of<'a>(id: TextRef, bytes: &'a [u8]) -> Id<'a> {
    match id.plain(bytes) {
        Some(plain) => Cow::Borrowed(plain),
        None => Cow::Owned(id.decode(bytes).into_owned().into_bytes()),
    }
}

/// An id as it is shown.
fn shown(id: Option<&Id<'_>>) -> String {
    id.map_or_else(|| "without an id".to_owned(), |id| String::from_utf8_lossy(id).into_owned())
}

/// The walk over a context. A *run* is a stretch in which results are adjacent to their calls:
/// every message that neither calls nor answers ends it.
struct Pairs<'a> {
    profile: &'a Profile,
    /// By id; calls without an id (legacy functions, `ShareGPT`) share the key `None`.
    calls: FxHashMap<Option<Id<'a>>, Calls>,
    run: usize,
    /// The run that the last user or assistant message began.
    spoken: usize,
    found: Vec<Violation>,
}

/// Checks the pairs of a context; violations in order of index.
pub(super) fn check(context: &[Message<'_>], profile: &Profile) -> Vec<Violation> {
    let dialect = DialectKind::from_name(profile.dialect);
    let calls = FxHashMap::with_capacity_and_hasher(context.len() / 2, Default::default());
    let mut pairs = Pairs { profile, calls, run: 0, spoken: 0, found: Vec::new() };
    let mut last_role = None;
    for (index, (bytes, view)) in context.iter().enumerate() {
        if view.role == Role::Other {
            continue;
        }
        if starts_run(dialect, view, last_role) {
            pairs.end_run(!view.role.is_system());
        }
        last_role = Some(view.role);
        for block in &view.blocks {
            match &block.kind {
                BlockKind::Call { id, .. } => pairs.call(index, bytes, *id),
                BlockKind::Result { id, .. } => pairs.result(index, bytes, *id),
                // Anthropic: results come before all else in the user's turn.
                _ if view.role == Role::User && ends_results(dialect, block) => pairs.end_run(true),
                _ => {}
            }
        }
    }
    pairs.finish()
}

fn starts_run(dialect: Option<DialectKind>, view: &View, last: Option<Role>) -> bool {
    match (dialect, view.role) {
        (_, Role::System | Role::Developer) => true,
        (_, Role::Tool | Role::Other) => false,
        // In its blocks.
        (Some(DialectKind::Anthropic), Role::User) => false,
        (Some(DialectKind::Anthropic), Role::Assistant) => last != Some(Role::Assistant),
        // The items of one response follow each other.
        (Some(DialectKind::OpenAiResponses), Role::Assistant) => last != Some(Role::Assistant),
        (_, Role::User | Role::Assistant) => true,
    }
}

fn ends_results(dialect: Option<DialectKind>, block: &Block) -> bool {
    // What we do not know may be part of a result.
    dialect == Some(DialectKind::Anthropic) && block.kind != BlockKind::Opaque
}

impl<'a> Pairs<'a> {
    fn end_run(&mut self, speaks: bool) {
        self.run += 1;
        if speaks {
            self.spoken = self.run;
        }
    }

    fn call(&mut self, index: usize, bytes: &'a [u8], id: Option<TextRef>) {
        let by_order = self.profile.dialect == DialectKind::ShareGpt.name();
        let id = id.filter(|_| !by_order).map(|id| id_of(id, bytes));
        let open = Open { index, run: self.run };
        self.calls.entry(id).or_default().open.push(open);
    }

    fn result(&mut self, index: usize, bytes: &'a [u8], id: Option<TextRef>) {
        let id = id.map(|id| id_of(id, bytes));
        let by_order = self.profile.dialect == DialectKind::ShareGpt.name();
        // A call without an id is answered in its place, by whatever stands there.
        let waits = |id| self.calls.get(id).is_some_and(|calls| !calls.open.is_empty());
        let unnamed = by_order || !self.calls.contains_key(&id) || !waits(&id) && waits(&None);
        let key = if unnamed { None } else { id.clone() };
        let shown = || shown(id.as_ref());
        let Some(calls) = self.calls.get_mut(&key) else {
            let detail = format!("result {} answers no call before it", shown());
            return self.report("orphan-result", index, detail);
        };
        let adjacent = self.profile.pairing == Pairing::Adjacent;
        match calls.open.pop() {
            Some(open) if adjacent && open.run != self.run => {
                let (result, call) = (shown(), open.index);
                let detail = format!("result {result} does not follow its call in message {call}");
                calls.answered = true;
                self.report("results-not-adjacent", index, detail);
            }
            Some(_) => calls.answered = true,
            None if key.is_some() && calls.answered => {
                let detail = format!("call {} is answered already", shown());
                self.report("double-result", index, detail);
            }
            None => {
                let detail = format!("result {} answers no open call before it", shown());
                self.report("orphan-result", index, detail);
            }
        }
    }

    fn report(&mut self, rule: &'static str, index: usize, detail: String) {
        self.found.push(violation(self.profile, rule, index, detail));
    }

    /// Reports the calls that were never answered; those of the newest step may still be.
    fn finish(mut self) -> Vec<Violation> {
        let mut unanswered = Vec::new();
        for (id, calls) in self.calls.drain() {
            let old = calls.open.into_iter().filter(|open| open.run < self.spoken);
            unanswered.extend(old.map(|open| (open.index, id.clone())));
        }
        unanswered.sort_unstable();
        for (index, id) in unanswered {
            let detail = format!("call {} has no result", shown(id.as_ref()));
            self.report("unanswered-call", index, detail);
        }
        self.found
    }
}
