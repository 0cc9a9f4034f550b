//! How much of a prompt the provider's cache can read again on the next turn: with a static marker, with
//! a recap that is written anew each turn, and with a fold that stays (Summarizing Evicted Turns).

use midfold_core::budget::Budget;
use midfold_core::fold::Fold;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::{FoldCause, PlanError, PlanOutcome, PlanRequest, plan};
use midfold_core::policy::{Policy, RecapFallback};
use midfold_core::project::{Context, project};
use serde::Serialize;

/// Tokens at the start of one turn's prompt that the next turn's prompt repeats byte for byte, each of
/// a prompt of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheCheck {
    /// Tokens of the turn's prompt, as midfold makes it.
    pub prompt: u64,
    /// Repeated of `marker_prompt`, where a static marker stands for what left.
    pub marker: u64,
    /// Tokens of the prompt with the marker.
    pub marker_prompt: u64,
    /// Repeated of `regenerated_prompt`, where a recap stands there that is written anew each turn.
    pub regenerated: u64,
    /// Tokens of the prompt with that recap.
    pub regenerated_prompt: u64,
    /// Repeated of `prompt` by midfold: the fold stays, and the next turn only adds to it.
    pub frozen: u64,
}

/// Compares the last turn of a log with the one before it, by a policy. `None` where the log has no
/// turn before the last, or nothing to fold there.
///
/// # Errors
/// When a context of the two turns cannot be planned.
pub fn cache_check(
    log: &EventLog,
    policy: &Policy,
    budget: &Budget,
    meter: Meter,
) -> Result<Option<CacheCheck>, PlanError> {
    let Some(last) = log.units().last().map(|unit| unit.events.start).filter(|at| *at > 0) else {
        return Ok(None);
    };
    let turns = TurnPair { turn: log.prefix(last), next: log, budget, meter };
    let with = |fallback| {
        let mut policy = policy.clone();
        policy.recap.fallback = fallback;
        policy
    };
    let Some(own) = turns.fold(policy, None)? else { return Ok(None) };
    let Some(marker) = turns.fold(&with(RecapFallback::Marker), None)? else { return Ok(None) };
    let computed = with(RecapFallback::Computed);
    let Some(first) = turns.fold(&computed, None)? else { return Ok(None) };
    // A model's summary of the same messages is another text each time.
    let text = first.recap.as_ref().map(|recap| format!("Written anew.\n{}", recap.text));
    let Some(anew) = turns.fold(&computed, text.as_deref())? else { return Ok(None) };
    let (prompt, frozen) = turns.repeated(&own, &own);
    let (marker_prompt, marker) = turns.repeated(&marker, &marker);
    let (regenerated_prompt, regenerated) = turns.repeated(&first, &anew);
    Ok(Some(CacheCheck { prompt, marker, marker_prompt, regenerated, regenerated_prompt, frozen }))
}

/// A turn, and the one after it.
struct TurnPair<'a> {
    turn: EventLog,
    next: &'a EventLog,
    budget: &'a Budget,
    meter: Meter,
}

impl TurnPair<'_> {
    /// The fold that is made at the turn; `recap` stands in it where one is given.
    fn fold(&self, policy: &Policy, recap: Option<&str>) -> Result<Option<Box<Fold>>, PlanError> {
        let request = PlanRequest::new(&self.turn, policy, self.budget, self.meter);
        Ok(match plan(&PlanRequest { cause: FoldCause::Manual, recap, ..request })? {
            PlanOutcome::Folded(fold) => Some(fold),
            PlanOutcome::Nothing(_) => None,
        })
    }

    /// Tokens of the turn's prompt read through one fold, and those of them that the next turn's
    /// repeats, which is read through another.
    fn repeated(&self, now: &Fold, then: &Fold) -> (u64, u64) {
        let now = project(&self.turn, Some(now));
        (now.tokens(), shared(&now, &project(self.next, Some(then))))
    }
}

/// Tokens of the messages at the start that both have.
fn shared(before: &Context, after: &Context) -> u64 {
    let same = before.pieces().zip(after.pieces()).take_while(|(a, b)| a.bytes == b.bytes);
    let envelope = before.tokens() - before.pieces().map(|p| u64::from(p.tokens)).sum::<u64>();
    envelope + same.map(|(piece, _)| u64::from(piece.tokens)).sum::<u64>()
}
