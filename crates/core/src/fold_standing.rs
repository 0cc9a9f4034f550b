//! How the folds of a session stand. A session keeps every fold that was made, and requests are read through few
//! of them: whoever counts folds counts those that were in force.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::fold::Fold;
use crate::ledger::CallRecord;
use crate::trigger::FoldCause;

/// How a fold stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FoldStanding {
    /// A request was read through it, or the context is read through it now, or what is read now was built on
    /// it while no request was recorded yet.
    InForce,
    /// Prepared ahead by a worker, and not taken.
    Prepared,
    /// Taken back before a request was read through it.
    Undone,
    /// Another fold was made on top of it before a request was read through it.
    Superseded,
}

impl FoldStanding {
    /// Whether it was in force.
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

/// What the recorded requests of a session were read through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedRequests {
    /// Messages that there were at the first of them.
    first: Option<u64>,
    folds: FxHashSet<Hash>,
}

impl RecordedRequests {
    /// Of these calls.
    #[must_use]
    pub fn of(calls: &[CallRecord]) -> Self {
        calls.iter().map(|call| (call.fold, u64::from(call.events))).collect()
    }

    /// Where no calls are recorded, and this fold is known to be sent.
    #[must_use]
    pub(crate) fn through(fold: Option<Hash>) -> Self {
        Self { first: None, folds: fold.into_iter().collect() }
    }
}

/// Of folds (none: the whole log), each with the fewest messages that there were at a request through it.
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

/// How each of these folds stands: all folds of a session, in order, and the one that its context is read through
/// now.
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

/// How many of these folds were in force.
#[must_use]
pub fn in_force(standings: &[FoldStanding]) -> u64 {
    standings.iter().filter(|standing| standing.is_in_force()).count() as u64
}

/// What of these folds was not in force: `2 prepared, 1 undone`; empty where all were.
#[must_use]
pub fn aside(standings: &[FoldStanding]) -> String {
    let kinds = [
        (FoldStanding::Prepared, "prepared"),
        (FoldStanding::Undone, "undone"),
        (FoldStanding::Superseded, "replaced unsent"),
    ];
    let count = |kind| standings.iter().filter(|standing| **standing == kind).count();
    let told = kinds.map(|(kind, name)| (count(kind), name));
    let told = told.iter().filter(|(count, _)| *count > 0);
    told.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

/// The fold that is read now, and those that it builds on, the newest first.
#[must_use]
pub fn chain(folds: &[Fold], active: Option<Hash>) -> Vec<Hash> {
    let mut read = Vec::new();
    let mut next = active;
    while let Some(id) = next.filter(|id| !read.contains(id)) {
        read.push(id);
        next = folds.iter().find(|fold| fold.id == id).and_then(|fold| fold.prev);
    }
    read
}
