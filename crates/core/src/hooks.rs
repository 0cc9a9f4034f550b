//! Hooks around a fold: a host may inspect a fold before it is made, and is notified of the outcome.
//!
//! Hooks decide, they do not edit. Their requests go through planning again, so a fold with hooks keeps every invariant
//! that one without hooks keeps.

use crate::fold::{Fold, VerdictRecord};
use crate::log::EventLog;
use crate::plan::NoOp;
use crate::put_back::HostTexts;

/// The hooks of a host. Every method has a default that does nothing.
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
    /// Called with the fold that is about to be made. After [`HookDecision::Preserve`] or [`HookDecision::Recap`] it is
    /// called once more with the new fold, and may then only accept or cancel it.
    fn before_fold(&self, _log: &EventLog, _fold: &Fold) -> HookDecision {
        HookDecision::Go
    }

    /// Texts to put back at the end of each recap. Called before each planning, also of a preview and where nothing is
    /// folded in the end.
    fn put_back(&self) -> HostTexts {
        HostTexts::default()
    }

    /// Called after a fold was made; its record has sizes, kept and lost names, and accounts.
    fn after_fold(&self, _log: &EventLog, _fold: &Fold) {}

    /// Called when nothing was folded although the line was crossed.
    fn declined(&self, _reason: &NoOp) {}

    /// Called with the verdict on a model's reply.
    fn answered(&self, _verdict: &VerdictRecord) {}
}

/// The decision of a hook about a fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HookDecision {
    /// Make the fold.
    #[default]
    Go,
    /// Do not make it. A context that does not fit is folded all the same, since the provider would refuse the request.
    Cancel,
    /// Keep these events with their units, and plan again. If they do not fit the budget, there is no fold, and the call
    /// that asked for it fails.
    Preserve(Vec<u32>),
    /// Use this text as the recap. Secrets are replaced, it is cut to the cap, and the record says that it is the
    /// host's.
    Recap(String),
}

/// Hooks that do nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl FoldHooks for NoHooks {}
