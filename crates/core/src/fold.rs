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

/// What is in the place of the span, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FoldEntry {
    /// A recap, as the message that is sent.
    Recap {
        /// Its bytes.
        bytes: String,
    },
    /// A marker, as the message that is sent.
    Marker {
        /// Its bytes.
        bytes: String,
    },
    /// Events that stay as they are.
    Verbatim {
        /// First event.
        from: u32,
        /// One past the last.
        to: u32,
    },
    /// An event with edits.
    Edited {
        /// The event.
        seq: u32,
        /// The message as it is sent.
        bytes: String,
    },
}

/// What a reducer did to one part of one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockEdit {
    /// The event.
    pub seq: u32,
    /// The block in it.
    pub block: u32,
    /// `replaced` or `removed`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: EditKind,
    /// The reducer.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reducer: ReducerName,
    /// Its reason code.
    pub reason: String,
    /// Tokens of the block before.
    pub tokens_before: u32,
    /// Tokens of the block after.
    pub tokens_after: u32,
}

/// A repair in the context that the fold led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepairRecord {
    /// Position in the context.
    pub index: u32,
    /// The event that was rendered otherwise; none for an added piece.
    pub seq: Option<u32>,
    /// Why.
    pub why: RepairReason,
}

/// One region of the layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegionRecord {
    /// First event.
    pub start: u32,
    /// One past the last event.
    pub end: u32,
    /// Tokens in the log.
    pub tokens: u64,
}

/// Where the cuts lay, and what set them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutRecord {
    /// The head.
    pub head: RegionRecord,
    /// The middle.
    pub middle: RegionRecord,
    /// The tail.
    pub tail: RegionRecord,
    /// What set the tail's boundary.
    pub floor: TailFloor,
    /// The last real user message, where it was carried as a pin.
    pub carried_user: Option<u32>,
    /// Pinned events of the middle.
    pub pinned: Vec<u32>,
}

/// Each event's fate, counted. `verbatim + edited + recap + marker == events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FateCounts {
    /// Events of the log when the fold was made.
    pub events: u32,
    /// Carried byte for byte.
    pub verbatim: u32,
    /// Edited by a reducer, or rendered otherwise by a repair.
    pub edited: u32,
    /// Covered by a recap.
    pub recap: u32,
    /// Covered by a marker.
    pub marker: u32,
}

impl FateCounts {
    /// Whether each event has exactly one fate.
    #[must_use]
    pub fn add_up(&self) -> bool {
        self.verbatim + self.edited + self.recap + self.marker == self.events
    }
}

/// What the recap says, and what it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecapRecord {
    /// Its text.
    pub text: String,
    /// Its role.
    pub role: String,
    /// Its tokens.
    pub tokens: u64,
    /// Files that it names.
    pub files: u32,
    /// Secrets that were replaced in it.
    pub redacted: u32,
    /// A hash over its text.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub hash: Hash,
}

/// Identifiers of the covered span: how many, and the best of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdList {
    /// How many.
    pub count: u32,
    /// The first of them, best first, at most 200 ([`IdList::SHOWN`]).
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

/// What one reducer took from covered events, by one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrunedCount {
    /// The reducer.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reducer: ReducerName,
    /// Its reason code.
    pub reason: String,
    /// Blocks that it edited.
    pub blocks: u32,
    /// Their tokens before.
    pub tokens_before: u64,
    /// And after.
    pub tokens_after: u64,
}

/// Joins a fold to what else is known of the request (Head, Middle, Tail and Summarizing Evicted
/// Turns: the joining tuple).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldJoin {
    /// The session.
    pub session: String,
    /// The turn in it.
    pub turn: u32,
    /// The request in the turn: the step.
    pub request: u32,
}

/// What became of one request to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictRecord {
    /// The request.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub request: Hash,
    /// `accepted`, why the text was refused, why there is none, or `pending` where the fold did not
    /// wait for it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub code: VerdictCode,
    /// For people; holds no key and no text of the log.
    pub detail: String,
    /// The lines of the reply that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedLine>,
}

/// A line of a reply that was left out of the narration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DroppedLine {
    /// Its start, without secrets and without what forges structure.
    pub line: String,
    /// A code (`false-quote`, `ungrounded`, `injected`), and what it is about.
    pub why: String,
}

/// The record of one compaction pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fold {
    /// Shape of the record.
    pub version: u32,
    /// Hash of this record, chained over the fold before it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: Hash,
    /// The fold before it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub prev: Option<Hash>,
    /// Joins it to a request.
    pub joining: FoldJoin,
    /// What it replaces.
    pub span: Span,
    /// What is there instead.
    pub entries: Vec<FoldEntry>,
    /// What reducers did.
    pub edits: Vec<BlockEdit>,
    /// What reducers took from events that the recap covers, before it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PrunedCount>,
    /// What validity asked for.
    pub repairs: Vec<RepairRecord>,
    /// The recap, where there is one.
    pub recap: Option<RecapRecord>,
    /// The lines of the recap that somebody asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_back: Option<PutBackRecord>,
    /// Head, middle and tail.
    pub layout: LayoutRecord,
    /// Signed reasoning of events before this one leaves the context: the model binds it to all that
    /// stood before it, and that is not there any more. What came later is bound to the fold's own
    /// context, and stays. 0 where the model does not bind.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub void_reasoning: u32,
    /// The first message of the model's newest round, where its calls are told as text: it would have to
    /// start with reasoning that is void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_round: Option<u32>,
    /// What was void before the fold, where the folds before it do not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void_before: Option<VoidReasoning>,
    /// User and assistant took turns so far: what the fold adds keeps to that.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keeps_turns: bool,
    /// Name of the policy.
    pub policy: String,
    /// Hash over the policy.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub policy_fingerprint: Hash,
    /// Name of the profile.
    pub profile: String,
    /// What counted the tokens.
    pub counter: String,
    /// The meter that the plan used.
    pub meter: Meter,
    /// The budget that the plan used.
    pub budget: Budget,
    /// Strategy (Head, Middle, Tail and Summarizing Evicted Turns).
    pub strategy: String,
    /// Tokens of the head, envelope included.
    pub head_tokens: u64,
    /// Tokens of the middle before.
    pub middle_tokens: u64,
    /// Tokens of the tail.
    pub tail_tokens: u64,
    /// Every message of the head is the same slice of the log.
    pub head_verbatim: bool,
    /// Every message of the tail is the same slice of the log.
    pub tail_verbatim: bool,
    /// Counted tokens of the context before.
    pub tokens_before: u64,
    /// Counted tokens of the context after.
    pub tokens_after: u64,
    /// Messages of the context before.
    pub messages_before: u32,
    /// Messages of the context after.
    pub messages_after: u32,
    /// Messages that left the context.
    pub evicted: u32,
    /// What is there where no model narrated, or behind what one narrated: `computed`, `marker`, `static`, or `host` for a recap of
    /// the host's own; none when a model narrated, or nothing was covered.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub fallback: Option<StandIn>,
    /// Whether a fallback of midfold's own is there: the flag of Summarizing Evicted Turns.
    #[serde(default)]
    pub fallback_used: bool,
    /// Why the fold was made.
    #[serde(default)]
    pub cause: FoldCause,
    /// The narration that is in the recap, where a model wrote one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrated: Option<AcceptedNarration>,
    /// What became of the model's replies since the fold before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<VerdictRecord>,
    /// Identifiers of the covered span that the context still names.
    pub kept_ids: IdList,
    /// Identifiers of the covered span that it does not.
    pub lost_ids: IdList,
    /// Identifiers of the recap that no source has: none in a computed one.
    pub invented_ids: IdList,
    /// Lost identifiers that the user or the assistant used again after the fold: null in a record
    /// that was just made, filled where it is read again ([`Fold::with_references`]).
    pub referenced_later: Option<IdList>,
    /// Each event's fate, counted.
    pub accounts: FateCounts,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(is: &bool) -> bool {
    !is
}

impl Fold {
    /// The numbers of the events that a recap or a marker replaces, ascending.
    #[must_use]
    pub fn covered(&self) -> Vec<u32> {
        let (mut kept, mut edited) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            match entry {
                FoldEntry::Verbatim { from, to } => kept.push(*from..*to),
                FoldEntry::Edited { seq, .. } => edited.push(*seq),
                FoldEntry::Recap { .. } | FoldEntry::Marker { .. } => {}
            }
        }
        // Entries are in the order of the log, so a binary search finds the run of an event.
        let is_kept = |seq: u32| {
            let at = kept.partition_point(|run| run.end <= seq);
            kept.get(at).is_some_and(|run| run.contains(&seq))
        };
        let span = self.span.start..self.span.end.max(self.span.start).min(self.accounts.events);
        span.filter(|seq| !is_kept(*seq) && edited.binary_search(seq).is_err()).collect()
    }

    /// The first event whose only replacement can be a marker: 0 where the marker covers all, else the first event
    /// behind the narrated ones. `None` where the fold has no marker.
    #[must_use]
    pub fn marker_from(&self) -> Option<u32> {
        let told = self.narrated.as_ref().map_or(0, |narrated| narrated.span.end);
        (self.fallback == Some(StandIn::Marker)).then_some(told)
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
        let kept: Vec<_> = self.entries.iter().filter_map(verbatim).collect();
        let is_kept = |pin: &u32| {
            let at = kept.partition_point(|run| run.end <= *pin);
            kept.get(at).is_some_and(|run| run.contains(pin))
        };
        let in_span = |pin: &u32| (self.span.start..self.span.end).contains(pin);
        self.layout.pinned.iter().copied().find(|pin| in_span(pin) && !is_kept(pin))
    }

    /// Computes the hash that [`Fold::id`] has to be: over the fold before, the span, all bytes that are sent, and what
    /// decided on them. Two folds with the same id make the same context, now and after any append, so stores and
    /// checks compare ids alone.
    #[must_use]
    pub fn compute_id(&self) -> Hash {
        let mut id = self.prev.unwrap_or(Hash::ROOT);
        id = id.chain(&self.span.before.0).chain(&self.span.through.0);
        id = id.chain(&self.policy_fingerprint.0);
        for entry in &self.entries {
            id = match entry {
                FoldEntry::Recap { bytes } => id.chain(b"recap").chain(bytes.as_bytes()),
                FoldEntry::Marker { bytes } => id.chain(b"marker").chain(bytes.as_bytes()),
                FoldEntry::Verbatim { from, to } => {
                    id.chain(format!("verbatim {from} {to}").as_bytes())
                }
                FoldEntry::Edited { seq, bytes } => {
                    id.chain(format!("edited {seq}").as_bytes()).chain(bytes.as_bytes())
                }
            };
        }
        for edit in &self.edits {
            let BlockEdit { seq, block, kind, reducer, reason, tokens_before, tokens_after } = edit;
            let line =
                format!("{seq} {block} {kind} {reducer} {reason} {tokens_before} {tokens_after}");
            id = id.chain(line.as_bytes());
        }
        id = id.chain(format!("{} {}", self.tokens_before, self.tokens_after).as_bytes());
        // Version 1 ended here.
        if self.version < 2 {
            return id;
        }
        for pin in &self.layout.pinned {
            id = id.chain(format!("pinned {pin}").as_bytes());
        }
        if let Some(RecapRecord { text, role, .. }) = &self.recap {
            id = id.chain(role.as_bytes()).chain(text.as_bytes());
        }
        let line = format!("{} events, void {}", self.accounts.events, self.void_reasoning);
        id = id.chain(line.as_bytes());
        if let Some(round) = self.told_round {
            id = id.chain(format!("told {round}").as_bytes());
        }
        if let Some(PutBackRecord { hash, .. }) = &self.put_back {
            id = id.chain(b"put back").chain(&hash.0);
        }
        if self.keeps_turns { id.chain(b"turns") } else { id }
    }
}
