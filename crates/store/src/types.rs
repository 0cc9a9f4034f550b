//! The plain types that a store takes and gives.

use bytes::Bytes;
use midfold_core::{Hash, RawEvent, TextOrigin};
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC. Display and leases only: order is always `seq`.
pub type Millis = u64;

/// What a session is, from the day it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSession {
    /// Its id: any text of 1 to 200 characters without control characters.
    pub id: String,
    /// The wire format of its events.
    pub dialect: String,
    /// The validity rules of its contexts.
    pub profile: String,
    /// What counts its tokens.
    pub counter: String,
    /// Its policy, as TOML.
    pub policy: String,
    /// Envelope, budget, parent of a fork and such, as JSON: not read by the store.
    pub meta: String,
    /// When it was made.
    pub created: Millis,
}

/// A session that was found by what its messages are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifiedSession {
    /// Its id.
    pub id: String,
    /// How many of its first messages the identity names.
    pub events: u64,
    /// The fold that is read now.
    pub active: Option<Hash>,
    /// Version of its state: somebody may have changed that alone.
    pub state_version: u64,
}

/// The history that ends with an answer: the first events of a session, and what came behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerHistory {
    /// The session; none where all of it is in `rest`.
    pub session: Option<String>,
    /// How many of the session's events are of it.
    pub events: u64,
    /// What came behind them: not read by the store.
    pub rest: Bytes,
}

/// What a provider said of a model's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearnedWindow {
    /// The window, in tokens.
    pub tokens: u64,
    /// What a request allows for its reply counts, too.
    pub counts_reply: bool,
    /// When it was said.
    pub learned: Millis,
}

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// As it was made.
    pub new: NewSession,
    /// Number of events: the seq that the next one gets.
    pub head: u64,
    /// Chain hash of all events.
    pub head_hash: Hash,
    /// Turns so far.
    pub turn: u32,
    /// The active fold.
    pub active: Option<Hash>,
    /// Meter, breaker, cooldown, pins, as JSON; empty at first.
    pub state: String,
    /// Counts saves of `state`.
    pub state_version: u64,
}

impl SessionRow {
    /// Bytes of its contents, as [`ReadCounts`] counts them.
    #[must_use]
    pub fn content_len(&self) -> usize {
        let NewSession { id, dialect, profile, counter, policy, meta, .. } = &self.new;
        let texts = [id, dialect, profile, counter, policy, meta, &self.state];
        texts.iter().map(|text| text.len()).sum()
    }
}

/// An event to append. The caller computed its place in the chain from the head it expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// The message, byte for byte.
    pub bytes: Bytes,
    /// `hash_n = H(hash_{n-1}, bytes)`.
    pub hash: Hash,
    /// Turns so far, this event's included.
    pub turn: u32,
    /// Its tokens by the session's counter.
    pub tokens: u32,
    /// What the provider reported for it (JSON), where known.
    pub usage: Option<String>,
    /// What its reader knew of its origin that the bytes alone do not tell.
    pub origin: Option<TextOrigin>,
}

impl NewEvent {
    /// The row of a log's event.
    #[must_use]
    pub fn of(event: &midfold_core::log::Event) -> Self {
        Self {
            bytes: Bytes::clone(&event.bytes),
            hash: event.hash,
            turn: event.turn,
            tokens: event.tokens.total,
            usage: event.usage.as_ref().and_then(|usage| serde_json::to_string(usage).ok()),
            origin: event.told,
        }
    }

    /// The event as the engine takes it.
    #[must_use]
    pub fn raw(&self) -> RawEvent {
        let usage = self.usage.as_deref().and_then(|usage| serde_json::from_str(usage).ok());
        RawEvent { usage, origin: self.origin, ..RawEvent::new(Bytes::clone(&self.bytes)) }
    }
}

/// An append: all of it or nothing.
#[derive(Clone, Debug, Default)]
pub struct AppendRequest {
    /// The head that the caller saw.
    pub expected: u64,
    /// A retry with the same key and the same events returns the first answer.
    pub key: Option<String>,
    /// The events.
    pub events: Vec<NewEvent>,
    /// A job to queue in the same transaction (ignored where one of its key, or another live job
    /// of the session, is there).
    pub job: Option<NewJob>,
    /// When.
    pub now: Millis,
}

/// What an append came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendOutcome {
    /// Seq of the first event.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// The answer is that of an earlier append with the same key.
    pub repeated: bool,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Its place.
    pub seq: u64,
    /// As it was appended.
    pub event: NewEvent,
}

/// All that rendering needs.
#[derive(Clone, Debug)]
pub struct LoadedSession {
    /// The session.
    pub session: SessionRow,
    /// Its active fold.
    pub fold: Option<FoldRow>,
    /// Events before the fold's span (none without a fold).
    pub head: Vec<EventRow>,
    /// Events of the span that the fold keeps verbatim.
    pub kept: Vec<EventRow>,
    /// Events after the span; all events without a fold.
    pub tail: Vec<EventRow>,
}

/// A fold to add. `body` is the record as JSON; the rest is what the store has to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFold {
    /// The record's id.
    pub id: Hash,
    /// First event of the span.
    pub start: u64,
    /// One past its last.
    pub end: u64,
    /// Chain hash before the span.
    pub before: Hash,
    /// Chain hash at its end.
    pub through: Hash,
    /// Fingerprint of the policy.
    pub policy: Hash,
    /// Hash of the recap's text; [`Hash::ROOT`] without one.
    pub recap: Hash,
    /// Runs of seqs of the span that the fold keeps verbatim.
    pub kept: Vec<std::ops::Range<u64>>,
    /// The record as JSON.
    pub body: String,
    /// When.
    pub now: Millis,
}

impl NewFold {
    /// The row of a record.
    ///
    /// # Errors
    /// When the record cannot be written as JSON.
    pub fn of(
        fold: &midfold_core::fold::Fold,
        now: Millis,
    ) -> Result<Self, crate::error::StoreError> {
        let kept = midfold_core::engine::kept_ranges(fold).into_iter();
        Ok(Self {
            id: fold.id,
            start: fold.span.start.into(),
            end: fold.span.end.into(),
            before: fold.span.before,
            through: fold.span.through,
            policy: fold.policy_fingerprint,
            recap: fold.recap.as_ref().map_or(Hash::ROOT, |recap| recap.hash),
            kept: kept.map(|run| run.start.into()..run.end.into()).collect(),
            body: serde_json::to_string(fold)?,
            now,
        })
    }
}

/// A stored fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldRow {
    /// Its number in the session, from 1, in the order they came in.
    pub number: u64,
    /// As it was added.
    pub fold: NewFold,
}

/// What adding a fold came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is new.
    New,
    /// It is there already.
    Same,
}

/// A job to queue: a span to narrate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    /// Names the work: the request's id, in hex. Unique.
    pub key: String,
    /// The session.
    pub session: String,
    /// First event of the span.
    pub start: u64,
    /// One past its last.
    pub end: u64,
    /// Chain hash at its end.
    pub through: Hash,
    /// What the worker has to know beside that, as JSON.
    pub body: String,
    /// Not before.
    pub run_at: Millis,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// Waits for its time or a worker.
    Ready,
    /// A worker has it.
    Leased,
    /// Ended, with a verdict.
    Done,
    /// Given up, with the reason.
    Dead,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreJob {
    /// Its id.
    pub id: u64,
    /// As it was queued.
    pub job: NewJob,
    /// Where it stands.
    pub state: JobState,
    /// Times that it was claimed.
    pub attempt: u32,
    /// Times that it was given back with a reason. A worker that died gave none.
    pub failures: u32,
    /// The worker that has it, or had it last.
    pub worker: Option<String>,
    /// Until when.
    pub lease_until: Option<Millis>,
    /// The verdict when done; the last reason when it failed.
    pub outcome: Option<String>,
    /// The fold that it led to.
    pub fold: Option<Hash>,
}

impl StoreJob {
    /// The lease that a claim gave.
    #[must_use]
    pub fn lease(&self) -> Lease {
        Lease { job: self.id, attempt: self.attempt }
    }
}

/// A claim on jobs that are due.
#[derive(Clone, Debug)]
pub struct JobClaim {
    /// Who claims.
    pub worker: String,
    /// The time.
    pub now: Millis,
    /// Until when the lease holds.
    pub until: Millis,
    /// At most this many.
    pub limit: u32,
}

/// A claimed job. The attempt fences it: whoever claims it later has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: u64,
    /// The attempt.
    pub attempt: u32,
}

/// What a job came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// The verdict on the reply.
    pub verdict: String,
    /// The prepared fold, where the reply was accepted. Not active until a session takes it.
    pub fold: Option<NewFold>,
}

/// A model call to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCall {
    /// The number that it should get: calls so far + 1.
    pub number: u64,
    /// Events that the context was made from.
    pub head: u64,
    /// The fold that it was read through.
    pub fold: Option<Hash>,
    /// Chain hash over the call before and the body.
    pub hash: Hash,
    /// The record as JSON.
    pub body: String,
    /// When.
    pub now: Millis,
}

/// A recorded model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// As it was recorded.
    pub call: NewCall,
    /// What the provider reported (JSON), once it has.
    pub usage: Option<String>,
}

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchMode {
    /// Words, ranked.
    #[default]
    Text,
    /// A substring, case and all.
    Literal,
    /// A regular expression (the `regex` crate's).
    Regex,
}

/// A search over the original log of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSearch {
    /// What for.
    pub query: String,
    /// How.
    pub mode: SearchMode,
    /// Only events of this range.
    pub range: Option<std::ops::Range<u64>>,
    /// At most this many.
    pub limit: u32,
}

/// A found event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The event.
    pub seq: u64,
    /// Text around the (first) match, at most about 300 characters.
    pub snippet: String,
}

/// What a store has read: rows, and bytes of their contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Which sessions are asked for by their last change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewestQuery {
    /// Only those of this owner ([`SessionMeta::owner`](crate::live::SessionMeta)); all without one.
    pub owner: Option<String>,
    /// Only those that changed before this tick: the next page.
    pub before: Option<u64>,
    /// At most this many.
    pub limit: u32,
}

/// What a session does, as a list of many needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionActivity {
    /// The session's id.
    pub id: String,
    /// Whose it is.
    pub owner: Option<String>,
    /// Counts the changes of the store: larger is later. It changes with every message, fold, call and saved
    /// state.
    pub tick: u64,
    /// When it last got a message, a fold or a call.
    pub changed: Millis,
    /// Number of events.
    pub head: u64,
    /// The active fold.
    pub active: Option<Hash>,
    /// Its number in the session, from 1.
    pub active_number: Option<u64>,
    /// Tokens of all events, by the session's counter.
    pub tokens: u64,
    /// Number of folds.
    pub folds: u64,
    /// Number of calls.
    pub calls: u64,
}

/// What a session holds: what deleting it takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionExtent {
    /// The session's id.
    pub session: String,
    /// Number of events.
    pub events: u64,
    /// Number of folds.
    pub folds: u64,
    /// Number of model calls in the ledger.
    pub calls: u64,
    /// Number of jobs, ended ones included.
    pub jobs: u64,
    /// Bytes of its events and of the records of its folds, calls and jobs.
    pub bytes: u64,
    /// When it last changed: the newest of its making, its newest event, fold and call.
    pub changed: Millis,
}

/// One part of sessions that are brought in whole, in this order: a session, its events, its folds,
/// its calls, and how it ends; then the next session.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferPart {
    /// A session that is new to the store.
    Session(NewSession),
    /// Its next events.
    Events(Vec<NewEvent>),
    /// Its next fold.
    Fold(Box<NewFold>),
    /// Its next call, and what the provider reported for it.
    Call(Box<NewCall>, Option<String>),
    /// Its active fold and its state: the session is complete.
    Done(Option<Hash>, String),
}

/// Parts one after the other, or why there is no next one.
pub type TransferParts<'a> =
    &'a mut (dyn Iterator<Item = Result<TransferPart, crate::error::StoreError>> + Send);
