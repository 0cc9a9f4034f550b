//! Which folds of a session were in force. A session keeps every fold that was made, but requests are read through few
//! of them; figures count only those.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::fold::Fold;
use crate::ledger::CallRecord;
use crate::trigger::FoldCause;

/// Whether a fold was ever in force, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FoldStanding {
    /// A request was read through the fold, or it is the active fold. If no request was recorded before it was made, it
    /// is enough that the active fold builds on it.
    InForce,
    /// A worker prepared the fold ahead of time, and it was never used.
    Prepared,
    /// The fold was taken back before a request was read through it.
    Undone,
    /// Another fold was made on top of it before a request was read through it.
    Superseded,
}

impl FoldStanding {
    /// Whether the fold was in force.
    #[must_use]
    pub fn is_in_force(self) -> bool {
        self == Self::InForce
    }
}

impl std::fmt::Display for FoldStanding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::InForce => "in force",
            Self::Prepared => "prepared, and never in force",
            Self::Undone => "taken back before anything was sent through it",
            Self::Superseded => "replaced before anything was sent through it",
        })
    }
}

/// The folds that the recorded requests of a session were read through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedRequests {
    /// The number of messages at the earliest recorded request; `None` where none is recorded.
    first: Option<u64>,
    folds: FxHashSet<Hash>,
}

impl RecordedRequests {
    /// The requests of these calls.
    #[must_use]
    pub fn of(calls: &[CallRecord]) -> Self {
        calls.iter().map(|call| (call.fold, u64::from(call.events))).collect()
    }

    /// For sessions without recorded calls, of which only this fold is known to have been sent.
    #[must_use]
    pub(crate) fn through(fold: Option<Hash>) -> Self {
        Self { first: None, folds: fold.into_iter().collect() }
    }
}

/// Collects requests: the fold of each (`None`: the whole log) and the number of messages at that time.
impl FromIterator<(Option<Hash>, u64)> for RecordedRequests {
    fn from_iter<T: IntoIterator<Item = (Option<Hash>, u64)>>(requests: T) -> Self {
        let mut all = Self::default();
        for (fold, events) in requests {
            all.first = Some(all.first.map_or(events, |first| first.min(events)));
            all.folds.extend(fold);
        }
        all
    }
}

/// The standing of each fold of a session. `folds` is all of them in order; `active` is the one that the context is
/// read through now.
///
/// ```
/// use midfold_core::fold_standing::{RecordedRequests, standings};
/// assert!(standings(&[], None, &RecordedRequests::default()).is_empty());
/// ```
#[must_use]
pub fn standings(
    folds: &[Fold],
    active: Option<Hash>,
    requests: &RecordedRequests,
) -> Vec<FoldStanding> {
    let read = chain(folds, active);
    let stands = |fold: &Fold| {
        // Whether requests were recorded before this fold was made. Then a request through it would be recorded, too.
        let recorded = || requests.first.is_some_and(|at| at < u64::from(fold.accounts.events));
        if active == Some(fold.id) || requests.folds.contains(&fold.id) {
            FoldStanding::InForce
        } else if read.contains(&fold.id) {
            if recorded() { FoldStanding::Superseded } else { FoldStanding::InForce }
        } else if fold.cause == FoldCause::Prepared {
            FoldStanding::Prepared
        } else {
            FoldStanding::Undone
        }
    };
    folds.iter().map(stands).collect()
}

/// The number of folds that were in force.
#[must_use]
pub fn in_force(standings: &[FoldStanding]) -> u64 {
    standings.iter().filter(|standing| standing.is_in_force()).count() as u64
}

/// The folds that were not in force, in words: `2 prepared, 1 undone`. Empty where all were.
#[must_use]
pub fn aside(standings: &[FoldStanding]) -> String {
    let kinds = [
        (FoldStanding::Prepared, "prepared"),
        (FoldStanding::Undone, "undone"),
        (FoldStanding::Superseded, "replaced unsent"),
    ];
    let count = |kind| standings.iter().filter(|standing| **standing == kind).count();
    let parts = kinds.map(|(kind, name)| (count(kind), name));
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

/// The ids of the active fold and of those that it builds on, newest first.
#[must_use]
pub fn chain(folds: &[Fold], active: Option<Hash>) -> Vec<Hash> {
    let mut read = Vec::new();
    let mut next = active;
    // A damaged record may name a later fold, so no id is followed twice.
    while let Some(id) = next.filter(|id| !read.contains(id)) {
        read.push(id);
        next = folds.iter().find(|fold| fold.id == id).and_then(|fold| fold.prev);
    }
    read
}
