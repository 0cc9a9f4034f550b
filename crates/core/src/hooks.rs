//! Hooks around a fold: a host may look at it before it is made, and hears what came of it.
//!
//! Hooks decide, they do not edit: what they ask for goes through planning again, so that a fold
//! with hooks keeps every invariant that one without them keeps.

use crate::fold::{Fold, VerdictRecord};
use crate::log::EventLog;
use crate::plan::NoOp;
use crate::put_back::HostTexts;

/// What a host may do around a fold. Every method has a default that does nothing.
///
/// ```
/// use midfold_core::fold::Fold;
/// use midfold_core::hooks::{HookDecision, FoldHooks};
/// use midfold_core::log::EventLog;
///
/// /// Keeps the event that holds the deployment plan.
/// struct KeepPlan;
///
/// impl FoldHooks for KeepPlan {
///     fn before_fold(&self, log: &EventLog, _fold: &Fold) -> HookDecision {
///         let plan = log.events().iter().filter(|event| event.text().contains("DEPLOY PLAN"));
///         HookDecision::Preserve(plan.map(|event| event.seq).collect())
///     }
/// }
/// ```
pub trait FoldHooks: Send + Sync {
    /// A fold is about to be made. Called again after [`HookDecision::Preserve`] or
    /// [`HookDecision::Recap`] only to say yes or no.
    fn before_fold(&self, _log: &EventLog, _fold: &Fold) -> HookDecision {
        HookDecision::Go
    }

    /// Texts for the recap of each fold: asked for once a fold, right before it is planned.
    fn put_back(&self) -> HostTexts {
        HostTexts::default()
    }

    /// A fold was made: its record has sizes, survivors and accounts.
    fn after_fold(&self, _log: &EventLog, _fold: &Fold) {}

    /// Nothing was folded, though the line was crossed.
    fn declined(&self, _reason: &NoOp) {}

    /// A model's reply came to this.
    fn answered(&self, _verdict: &VerdictRecord) {}
}

/// What a hook wants of a fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HookDecision {
    /// Make it.
    #[default]
    Go,
    /// Do not. A full window folds nevertheless: a request that is too long helps nobody.
    Cancel,
    /// Keep these events, with their units, out of this fold.
    Preserve(Vec<u32>),
    /// Use this text as the recap. It is redacted, held to the cap, and on record as the host's.
    Recap(String),
}

/// No hooks.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl FoldHooks for NoHooks {}
