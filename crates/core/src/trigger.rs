//! The trigger: at which size of the context a fold is due, and what may hold it back. It decides from plain numbers;
//! the time comes in as a value.

mod holding;

use serde::{Deserialize, Serialize};

use crate::budget::{Budget, TierName};
use crate::policy::{Policy, TriggerPolicy};

pub use crate::calendar::Millis;
pub use holding::{FoldBreaker, LADDER, ModelCooldown, PROBE_AFTER, STRIKES, rung};

/// The reason for which a fold is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FoldCause {
    /// Not decided yet: planning compares the context with the threshold.
    Check,
    /// The context reached the threshold.
    #[default]
    Threshold,
    /// A class of content exceeded its cap (`budget.tiers`).
    Tier,
    /// The provider's cache of the prompt is cold and the context above the buffer line, so a fold wastes no cached
    /// tokens.
    Cold,
    /// Some work has just ended, and the context is above the seam line.
    Seam,
    /// The agent asked for a fold by a tool ([`Session::ask_for_fold`](crate::engine::Session::ask_for_fold)).
    Agent,
    /// A person asked for a fold. Threshold and least gain do not apply.
    Manual,
    /// The provider refused a request as too long. Threshold and least gain do not apply.
    Overflow,
    /// The context has more pictures than the provider takes. Threshold and least gain do not apply.
    Pictures,
    /// A narration was ready. The fold is made ahead of time and is used when the line is crossed.
    Prepared,
}

impl FoldCause {
    /// The name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Threshold => "threshold",
            Self::Tier => "tier",
            Self::Cold => "cold",
            Self::Seam => "seam",
            Self::Agent => "agent",
            Self::Manual => "manual",
            Self::Overflow => "overflow",
            Self::Pictures => "pictures",
            Self::Prepared => "prepared",
        }
    }

    /// Whether the fold is midfold's own choice and so has to be worth its cost: the threshold and the least gain
    /// apply. False where a person or the provider asks for it, and for a prepared fold.
    pub(crate) fn is_free(self) -> bool {
        self == Self::Check || self.is_due()
    }

    /// Whether a crossed line is the cause, so that planning need not compare with the threshold again.
    pub(crate) fn is_due(self) -> bool {
        matches!(self, Self::Threshold | Self::Tier | Self::Cold | Self::Seam | Self::Agent)
    }
}

/// The line at which folding starts, and the rule that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriggerLine {
    /// The number of tokens at which folding starts.
    pub tokens: u64,
    /// The rule that sets the line. Of several rules, the one with the lowest line wins.
    pub rule: LineRule,
}

/// The rules by which a policy can say when to fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LineRule {
    /// `threshold`: a share of the budget.
    Share,
    /// `floor_tokens`: the share, raised to this number of tokens (Hermes Agent).
    Floor,
    /// `tokens`: a number of tokens.
    Tokens,
    /// `reserve`: the number of tokens that have to stay free.
    Reserve,
    /// `cliffs`: a prompt size above which the whole prompt costs more.
    Cliff,
    /// `budget.tiers`: a class of content exceeded its cap; the line is that cap.
    Tier(TierName),
    /// `buffer`: the line while the provider's cache is cold.
    Buffer,
    /// `seam`: the line where some work has just ended.
    Seam,
    /// The line where the agent asks for a fold.
    Agent,
}

impl std::fmt::Display for LineRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Share => "the policy's share of the window",
            Self::Floor => "the least at which the policy folds",
            Self::Tokens => "the policy's number of tokens",
            Self::Reserve => "the rest is for the reply",
            Self::Cliff => "a step in the price",
            Self::Buffer => "the line while the cache is cold",
            Self::Seam => "the line where some work has ended",
            Self::Agent => "the line for a wish of the agent",
            Self::Tier(TierName::Results) => "the share of results",
            Self::Tier(TierName::Arguments) => "the share of arguments",
            Self::Tier(TierName::Dialogue) => "the share of the dialogue",
        })
    }
}

/// Folding starts one part in this many below a price cliff, so that one more step does not pass it.
const CLIFF_MARGIN: u64 = 20;

impl TriggerPolicy {
    /// The line at which folding starts for a budget of `tokens`: the lowest of all rules that the policy sets, and at
    /// least 1 token.
    #[must_use]
    pub fn line(&self, tokens: u64) -> TriggerLine {
        let share = self.threshold_tokens(tokens);
        let rule =
            if share > self.threshold.of(tokens) { LineRule::Floor } else { LineRule::Share };
        let mut line = TriggerLine { tokens: share, rule };
        let mut lower = |tokens: u64, rule: LineRule| {
            if tokens < line.tokens {
                line = TriggerLine { tokens, rule };
            }
        };
        if self.tokens > 0 {
            lower(self.tokens, LineRule::Tokens);
        }
        if self.reserve > 0 {
            lower(tokens.saturating_sub(self.reserve), LineRule::Reserve);
        }
        if let Some(cliff) = self.cliffs.iter().copied().filter(|cliff| *cliff > 0).min() {
            lower(cliff - cliff / CLIFF_MARGIN, LineRule::Cliff);
        }
        line.tokens = line.tokens.max(u64::from(tokens > 0));
        line
    }

    /// The decision for `load` in a budget of `tokens`: the line that is crossed, or [`FoldDue::Below`].
    fn crossed(&self, tokens: u64, load: ContextLoad) -> FoldDue {
        let line = self.line(tokens);
        let has = |tokens: u64| load.estimate >= tokens;
        if has(line.tokens) {
            return FoldDue::Threshold(line);
        }
        if let Some((tier, cap)) = load.over_tier {
            return FoldDue::Threshold(TriggerLine { tokens: cap, rule: LineRule::Tier(tier) });
        }
        let agent_tokens = self.asked_tokens(tokens);
        if load.is_asked && has(agent_tokens) {
            return FoldDue::Agent(TriggerLine { tokens: agent_tokens, rule: LineRule::Agent });
        }
        // Two lines lie below the threshold: with a cold cache a fold costs nothing more, and at a seam it does not cut
        // through a piece of work.
        let buffer = Some(self.buffer_tokens(tokens)).filter(|_| load.is_cold);
        let seam = self.seam_tokens(tokens).filter(|_| load.at_seam);
        match (buffer.filter(|buffer| has(*buffer)), seam.filter(|seam| has(*seam))) {
            (Some(tokens), _) => FoldDue::Cold(TriggerLine { tokens, rule: LineRule::Buffer }),
            (None, Some(tokens)) => FoldDue::Seam(TriggerLine { tokens, rule: LineRule::Seam }),
            (None, None) => FoldDue::Below(line),
        }
    }

    /// The trigger for a model: this one with the overrides of the entry whose name is contained in the model's name.
    /// Of several such entries the one with the longest name counts.
    #[must_use]
    pub fn for_model(&self, model: &str) -> Self {
        let model = model.to_lowercase();
        let named = self.models.iter().filter(|over| model.contains(&over.name.to_lowercase()));
        let mut trigger = self.clone();
        // Of two names of equal length the first one counts.
        let Some(over) = named.rev().max_by_key(|over| over.name.len()) else { return trigger };
        trigger.threshold = over.threshold.unwrap_or(trigger.threshold);
        trigger.tokens = over.tokens.unwrap_or(trigger.tokens);
        trigger.reserve = over.reserve.unwrap_or(trigger.reserve);
        if let Some(cliffs) = &over.cliffs {
            trigger.cliffs.clone_from(cliffs);
        }
        trigger
    }
}

/// The state of the trigger between requests, which a store keeps: what holds folding back, and what was learned of the
/// window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FoldGate {
    /// Stops folding while it does not help.
    pub breaker: FoldBreaker,
    /// Keeps a failing model from being asked again at once.
    pub cooldown: ModelCooldown,
    /// Whether a person undid a fold. Then nothing folds by itself before the window is full.
    pub held: bool,
    /// Whether the last fold freed less than a quarter of the tokens that can move. Then the next fold comes only when
    /// the window is full.
    #[serde(skip_serializing_if = "is_false")]
    pub tight: bool,
    /// The window in tokens, where a host set it after the session was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The provider's own window in tokens, learned from an overflow error.
    pub learned_window: Option<u64>,
    /// Whether the last context was refused as too long and then compacted. If the provider refuses again, recovery
    /// gives up.
    pub recovering: bool,
    /// Two numbers of counted tokens, where planning found nothing worth folding: at the first number it found nothing,
    /// and before the second it is not asked again.
    pub declined: Option<(u64, u64)>,
    /// When a context was last asked for; 0 before the first time.
    #[serde(skip_serializing_if = "is_never")]
    pub asked: Millis,
}

fn is_never(time: &Millis) -> bool {
    *time == 0
}

fn is_false(is: &bool) -> bool {
    !is
}

/// A fold that frees less than one part in this many of the movable tokens leaves too little room.
const TIGHT: u64 = 4;

/// Whether a fold is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum FoldDue {
    /// The context is below the line.
    Below(TriggerLine),
    /// The line is crossed.
    Threshold(TriggerLine),
    /// Below the line, but the provider's cache is cold and the buffer line is crossed.
    Cold(TriggerLine),
    /// Below the line, but a piece of work has just ended and the seam line is crossed.
    Seam(TriggerLine),
    /// Below the line, but the agent asked for a fold and the line for that is crossed.
    Agent(TriggerLine),
    /// The context does not fit, so nothing holds the fold back.
    HardWindow {
        /// The tokens that fit.
        limit: u64,
    },
    /// The line is crossed, but this holds the fold back.
    Held(HoldReason),
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for FoldDue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Due".into()
    }

    /// Written by hand, because the reason of `Held` is a member named after the reason.
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut rule = generator.subschema_for::<LineRule>();
        rule.insert("description".into(), "The rule that set the line.".into());
        let null_reason =
            |why: &str| schemars::json_schema!({ "description": why, "type": "null" });
        schemars::json_schema!({
            "description": "Whether a fold is due.",
            "type": "object",
            "required": ["state"],
            "properties": {
                "state": {
                    "description": "Below the line, over one of the lines, over the window, or held back.",
                    "enum": ["below", "threshold", "cold", "seam", "agent", "hard-window", "held"],
                },
                "tokens": { "description": "The line, in tokens.", "type": "integer", "minimum": 0 },
                "rule": rule,
                "limit": { "description": "What fits, in tokens.", "type": "integer", "minimum": 0 },
                "off": null_reason("Held: the policy is off."),
                "open-call": null_reason("Held: a call has no result yet."),
                "breaker": null_reason("Held: the folds before freed too little."),
                "undone": null_reason("Held: a person took a fold back."),
                "little-gained": null_reason("Held: the last fold freed little."),
                "nothing-to-gain": null_reason("Held: planning found nothing to fold."),
                "few-steps": null_reason("Held: the window fits few steps, and is not full."),
            },
        })
    }
}

impl FoldDue {
    /// The cause to record for a fold that this decision fires.
    #[must_use]
    pub fn cause(self) -> FoldCause {
        match self {
            Self::Threshold(TriggerLine { rule: LineRule::Tier(_), .. }) => FoldCause::Tier,
            Self::Cold(_) => FoldCause::Cold,
            Self::Seam(_) => FoldCause::Seam,
            Self::Agent(_) => FoldCause::Agent,
            _ => FoldCause::Threshold,
        }
    }

    /// Whether a fold is to be made now.
    #[must_use]
    pub fn fires(self) -> bool {
        !matches!(self, Self::Below(_) | Self::Held(_))
    }
}

/// What holds a fold back although a line is crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HoldReason {
    /// The policy's off switch.
    Off,
    /// A call of the newest step has no result yet.
    OpenCall,
    /// Each of the last two folds freed too little.
    Breaker,
    /// A person undid a fold.
    Undone,
    /// The last fold freed too little.
    LittleGained,
    /// Planning found nothing worth folding, and few messages came since.
    NothingToGain,
    /// The window is so small that a fold now would leave room for a few steps only.
    FewSteps,
}

impl std::fmt::Display for HoldReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Off => "the policy is switched off (trigger.on = false)",
            Self::OpenCall => "a tool call waits for its result",
            Self::Breaker => "the last two folds freed less than 10 % each",
            Self::Undone => {
                "a fold was undone; the next comes when the window is full, or when asked for"
            }
            Self::LittleGained => {
                "the last fold freed less than a quarter of what is not fixed; the next comes when the \
                 window is full"
            }
            Self::NothingToGain => "there is not enough to gain yet",
            Self::FewSteps => "the window fits few steps; the next fold comes when it is full",
        })
    }
}

/// The size of the present context and the conditions that the trigger weighs.
#[derive(Clone, Copy, Debug)]
pub struct ContextLoad {
    /// Tokens as our counter counts them.
    pub counted: u64,
    /// Tokens that the provider is expected to count.
    pub estimate: u64,
    /// The estimate with the safety margin, which is compared with limits.
    pub upper: u64,
    /// Whether a call of the newest step waits for its result.
    pub open_call: bool,
    /// A class of content that is over its cap, with the cap in tokens.
    pub over_tier: Option<(TierName, u64)>,
    /// Whether the provider's cache has dropped the prompt, so that a fold costs no cached tokens.
    pub is_cold: bool,
    /// Whether some work has just ended.
    pub at_seam: bool,
    /// Whether the agent asked for a fold.
    pub is_asked: bool,
}

impl FoldGate {
    /// The budget with all that is known of the window: a host may have set it later, and the provider's own limit
    /// applies where it is lower.
    #[must_use]
    pub fn budget(&self, budget: &Budget, policy: &Policy) -> Budget {
        let mut budget = budget.with_policy(policy);
        budget.window =
            self.window.unwrap_or(budget.window).min(self.learned_window.unwrap_or(u64::MAX));
        budget
    }

    /// Whether a fold is due for `load` in `budget` (from [`FoldGate::budget`]).
    #[must_use]
    pub fn due(
        &self,
        trigger: &TriggerPolicy,
        budget: &Budget,
        load: ContextLoad,
        now: Millis,
    ) -> FoldDue {
        let limit = budget.tokens();
        if load.upper > limit {
            // Nothing holds back a fold of a context that does not fit, except the policy's off switch.
            return if trigger.on {
                FoldDue::HardWindow { limit }
            } else {
                FoldDue::Held(HoldReason::Off)
            };
        }
        let due = trigger.crossed(limit, load);
        // Below the first number it is another context, after an undo or a fold, so planning is asked again.
        let declined = self.declined.is_some_and(|(at, until)| (at..until).contains(&load.counted));
        // A host shows one reason: the first that applies.
        match () {
            () if !trigger.on => FoldDue::Held(HoldReason::Off),
            () if !due.fires() => due,
            () if load.open_call => FoldDue::Held(HoldReason::OpenCall),
            () if self.held => FoldDue::Held(HoldReason::Undone),
            () if self.tight => FoldDue::Held(HoldReason::LittleGained),
            () if self.breaker.blocks(now) => FoldDue::Held(HoldReason::Breaker),
            () if declined => FoldDue::Held(HoldReason::NothingToGain),
            () => due,
        }
    }

    /// Lets one fold through a tripped breaker after [`PROBE_AFTER`].
    pub fn probe(&mut self, now: Millis) {
        self.breaker.probe(now);
    }

    /// Takes note of a fold of a context of `before` provider tokens (estimated). It freed `freed` of the `movable`
    /// counted tokens.
    pub fn note_folded(&mut self, before: u64, freed: u64, movable: u64) {
        self.breaker.note_folded(before);
        self.declined = None;
        self.held = false;
        self.tight = freed * TIGHT < movable;
    }

    /// Takes note that the provider accepted a prompt of `prompt` tokens: its window is at least that large.
    pub fn note_accepted(&mut self, prompt: u64) {
        self.learned_window = self.learned_window.map(|window| window.max(prompt));
    }
}
