//! Reads the recap of a plan's outcome.

use midfold_core::plan::{NoOp, PlanOutcome};

/// The reason why an outcome has no recap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRecap {
    /// Nothing was folded.
    #[error("{0}")]
    Nothing(NoOp),
    /// Messages were shortened, and every one of them is still there.
    #[error("messages were shortened and every one is still in the context")]
    Shortened,
}

/// Returns the recap of an outcome as the model reads it; if the policy leaves a marker, the marker.
///
/// ```
/// use midfold::core::plan::plan;
/// use midfold::formats::read;
/// use midfold::{Budget, Policy, Setup, recap};
///
/// # let input = bytes::Bytes::from(midfold_testkit::coding_session(7, 12).join("\n"));
/// let prepared = Setup::new().prepare(read::read(&input, None)?.conversations.remove(0))?;
/// let policy = Policy::preset("default")?;
/// let outcome = plan(&prepared.plan(&policy, &Budget::new(8_000)))?;
/// println!("{}", recap(&outcome)?);
/// # assert!(recap(&outcome)?.contains("### "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`NoRecap`] if no message left the context.
pub fn recap(outcome: &PlanOutcome) -> Result<&str, NoRecap> {
    match outcome {
        PlanOutcome::Nothing(reason) => Err(NoRecap::Nothing(*reason)),
        PlanOutcome::Folded(fold) => {
            fold.recap.as_ref().map(|recap| recap.text.as_str()).ok_or(NoRecap::Shortened)
        }
    }
}
