//! What planning comes to: a fold, a reason for none, or the floor that cannot be folded.

use crate::budget::{BudgetError, TierName};
use crate::fold::Fold;
use crate::meter::Meter;
use crate::policy::Policy;

/// What planning came to.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanOutcome {
    /// A fold.
    Folded(Box<Fold>),
    /// Nothing to do, and why.
    Nothing(NoOp),
}

/// Why no fold was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOp {
    /// The trigger did not fire.
    #[error("{tokens} tokens are below the threshold of {threshold}")]
    UnderThreshold {
        /// Calibrated tokens.
        tokens: u64,
        /// The threshold.
        threshold: u64,
    },
    /// The policy's engine compacts nothing.
    #[error("the policy's engine is `passthrough`: everything is sent, always")]
    Passthrough,
    /// A hook said no.
    #[error("a hook of the host did not want it")]
    Cancelled,
    /// Nothing came after the last fold.
    #[error("nothing new since the last fold")]
    NothingNew,
    /// The context was compacted and is still at its target.
    #[error("already compacted: {tokens} tokens are at or below the target of {target}")]
    AtTarget {
        /// Counted tokens.
        tokens: u64,
        /// The target.
        target: u64,
    },
    /// The policy leaves conversations of this length alone.
    #[error("{messages} messages are too few to compact (the policy asks for more than {floor})")]
    TooFewMessages {
        /// Messages.
        messages: usize,
        /// The policy's floor.
        floor: usize,
    },
    /// Head and tail are everything.
    #[error("the whole conversation fits within the protected head and tail")]
    FullyProtected,
    /// A fold would free too little.
    #[error(
        "folding would free {freed} tokens, less than the {needed} that make it worth a cache break"
    )]
    NoGain {
        /// Tokens that it would free.
        freed: u64,
        /// Tokens that it has to free.
        needed: u64,
    },
}

/// Why no context can be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The budget itself is unusable.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// What may not be folded is larger than the budget.
    #[error(transparent)]
    Floor(#[from] FloorError),
    /// The policy's engine is none of midfold's.
    #[error(
        "the policy names the engine `{0}`, which midfold cannot run here: `compact` and `replay` run \
         a command, a host runs what it registered"
    )]
    Engine(String),
    /// The context does not fit, and the policy does not let it be folded.
    #[error(
        "{tokens} tokens do not fit into the budget of {limit}, and folding is switched off \
         (trigger.on = false): compact by hand, or switch it on"
    )]
    Off {
        /// Upper estimate of the context.
        tokens: u64,
        /// The budget.
        limit: u64,
    },
}

/// The floor that cannot be folded.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error(
    "the parts that may not be folded need {needed} tokens and the budget is {limit}: \
     system prompt and tools {envelope}, head {head}, pinned {pinned}, newest step {newest}, recap {recap}, \
     beside them {beside}{}",
    over(over_tiers)
)]
pub struct FloorError {
    /// The budget, in counted tokens.
    pub limit: u64,
    /// What is needed at least.
    pub needed: u64,
    /// Tokens of the envelope.
    pub envelope: u64,
    /// Tokens of the head.
    pub head: u64,
    /// Tokens of pins.
    pub pinned: u64,
    /// Tokens of the newest unit.
    pub newest: u64,
    /// Tokens of the recap.
    pub recap: u64,
    /// Classes of content that are over their cap in it, with tokens and cap.
    pub over_tiers: Vec<(TierName, u64, u64)>,
    /// Tokens of the rest: messages that the policy can only shorten, and what is added so that
    /// the provider takes the context.
    pub beside: u64,
}

/// The tiers of a floor that are over their caps, in words.
fn over(tiers: &[(TierName, u64, u64)]) -> String {
    let word = |(tier, tokens, cap): &(TierName, u64, u64)| {
        format!("; {tier} take {tokens} of the {cap} that budget.tiers.{tier} allows")
    };
    tiers.iter().map(word).collect()
}

/// Windows that are tried before none is named in an error.
const TRIES: usize = 12;

impl FloorError {
    /// What the floor is made of, in words, with the tokens of each: the largest first, what is
    /// not there left out.
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

    /// A window in tokens, above `window`, that is known to do, because `fold` was tried with it;
    /// `None` where no try succeeds. In hundreds; not always the smallest that would do.
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
                Err(PlanError::Budget(_) | PlanError::Off { .. } | PlanError::Engine(_)) => {
                    next * 2
                }
            };
        }
        None
    }
}
