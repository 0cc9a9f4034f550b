//! The fold: the immutable record of one compaction. It holds the final text of every edit and recap, and accounts that
//! add up.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::event::Hash;
use crate::layout::TailFloor;
use crate::log::EventLog;
use crate::meter::Meter;
use crate::narrate::AcceptedNarration;
use crate::piece::RepairReason;
use crate::policy::ReducerName;
use crate::profile::VoidReasoning;
use crate::trigger::FoldCause;

pub use crate::codes::{EditKind, StandIn, VerdictCode};
pub use crate::put_back_record::{PutBackPart, PutBackRecord, PutBackSource};
pub use crate::span::Span;

/// Version of the record's shape. The id of a version 1 record does not cover pins, the recap's record and the length
/// of the log; such records are still read and checked.
pub const VERSION: u32 = 2;

/// One part of the context in the place of a fold's span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FoldEntry {
    /// A recap, as the message that is sent.
    Recap {
        /// The message as JSON.
        bytes: String,
    },
    /// A marker, as the message that is sent.
    Marker {
        /// The message as JSON.
        bytes: String,
    },
    /// Events that are sent unchanged.
    Verbatim {
        /// The first event.
        from: u32,
        /// One past the last event.
        to: u32,
    },
    /// An event that is sent with edits.
    Edited {
        /// The number of the event.
        seq: u32,
        /// The edited message as JSON.
        bytes: String,
    },
}

/// The edit of one block of an event by a reducer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockEdit {
    /// The number of the event.
    pub seq: u32,
    /// The index of the block in the event, from 0.
    pub block: u32,
    /// `replaced` or `removed`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: EditKind,
    /// The reducer that made the edit.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reducer: ReducerName,
    /// The reason code of the reducer.
    pub reason: String,
    /// Tokens of the block before the edit.
    pub tokens_before: u32,
    /// Tokens of the block after the edit.
    pub tokens_after: u32,
}

/// A repair of a message in the context that the fold led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepairRecord {
    /// The index of the message in the context, from 0.
    pub index: u32,
    /// The number of the event that was sent in another form; null for a message that was added.
    pub seq: Option<u32>,
    /// The reason of the repair.
    pub why: RepairReason,
}

/// One region of the layout: head, middle or tail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegionRecord {
    /// The first event of the region.
    pub start: u32,
    /// One past the last event of the region.
    pub end: u32,
    /// Tokens of these events in the log.
    pub tokens: u64,
}

/// The head, the middle and the tail of the log when the fold was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutRecord {
    /// The head.
    pub head: RegionRecord,
    /// The middle.
    pub middle: RegionRecord,
    /// The tail.
    pub tail: RegionRecord,
    /// The rule that set where the tail begins.
    pub floor: TailFloor,
    /// The number of the user's last real message, if it was carried as a pin; else null.
    pub carried_user: Option<u32>,
    /// The numbers of the pinned events in the middle.
    pub pinned: Vec<u32>,
}

/// The number of events with each fate: `verbatim + edited + recap + marker == events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FateCounts {
    /// The number of events in the log when the fold was made.
    pub events: u32,
    /// Events that are sent byte for byte.
    pub verbatim: u32,
    /// Events that a reducer edited, or that a repair sends in another form.
    pub edited: u32,
    /// Events that a recap covers.
    pub recap: u32,
    /// Events that a marker covers.
    pub marker: u32,
}

impl FateCounts {
    /// Whether each event has exactly one fate.
    ///
    /// ```
    /// use midfold_core::fold::FateCounts;
    /// let counts = FateCounts { events: 3, verbatim: 2, recap: 1, ..FateCounts::default() };
    /// assert!(counts.add_up());
    /// assert!(!FateCounts { marker: u32::MAX, ..counts }.add_up());
    /// ```
    #[must_use]
    pub fn add_up(&self) -> bool {
        let fates = [self.verbatim, self.edited, self.recap, self.marker];
        fates.into_iter().map(u64::from).sum::<u64>() == u64::from(self.events)
    }
}

/// The recap of a fold, with figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecapRecord {
    /// The text of the recap.
    pub text: String,
    /// The role of the message that holds it.
    pub role: String,
    /// Tokens of the recap.
    pub tokens: u64,
    /// The number of files that the recap names.
    pub files: u32,
    /// The number of secrets that were replaced in it.
    pub redacted: u32,
    /// A hash over the text.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub hash: Hash,
}

/// A list of identifiers (paths, ids, symbols) of the covered span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdList {
    /// The number of identifiers.
    pub count: u32,
    /// The identifiers that matter most, best first; at most 200 ([`IdList::SHOWN`]).
    pub first: Vec<String>,
}

impl IdList {
    /// The most identifiers that a record lists.
    pub const SHOWN: usize = 200;

    /// A list of these identifiers, best first and each once. `more` further ones are only counted.
    #[must_use]
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a str>, more: usize) -> Self {
        let mut seen = FxHashSet::default();
        let mut ids = ids.into_iter().filter(|id| seen.insert(*id));
        let first: Vec<String> = ids.by_ref().take(Self::SHOWN).map(str::to_owned).collect();
        let count = first.len() + ids.count() + more;
        Self { count: u32::try_from(count).unwrap_or(u32::MAX), first }
    }
}

/// The blocks of covered events that one reducer edited for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrunedCount {
    /// The reducer that edited the blocks.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reducer: ReducerName,
    /// The reason code of the reducer.
    pub reason: String,
    /// The number of edited blocks.
    pub blocks: u32,
    /// Tokens of these blocks before the edits.
    pub tokens_before: u64,
    /// Tokens of these blocks after the edits.
    pub tokens_after: u64,
}

/// The step of a session that a fold belongs to, to join it with other records of the request (Head, Middle, Tail and
/// Summarizing Evicted Turns: the joining tuple).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldJoin {
    /// The id of the session.
    pub session: String,
    /// The turn in the session.
    pub turn: u32,
    /// The number of the request: the steps of the session so far.
    pub request: u32,
}

/// The outcome of one request for a narration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictRecord {
    /// The id of the request.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub request: Hash,
    /// `accepted`, `unused` (it is not in the recap), why the reply was refused or is missing, or `pending` (no wait).
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub code: VerdictCode,
    /// The outcome in words for people, without keys and without text of the log.
    pub detail: String,
    /// The lines of the reply that were left out of the narration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedLine>,
}

/// A line of a reply that was left out of the narration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DroppedLine {
    /// The start of the line, without secrets and without text that could forge structure.
    pub line: String,
    /// The reason code (`false-quote`, `ungrounded`, `injected`), and the words that it is about.
    pub why: String,
}

/// The immutable record of one compaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fold {
    /// The version of the record's format.
    pub version: u32,
    /// The hash of this record, chained over the fold before it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: Hash,
    /// The id of the fold that this one builds on; null for the first.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub prev: Option<Hash>,
    /// The step of the session at which the fold was made.
    pub joining: FoldJoin,
    /// The events that the fold replaces.
    pub span: Span,
    /// The parts of the context that replace them, in order.
    pub entries: Vec<FoldEntry>,
    /// The edits of reducers.
    pub edits: Vec<BlockEdit>,
    /// The edits of reducers in events that the recap covers. They were made before the recap, which reads their
    /// result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PrunedCount>,
    /// The changes without which the provider would refuse the context.
    pub repairs: Vec<RepairRecord>,
    /// The recap; null if the fold has none.
    pub recap: Option<RecapRecord>,
    /// The lines of the recap that the agent or the settings asked for; left out if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_back: Option<PutBackRecord>,
    /// The head, the middle and the tail when the fold was made.
    pub layout: LayoutRecord,
    /// Signed reasoning of events before this one leaves the context: it is bound to everything before it, and the fold
    /// changes that. Later reasoning is bound to the folded context, and stays. 0 if the model does not bind reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub void_reasoning: u32,
    /// The first message of the model's newest round, if the calls of that round are sent as text. As calls they would
    /// have to start with reasoning that is void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_round: Option<u32>,
    /// The reasoning that was void before this fold, if the earlier folds do not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void_before: Option<VoidReasoning>,
    /// Whether user and assistant took turns so far. If so, the messages that the fold adds keep to that.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keeps_turns: bool,
    /// Whether a message up to the end of the span has reasoning, for a model that then wants some in each later message.
    #[serde(default, skip_serializing_if = "is_false")]
    pub follows_reasoning: bool,
    /// The name of the policy.
    pub policy: String,
    /// A hash over the whole policy.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub policy_fingerprint: Hash,
    /// The name of the profile: the provider's rules.
    pub profile: String,
    /// The name of the counter that counted the tokens.
    pub counter: String,
    /// The state of the meter when the fold was planned.
    pub meter: Meter,
    /// The budget for which the fold was planned.
    pub budget: Budget,
    /// The name of the strategy (Head, Middle, Tail and Summarizing Evicted Turns).
    pub strategy: String,
    /// Tokens of the head, with system prompt and tools.
    pub head_tokens: u64,
    /// Tokens of the middle before the fold.
    pub middle_tokens: u64,
    /// Tokens of the tail.
    pub tail_tokens: u64,
    /// Whether every message of the head is sent with the bytes of the log.
    pub head_verbatim: bool,
    /// Whether every message of the tail is sent with the bytes of the log.
    pub tail_verbatim: bool,
    /// Counted tokens of the context before the fold.
    pub tokens_before: u64,
    /// Counted tokens of the context after the fold.
    pub tokens_after: u64,
    /// Messages of the context before the fold.
    pub messages_before: u32,
    /// Messages of the context after the fold.
    pub messages_after: u32,
    /// The number of events that a recap or a marker covers.
    pub evicted: u32,
    /// The kind of text that replaces the covered events where no narration does: `computed`, `marker`, `static`, or
    /// `host` for a recap of the host's own. Null if a model narrated alone, or if nothing was covered.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub fallback: Option<StandIn>,
    /// Whether `fallback` is one of midfold's own texts: the flag of Summarizing Evicted Turns.
    #[serde(default)]
    pub fallback_used: bool,
    /// The reason for which the fold was made.
    #[serde(default)]
    pub cause: FoldCause,
    /// The narration in the recap; left out if no model wrote one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrated: Option<AcceptedNarration>,
    /// The outcomes of the requests for a narration since the fold before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<VerdictRecord>,
    /// The identifiers of the covered span that the context still has.
    pub kept_ids: IdList,
    /// The identifiers of the covered span that the context no longer has.
    pub lost_ids: IdList,
    /// The identifiers that a written recap invented: a narration lost the lines that had them, a host's recap has them
    /// still. Empty for a computed recap.
    pub invented_ids: IdList,
    /// The lost identifiers that the user or the assistant used again after the fold. Null in a new record; filled
    /// where the record is read again ([`Fold::with_references`]).
    pub referenced_later: Option<IdList>,
    /// The number of events with each fate.
    pub accounts: FateCounts,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(is: &bool) -> bool {
    !is
}

impl Fold {
    /// The name of what is in the place of the folded events: `narrated`, `computed`, `marker`, `static` or `host`. `None`
    /// where events were only shortened.
    #[must_use]
    pub fn stand_in_name(&self) -> Option<String> {
        match (self.fallback, &self.narrated) {
            (None | Some(StandIn::Computed | StandIn::Marker), Some(_)) => {
                Some("narrated".to_owned())
            }
            (stand_in, _) => stand_in.map(|stand_in| stand_in.to_string()),
        }
    }

    /// The numbers of the events that a recap or a marker replaces, ascending.
    #[must_use]
    pub fn covered(&self) -> Vec<u32> {
        let (mut runs, mut edited) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            match entry {
                FoldEntry::Verbatim { from, to } => runs.push(*from..*to),
                FoldEntry::Edited { seq, .. } => edited.push(*seq),
                FoldEntry::Recap { .. } | FoldEntry::Marker { .. } => {}
            }
        }
        // Entries are in the order of the log, so a binary search finds the run of an event.
        let is_kept = |seq: u32| {
            let at = runs.partition_point(|run| run.end <= seq);
            runs.get(at).is_some_and(|run| run.contains(&seq))
        };
        // A damaged record must not name events that its log never had.
        let span = self.span.start..self.span.end.max(self.span.start).min(self.accounts.events);
        span.filter(|seq| !is_kept(*seq) && edited.binary_search(seq).is_err()).collect()
    }

    /// The first event whose only replacement can be a marker or a fixed sentence: 0 where it covers all, else the first
    /// event behind the narrated ones. `None` where the fold has neither.
    #[must_use]
    pub fn marker_from(&self) -> Option<u32> {
        let end = self.narrated.as_ref().map_or(0, |narrated| narrated.span.end);
        matches!(self.fallback, Some(StandIn::Marker | StandIn::Static)).then_some(end)
    }

    /// Whether the fold's span is in this log, byte for byte.
    #[must_use]
    pub fn applies_to(&self, log: &EventLog) -> bool {
        let end = self.span.end as usize;
        end <= log.len()
            && log.hash_before(self.span.start as usize) == self.span.before
            && log.hash_before(end) == self.span.through
    }

    /// The reasoning that this fold makes void.
    #[must_use]
    pub fn void(&self) -> VoidReasoning {
        VoidReasoning { before: self.void_reasoning, told_round: self.told_round }
    }

    /// The number of events at the start of the log that stay unchanged.
    pub(crate) fn unchanged(&self) -> usize {
        let mut upto = self.span.start;
        for entry in &self.entries {
            match entry {
                FoldEntry::Verbatim { from, to } if *from == upto => upto = *to,
                _ => break,
            }
        }
        upto as usize
    }

    /// The first pinned event that the fold does not keep verbatim; `None` in a valid fold.
    #[must_use]
    pub fn lost_pin(&self) -> Option<u32> {
        let verbatim = |entry: &FoldEntry| match entry {
            FoldEntry::Verbatim { from, to } => Some(*from..*to),
            _ => None,
        };
        // The runs are in the order of the log, so a binary search finds the run of a pin.
        let runs: Vec<_> = self.entries.iter().filter_map(verbatim).collect();
        let is_kept = |pin: &u32| {
            let at = runs.partition_point(|run| run.end <= *pin);
            runs.get(at).is_some_and(|run| run.contains(pin))
        };
        let in_span = |pin: &u32| (self.span.start..self.span.end).contains(pin);
        self.layout.pinned.iter().copied().find(|pin| in_span(pin) && !is_kept(pin))
    }
}
