//! API keys, and their hashes.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The prefix of keys. It tells them from the keys of providers, and secret scanners find it in leaked text.
pub(crate) const PREFIX: &str = "mf_";
/// The name of the hash function, written before a hash so that another function can replace it.
const FUNCTION: &str = "blake3:";

/// An API key. It is only printed by [`ApiKey::as_str`].
pub struct ApiKey(String);

impl ApiKey {
    /// Makes a key of 32 random bytes.
    ///
    /// ```
    /// use midfold_serve::ApiKey;
    /// let key = ApiKey::from_bytes([0; 32]);
    /// assert!(key.as_str().starts_with("mf_AAAA") && key.as_str().len() == 46);
    /// assert_eq!(format!("{key:?}"), "Key(…)");
    /// ```
    #[must_use]
    pub fn from_bytes(random: [u8; 32]) -> Self {
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random)))
    }

    /// The text of the key. It is shown once, to the person who will use it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The hash of a key: `blake3:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(blake3::Hash);

impl KeyHash {
    /// The hash of a key's text.
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self(blake3::hash(key.as_bytes()))
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FUNCTION}{}", self.0.to_hex())
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for KeyHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hex = text.strip_prefix(FUNCTION).and_then(|hex| blake3::Hash::from_hex(hex).ok());
        hex.map(Self).ok_or_else(|| {
            format!(
                "a hash is `{FUNCTION}` and 64 hexadecimal digits, as `midfold serve key new` prints it"
            )
        })
    }
}

impl<'de> Deserialize<'de> for KeyHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for KeyHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
