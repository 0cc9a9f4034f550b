//! The part of a fold's record about the lines that were put back into its recap.

use serde::{Deserialize, Serialize};

use crate::event::Hash;

/// The lines of a recap that the agent or the settings asked for. They are not in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutBackRecord {
    /// The tokens that these lines take of the recap.
    pub tokens: u64,
    /// A hash over these lines.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub hash: Hash,
    /// The parts of these lines, in order.
    pub parts: Vec<PutBackPart>,
}

/// One note, text or file that was put back, or that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutBackPart {
    /// Who asked for it.
    pub source: PutBackSource,
    /// The file's name; empty for a note or a text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The tokens of the part; 0 if it is missing.
    pub tokens: u64,
    /// The reason for which the part is missing, in words; left out if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Who asked for a text to be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PutBackSource {
    /// The agent, by a note.
    Note,
    /// The settings, by a text in them.
    Text,
    /// The settings, by the name of a file.
    File,
}
