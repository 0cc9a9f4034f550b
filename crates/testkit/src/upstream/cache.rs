//! Which part of a prompt the provider's prefix cache would have had.

use std::collections::VecDeque;

use serde_json::Value;

use super::asked::{Asked, fnv};
use super::count::{Weight, ordered, weigh};

/// How many accepted requests the cache remembers.
pub const REMEMBERED: usize = 64;

/// A prompt as the cache sees it: tools, instructions, then each message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix {
    /// Dialect and model: caches are not shared between models.
    of: u64,
    /// Digest of each part.
    parts: Vec<u64>,
    weights: Vec<Weight>,
}

impl Prefix {
    pub fn new(asked: &Asked) -> Self {
        let parts = ordered(asked);
        Self {
            of: fnv(format!("{} {}", asked.dialect.name(), asked.model).as_bytes()),
            weights: parts.iter().map(weigh).collect(),
            parts: parts.iter().map(digest).collect(),
        }
    }

    /// How many parts both begin with.
    fn common(&self, other: &Self) -> usize {
        if self.of != other.of {
            return 0;
        }
        self.parts.iter().zip(&other.parts).take_while(|(a, b)| a == b).count()
    }

    /// Whether it begins with all the parts of an earlier prompt.
    pub fn extends(&self, earlier: &Self) -> bool {
        self.common(earlier) == earlier.parts.len()
    }

    /// Tokens of the first parts, rounded down: a token over the edge is not cached.
    fn tokens(&self, parts: usize) -> u64 {
        let sum = self.weights[..parts].iter().copied().fold(Weight::default(), Weight::and);
        let all = self.weights.iter().copied().fold(Weight::default(), Weight::and);
        let cut = if parts == self.weights.len() { 0 } else { super::count::BYTES_PER_TOKEN - 1 };
        Weight { bytes: sum.bytes.saturating_sub(cut), ..sum }.tokens().min(all.tokens())
    }
}

fn digest(part: &Value) -> u64 {
    fnv(part.to_string().as_bytes())
}

/// The prefixes of the last accepted requests.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    known: VecDeque<Prefix>,
}

impl Cache {
    /// Tokens of the longest prefix that it shares with a remembered request; remembers it too.
    pub fn read(&mut self, prefix: &Prefix) -> u64 {
        let longest = self.known.iter().map(|known| prefix.common(known)).max().unwrap_or(0);
        let cached = prefix.tokens(longest);
        self.known.push_back(prefix.clone());
        if self.known.len() > REMEMBERED {
            self.known.pop_front();
        }
        cached
    }
}
