//! The part of a fold's record about the lines that were put back into its recap.

use serde::{Deserialize, Serialize};

use crate::event::Hash;

/// The lines of a recap that somebody asked for, and that the log does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutBackRecord {
    /// Tokens that it takes of the recap.
    pub tokens: u64,
    /// A hash over its lines in the recap.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub hash: Hash,
    /// Each of its parts, in order.
    pub parts: Vec<PutBackPart>,
}

/// One note, text or file that was to be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutBackPart {
    /// Who asked for it.
    pub source: PutBackSource,
    /// The file's name; empty for what has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its tokens; 0 where it is missing.
    pub tokens: u64,
    /// Why it is not there, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Who asked for something to be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PutBackSource {
    /// The agent, by a note.
    Note,
    /// The settings, with a text of their own.
    Text,
    /// The settings, with the name of a file.
    File,
}
