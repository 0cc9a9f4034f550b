//! Policies: plain data that says when and how to fold. A preset is a named policy.

mod keep;
mod narration;
mod presets;
mod reducers;
mod trigger;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::{Budget, Ratio, TierName};
use crate::event::Hash;
use crate::tools::ToolEntry;
use crate::view::Role;

pub use keep::{FileGlob, KeepRule, MessagePattern};
pub use narration::{NarrationPolicy, NarrationStyle};
pub use presets::PolicyError;
pub use trigger::{ModelTrigger, TriggerPolicy};

pub use reducers::{
    AgeUnit, ArgumentsPolicy, DedupPolicy, RetainPolicy, RetainRule, StubPolicy, SupersedePolicy,
    TerminalPolicy, WindowPolicy,
};

/// When and how to fold. Every ratio multiplies the budget's tokens; every threshold is `≥`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// Name for records and reports.
    pub name: String,
    /// One line for people.
    pub summary: String,
    /// Which document or measurement the constants come from.
    pub source: String,
    /// `strategy` in fold records (Head, Middle, Tail: `head-tail`, Summarizing Evicted Turns:
    /// `summarize`).
    pub strategy: String,
    /// Which engine: `midfold`, or `passthrough`, which changes nothing.
    #[serde(default)]
    pub engine: EngineName,
    /// When to fold.
    pub trigger: TriggerPolicy,
    /// What stays verbatim at the front.
    pub head: HeadPolicy,
    /// What stays verbatim at the end.
    pub tail: TailPolicy,
    /// What a fold has to reach.
    pub fold: FoldGoals,
    /// The reducers to run, in order, cheap to expensive.
    pub reducers: Vec<ReducerName>,
    /// Collapses progress output.
    #[serde(default)]
    pub terminal: TerminalPolicy,
    /// Points identical results to the newest.
    #[serde(default)]
    pub dedup: DedupPolicy,
    /// Drops reads that a later read or write made stale.
    #[serde(default)]
    pub supersede: SupersedePolicy,
    /// Lets results expire by age or count.
    #[serde(default)]
    pub retain: RetainPolicy,
    /// Replaces results by one line that says what happened.
    #[serde(default)]
    pub stub: StubPolicy,
    /// Clips long call arguments.
    #[serde(default)]
    pub arguments: ArgumentsPolicy,
    /// Caps plain dialogue.
    #[serde(default)]
    pub window: WindowPolicy,
    /// Caps of classes of content.
    #[serde(default, skip_serializing_if = "TierCaps::is_empty")]
    pub budget: TierCaps,
    /// What is in the place of a covered span.
    pub recap: RecapPolicy,
    /// How a model would narrate, where one is at hand.
    #[serde(default)]
    pub narration: NarrationPolicy,
    /// What stays word for word through every fold: messages by their words, files by their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<KeepRule>,
    /// Tools that the built-in table does not know, or knows otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolEntry>,
}

/// An engine, by name (Hermes Agent: engines are pluggable and chosen by configuration).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EngineName {
    /// The built-in one.
    #[default]
    Midfold,
    /// Sends everything, always.
    Passthrough,
    /// A process outside, which answers one JSON line a fold as that of `replay --engine` does:
    /// `engine = { command = ["python", "engine.py"] }`.
    #[serde(untagged)]
    Command {
        /// Program and arguments.
        command: Vec<String>,
    },
    /// One that the host registered ([`crate::engine::EngineRegistry`]).
    #[serde(untagged)]
    Named(String),
}

impl std::fmt::Display for EngineName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Midfold => f.write_str("midfold"),
            Self::Passthrough => f.write_str("passthrough"),
            Self::Command { command } => f.write_str(&command.join(" ")),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// Caps of classes of content, as `[budget.tiers]` of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TierCaps {
    /// What a class may take of the budget, over the whole context. Passed, it is evicted from the
    /// oldest on, before the threshold is reached.
    pub tiers: BTreeMap<TierName, Ratio>,
}

impl TierCaps {
    fn is_empty(&self) -> bool {
        self.tiers.is_empty()
    }
}

/// What stays verbatim at the front. A cut snaps forward to a unit boundary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeadPolicy {
    /// How the head is found.
    pub rule: HeadRule,
    /// For [`HeadRule::Messages`]: how many.
    #[serde(default)]
    pub messages: usize,
    /// For [`HeadRule::Messages`]: leading system messages are among them.
    #[serde(default)]
    pub count_system: bool,
    /// The first task leaves the head after the first fold, once a later request replaced it.
    #[serde(default)]
    pub decay: bool,
}

/// How the head is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HeadRule {
    /// Leading system messages and everything up to the first real task.
    Task,
    /// Leading system messages and the message after them if it is the user's (Head, Middle, Tail).
    FirstUser,
    /// The first n messages.
    Messages,
    /// Leading system messages only (projection note).
    System,
}

/// What stays verbatim at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailPolicy {
    /// How the tail is found.
    pub rule: TailRule,
    /// At least this share of the budget (for [`TailRule::Ceiling`]: of the threshold).
    pub ratio: Ratio,
    /// And at least this many messages.
    pub min_messages: usize,
    /// For [`TailRule::Ceiling`]: reducers leave at least so many of the newest messages alone, and
    /// those within `ratio` (Hermes Agent: `protect_last_n`).
    #[serde(default)]
    pub protect_messages: usize,
    /// The last real user message stays verbatim: in the tail where that costs at most half as
    /// much again, else as a pin after the recap.
    #[serde(default)]
    pub last_user: bool,
}

impl TailPolicy {
    /// The least number of messages at the end that stay as they are.
    #[must_use]
    pub fn protected(&self) -> usize {
        self.min_messages.max(self.protect_messages)
    }
}

/// How the tail is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TailRule {
    /// Walk back until both floors hold (Head, Middle, Tail).
    Floors,
    /// Walk back while the tail stays below 1.5 × its budget, counting chars/4 + 10 (Hermes Agent).
    Ceiling,
}

/// What a fold has to reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldGoals {
    /// The context after a fold should cost at most this share of the budget.
    pub target: Ratio,
    /// A fold that frees less than this share of the budget is not made.
    pub min_reclaim: Ratio,
    /// What the policy's shares are of where a person asks for a fold of less than the budget.
    #[serde(default, skip_serializing_if = "ManualShare::is_context")]
    pub by_hand: ManualShare,
}

/// What the shares of a policy are of in a compaction by hand of less than the budget, where no size
/// is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ManualShare {
    /// Of what there is: who asks for a compaction gets one.
    #[default]
    Context,
    /// Of the budget, as when the line is crossed: what the floors protect stays, and a list that they
    /// protect whole is left alone (Head, Middle, Tail: nothing to compress).
    Budget,
}

impl ManualShare {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    fn is_context(&self) -> bool {
        *self == Self::Context
    }
}

/// A reducer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReducerName {
    /// Collapse carriage-return progress, strip ANSI.
    Terminal,
    /// Point identical results to the newest.
    Dedup,
    /// Stub reads that a later read or write made stale.
    Supersede,
    /// Expire results by age or count.
    Retain,
    /// One-line stubs.
    Stub,
    /// Clip call arguments.
    Arguments,
    /// Drop reasoning in the middle.
    Reasoning,
    /// Cap plain dialogue.
    Window,
    /// Cover the oldest span by a recap.
    Recap,
}

impl ReducerName {
    /// Whether the reducer runs only while the middle is over its budget. Such a reducer loses content that no rule of
    /// the policy calls outdated. All others run in each fold.
    pub(crate) fn by_need(self) -> bool {
        matches!(self, Self::Stub | Self::Arguments | Self::Reasoning)
    }

    /// The name as it is in policies and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Dedup => "dedup",
            Self::Supersede => "supersede",
            Self::Retain => "retain",
            Self::Stub => "stub",
            Self::Arguments => "arguments",
            Self::Reasoning => "reasoning",
            Self::Window => "window",
            Self::Recap => "recap",
        }
    }
}

impl std::fmt::Display for ReducerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is in the place of a covered span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecapPolicy {
    /// What it is made of when no model answers.
    pub fallback: RecapFallback,
    /// How much of the middle it covers.
    pub cover: CoverExtent,
    /// What of the covered messages it is made from.
    #[serde(default)]
    pub reads: RecapSource,
    /// At most this share of the budget …
    pub cap: Ratio,
    /// … and at most this many tokens (0: no further cap).
    #[serde(default)]
    pub cap_tokens: u64,
    /// Where head and tail leave more of the target than the share, it may take that, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fills: bool,
    /// The role that it takes where the profile allows it.
    pub role: RecapRole,
    /// Its first line.
    pub header: String,
    /// The text that stands for a span when there is no recap (Summarizing Evicted Turns).
    pub marker: String,
    /// Adds `<read-files>` and `<modified-files>` blocks (What Survives the Compression).
    #[serde(default)]
    pub file_blocks: bool,
    /// A line below the header (Hermes Agent writes it behind the system prompt, which stays as it
    /// is here).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// What a recap is made of when no model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecapFallback {
    /// The computed sections.
    Computed,
    /// The fixed marker (Head, Middle, Tail and Summarizing Evicted Turns).
    Marker,
    /// A fixed sentence with the number of messages (Hermes Agent).
    Static,
}

impl RecapFallback {
    /// The name as it is in policies and records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Computed => "computed",
            Self::Marker => "marker",
            Self::Static => "static",
        }
    }
}

/// How much of the middle a recap covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CoverExtent {
    /// All of it.
    Middle,
    /// The oldest part that has to go to reach the target (projection note).
    Overflow,
}

/// What a recap is made from, by a model or without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecapSource {
    /// The messages as the log has them.
    #[default]
    Log,
    /// What the reducers before it left of them: they run first, and a model is sent less (Hermes Agent,
    /// What Survives the Compression).
    Reduced,
}

/// The role of a recap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecapRole {
    /// Assistant (Summarizing Evicted Turns and What Survives the Compression).
    Assistant,
    /// User.
    User,
    /// User after an assistant or tool message, else assistant (Hermes Agent).
    Opposite,
}

impl RecapRole {
    /// The recap's role behind a message of role `before`.
    #[must_use]
    pub fn after(self, before: Option<Role>) -> Role {
        match self {
            Self::Assistant => Role::Assistant,
            Self::User => Role::User,
            Self::Opposite => match before {
                Some(Role::Assistant | Role::Tool) => Role::User,
                _ => Role::Assistant,
            },
        }
    }
}

impl Policy {
    /// The tokens that a narration may take in the recap of a context of `tokens` tokens. `None` where nothing limits
    /// it: the recap has no computed sections and no length that scales with the covered span.
    #[must_use]
    pub fn narration_room(&self, tokens: u64) -> Option<u64> {
        /// The share of the recap's cap; about half of what header, task and quoted words leave.
        const ROOM: Ratio = Ratio(3_500);
        /// The share of the context for a narration without computed sections (as in Hermes Agent).
        const ALONE: Ratio = Ratio(500);
        let recap = &self.recap;
        if recap.fallback != RecapFallback::Computed {
            return self.narration.token_share.map(|_| ALONE.of(tokens));
        }
        let most = if recap.cap_tokens > 0 { recap.cap_tokens } else { u64::MAX };
        Some(ROOM.of(recap.cap.of(tokens).min(most)))
    }

    /// Whether the text that a person wants kept (`--focus`) has an effect: a computed recap weighs it and a model
    /// reads it, but a marker ignores it.
    #[must_use]
    pub fn heeds_focus(&self) -> bool {
        self.engine == EngineName::Midfold
            && (self.recap.fallback == RecapFallback::Computed || self.narration.on)
    }

    /// The policy as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }

    /// A hash over the whole policy: folds with the same fingerprint were planned by the same rules.
    #[must_use]
    pub fn fingerprint(&self) -> Hash {
        Hash::ROOT.chain(self.to_toml().as_bytes())
    }
}

impl Budget {
    /// The budget with the policy's additions: its injection reserve where that is larger, and its tiers where the
    /// budget does not name them.
    #[must_use]
    pub(crate) fn with_policy(&self, policy: &Policy) -> Self {
        let mut budget = self.clone();
        budget.injection_reserve = budget.injection_reserve.max(policy.trigger.injection_reserve);
        for (tier, cap) in &policy.budget.tiers {
            budget.tiers.entry(*tier).or_insert(*cap);
        }
        budget
    }
}
