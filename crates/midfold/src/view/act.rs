//! Changes to a session: each function makes the change, or with `preview` only says what it would do.

use midfold_core::Hash;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_store::{Millis, StoredError, StoredSession};
use serde::Serialize;

use super::compaction::CompactionSummary;
use super::detail::{counts_exactly, due};
use super::fabric::{FoldBrief, ReadContext};
use super::message::numbered;
use crate::cache::{CacheCheck, cache_check};
use crate::feedback::ContextSize;

/// The result of a compaction, or of its preview.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactionView {
    /// The id of the session.
    pub session: String,
    /// Whether this is a preview, in which nothing was changed.
    pub preview: bool,
    /// What the compaction did.
    #[serde(flatten)]
    pub summary: CompactionSummary,
    /// The fold; null if none was made.
    pub fold: Option<FoldBrief>,
    /// The tokens that the provider's cache can serve on the next turn. Null if this is no preview, or if there are no
    /// two turns to compare.
    pub cache: Option<CacheCheck>,
    /// The counter of the session's tokens.
    pub counter: String,
    /// Whether the counter estimates, instead of using the model's vocabulary.
    pub estimate: bool,
}

/// Compacts the session, or with `preview` only plans that.
///
/// # Errors
/// If no context fits, or if the store fails.
pub async fn compact(
    stored: &mut StoredSession,
    focus: Option<&str>,
    preview: bool,
    now: Millis,
) -> Result<CompactionView, StoredError> {
    let status = stored.status(now).await?;
    let outcome = match preview {
        true => stored.preview(focus).await?,
        false => stored.compact(focus, now).await?,
    };
    let summary = CompactionSummary::of_session(&outcome, &status);
    let (id, counter) = (stored.row().new.id.clone(), stored.row().new.counter.clone());
    let estimate = !counts_exactly(stored);
    let budget = stored.budget();
    let session = stored.whole().await?;
    let budget = session.gate().budget(&budget, session.policy());
    let check =
        || cache_check(session.log(), session.policy(), &budget, *session.meter()).ok().flatten();
    let cache = preview.then(check).flatten();
    let rows = stored.fold_rows().await?;
    let fold = match outcome {
        PlanOutcome::Nothing(_) => None,
        PlanOutcome::Folded(fold) => {
            // A planned fold can have the content, and so the id, of one that was taken back.
            let place = rows.iter().position(|(row, _)| row.fold.id == fold.id);
            Some(match place.filter(|_| !preview) {
                Some(at) => FoldBrief::stored(&rows, at, &ReadContext::of(stored, &rows).await?),
                None => FoldBrief::of(&fold),
            })
        }
    };
    Ok(CompactionView { session: id, preview, summary, fold, cache, counter, estimate })
}

/// The result of an undo, or of its preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndoView {
    /// The numbers of the folds that were taken back: the one that was asked for, and those that build on it.
    pub undone: Vec<u64>,
    /// The number of the fold that is active now; null if none is.
    pub active: Option<u64>,
    /// The size of the context before the undo.
    pub before: ContextSize,
    /// The size of the context after the undo.
    pub after: ContextSize,
    /// Whether this is a preview, in which nothing was changed.
    pub preview: bool,
}

/// Takes back the fold with this number, or without one the active fold, and all folds that build on it.
///
/// # Errors
/// If there is no such fold, or if the store fails.
pub async fn undo(
    stored: &mut StoredSession,
    number: Option<u64>,
    preview: bool,
    now: Millis,
) -> Result<UndoView, StoredError> {
    let rows = stored.fold_rows().await?;
    let target = match number {
        Some(number) => {
            let pair = rows.iter().find(|(row, _)| row.number == number);
            Some(numbered(pair, "fold", number, rows.len())?.0.fold.id)
        }
        None => None,
    };
    let name = |id: Hash| rows.iter().find(|(row, _)| row.fold.id == id).map(|(row, _)| row.number);
    let read = ReadContext::of(stored, &rows).await?.chain;
    let status = stored.status(now).await?;
    let before = ContextSize { messages: status.messages, tokens: status.context_tokens };
    let (active, status) = if preview {
        let budget = stored.budget();
        // A preview changes a copy that nobody stores.
        let mut session = stored.whole().await?.clone();
        session.undo(target)?;
        (session.active().map(|fold| fold.id), session.status(&budget, now))
    } else {
        stored.undo(target).await?;
        (stored.row().active, stored.status(now).await?)
    };
    // The chain goes from the active fold to the oldest, so all before the new active one were taken back.
    let undone = read.iter().take_while(|id| Some(**id) != active);
    Ok(UndoView {
        undone: undone.filter_map(|id| name(*id)).collect(),
        active: active.and_then(name),
        before,
        after: ContextSize { messages: status.messages, tokens: status.context_tokens },
        preview,
    })
}

/// The result of a pin that was set or removed, or of its preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PinView {
    /// The numbers of all pinned messages.
    pub pins: Vec<u32>,
    /// Whether the pins changed.
    pub changed: bool,
    /// The messages of the unit that the pin keeps: the message, and the calls and results that belong to it.
    pub unit: Vec<u32>,
    /// Whether the message is folded at present. The next fold brings it back, because it is pinned.
    pub folded: bool,
    /// Whether this is a preview, in which nothing was changed.
    pub preview: bool,
}

/// Pins a message, or removes its pin.
///
/// # Errors
/// If there is no such message, or if the store fails.
pub async fn pin(
    stored: &mut StoredSession,
    seq: u64,
    pinned: bool,
    preview: bool,
) -> Result<PinView, StoredError> {
    let (id, events) = (stored.row().new.id.clone(), stored.row().head);
    let missing = || StoredError::NoEvent { session: id, seq, events };
    let number = u32::try_from(seq).ok().filter(|_| seq < events).ok_or_else(missing)?;
    let session = stored.whole().await?;
    let before = session.pins().to_vec();
    let units = session.log().units();
    let unit = units.iter().find(|unit| unit.events.contains(&(number as usize)));
    let small = |at| u32::try_from(at).unwrap_or(u32::MAX);
    let unit = unit.map_or_else(|| vec![number], |unit| unit.events.clone().map(small).collect());
    let fate = super::message::ActiveFates::of(session.active()).at(number as usize);
    let pins = if preview {
        let mut session = session.clone();
        if pinned {
            session.pin(number);
        } else {
            session.unpin(number);
        }
        session.pins().to_vec()
    } else {
        stored.pin(seq, pinned).await?;
        stored.whole().await?.pins().to_vec()
    };
    Ok(PinView { changed: pins != before, pins, unit, folded: !matches!(fate, 'v' | 'p'), preview })
}

/// The result of a change of policy, or of its preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewRules {
    /// The policy until now.
    pub before: RulesSide,
    /// The policy from the next fold on.
    pub after: RulesSide,
    /// Whether this is a preview, in which nothing was changed.
    pub preview: bool,
}

/// A policy, with its effect on a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulesSide {
    /// The name of the policy.
    pub policy: String,
    /// The fingerprint of the policy, as in the records of folds.
    pub fingerprint: Hash,
    /// When the session folds next, in words.
    pub line: String,
}

/// Sets the policy that folds the session from now on.
///
/// # Errors
/// If the policy's reserves leave nothing of the window, or if the store fails.
pub async fn policy(
    stored: &mut StoredSession,
    policy: &Policy,
    preview: bool,
    now: Millis,
) -> Result<NewRules, StoredError> {
    let before = stored.status(now).await?;
    let after = if preview {
        let budget = stored.budget();
        let mut session = stored.whole().await?.clone();
        let set = session.set_policy(policy.clone(), &budget);
        set.map_err(midfold_core::plan::PlanError::from)?;
        session.status(&budget, now)
    } else {
        stored.set_policy(policy).await?;
        stored.status(now).await?
    };
    let side = |status: &midfold_core::engine::SessionStatus| RulesSide {
        policy: status.policy.clone(),
        fingerprint: status.policy_fingerprint,
        line: due(status),
    };
    Ok(NewRules { before: side(&before), after: side(&after), preview })
}
