//! The outcome of planning: a fold, a reason for none, or the floor that does not fit.

use crate::budget::{BudgetError, TierName};
use crate::fold::Fold;
use crate::meter::Meter;
use crate::policy::Policy;

/// The outcome of a plan that did not fail.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanOutcome {
    /// A fold.
    Folded(Box<Fold>),
    /// No fold, and why.
    Nothing(NoOp),
}

impl PlanOutcome {
    /// The fold; `None` where nothing was folded.
    #[must_use]
    pub fn fold(&self) -> Option<&Fold> {
        match self {
            Self::Folded(fold) => Some(fold),
            Self::Nothing(_) => None,
        }
    }
}

/// Why no fold was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOp {
    /// The context is below the trigger's line.
    #[error("{tokens} tokens are below the threshold of {threshold}")]
    UnderThreshold {
        /// Calibrated tokens.
        tokens: u64,
        /// The threshold.
        threshold: u64,
    },
    /// The policy's engine compacts nothing.
    #[error("the policy's engine is `passthrough`: nothing is folded")]
    Passthrough,
    /// A hook of the host cancelled the fold.
    #[error("a hook of the host did not want it")]
    Cancelled,
    /// No event came after the last fold.
    #[error("nothing new since the last fold")]
    NothingNew,
    /// The context was compacted before it came here, and is still at its target.
    #[error("already compacted: {tokens} tokens are at or below the target of {target}")]
    AtTarget {
        /// Counted tokens.
        tokens: u64,
        /// The target.
        target: u64,
    },
    /// The policy does not fold conversations of this length.
    #[error("{}", too_few(*messages, *floor))]
    TooFewMessages {
        /// The messages that there are.
        messages: usize,
        /// The policy's least number.
        floor: usize,
    },
    /// Head and tail are the whole conversation.
    #[error("the whole conversation fits within the protected head and tail")]
    FullyProtected,
    /// A fold would free too few tokens.
    #[error(
        "folding would free {freed} tokens, less than the {needed} that make it worth a cache break"
    )]
    NoGain {
        /// Tokens that it would free.
        freed: u64,
        /// Tokens that it would have to free.
        needed: u64,
    },
}

/// Why no context can be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The budget itself is unusable.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The tokens that no fold can take away exceed the budget.
    #[error(transparent)]
    Floor(#[from] FloorError),
    /// The policy's engine is not built in.
    #[error(
        "the policy names the engine `{0}`, which midfold cannot run here: `compact` and `replay` run \
         a command, a host runs what it registered"
    )]
    Engine(String),
    /// The context does not fit, and the policy switches folding off.
    #[error(
        "{tokens} tokens do not fit into the budget of {limit}, and folding is switched off \
         (trigger.on = false): compact by hand, or switch it on"
    )]
    Off {
        /// Upper estimate of the context in provider tokens.
        tokens: u64,
        /// The budget in tokens.
        limit: u64,
    },
}

/// The parts of a context that no fold can take away exceed the budget. Sizes are in counted tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error(
    "the parts that may not be folded need {needed} tokens and the budget is {limit}: \
     system prompt and tools {envelope}, head {head}, pinned {pinned}, newest step {newest}, recap {recap}, \
     beside them {beside}{}",
    over(over_tiers)
)]
pub struct FloorError {
    /// The budget.
    pub limit: u64,
    /// The tokens of the smallest possible context.
    pub needed: u64,
    /// Tokens of the envelope.
    pub envelope: u64,
    /// Tokens of the head.
    pub head: u64,
    /// Tokens of pinned events.
    pub pinned: u64,
    /// Tokens of the newest unit.
    pub newest: u64,
    /// Tokens of the recap.
    pub recap: u64,
    /// Classes of content that are over their cap in that context, each with its tokens and its cap.
    pub over_tiers: Vec<(TierName, u64, u64)>,
    /// Tokens of the rest: messages that the policy can only shorten, and messages added so that the provider accepts
    /// the context.
    pub beside: u64,
}

/// The tiers over their caps, as the end of an error text.
fn over(tiers: &[(TierName, u64, u64)]) -> String {
    let word = |(tier, tokens, cap): &(TierName, u64, u64)| {
        format!("; {tier} take {tokens} of the {cap} that budget.tiers.{tier} allows")
    };
    tiers.iter().map(word).collect()
}

/// The most windows that are tried for the hint in an error.
const TRIES: usize = 12;

impl FloorError {
    /// The parts of the floor in words, each with its tokens: the largest first, without those that have none.
    #[must_use]
    pub fn parts(&self) -> Vec<(&'static str, u64)> {
        let mut parts = vec![
            ("system prompt and tools beside the messages", self.envelope),
            ("the head (system messages, first task)", self.head),
            ("messages that stay (pins, `keep`, the last request)", self.pinned),
            ("the newest step", self.newest),
            ("the recap", self.recap),
            ("what this policy only shortens, and repairs", self.beside),
        ];
        parts.retain(|(_, tokens)| *tokens > 0);
        parts.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        parts
    }

    /// A window in tokens, larger than `window`, that suffices: `fold` was tried with it. A multiple of 100, not always
    /// the smallest. `None` where no try succeeds.
    pub fn enough(
        &self,
        policy: &Policy,
        meter: Meter,
        window: u64,
        fold: impl Fn(u64) -> Result<PlanOutcome, PlanError>,
    ) -> Option<u64> {
        let meter = meter.with_margin(policy.trigger.margin);
        let reserve = policy.trigger.injection_reserve;
        let rounded = |tokens| (meter.upper(tokens) + reserve).div_ceil(100) * 100;
        let mut next = rounded(self.needed).max(window + 1);
        for _ in 0..TRIES {
            next = match fold(next) {
                Ok(_) => return Some(next),
                Err(PlanError::Floor(floor)) => {
                    rounded(floor.needed).max(next + next / 10).div_ceil(100) * 100
                }
                // These errors name no size, so the next guess is a rough one.
                Err(PlanError::Budget(_) | PlanError::Off { .. } | PlanError::Engine(_)) => {
                    next * 2
                }
            };
        }
        None
    }
}

fn too_few(messages: usize, floor: usize) -> String {
    match messages {
        0 => "there are no messages to compact".to_owned(),
        _ => format!(
            "{messages} messages are too few to compact: the policy folds more than {floor}"
        ),
    }
}
