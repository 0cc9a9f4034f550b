//! Events and their hash chain.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::calendar::Millis;
use crate::view::{EventView, TextOrigin};

/// The tokens that one request cost, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens of the whole prompt, cached parts included.
    pub prompt: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Tokens of the prompt that were read from the cache.
    pub cache_read: u64,
    /// Tokens of the prompt that were written to the cache.
    pub cache_write: u64,
}

impl Usage {
    /// The largest count that is believed: a thousand prompts of the largest windows, since a reply with many samplings
    /// reports their sum. A larger count comes from a counter that ran below zero.
    const MOST: u64 = 1_000_000_000;

    /// Whether a provider may have counted so.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        *self == self.bounded()
    }

    /// The same counts, of which impossible ones are lowered. Sums of them stay within a number.
    pub(crate) fn bounded(self) -> Self {
        Self {
            prompt: self.prompt.min(Self::MOST),
            output: self.output.min(Self::MOST),
            cache_read: self.cache_read.min(Self::MOST),
            cache_write: self.cache_write.min(Self::MOST),
        }
    }
}

/// One message as a reader hands it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawEvent {
    /// One JSON value, exactly as recorded (without the line break after it).
    pub bytes: Bytes,
    /// The ranges of the message in the input; several where a reader built it from several records.
    pub source: Vec<std::ops::Range<usize>>,
    /// The origin that the reader knows and that the bytes alone do not show.
    pub origin: Option<TextOrigin>,
    /// Usage of the request that this assistant message answered; `None` where none was recorded.
    pub usage: Option<Usage>,
    /// When the message was recorded; `None` where the file does not say.
    pub at: Option<Millis>,
    /// Whether the file says that the calls failed whose results the message holds, and the bytes alone do not show
    /// it: Chat Completions has no flag for that.
    pub failed: bool,
}

impl RawEvent {
    /// An event that consists of bytes alone.
    #[must_use]
    pub fn new(bytes: Bytes) -> Self {
        Self { bytes, source: Vec::new(), origin: None, usage: None, at: None, failed: false }
    }
}

/// One message of the log: its bytes, its typed reading and its place.
#[derive(Clone, Debug)]
pub struct Event {
    /// Position in the log, from 0.
    pub seq: u32,
    /// The message exactly as it came.
    pub bytes: Bytes,
    /// Its typed reading.
    pub view: EventView,
    /// `blake3(hash before, bytes)`, which identifies this event and all before it.
    pub hash: Hash,
    /// Turns so far, this event's included; 0 before the first real user message.
    pub turn: u32,
    /// Steps so far: one assistant message and the results that it caused are one step.
    pub step: u32,
    /// Its tokens as the log's counter counts them.
    pub tokens: Tokens,
    /// The provider's usage for the request that this message answered; `None` where none is known.
    pub usage: Option<Usage>,
    /// The origin that the reader knew and that the bytes alone do not show.
    pub known_origin: Option<TextOrigin>,
    /// When the message was recorded; `None` where its reader did not know. Not part of the hash.
    pub at: Option<Millis>,
    /// Whether tools can be called because of this event ([`Dialect::loaded_tools`](crate::Dialect::loaded_tools)).
    pub loads_tools: bool,
}

impl Event {
    /// All readable text of the event, for searching ([`EventView::plain`]).
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        self.view.plain(&self.bytes)
    }
}

/// Tokens of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The message as a whole.
    pub total: u32,
    /// Each block on its own, in the view's order.
    pub blocks: SmallVec<[u32; 2]>,
}

/// A link of the chain: `hash_n = blake3(hash_{n-1}, bytes)`. It identifies the event and all before it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first event.
    pub const ROOT: Self = Self([0; 32]);

    /// The link that follows this one for `bytes`.
    #[must_use]
    pub fn chain(self, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(bytes);
        Self(*hasher.finalize().as_bytes())
    }

    /// 64 hex digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        use std::fmt::Write;
        self.0.iter().fold(String::with_capacity(64), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_hex()[..12])
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Hash {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Hash".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let text = String::deserialize(deserializer)?;
        let mut out = [0; 32];
        // The number parser alone would take a sign.
        if text.len() != 64 || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(D::Error::custom("a hash is 64 hex digits"));
        }
        for (at, byte) in out.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(D::Error::custom)?;
        }
        Ok(Self(out))
    }
}
