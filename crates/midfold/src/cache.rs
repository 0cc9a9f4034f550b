//! How much of a prompt the provider's cache can read again on the next turn: a static marker, a
//! recap that is made anew each turn, and a fold that stays.

use midfold_core::budget::Budget;
use midfold_core::log::Log;
use midfold_core::meter::Meter;
use midfold_core::plan::{Cause, Outcome, Plan, PlanError, plan};
use midfold_core::policy::{Fallback, Policy};
use midfold_core::project::{Context, project};
use serde::Serialize;

/// Tokens at the start of one turn's prompt that the next turn's prompt repeats byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheCheck {
    /// Tokens of the turn's prompt.
    pub prompt: u64,
    /// Repeated where a static marker stands for what left, although it is cut anew each turn.
    pub marker: u64,
    /// Repeated where the recap is made anew each turn.
    pub regenerated: u64,
    /// Repeated by midfold: the fold stays, and the next turn only adds to it.
    pub frozen: u64,
}

/// Compares the last turn of a log with the one before it, by a policy. `None` where the log has no
/// turn before the last, or nothing to fold there.
///
/// # Errors
/// When a context of the two turns cannot be planned.
pub fn cache_check(
    log: &Log,
    policy: &Policy,
    budget: &Budget,
    meter: Meter,
) -> Result<Option<CacheCheck>, PlanError> {
    let Some(last) = log.units().last().map(|unit| unit.events.start).filter(|at| *at > 0) else {
        return Ok(None);
    };
    let turn = log.prefix(last);
    let folded = |log: &Log, policy: &Policy| -> Result<Option<Context>, PlanError> {
        let request = Plan { cause: Cause::Manual, ..Plan::new(log, policy, budget, meter) };
        Ok(match plan(&request)? {
            Outcome::Folded(fold) => Some(project(log, Some(&fold))),
            Outcome::Nothing(_) => None,
        })
    };
    let with = |fallback| {
        let mut policy = policy.clone();
        policy.recap.fallback = fallback;
        policy
    };
    let (marker, recap) = (with(Fallback::Marker), with(Fallback::Computed));
    let pairs = [&marker, &recap].map(|policy| -> Result<_, PlanError> {
        Ok(folded(&turn, policy)?.zip(folded(log, policy)?))
    });
    let [marker, recap] = pairs;
    let (Some(marker), Some(recap)) = (marker?, recap?) else { return Ok(None) };
    Ok(Some(CacheCheck {
        prompt: recap.0.tokens(),
        marker: shared(&marker.0, &marker.1),
        regenerated: shared(&recap.0, &recap.1),
        frozen: recap.0.tokens(),
    }))
}

/// Tokens of the messages at the start that both have.
fn shared(before: &Context, after: &Context) -> u64 {
    let same = before.pieces().zip(after.pieces()).take_while(|(a, b)| a.bytes == b.bytes);
    let envelope = before.tokens() - before.pieces().map(|p| u64::from(p.tokens)).sum::<u64>();
    envelope + same.map(|(piece, _)| u64::from(piece.tokens)).sum::<u64>()
}
