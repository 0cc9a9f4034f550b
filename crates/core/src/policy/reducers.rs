//! Settings of the reducers, one table each.

use serde::{Deserialize, Serialize};

/// Settings of the reducer `terminal`, which keeps what a terminal would finally show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TerminalPolicy {
    /// Results shorter than this many characters are left alone.
    pub min_chars: usize,
}

impl Default for TerminalPolicy {
    fn default() -> Self {
        Self { min_chars: 200 }
    }
}

/// Settings of the reducer `dedup`, which keeps the newest of identical results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DedupPolicy {
    /// Results shorter than this many characters are left alone (Hermes Agent: 200).
    pub min_chars: usize,
}

impl Default for DedupPolicy {
    fn default() -> Self {
        Self { min_chars: 200 }
    }
}

/// Settings of the reducer `supersede`, which replaces what was read of a file that was read or written again later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SupersedePolicy {
    /// Results shorter than this many characters are left alone.
    pub min_chars: usize,
}

impl Default for SupersedePolicy {
    fn default() -> Self {
        Self { min_chars: 200 }
    }
}

/// The unit in which the age of a result is counted.
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

/// Settings of the reducer `retain`: how long results stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetainPolicy {
    /// The unit of `age`.
    pub unit: AgeUnit,
    /// A result expires when more than this many steps or turns came after it. Without it, age does not matter.
    pub age: Option<u32>,
    /// Of each tool, only this many of the newest results stay. Without it, their number does not matter.
    pub count: Option<u32>,
    /// Whether `count` counts the results of all tools together.
    pub across: bool,
    /// The text that replaces an expired result.
    pub stub: String,
    /// Tools whose results never expire. These results also stay beside a recap.
    pub never_evict: Vec<String>,
    /// Limits for single tools or kinds of tools; the first rule that names the tool wins.
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

/// The limits of `retain` for some tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetainRule {
    /// Names of tools, or kinds in angle brackets: `<read>`, `<search>`.
    pub names: Vec<String>,
    /// The limit of age, as in [`RetainPolicy`].
    pub age: Option<u32>,
    /// The limit of number, as in [`RetainPolicy`].
    pub count: Option<u32>,
    /// Whether the results of these tools never expire.
    pub never_evict: bool,
}

/// Settings of the reducer `stub`, which replaces old results by a line that names the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StubPolicy {
    /// Results of up to this many characters stay (Hermes Agent: 200).
    pub min_chars: usize,
    /// The most characters of salient lines (errors, failing tests, outliers) that are kept below the stub. 600 by default,
    /// about 200 tokens for each old result; 0 keeps the line alone.
    pub salient_chars: usize,
    /// Whether the line quotes from the result how the call ended: the totals of a check, or why it failed.
    #[serde(skip_serializing_if = "super::is_false")]
    pub verdicts: bool,
    /// Whether the line ends with the number of the message, such as `@12`, by which recall shows it.
    #[serde(skip_serializing_if = "super::is_false")]
    pub numbers: bool,
}

impl Default for StubPolicy {
    fn default() -> Self {
        Self { min_chars: 200, salient_chars: 600, verdicts: false, numbers: false }
    }
}

/// Settings of the reducer `arguments`, which cuts long arguments of old calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArgumentsPolicy {
    /// Arguments of up to this many characters stay (Hermes Agent: 500).
    pub max_chars: usize,
    /// In longer arguments, strings are cut to this many characters (Hermes Agent: 200).
    pub leaf_chars: usize,
    /// Whether a cut string ends with the number of the message, such as `@12`, by which recall shows it.
    #[serde(skip_serializing_if = "super::is_false")]
    pub numbers: bool,
}

impl Default for ArgumentsPolicy {
    fn default() -> Self {
        Self { max_chars: 500, leaf_chars: 200, numbers: false }
    }
}

/// Settings of the reducer `window`: a cap on plain dialogue (projection note). Off unless one of them is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowPolicy {
    /// The number of newest turns whose dialogue stays.
    pub turns: Option<u32>,
    /// The tokens of newest dialogue that stay.
    pub tokens: Option<u64>,
}
