//! What a file of keys says of each, and changes to such a file as text: what people wrote in it stays.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::key::KeyHash;

/// What the table of a key is headed with.
const HEAD: &str = "[[key]]";
/// Characters that a name may have: it is in metrics, logs and lists.
const LONGEST_NAME: usize = 64;

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyScope {
    /// Requests to providers.
    Proxy,
    /// What is stored of one's own sessions.
    Sessions,
    /// The metrics of the server, what it says of itself, and everybody's sessions.
    Admin,
}

impl KeyScope {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Sessions => "sessions",
            Self::Admin => "admin",
        }
    }
}

/// What a file of keys says of one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KeyEntry {
    /// Whose it is. Sessions belong to the name: another key under the same one goes on with them.
    pub name: String,
    /// The hash of the key.
    pub hash: KeyHash,
    /// What it may be used for.
    #[serde(default = "proxy")]
    pub scopes: Vec<KeyScope>,
    /// How many requests it may make a minute; any number without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// How many bytes the body of a request may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_body: Option<u64>,
    /// How many messages a request may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_history: Option<u64>,
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

/// Why a file of keys is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// It cannot be read.
    #[error("{0}")]
    Toml(String),
    /// Its entry of this name cannot be used.
    #[error("key `{0}`: {1}")]
    Entry(String, &'static str),
    /// There is no entry of this name.
    #[error("there is no key `{0}`")]
    Unknown(String),
    /// It is written in a way that its lines cannot be told apart.
    #[error("its keys are not written as tables that start with a line `[[key]]`")]
    Written,
}

/// The entries of a file.
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
    /// The entries of a file of keys.
    ///
    /// # Errors
    /// When it is none.
    pub fn all(text: &str) -> Result<Vec<Self>, KeysError> {
        read(text)
    }

    /// A file of keys with this one at its end.
    ///
    /// # Errors
    /// When the file is none, or has one of this name.
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

    /// A file of keys without the one of this name.
    ///
    /// # Errors
    /// When the file is none, or has none of this name.
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
        match read(&new) {
            Ok(left) if left == rest => Ok(new),
            _ => Err(KeysError::Written),
        }
    }
}

/// The lines of a file of keys.
impl fmt::Display for KeyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = toml::to_string(self).map_err(|_| fmt::Error)?;
        write!(f, "{HEAD}\n{lines}")
    }
}
