//! Settings of the reducers, one table each.

use serde::{Deserialize, Serialize};

/// Settings of `terminal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TerminalPolicy {
    /// Results shorter than this are left alone, in characters.
    pub min_chars: usize,
}

impl Default for TerminalPolicy {
    fn default() -> Self {
        Self { min_chars: 200 }
    }
}

/// Settings of `dedup`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DedupPolicy {
    /// Results shorter than this are left alone, in characters (Hermes Agent: 200).
    pub min_chars: usize,
}

impl Default for DedupPolicy {
    fn default() -> Self {
        Self { min_chars: 200 }
    }
}

/// Settings of `supersede`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SupersedePolicy {
    /// Results shorter than this are left alone, in characters.
    pub min_chars: usize,
}

impl Default for SupersedePolicy {
    fn default() -> Self {
        Self { min_chars: 200 }
    }
}

/// How the age of a result is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AgeUnit {
    /// Assistant messages after the result (What Survives the Compression).
    #[default]
    Steps,
    /// Real user messages after the result (projection note).
    Turns,
}

/// Settings of `retain`: how long results stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetainPolicy {
    /// What age counts.
    pub unit: AgeUnit,
    /// A result expires when more than this many units came after it.
    pub age: Option<u32>,
    /// Of one tool, only the newest n results stay.
    pub count: Option<u32>,
    /// Counts the results of all tools together.
    pub across: bool,
    /// What expired results say.
    pub stub: String,
    /// Tools whose results never expire, and stay beside a recap, too.
    pub never_evict: Vec<String>,
    /// Rules for single tools or kinds of tools; the first that names the tool wins.
    pub tools: Vec<RetainRule>,
}

impl RetainPolicy {
    /// Whether results of this tool, or of tools of its kind (`<read>`), never expire.
    #[must_use]
    pub fn never_evicts(&self, tool: &str, kind: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == tool || name == kind);
        let rule = self.tools.iter().find(|rule| named(&rule.names));
        named(&self.never_evict) || rule.is_some_and(|rule| rule.never_evict)
    }

    /// Whether the policy names a tool whose results never expire.
    #[must_use]
    pub fn has_durable(&self) -> bool {
        !self.never_evict.is_empty() || self.tools.iter().any(|rule| rule.never_evict)
    }
}

/// A rule for some tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetainRule {
    /// Tool names, or kinds in angle brackets: `<read>`, `<search>`.
    pub names: Vec<String>,
    /// As in [`RetainPolicy`].
    pub age: Option<u32>,
    /// As in [`RetainPolicy`].
    pub count: Option<u32>,
    /// Their results never expire.
    pub never_evict: bool,
}

/// Settings of `stub`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StubPolicy {
    /// Results up to this length stay, in characters (Hermes Agent: 200).
    pub min_chars: usize,
    /// Salient lines (errors, failing tests, outliers) kept below the stub, in characters.
    pub salient_chars: usize,
}

impl Default for StubPolicy {
    fn default() -> Self {
        Self { min_chars: 200, salient_chars: 600 }
    }
}

/// Settings of `arguments`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArgumentsPolicy {
    /// Arguments up to this length stay, in characters (Hermes Agent: 500).
    pub max_chars: usize,
    /// Longer strings inside are cut to this length (Hermes Agent: 200).
    pub leaf_chars: usize,
}

impl Default for ArgumentsPolicy {
    fn default() -> Self {
        Self { max_chars: 500, leaf_chars: 200 }
    }
}

/// Settings of `window`: a cap on plain dialogue (projection note), off unless one is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowPolicy {
    /// Keep the dialogue of the newest n turns.
    pub turns: Option<u32>,
    /// Keep the newest dialogue up to this many tokens.
    pub tokens: Option<u64>,
}
