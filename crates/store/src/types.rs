//! The plain types that a store takes and returns.

use bytes::Bytes;
use midfold_core::{Hash, RawEvent, TextOrigin};
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC. Times are for display and leases only; the order of events is always `seq`.
pub type Millis = u64;

/// The facts about a session that are set when it is created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSession {
    /// The id: 1 to 200 characters, without control characters.
    pub id: String,
    /// The wire format of its events.
    pub dialect: String,
    /// The profile: the rules by which its contexts are valid.
    pub profile: String,
    /// The name of the counter of its tokens.
    pub counter: String,
    /// Its policy at the start, as TOML.
    pub policy: String,
    /// Envelope, budget, a fork's parent and more, as JSON. The store reads only the owner.
    pub meta: String,
    /// When it was created.
    pub created: Millis,
}

/// A session that was recognised by its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifiedSession {
    /// The session's id.
    pub id: String,
    /// How many of its first messages the identity covers.
    pub events: u64,
    /// The active fold; `None` where no fold is active.
    pub active: Option<Hash>,
    /// The version of its state, because the state may have changed while everything else stayed.
    pub state_version: u64,
}

/// The history that ends with an answer: the first events of a session, and what came after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerHistory {
    /// The session; `None` where the whole history is in `rest`.
    pub session: Option<String>,
    /// How many of the session's events belong to the history.
    pub events: u64,
    /// The messages after those events. The store does not read them.
    pub rest: Bytes,
}

/// A model's window, as its provider stated it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearnedWindow {
    /// The window, in tokens.
    pub tokens: u64,
    /// Whether the tokens that a request allows for its answer count, too.
    pub counts_reply: bool,
    /// When the provider stated it.
    pub learned: Millis,
}

/// A session in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// The facts that were set when it was created.
    pub new: NewSession,
    /// The number of events, which is the seq of the next one.
    pub head: u64,
    /// The chain hash after the last event.
    pub head_hash: Hash,
    /// The number of turns so far.
    pub turn: u32,
    /// The active fold; `None` where no fold is active.
    pub active: Option<Hash>,
    /// The state as JSON: meter, breaker, cooldown, pins and more. Empty at first.
    pub state: String,
    /// How many times `state` was saved.
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

/// An event to append. The caller has computed its hash in the chain, from the head that it expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// The message, byte for byte.
    pub bytes: Bytes,
    /// `hash_n = H(hash_{n-1}, bytes)`.
    pub hash: Hash,
    /// The number of turns so far, including the turn of this event.
    pub turn: u32,
    /// Its tokens by the session's counter.
    pub tokens: u32,
    /// The usage that the provider reported for it, as JSON; `None` where it is not known.
    pub usage: Option<String>,
    /// The origin of its text, where a reader knew more about it than the bytes say.
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
            origin: event.known_origin,
        }
    }

    /// The event in the form in which the engine takes it.
    #[must_use]
    pub fn raw(&self) -> RawEvent {
        let usage = self.usage.as_deref().and_then(|usage| serde_json::from_str(usage).ok());
        RawEvent { usage, origin: self.origin, ..RawEvent::new(Bytes::clone(&self.bytes)) }
    }
}

/// An append, which is stored completely or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppendRequest {
    /// The head that the caller expects.
    pub expected: u64,
    /// A retry with the same key and the same events returns the first answer.
    pub key: Option<String>,
    /// The events.
    pub events: Vec<NewEvent>,
    /// The time of the append.
    pub now: Millis,
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendOutcome {
    /// Seq of the first event.
    pub first: u64,
    /// How many events were appended.
    pub count: u64,
    /// Whether this is the answer of an earlier append with the same key.
    pub repeated: bool,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Its position in the log.
    pub seq: u64,
    /// The event as it was appended.
    pub event: NewEvent,
}

/// Everything of a session that a context needs.
#[derive(Clone, Debug)]
pub struct LoadedSession {
    /// The session.
    pub session: SessionRow,
    /// Its active fold; `None` where no fold is active.
    pub fold: Option<FoldRow>,
    /// Events before the fold's span; empty without a fold.
    pub head: Vec<EventRow>,
    /// Events of the span that the fold keeps verbatim.
    pub kept: Vec<EventRow>,
    /// Events after the span; all events without a fold.
    pub tail: Vec<EventRow>,
}

/// A fold to add. `body` is the whole record as JSON; the other fields are what the store itself needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFold {
    /// The record's id.
    pub id: Hash,
    /// The first event of the span.
    pub start: u64,
    /// The first event behind the span.
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
    /// When the fold was made.
    pub now: Millis,
}

impl NewFold {
    /// The row for a fold's record.
    ///
    /// # Errors
    /// Fails where the record cannot be written as JSON.
    pub fn of(
        fold: &midfold_core::fold::Fold,
        now: Millis,
    ) -> Result<Self, crate::error::StoreError> {
        Ok(Self {
            id: fold.id,
            start: fold.span.start.into(),
            end: fold.span.end.into(),
            before: fold.span.before,
            through: fold.span.through,
            policy: fold.policy_fingerprint,
            recap: fold.recap.as_ref().map_or(Hash::ROOT, |recap| recap.hash),
            kept: kept_runs(fold),
            body: serde_json::to_string(fold)?,
            now,
        })
    }
}

/// The runs of seqs of its span that a fold keeps verbatim.
pub(crate) fn kept_runs(fold: &midfold_core::fold::Fold) -> Vec<std::ops::Range<u64>> {
    let kept = midfold_core::engine::kept_ranges(fold).into_iter();
    kept.map(|run| run.start.into()..run.end.into()).collect()
}

/// A stored fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldRow {
    /// Its number in the session, counted from 1 in the order of adding.
    pub number: u64,
    /// The fold as it was added.
    pub fold: NewFold,
}

/// A job to queue: the narration of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    /// The id of the narration request, in hex. Unique within a session.
    pub key: String,
    /// The session.
    pub session: String,
    /// The first event of the span.
    pub start: u64,
    /// The first event behind the span.
    pub end: u64,
    /// Chain hash at its end.
    pub through: Hash,
    /// What else the worker has to know, as JSON.
    pub body: String,
    /// The earliest time at which the job may be claimed.
    pub run_at: Millis,
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// It waits for its time or for a worker.
    Ready,
    /// A worker has it.
    Leased,
    /// It ended with a verdict.
    Done,
    /// It was given up, with a reason.
    Dead,
}

/// A job in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreJob {
    /// Its id.
    pub id: u64,
    /// The job as it was queued.
    pub job: NewJob,
    /// The state of the job.
    pub state: JobState,
    /// How many times it was claimed.
    pub attempt: u32,
    /// How many times a worker gave it back with a reason. A worker that died gave no reason.
    pub failures: u32,
    /// The worker that has it, or had it last.
    pub worker: Option<String>,
    /// When its lease ends; `None` where it is not leased.
    pub lease_until: Option<Millis>,
    /// The verdict of a job that is done, or the last reason of a failure.
    pub outcome: Option<String>,
    /// The fold that was made from its narration.
    pub fold: Option<Hash>,
}

impl StoreJob {
    /// The lease that a claim of this job gave.
    #[must_use]
    pub fn lease(&self) -> Lease {
        Lease { job: self.id, attempt: self.attempt }
    }
}

/// A claim on jobs that are due.
#[derive(Clone, Debug)]
pub struct JobClaim {
    /// The name of the worker.
    pub worker: String,
    /// The current time.
    pub now: Millis,
    /// The time until which the leases hold.
    pub until: Millis,
    /// Most jobs to claim.
    pub limit: u32,
}

/// A claimed job. The attempt fences it: a later claim of the same job has another number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job's id.
    pub job: u64,
    /// The number of the attempt.
    pub attempt: u32,
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// The verdict on the reply.
    pub verdict: String,
    /// The prepared fold, where the reply was accepted. It becomes active only when a session uses it.
    pub fold: Option<NewFold>,
}

/// How an attempt at a job ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// The job is done.
    Done(Box<JobOutcome>),
    /// The attempt failed. The job is tried again at `retry_at`; with `None` it is dead, and keeps the reason.
    Failed {
        /// Why it failed.
        reason: String,
        /// When it is tried again.
        retry_at: Option<Millis>,
    },
}

/// A model call to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCall {
    /// The number that the call has to get: one more than the calls so far.
    pub number: u64,
    /// The number of events that the context was made from.
    pub head: u64,
    /// The fold through which the context was read; `None` for the whole log.
    pub fold: Option<Hash>,
    /// The chain hash over the previous call and the body.
    pub hash: Hash,
    /// The record as JSON.
    pub body: String,
    /// When the call was made.
    pub now: Millis,
}

/// A recorded model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The call as it was recorded.
    pub call: NewCall,
    /// The usage that the provider reported, as JSON; `None` until it has.
    pub usage: Option<String>,
}

/// How a query is matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchMode {
    /// Words; hits are ranked.
    #[default]
    Text,
    /// A substring, with the same case.
    Literal,
    /// A regular expression of the `regex` crate.
    Regex,
}

/// A search over the original log of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSearch {
    /// The text to find.
    pub query: String,
    /// How the query is matched.
    pub mode: SearchMode,
    /// Only events in this range; `None` for all events.
    pub range: Option<std::ops::Range<u64>>,
    /// Most hits to return.
    pub limit: u32,
}

/// A found event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The event's seq.
    pub seq: u64,
    /// The text around the first match, at most about 300 characters.
    pub snippet: String,
}

/// How much a store has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// How many rows.
    pub rows: u64,
    /// How many bytes of their contents.
    pub bytes: u64,
}

/// A query for sessions by their last change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewestQuery {
    /// Only sessions of this owner ([`SessionMeta::owner`](crate::live::SessionMeta)); `None` for all.
    pub owner: Option<String>,
    /// Only sessions that changed before this tick, for the next page.
    pub before: Option<u64>,
    /// Most sessions to return.
    pub limit: u32,
}

/// The activity of a session, as lists of many sessions show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionActivity {
    /// The session's id.
    pub id: String,
    /// The session's owner.
    pub owner: Option<String>,
    /// The number of the session's last change among all changes of the store; larger is later. Every message, fold,
    /// call and saved state is a change.
    pub tick: u64,
    /// When it last got an event, a fold or a call.
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

/// The records of a session. Deleting the session deletes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionExtent {
    /// The id of the session.
    pub session: String,
    /// The number of events.
    pub events: u64,
    /// The number of folds.
    pub folds: u64,
    /// The number of model calls in the ledger.
    pub calls: u64,
    /// The number of jobs, with those that have ended.
    pub jobs: u64,
    /// The bytes of its events and of the records of its folds, calls and jobs.
    pub bytes: u64,
    /// When the session last changed, in milliseconds since 1970: the newest of its creation, events, folds and calls.
    pub changed: Millis,
}

/// A part of sessions that are imported whole. The parts come in this order: a session, its events, its folds, its
/// calls, and its end; then the next session.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferPart {
    /// A session that is new to the store.
    Session(NewSession),
    /// Its next events.
    Events(Vec<NewEvent>),
    /// Its next fold.
    Fold(Box<NewFold>),
    /// Its next call, and the usage that the provider reported.
    Call(Box<NewCall>, Option<String>),
    /// The end of the session: its active fold and its state.
    Done(Option<Hash>, String),
}

/// The parts, one after the other, or an error where the next one cannot be read.
pub type TransferParts<'a> =
    &'a mut (dyn Iterator<Item = Result<TransferPart, crate::error::StoreError>> + Send);
