//! Audit: compares the folds and calls of a session with its log, and lists what each fold lost.
//!
//! Every statement of a record is computed again: the hashes of the chain, what a fold makes of the log of its time,
//! what a call sent. The records are what is checked, so no number in them is trusted. The one exception is the size of
//! the envelope, which the log does not keep.

mod client;
mod lost;
mod receipt;
mod render;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::event::Hash;
use crate::fold::Fold;
use crate::fold_standing::{RecordedRequests, in_force, standings};
use crate::ledger::{CallInput, CallRecord, Ledger};
use crate::log::EventLog;
use crate::meter::Meter;
use crate::piece::PieceFate;
use crate::profile::VoidReasoning;
use crate::project::{Context, ContextProjection};

use client::ClientLogs;
pub use lost::{LostGroup, LostItem, LostKind};
pub use receipt::{FoldReceipt, RemovedByRule};

/// Names of the rules. The comment at each says what has to hold.
pub mod rule {
    /// A fold's id is the hash of its contents.
    pub const FOLD_ID: &str = "fold-id";
    /// The fold that a fold builds on comes before it in the session.
    pub const FOLD_PREV: &str = "fold-prev";
    /// The span's hashes are those of the log.
    pub const SPAN: &str = "span";
    /// The accounts add up, and agree with the fold's context.
    pub const ACCOUNTS: &str = "accounts";
    /// Pinned events are verbatim in the context.
    pub const PINS: &str = "pins";
    /// Tokens and messages are those of the fold when it is projected again.
    pub const FIGURES: &str = "figures";
    /// A call's hash is the hash of its contents.
    pub const CALL_HASH: &str = "call-hash";
    /// Calls are numbered and chained without a gap.
    pub const CALL_CHAIN: &str = "call-chain";
    /// A call's fold is among the folds.
    pub const CALL_FOLD: &str = "call-fold";
    /// The events of a call are the beginning of the log.
    pub const CALL_LOG: &str = "call-log";
    /// The context, projected again, is the one that was sent.
    pub const CALL_CONTEXT: &str = "call-context";
    /// Without the exchanges that a proxy hides from its client, the events of a call are what the client sent; and each
    /// exchange is where it took place.
    pub const CALL_CLIENT: &str = "call-client";
}

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditFinding {
    /// The name of the rule, one of [`rule`].
    pub rule: &'static str,
    /// The record that breaks the rule: `fold 2`, `call 17`.
    pub at: String,
    /// The fault, in words.
    pub detail: String,
}

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audit {
    /// The faults; empty if every rule holds.
    pub findings: Vec<AuditFinding>,
    /// The number of folds that were in force. Folds that never were are checked, too, and have receipts.
    pub folds: u32,
    /// The number of calls that were checked.
    pub calls: u32,
    /// For each fold, what it took out of the context.
    pub receipts: Vec<FoldReceipt>,
}

/// The projection that the last call was read through. The next call reuses it if it has the same fold and the same void
/// reasoning.
struct LastProjection {
    fold: Option<Hash>,
    void: Option<VoidReasoning>,
    projection: ContextProjection,
}

impl Audit {
    /// Whether all rules hold.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Audits a session. `folds` and `calls` are all of its folds and calls in order; `active` is the fold that its context
/// is read through now. O(log + folds × context + new bytes of calls).
#[must_use]
pub fn audit(log: &EventLog, folds: &[Fold], active: Option<Hash>, calls: &[CallRecord]) -> Audit {
    let mut auditor = Auditor::new(log, folds);
    for (at, fold) in folds.iter().enumerate() {
        auditor.chain_of(at, fold);
        auditor.fold(at, fold);
    }
    auditor.check_calls(calls);
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let stand = standings(folds, active, &RecordedRequests::of(calls));
    let receipts = folds.iter().zip(&stand).enumerate();
    let receipts = receipts.map(|(at, (fold, stand))| {
        let before = folds.iter().find(|other| Some(other.id) == fold.prev);
        FoldReceipt::of(log, number(at + 1), fold, before, *stand)
    });
    Audit {
        findings: auditor.findings,
        folds: u32::try_from(in_force(&stand)).unwrap_or(u32::MAX),
        calls: number(calls.len()),
        receipts: receipts.collect(),
    }
}

struct Auditor<'a> {
    log: &'a EventLog,
    folds: &'a [Fold],
    by_id: FxHashMap<Hash, usize>,
    /// The beginning of the log that was checked last. It is extended as long as the checks go forward in time.
    past: EventLog,
    findings: Vec<AuditFinding>,
}

impl<'a> Auditor<'a> {
    fn new(log: &'a EventLog, folds: &'a [Fold]) -> Self {
        let by_id = folds.iter().enumerate().map(|(at, fold)| (fold.id, at)).collect();
        Self { log, folds, by_id, past: empty(log), findings: Vec::new() }
    }

    /// Adds a finding if a rule does not hold.
    fn expect(
        &mut self,
        rule: &'static str,
        at: &str,
        holds: bool,
        detail: impl FnOnce() -> String,
    ) {
        if !holds {
            self.findings.push(AuditFinding { rule, at: at.to_owned(), detail: detail() });
        }
    }

    /// The log at the time when it had `events` events.
    fn past(&mut self, events: usize) -> &EventLog {
        // A log only grows. Records come mostly in order, so this rarely starts anew.
        if self.past.len() > events {
            self.past = empty(self.log);
        }
        self.past.grow_to(events, self.log);
        &self.past
    }

    /// Checks a fold's id, its predecessor and its span.
    fn chain_of(&mut self, at: usize, fold: &Fold) {
        let name = format!("fold {}", at + 1);
        self.expect(rule::FOLD_ID, &name, fold.id == fold.compute_id(), || {
            format!("it is named {:?}, what it says hashes to {:?}", fold.id, fold.compute_id())
        });
        let prev = fold.prev.map(|prev| self.by_id.get(&prev).copied());
        let earlier = !matches!(prev, Some(None)) && prev.flatten().is_none_or(|prev| prev < at);
        self.expect(rule::FOLD_PREV, &name, earlier, || {
            format!("the fold before it, {:?}, is not among the earlier folds", fold.prev)
        });
        self.expect(rule::SPAN, &name, fold.applies_to(self.log), || {
            let (start, end) = (fold.span.start, fold.span.end);
            format!("events {start}..{end} of the log are not those that were folded")
        });
    }

    /// Checks the figures of a fold against its projection.
    fn fold(&mut self, at: usize, fold: &Fold) {
        let name = format!("fold {}", at + 1);
        let accounts = &fold.accounts;
        let sum = [accounts.verbatim, accounts.edited, accounts.recap, accounts.marker];
        let sum: u64 = sum.into_iter().map(u64::from).sum();
        self.expect(rule::ACCOUNTS, &name, sum == u64::from(accounts.events), || {
            format!("they add up to {sum}, not to {} events", accounts.events)
        });
        let pin = fold.lost_pin();
        self.expect(rule::PINS, &name, pin.is_none(), || {
            format!("event {} is pinned and not kept", pin.unwrap_or_default())
        });
        let events = accounts.events as usize;
        if !fold.applies_to(self.log) || events > self.log.len() || fold.span.end as usize > events
        {
            return;
        }
        let prior = fold.prev.and_then(|prev| self.by_id.get(&prev)).map(|at| &self.folds[*at]);
        let past = self.past(events);
        // The envelope may have been another one then, so its tokens are taken from the record.
        let head = fold.layout.head.start as usize..(fold.layout.head.end as usize).min(past.len());
        let envelope = fold.head_tokens.saturating_sub(past.tokens_in(head));
        let after = ContextProjection::new(past, Some(fold)).context();
        let before = ContextProjection::with_void(past, prior, fold.void_before).context();
        let (verbatim, edited) = fates(&after);
        let same = verbatim == accounts.verbatim && edited == accounts.edited;
        self.expect(rule::ACCOUNTS, &name, same, || {
            format!(
                "it says {} verbatim and {} edited, projecting it gives {verbatim} and {edited}",
                accounts.verbatim, accounts.edited
            )
        });
        let messages = (before.len(), after.len());
        let recorded = (fold.messages_before as usize, fold.messages_after as usize);
        self.expect(rule::FIGURES, &name, messages == recorded, || {
            format!(
                "it says {recorded:?} messages before and after, projecting it gives {messages:?}"
            )
        });
        // The figures of another counter cannot be compared.
        if fold.counter == self.log.counter().name() {
            let tokens = (before.tokens() + envelope, after.tokens() + envelope);
            let recorded = (fold.tokens_before, fold.tokens_after);
            self.expect(rule::FIGURES, &name, tokens == recorded, || {
                format!(
                    "it says {recorded:?} tokens before and after, projecting it gives {tokens:?}"
                )
            });
        }
    }

    /// Checks the calls and their chain.
    fn check_calls(&mut self, calls: &[CallRecord]) {
        let mut ledger = Ledger::default();
        let mut open: Option<LastProjection> = None;
        let mut prev = Hash::ROOT;
        let mut clients = ClientLogs::default();
        for (at, call) in calls.iter().enumerate() {
            let name = format!("call {}", call.number);
            self.expect(rule::CALL_HASH, &name, call.hash == call.compute_hash(), || {
                format!(
                    "it is named {:?}, what it says hashes to {:?}",
                    call.hash,
                    call.compute_hash()
                )
            });
            let in_order = call.prev == prev && call.number == at as u64 + 1;
            self.expect(rule::CALL_CHAIN, &name, in_order, || {
                format!("call {} is expected here, chained to {prev:?}", at + 1)
            });
            prev = call.hash;
            self.call(&name, call, &mut open, &mut ledger);
            if let Some(detail) = clients.fault(self.log, call) {
                self.expect(rule::CALL_CLIENT, &name, false, || detail);
            }
        }
    }

    /// Projects the call's context again and compares the record with it.
    fn call(
        &mut self,
        name: &str,
        call: &CallRecord,
        open: &mut Option<LastProjection>,
        ledger: &mut Ledger,
    ) {
        let fold = call.fold.map(|id| self.by_id.get(&id).map(|at| &self.folds[*at]));
        if fold == Some(None) {
            let detail = format!("its fold {:?} is not among the folds", call.fold);
            self.expect(rule::CALL_FOLD, name, false, || detail);
            return;
        }
        let events = call.events as usize;
        let known = events <= self.log.len() && self.log.hash_before(events) == call.head_hash;
        self.expect(rule::CALL_LOG, name, known, || {
            format!("the first {events} events of the log are not those that it was made from")
        });
        if !known {
            return;
        }
        // Read before `past` starts anew: an open projection of more events cannot be taken back.
        let shrunk = self.past.len() > events;
        let past = self.past(events);
        let projection = match open.take() {
            Some(mut last) if (last.fold, last.void) == (call.fold, call.void) && !shrunk => {
                last.projection.extend(past);
                last.projection
            }
            _ => ContextProjection::with_void(past, fold.flatten(), call.void),
        };
        let context = projection.context();
        *open = Some(LastProjection { fold: call.fold, void: call.void, projection });
        let again = ledger.record(
            &context,
            &CallInput {
                joining: &call.joining,
                events: call.events,
                head_hash: call.head_hash,
                fold: fold.flatten(),
                void: call.void,
                pins: &call.pins,
                meter: &Meter::exact(),
                client: call.client,
                newest_room: call.newest_room,
            },
        );
        self.expect(rule::CALL_CONTEXT, name, again.context_hash == call.context_hash, || {
            format!(
                "projecting it again gives {:?}, it says {:?}",
                again.context_hash, call.context_hash
            )
        });
        // Injected messages are not in the projection, so the counts are compared only where there are none.
        let messages_agree = !call.injections.is_empty() || again.messages == call.messages;
        self.expect(rule::CALL_CONTEXT, name, messages_agree && again.edits == call.edits, || {
            format!(
                "it says {} messages and {} edits, projecting it again gives {} and {}",
                call.messages, call.edits, again.messages, again.edits
            )
        });
    }
}

fn empty(log: &EventLog) -> EventLog {
    EventLog::new(log.dialect().clone(), *log.profile(), log.counter().clone())
}

/// The numbers of verbatim and of edited pieces.
fn fates(context: &Context) -> (u32, u32) {
    context.pieces().fold((0, 0), |(verbatim, edited), piece| match piece.fate {
        PieceFate::Verbatim(_) => (verbatim + 1, edited),
        PieceFate::Edited(_) | PieceFate::Repaired(..) => (verbatim, edited + 1),
        _ => (verbatim, edited),
    })
}
