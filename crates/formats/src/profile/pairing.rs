//! Checks the pairs of calls and results: which result answers which call, and whether it is where the provider wants
//! it.

use std::borrow::Cow;
use std::sync::Arc;

use midfold_core::profile::PairingRule;
use midfold_core::{BlockKind, BlockView, Dialect, EventView, ProviderProfile, Role, TextRef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::violations::{FoundViolations, MessageAt, RuleRank};
use crate::dialect::{DialectKind, OpenAiResponses};

/// A call without a result so far.
#[derive(Clone, Debug)]
struct UnansweredCall {
    /// The index of the message that calls.
    index: usize,
    /// The run to which the call belongs.
    run: usize,
    /// The message that calls, in dialects where the type of a call restricts its result.
    call: Option<Arc<[u8]>>,
}

/// All calls with the same id, newest last.
#[derive(Clone, Debug, Default)]
struct CallsOfOneId {
    /// The calls without a result so far.
    open: SmallVec<[UnansweredCall; 1]>,
    /// Whether any of the calls has had a result.
    answered: bool,
}

/// An id for a message to people.
fn shown(id: Option<&[u8]>) -> Cow<'_, str> {
    id.map_or(Cow::Borrowed("without an id"), String::from_utf8_lossy)
}

/// The state of the check of pairs. A *run* is a stretch of messages in which results are adjacent to their calls.
/// Every message that neither calls nor answers ends it.
#[derive(Clone, Debug)]
pub(super) struct PairingWalk {
    dialect: Option<DialectKind>,
    whole_turns: bool,
    adjacent: bool,
    empty_ids: bool,
    unique_ids: bool,
    /// The calls by id.
    named: FxHashMap<Arc<[u8]>, CallsOfOneId>,
    /// Calls without an id: legacy functions, `ShareGPT`, Gemini, Ollama.
    unnamed: Option<CallsOfOneId>,
    /// The number of calls without a result so far, of any id.
    waiting: usize,
    /// The number of the current run.
    run: usize,
    /// The run that the last user or assistant message started.
    spoken: usize,
    last_role: Option<Role>,
}

impl PairingWalk {
    pub fn new(profile: &ProviderProfile) -> Self {
        Self {
            dialect: DialectKind::from_name(profile.dialect),
            whole_turns: profile.whole_turns,
            adjacent: profile.pairing == PairingRule::Adjacent,
            empty_ids: profile.empty_ids,
            unique_ids: profile.unique_ids,
            named: FxHashMap::default(),
            unnamed: None,
            waiting: 0,
            run: 0,
            spoken: 0,
            last_role: None,
        }
    }

    pub fn push(&mut self, at: MessageAt<'_>, violations: &mut FoundViolations) {
        let MessageAt { index, bytes, view, .. } = at;
        if view.role == Role::Other {
            return;
        }
        if self.starts_run(view) {
            // A system message ends the run of results, but not the step: the results of its calls may still come.
            self.end_run(!view.role.is_system());
        }
        self.last_role = Some(view.role);
        for block in &view.blocks {
            match &block.kind {
                BlockKind::Call { id, .. } => self.call(index, bytes, *id, violations),
                BlockKind::Result { id, .. } => self.result(index, bytes, *id, violations),
                // Anthropic: results come before all other blocks of the user's turn.
                _ if view.role == Role::User && self.ends_results(block) => self.end_run(true),
                _ => {}
            }
        }
    }

    /// Reports the calls without a result. The results of the newest step may still come, so its calls are not
    /// reported.
    pub fn finish(&self, violations: &mut FoundViolations) {
        if self.waiting == 0 {
            return;
        }
        let named = self.named.iter().map(|(id, calls)| (Some(&**id), calls));
        let unnamed = self.unnamed.iter().map(|calls| (None, calls));
        let waiting = named.chain(unnamed).flat_map(|(id, calls)| {
            let old = calls.open.iter().filter(|open| open.run < self.spoken);
            old.map(move |open| (open.index, id))
        });
        let mut unanswered: Vec<_> = waiting.collect();
        // The maps have no order of their own.
        unanswered.sort_unstable();
        for (index, id) in unanswered {
            let detail = format!("call {} has no result", shown(id));
            violations.report(RuleRank::Unanswered, "unanswered-call", index, detail);
        }
    }

    fn starts_run(&self, view: &EventView) -> bool {
        let last = self.last_role;
        match (self.dialect, view.role) {
            (_, Role::System | Role::Developer) => true,
            (_, Role::Tool | Role::Other) => false,
            // Its blocks decide: the first one that is no result ends the run.
            (Some(DialectKind::Anthropic), Role::User) => false,
            (Some(DialectKind::Anthropic), Role::Assistant) => last != Some(Role::Assistant),
            // Neighbouring items of the assistant belong to one response.
            (Some(DialectKind::OpenAiResponses), Role::Assistant) => last != Some(Role::Assistant),
            // All results come in one message, directly after their calls.
            (_, Role::User) if self.whole_turns && view.has_results() => {
                last != Some(Role::Assistant)
            }
            (_, Role::User | Role::Assistant) => true,
        }
    }

    fn ends_results(&self, block: &BlockView) -> bool {
        // An opaque block may be part of a result.
        self.dialect == Some(DialectKind::Anthropic) && block.kind != BlockKind::Opaque
    }

    fn end_run(&mut self, speaks: bool) {
        self.run += 1;
        if speaks {
            self.spoken = self.run;
        }
    }

    fn has_kinds(&self) -> bool {
        self.dialect == Some(DialectKind::OpenAiResponses)
    }

    fn by_order(&self) -> bool {
        matches!(
            self.dialect,
            Some(DialectKind::ShareGpt | DialectKind::Gemini | DialectKind::Ollama)
        )
    }

    /// Notes a call, and reports an empty id or one that another call of the same run has.
    fn call(
        &mut self,
        index: usize,
        bytes: &[u8],
        id: Option<TextRef>,
        violations: &mut FoundViolations,
    ) {
        let call = self.has_kinds().then(|| Arc::from(bytes));
        let id = id.filter(|_| !self.by_order()).map(|id| id.text_bytes(bytes));
        let calls = match &id {
            Some(id) => self.named.entry(id.as_ref().into()).or_default(),
            None => self.unnamed.get_or_insert_default(),
        };
        if !self.empty_ids && id.as_ref().is_some_and(|id| id.is_empty()) {
            let detail = "the id of the call is empty".to_owned();
            violations.report(RuleRank::Pairs, "empty-id", index, detail);
        }
        // Where a later step may use the id again, only calls of one run clash.
        let is_of_run = calls.open.last().is_some_and(|open| open.run == self.run);
        let is_used = self.unique_ids && (calls.answered || !calls.open.is_empty());
        if id.is_some() && (is_of_run || is_used) {
            let detail = format!("call {} has the id of another call", shown(id.as_deref()));
            violations.report(RuleRank::Pairs, "duplicate-id", index, detail);
        }
        calls.open.push(UnansweredCall { index, run: self.run, call });
        self.waiting += 1;
    }

    /// Pairs a result with the newest open call of its id, and reports a result that has none, comes twice, is not
    /// adjacent or is of another type.
    fn result(
        &mut self,
        index: usize,
        bytes: &[u8],
        id: Option<TextRef>,
        violations: &mut FoundViolations,
    ) {
        let id = id.map(|id| id.text_bytes(bytes));
        let shown = || shown(id.as_deref());
        // A call without an id is answered by order, by whatever result comes.
        let named = id.as_ref().and_then(|id| self.named.get(&**id));
        let waits =
            |calls: Option<&CallsOfOneId>| calls.is_some_and(|calls| !calls.open.is_empty());
        let by_name =
            !self.by_order() && named.is_some() && (waits(named) || !waits(self.unnamed.as_ref()));
        let calls = match &id {
            Some(id) if by_name => self.named.get_mut(&**id),
            _ => self.unnamed.as_mut(),
        };
        let Some(calls) = calls else {
            let detail = format!("result {} answers no call before it", shown());
            return violations.report(RuleRank::Pairs, "orphan-result", index, detail);
        };
        match calls.open.pop() {
            Some(open) => {
                calls.answered = true;
                self.waiting -= 1;
                if self.adjacent && open.run != self.run {
                    let (result, call) = (shown(), open.index);
                    let detail =
                        format!("result {result} does not follow its call in message {call}");
                    violations.report(RuleRank::Pairs, "results-not-adjacent", index, detail);
                }
                let fits = |call: Arc<[u8]>| OpenAiResponses.answers(&call, bytes);
                if !open.call.is_none_or(fits) {
                    let (result, call) = (shown(), open.index);
                    let detail =
                        format!("result {result} is of another kind than call {call} wants");
                    violations.report(RuleRank::Pairs, "wrong-result", index, detail);
                }
            }
            None if by_name && calls.answered => {
                let detail = format!("call {} is answered already", shown());
                violations.report(RuleRank::Pairs, "double-result", index, detail);
            }
            None => {
                let detail = format!("result {} answers no open call before it", shown());
                violations.report(RuleRank::Pairs, "orphan-result", index, detail);
            }
        }
    }
}
