//! Measures how much of a prompt the provider's cache can read again on the next turn, for three ways to fold. The
//! recap is a static marker, or it is written anew each turn (Summarizing Evicted Turns), or the fold stays.

use midfold_core::budget::Budget;
use midfold_core::fold::Fold;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::{FoldCause, PlanError, PlanOutcome, PlanRequest, plan};
use midfold_core::policy::{Policy, RecapFallback};
use midfold_core::project::{Context, project};
use serde::Serialize;

/// The tokens at the start of one turn's prompt that the next turn's prompt repeats byte for byte, for three ways of
/// folding. A provider's cache can serve these tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheCheck {
    /// Tokens of the turn's prompt, as midfold folds it.
    pub prompt: u64,
    /// The repeated tokens of `marker_prompt`, where a static marker replaces the messages that left.
    pub marker: u64,
    /// Tokens of the prompt with the marker.
    pub marker_prompt: u64,
    /// The repeated tokens of `regenerated_prompt`, where the recap is written anew in each turn.
    pub regenerated: u64,
    /// Tokens of the prompt with that recap.
    pub regenerated_prompt: u64,
    /// The repeated tokens of `prompt`: the fold stays, and the next turn only adds messages.
    pub frozen: u64,
}

/// Compares the last turn of a log with the one before it, under a policy. `None` if the log has no turn before the
/// last, or if nothing can be folded there.
///
/// # Errors
/// If the context of one of the two turns cannot be planned.
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
    // A model that summarises the same messages again writes another text. The first line here makes the texts differ.
    let text = first.recap.as_ref().map(|recap| format!("Written anew.\n{}", recap.text));
    let Some(anew) = turns.fold(&computed, text.as_deref())? else { return Ok(None) };
    let (prompt, frozen) = turns.repeated(&own, &own);
    let (marker_prompt, marker) = turns.repeated(&marker, &marker);
    let (regenerated_prompt, regenerated) = turns.repeated(&first, &anew);
    Ok(Some(CacheCheck { prompt, marker, marker_prompt, regenerated, regenerated_prompt, frozen }))
}

/// A log up to its last turn, and the log with that turn.
struct TurnPair<'a> {
    turn: EventLog,
    next: &'a EventLog,
    budget: &'a Budget,
    meter: Meter,
}

impl TurnPair<'_> {
    /// Plans the fold at the earlier turn; if `recap` is given, it is the text of that fold.
    fn fold(&self, policy: &Policy, recap: Option<&str>) -> Result<Option<Box<Fold>>, PlanError> {
        let request = PlanRequest::new(&self.turn, policy, self.budget, self.meter);
        Ok(match plan(&PlanRequest { cause: FoldCause::Manual, recap, ..request })? {
            PlanOutcome::Folded(fold) => Some(fold),
            PlanOutcome::Nothing(_) => None,
        })
    }

    /// Returns the tokens of the prompt at the earlier turn, and how many of them the prompt of the next turn repeats.
    /// Each prompt is read through its own fold.
    fn repeated(&self, now: &Fold, then: &Fold) -> (u64, u64) {
        let now = project(&self.turn, Some(now));
        (now.tokens(), shared(&now, &project(self.next, Some(then))))
    }
}

/// The tokens at the start that both contexts share, the envelope included.
fn shared(before: &Context, after: &Context) -> u64 {
    let same = before.pieces().zip(after.pieces()).take_while(|(a, b)| a.bytes == b.bytes);
    // A context counts its envelope, but no piece holds it.
    let envelope = before.tokens() - before.pieces().map(|p| u64::from(p.tokens)).sum::<u64>();
    envelope + same.map(|(piece, _)| u64::from(piece.tokens)).sum::<u64>()
}
