//! The entries of a file of keys. Changes edit the file as text, so that comments and layout stay.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::key::KeyHash;

/// The line that begins the entry of a key.
const HEAD: &str = "[[key]]";
/// The most characters of a name, which appears in metrics, logs and lists.
const LONGEST_NAME: usize = 64;

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyScope {
    /// Requests that are forwarded to providers.
    Proxy,
    /// The API of sessions, for the holder's own sessions.
    Sessions,
    /// The server's metrics and report, and the sessions of all owners.
    Admin,
}

impl KeyScope {
    /// The name of the scope.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Sessions => "sessions",
            Self::Admin => "admin",
        }
    }
}

/// The entry of one key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KeyEntry {
    /// The name of the holder, who owns the sessions. Another key under the same name has the same sessions.
    pub name: String,
    /// The hash of the key.
    pub hash: KeyHash,
    /// The purposes that it may be used for.
    #[serde(default = "proxy")]
    pub scopes: Vec<KeyScope>,
    /// The most requests a minute; `None` means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// The most bytes of a request's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_body: Option<u64>,
    /// The most messages of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_history: Option<u64>,
    /// Whether the model gets the recall tool; `None`: as the server is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<bool>,
    /// Whether an agent's model gets the tools for its own conversation; `None`: as the server is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_tools: Option<bool>,
}

fn proxy() -> Vec<KeyScope> {
    vec![KeyScope::Proxy]
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredKeys {
    #[serde(default)]
    key: Vec<KeyEntry>,
}

/// Why a file of keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// It is not valid TOML, or has unknown fields.
    #[error("{0}")]
    Toml(String),
    /// The entry with this name is not valid.
    #[error("key `{0}`: {1}")]
    Entry(String, &'static str),
    /// There is no entry with this name.
    #[error("there is no key `{0}`")]
    Unknown(String),
    /// The entries are written in a way in which the lines of one entry cannot be found.
    #[error("its keys are not written as tables that start with a line `[[key]]`")]
    Written,
}

/// Reads and checks the entries of a file.
pub(super) fn read(text: &str) -> Result<Vec<KeyEntry>, KeysError> {
    let file: StoredKeys = toml::from_str(text)
        .map_err(|error| KeysError::Toml(error.to_string().trim_end().to_owned()))?;
    for (at, entry) in file.key.iter().enumerate() {
        let wrong = |why| Err(KeysError::Entry(entry.name.clone(), why));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
        if entry.name.is_empty()
            || entry.name.len() > LONGEST_NAME
            || !entry.name.chars().all(is_plain)
        {
            return wrong("a name is made of up to 64 letters, digits, `.`, `_`, `-` and `@`");
        }
        if entry.requests_per_minute == Some(0) {
            return wrong(
                "`requests_per_minute` has to be 1 or more; remove the key to refuse all",
            );
        }
        if file.key[..at].iter().any(|other| other.name == entry.name) {
            return wrong("there are two of this name; give each client a name of its own");
        }
        if file.key[..at].iter().any(|other| other.hash == entry.hash) {
            return wrong("its hash is that of another name; make a key for each name");
        }
    }
    Ok(file.key)
}

impl KeyEntry {
    /// Reads the entries of a file of keys.
    ///
    /// # Errors
    /// If the file is not valid.
    pub fn all(text: &str) -> Result<Vec<Self>, KeysError> {
        read(text)
    }

    /// Returns the text of a file of keys with this entry added at the end.
    ///
    /// # Errors
    /// If the file is not valid, or already has an entry with this name.
    pub fn added_to(&self, text: &str) -> Result<String, KeysError> {
        let space = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        let new = format!("{text}{space}{self}");
        read(&new)?;
        Ok(new)
    }

    /// Returns the text of a file of keys without the entry with this name.
    ///
    /// # Errors
    /// If the file is not valid, or has no entry with this name.
    pub fn removed_from(text: &str, name: &str) -> Result<String, KeysError> {
        let mut rest = read(text)?;
        let at = rest.iter().position(|entry| entry.name == name);
        let at = at.ok_or_else(|| KeysError::Unknown(name.to_owned()))?;
        rest.remove(at);
        let mut tables = 0;
        let is_kept = |line: &&str| {
            tables += usize::from(line.trim() == HEAD);
            tables != at + 1
        };
        let new: String = text.split_inclusive('\n').filter(is_kept).collect();
        // Lines may have been cut wrongly, for example from one table to the next: the result is compared with the
        // entries that should be left.
        match read(&new) {
            Ok(remaining) if remaining == rest => Ok(new),
            _ => Err(KeysError::Written),
        }
    }
}

/// The entry as lines of a file of keys.
impl fmt::Display for KeyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = toml::to_string(self).map_err(|_| fmt::Error)?;
        write!(f, "{HEAD}\n{lines}")
    }
}
