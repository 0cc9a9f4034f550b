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
pub use reducers::{
    AgeUnit, ArgumentsPolicy, DedupPolicy, RetainPolicy, RetainRule, StubPolicy, SupersedePolicy,
    TerminalPolicy, WindowPolicy,
};
pub use trigger::{ModelTrigger, TriggerPolicy};

/// When and how to fold. Every ratio is a share of the budget's tokens; a threshold is crossed when it is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// The name of the policy, for records and reports.
    pub name: String,
    /// What the policy does, in one line for people.
    pub summary: String,
    /// The document or the measurement that the constants come from.
    pub source: String,
    /// The value of `strategy` in fold records (Head, Middle, Tail: `head-tail`, Summarizing Evicted Turns:
    /// `summarize`).
    pub strategy: String,
    /// The engine: `midfold`, or `passthrough`, which changes nothing.
    #[serde(default)]
    pub engine: EngineName,
    /// When to fold.
    pub trigger: TriggerPolicy,
    /// The messages that stay unchanged at the front.
    pub head: HeadPolicy,
    /// The messages that stay unchanged at the end.
    pub tail: TailPolicy,
    /// The goals of a fold.
    pub fold: FoldGoals,
    /// The reducers to run, in this order: the cheap ones first.
    pub reducers: Vec<ReducerName>,
    /// Settings of `terminal`, which collapses progress output.
    #[serde(default)]
    pub terminal: TerminalPolicy,
    /// Settings of `dedup`, which points identical results to the newest.
    #[serde(default)]
    pub dedup: DedupPolicy,
    /// Settings of `supersede`, which drops reads that a later read or write made stale.
    #[serde(default)]
    pub supersede: SupersedePolicy,
    /// Settings of `retain`, which lets results expire by age or count.
    #[serde(default)]
    pub retain: RetainPolicy,
    /// Settings of `stub`, which replaces a result by one line that says what happened.
    #[serde(default)]
    pub stub: StubPolicy,
    /// Settings of `arguments`, which clips long arguments of calls.
    #[serde(default)]
    pub arguments: ArgumentsPolicy,
    /// Settings of `window`, which caps plain dialogue.
    #[serde(default)]
    pub window: WindowPolicy,
    /// The caps of classes of content.
    #[serde(default, skip_serializing_if = "TierCaps::is_empty")]
    pub budget: TierCaps,
    /// The text that replaces covered events.
    pub recap: RecapPolicy,
    /// How a model narrates, if one is configured.
    #[serde(default)]
    pub narration: NarrationPolicy,
    /// The content that stays word for word through every fold: messages by their words, files by their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<KeepRule>,
    /// Tools that the built-in table does not know, or describes otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolEntry>,
}

/// The name of an engine (Hermes Agent: engines are pluggable and chosen by configuration).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EngineName {
    /// The built-in engine.
    #[default]
    Midfold,
    /// An engine that sends every message and never folds.
    Passthrough,
    /// A program outside of midfold. For each fold it answers with one line of JSON, as an engine of `replay --engine`
    /// does: `engine = { command = ["python", "engine.py"] }`.
    #[serde(untagged)]
    Command {
        /// The program and its arguments.
        command: Vec<String>,
    },
    /// An engine that the host registered ([`crate::engine::EngineRegistry`]).
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

/// The caps of classes of content: `[budget.tiers]` of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TierCaps {
    /// The share of the budget that a class may take in the whole context. Above it, the oldest content of the class is
    /// evicted, even below the threshold.
    pub tiers: BTreeMap<TierName, Ratio>,
}

impl TierCaps {
    fn is_empty(&self) -> bool {
        self.tiers.is_empty()
    }
}

/// The messages that stay unchanged at the front. The cut moves forward to the end of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeadPolicy {
    /// The rule that finds the head; `task` in midfold's own presets. A longer head costs its tokens in each request, and
    /// keeps more of the cache through a fold.
    pub rule: HeadRule,
    /// For [`HeadRule::Messages`]: the number of messages.
    #[serde(default)]
    pub messages: usize,
    /// For [`HeadRule::Messages`]: whether `messages` counts the leading system messages.
    #[serde(default)]
    pub count_system: bool,
    /// Whether the first task leaves the head once there was a fold and the user made another request. Off by default: the
    /// provider's cache then ends before the task at that fold.
    #[serde(default)]
    pub decay: bool,
}

/// The rules that find the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HeadRule {
    /// Leading system messages, and everything up to the user's first real task.
    Task,
    /// Leading system messages, and the next message if it is the user's (Head, Middle, Tail).
    FirstUser,
    /// The first `messages` messages.
    Messages,
    /// Leading system messages only (projection note).
    System,
}

/// The messages that stay unchanged at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailPolicy {
    /// The rule that finds the tail.
    pub rule: TailRule,
    /// The least size of the tail, as a share of the budget (for [`TailRule::Ceiling`]: of the threshold). `default` has
    /// 0.1, `lean` 0.02. What the tail takes is not left for the recap, and the next fold comes earlier.
    pub ratio: Ratio,
    /// The fewest messages of the tail: 4 in `default`, 2 in `lean`. Long steps may make it much larger than the share.
    pub min_messages: usize,
    /// For [`TailRule::Ceiling`]: the number of newest messages that reducers leave alone (Hermes Agent:
    /// `protect_last_n`).
    #[serde(default)]
    pub protect_messages: usize,
    /// Whether the user's last real message stays verbatim. It joins the tail if that makes the tail at most half as
    /// large again; else it stays as a pin after the recap.
    #[serde(default)]
    pub last_user: bool,
    /// Whether the results and arguments of the newest step are shown cut where nothing smaller fits the window: their
    /// first and last lines, and a line that says what is left out. Left out: a server does so in front of local models, and nobody
    /// else does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_results: Option<bool>,
}

impl TailPolicy {
    /// Whether the results and arguments of a newest step that alone is too long are shown cut.
    #[must_use]
    pub fn cuts_results(&self) -> bool {
        self.cut_results == Some(true)
    }

    /// The least number of messages at the end that stay as they are.
    #[must_use]
    pub fn protected(&self) -> usize {
        self.min_messages.max(self.protect_messages)
    }
}

/// The rules that find the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TailRule {
    /// Extends the tail towards the start until both floors are met (Head, Middle, Tail).
    Floors,
    /// Extends the tail towards the start while it is below 1.5 × its size, counting chars/4 + 10 for a message. Where a
    /// recap reads reduced messages, they are counted as reducers leave them (Hermes Agent).
    Ceiling,
}

/// The goals of a fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldGoals {
    /// The share of the budget that the context should take at most after a fold: 0.44 in `default`. A lower share leaves
    /// more requests between two folds, each of which loses the cache, and less room for the recap.
    pub target: Ratio,
    /// The share of the budget that a fold has to free; otherwise it is not made. 0.1 in `default`: a smaller gain does not
    /// pay for the lost cache.
    pub min_reclaim: Ratio,
    /// What the policy's shares refer to if a person asks for a compaction while the context is within the budget.
    #[serde(default, skip_serializing_if = "ManualShare::is_context")]
    pub by_hand: ManualShare,
}

impl FoldGoals {
    /// Whether the tail keeps its floors wherever it fits beside the shortest recap, as in the sources of such policies.
    pub(crate) fn holds_floors(&self) -> bool {
        self.by_hand == ManualShare::Budget
    }
}

/// What the shares of a policy refer to in a manual compaction of a context within the budget, without a requested
/// size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ManualShare {
    /// The tokens of the present context, so that a person who asks for a compaction gets one.
    #[default]
    Context,
    /// The budget, as in an automatic fold. What the floors protect stays, and a conversation that they protect as a
    /// whole is left alone (Head, Middle, Tail: nothing to compress). In automatic folds, too, the recap gives way
    /// before the tail.
    Budget,
}

impl ManualShare {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    fn is_context(&self) -> bool {
        *self == Self::Context
    }
}

/// The name of a reducer: a rule that makes the middle smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReducerName {
    /// Collapses progress output with carriage returns, and strips ANSI codes.
    Terminal,
    /// Points identical results to the newest.
    Dedup,
    /// Replaces reads that a later read or write made stale by a line.
    Supersede,
    /// Lets results expire by age or count.
    Retain,
    /// Replaces results by one line that says what happened.
    Stub,
    /// Clips long arguments of calls.
    Arguments,
    /// Drops reasoning in the middle.
    Reasoning,
    /// Caps plain dialogue.
    Window,
    /// Shows the longest results cut: their first and last lines, and a line that says what is left out.
    Cut,
    /// Covers the oldest span by a recap.
    Recap,
}

impl ReducerName {
    /// Whether the reducer runs only while the middle is over its budget. Such a reducer loses content that no rule of
    /// the policy calls outdated. All others run in each fold.
    pub(crate) fn by_need(self) -> bool {
        matches!(self, Self::Stub | Self::Arguments | Self::Reasoning | Self::Cut)
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
            Self::Cut => "cut",
            Self::Recap => "recap",
        }
    }
}

impl std::fmt::Display for ReducerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text that replaces covered events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecapPolicy {
    /// The kind of recap when no model narrates.
    pub fallback: RecapFallback,
    /// How much of the middle the recap covers.
    pub cover: CoverExtent,
    /// The form of the covered messages from which the recap is made.
    #[serde(default)]
    pub reads: RecapSource,
    /// The recap takes at most this share of the budget … 0.25 in `default`, 0.2 in `lean`, 0.45 in `generous`. A recap is
    /// sent with each request until the next fold; while it has room, it leaves nothing out.
    pub cap: Ratio,
    /// … and at most this many tokens (0: no cap in tokens).
    #[serde(default)]
    pub cap_tokens: u64,
    /// Whether the recap may exceed its share: by hand up to the target, else as far as it covers words of the user. On in
    /// `default` and `generous`; it costs nothing in conversations where tools do most.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fills: bool,
    /// The role of the recap, if the profile allows it.
    pub role: RecapRole,
    /// The first line of the recap.
    pub header: String,
    /// The text that replaces a span when there is no recap (Summarizing Evicted Turns).
    pub marker: String,
    /// Whether the recap ends with `<read-files>` and `<modified-files>` blocks (What Survives the Compression).
    #[serde(default)]
    pub file_blocks: bool,
    /// A line below the header. (Hermes Agent writes it after the system prompt, which stays unchanged here.)
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The kinds of recap when no model narrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecapFallback {
    /// The sections that midfold computes.
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
    /// The whole middle.
    Middle,
    /// The oldest part, as much as has to go to reach the target (projection note).
    Overflow,
}

/// The form of the covered messages from which a recap is made, by a model or without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecapSource {
    /// The messages as the log has them.
    #[default]
    Log,
    /// The messages as the other reducers left them. These run first, and a model is sent less (Hermes Agent, What
    /// Survives the Compression).
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
            // A cap that the caller has set goes before the policy's.
            budget.tiers.entry(*tier).or_insert(*cap);
        }
        budget
    }
}
