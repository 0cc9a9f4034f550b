//! Policies: plain data that says when and how to fold. A preset is a named policy.

mod reducers;
mod trigger;

use serde::{Deserialize, Serialize};

use crate::budget::Ratio;
use crate::event::Hash;
use crate::tools::ToolEntry;
use crate::view::Role;

pub use trigger::{ModelTrigger, Trigger};

pub use reducers::{
    AgeUnit, Arguments, Dedup, Retain, RetainRule, Stub, Supersede, Terminal, Window,
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
    /// `strategy` in fold records (seed 000: `head-tail`, seed 001: `summarize`).
    pub strategy: String,
    /// Which engine: `midfold`, or `passthrough`, which changes nothing.
    #[serde(default)]
    pub engine: EngineName,
    /// When to fold.
    pub trigger: Trigger,
    /// What stays verbatim at the front.
    pub head: Head,
    /// What stays verbatim at the end.
    pub tail: Tail,
    /// What a fold has to reach.
    pub fold: FoldGoals,
    /// The reducers to run, in order, cheap to expensive.
    pub reducers: Vec<ReducerName>,
    /// Collapses progress output.
    #[serde(default)]
    pub terminal: Terminal,
    /// Points identical results to the newest.
    #[serde(default)]
    pub dedup: Dedup,
    /// Drops reads that a later read or write made stale.
    #[serde(default)]
    pub supersede: Supersede,
    /// Lets results expire by age or count.
    #[serde(default)]
    pub retain: Retain,
    /// Replaces results by one line that says what happened.
    #[serde(default)]
    pub stub: Stub,
    /// Clips long call arguments.
    #[serde(default)]
    pub arguments: Arguments,
    /// Caps plain dialogue.
    #[serde(default)]
    pub window: Window,
    /// What stands in the place of a covered span.
    pub recap: Recap,
    /// How a model would narrate, where one is at hand.
    #[serde(default)]
    pub narration: Narration,
    /// Tools that the built-in table does not know, or knows otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolEntry>,
}

/// An engine, by name (seed 002: engines are pluggable and chosen by configuration).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EngineName {
    /// The built-in one.
    #[default]
    Midfold,
    /// Sends everything, always.
    Passthrough,
}

/// What stays verbatim at the front. A cut snaps forward to a unit boundary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Head {
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
    /// Leading system messages and the message after them if it is the user's (seed 000).
    FirstUser,
    /// The first n messages.
    Messages,
    /// Leading system messages only (seed 004).
    System,
}

/// What stays verbatim at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tail {
    /// How the tail is found.
    pub rule: TailRule,
    /// At least this share of the budget (for [`TailRule::Ceiling`]: of the threshold).
    pub ratio: Ratio,
    /// And at least this many messages.
    pub min_messages: usize,
    /// The last real user message stays verbatim: in the tail where that costs at most half as
    /// much again, else as a pin after the recap.
    #[serde(default)]
    pub last_user: bool,
}

/// How the tail is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TailRule {
    /// Walk back until both floors hold (seed 000).
    Floors,
    /// Walk back while the tail stays below 1.5 × its budget, counting chars/4 + 10 (seed 002).
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
    /// The name as it stands in policies and records.
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

/// What stands in the place of a covered span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recap {
    /// What it is made of when no model answers.
    pub fallback: Fallback,
    /// How much of the middle it covers.
    pub cover: Cover,
    /// At most this share of the budget …
    pub cap: Ratio,
    /// … and at most this many tokens (0: no further cap).
    #[serde(default)]
    pub cap_tokens: u64,
    /// Of its cap, this share is for plain words that stand nowhere else in the context, below the
    /// identifiers: names that no shape tells from prose.
    #[serde(default, skip_serializing_if = "Ratio::is_zero")]
    pub words: Ratio,
    /// The role that it takes where the profile allows it.
    pub role: RecapRole,
    /// Its first line.
    pub header: String,
    /// The text that stands for a span when there is no recap (seed 001).
    pub marker: String,
    /// Names what edits took out of messages that stay, too. Such a fold always has a recap: one
    /// that could do with edits alone covers the oldest unit.
    #[serde(default)]
    pub edits: bool,
    /// Adds `<read-files>` and `<modified-files>` blocks (seed 003).
    #[serde(default)]
    pub file_blocks: bool,
    /// Names events (`#12`) where the originals can be had; only where a store can return them.
    #[serde(default)]
    pub refs: bool,
}

/// What a recap is made of when no model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Fallback {
    /// The computed sections.
    Computed,
    /// The fixed marker (seeds 000, 001).
    Marker,
    /// A fixed sentence with the number of messages (seed 002).
    Static,
}

impl Fallback {
    /// The name as it stands in policies and records.
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
pub enum Cover {
    /// All of it.
    Middle,
    /// The oldest part that has to go to reach the target (seed 004).
    Overflow,
}

/// The role of a recap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecapRole {
    /// Assistant (seeds 001, 003).
    Assistant,
    /// User.
    User,
    /// User after an assistant or tool message, else assistant (seed 002).
    Opposite,
}

impl RecapRole {
    /// The role after a message of `before`.
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

/// How a model would narrate. Data only: the engine asks, a driver calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Narration {
    /// Whether a model is asked at all.
    pub on: bool,
    /// The sections asked for, in order.
    pub sections: Vec<String>,
    /// How a section is written.
    pub style: NarrationStyle,
    /// Words asked for (seed 001: 200).
    pub words: Option<u32>,
    /// Hard cap of the reply, in tokens (seed 001: 512).
    pub max_tokens: Option<u32>,
    /// Sampling temperature (seed 001: 0.2).
    pub temperature: Option<Ratio>,
    /// Timeout, in seconds (seed 001: 25).
    pub timeout_seconds: Option<u32>,
}

/// How a narrated section is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NarrationStyle {
    /// `- **Decisions:** …` (seed 001).
    #[default]
    Bullets,
    /// `## Active Task` (seed 002).
    Headings,
}

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// No preset has this name.
    #[error("there is no preset `{name}`; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The TOML is not a policy.
    #[error("the policy cannot be read: {0}")]
    Invalid(String),
}

const PRESETS: &[(&str, &str)] = &[
    ("default", include_str!("../presets/default.toml")),
    ("generous", include_str!("../presets/generous.toml")),
    ("head-tail", include_str!("../presets/head-tail.toml")),
    ("hermes", include_str!("../presets/hermes.toml")),
    ("nucleic", include_str!("../presets/nucleic.toml")),
    ("projection", include_str!("../presets/projection.toml")),
];

/// What others do, as policies: to compare against, not to use.
const BASELINES: &[(&str, &str)] = &[
    ("sliding", include_str!("../presets/baselines/sliding.toml")),
    ("mask", include_str!("../presets/baselines/mask.toml")),
    ("clear", include_str!("../presets/baselines/clear.toml")),
];

impl Policy {
    /// The names of the baselines: common rules to compare against, which [`Policy::preset`] knows,
    /// too.
    #[must_use]
    pub fn baseline_names() -> Vec<&'static str> {
        BASELINES.iter().map(|(name, _)| *name).collect()
    }

    /// The names of the presets, `default` first.
    #[must_use]
    pub fn preset_names() -> Vec<&'static str> {
        PRESETS.iter().map(|(name, _)| *name).collect()
    }

    /// A preset as TOML, with its comments.
    ///
    /// # Errors
    /// When there is no preset of this name.
    pub fn preset_source(name: &str) -> Result<&'static str, PolicyError> {
        let known = PRESETS.iter().chain(BASELINES).find(|(known, _)| *known == name);
        known.map(|(_, source)| *source).ok_or_else(|| PolicyError::Unknown {
            name: name.into(),
            known: Self::preset_names().join(", "),
        })
    }

    /// A preset.
    ///
    /// # Errors
    /// When there is no preset of this name.
    ///
    /// ```
    /// let policy = midfold_core::policy::Policy::preset("head-tail").unwrap();
    /// assert_eq!(policy.recap.marker, "[Earlier messages truncated]");
    /// ```
    pub fn preset(name: &str) -> Result<Self, PolicyError> {
        Self::from_toml(Self::preset_source(name)?)
    }

    /// Reads a policy. A table `base = "name"` at the top starts from that preset, so that a file
    /// only has to say what differs.
    ///
    /// # Errors
    /// When the text is no TOML, a key is unknown, or a value has the wrong type.
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        let invalid = |error: toml::de::Error| PolicyError::Invalid(error.to_string());
        let mut table: toml::Table = toml::from_str(text).map_err(invalid)?;
        let Some(base) = table.remove("base") else {
            return toml::from_str(text).map_err(invalid);
        };
        let base = base.as_str().unwrap_or_default().to_owned();
        let mut merged: toml::Table =
            toml::from_str(Self::preset_source(&base)?).map_err(invalid)?;
        overlay(&mut merged, table);
        merged.try_into().map_err(invalid)
    }

    /// The policy as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }

    /// A hash over everything in the policy: two folds with one fingerprint were planned alike.
    #[must_use]
    pub fn fingerprint(&self) -> Hash {
        Hash::ROOT.chain(self.to_toml().as_bytes())
    }
}

fn overlay(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => overlay(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
