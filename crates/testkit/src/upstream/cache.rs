//! Which part of a prompt the provider's prefix cache would have had.

use std::collections::VecDeque;

use serde_json::Value;

use super::count::{BYTES_PER_TOKEN, PromptWeight, ordered, weigh};
use super::request_parts::{AskedParts, fnv};

/// How many accepted requests the cache remembers.
pub const REMEMBERED: usize = 64;

/// How many messages before a mark the cache looks for an earlier one (Anthropic: 20 blocks).
const LOOKBACK: usize = 20;

/// Parts before the messages: tools and instructions.
const BEFORE_MESSAGES: usize = 2;

/// A prompt as the cache sees it: tools, instructions, then each message.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachePrefix {
    /// Dialect and model: caches are not shared between models.
    of: u64,
    /// Digest of each part.
    parts: Vec<u64>,
    weights: Vec<PromptWeight>,
    /// Which parts have a cache mark.
    marks: Vec<usize>,
}

impl CachePrefix {
    pub fn new(asked: &AskedParts) -> Self {
        let of = fnv(format!("{} {}", asked.dialect.name(), asked.model).as_bytes());
        let weighed = ordered(asked).map(|part| {
            let text = part.to_string();
            (fnv(text.as_bytes()), weigh(&part, text.len()))
        });
        let (parts, weights) = weighed.unzip();
        let all = [&asked.tools, &asked.system].into_iter().chain(&asked.items);
        let marked = all.enumerate().filter(|(_, part)| marked(part)).map(|(at, _)| at);
        let mut marks: Vec<usize> = marked.collect();
        if !asked.body["cache_control"].is_null() {
            // Automatic: at the end of the last message.
            marks.push(asked.items.len() + BEFORE_MESSAGES - 1);
        }
        Self { of, parts, weights, marks }
    }

    /// Tokens of the whole prompt.
    pub fn total(&self) -> u64 {
        self.weights.iter().copied().fold(PromptWeight::default(), PromptWeight::and).tokens()
    }

    /// Tokens up to the last cache mark.
    pub fn marked(&self) -> u64 {
        self.marks.iter().max().map_or(0, |mark| self.tokens(mark + 1))
    }

    /// How many messages both begin with; none where what stands before them differs.
    pub fn shared(&self, other: &Self) -> usize {
        self.common(other).saturating_sub(BEFORE_MESSAGES)
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
        let sum =
            self.weights[..parts].iter().copied().fold(PromptWeight::default(), PromptWeight::and);
        let cut = if parts == self.weights.len() { 0 } else { BYTES_PER_TOKEN - 1 };
        PromptWeight { bytes: sum.bytes.saturating_sub(cut), ..sum }.tokens().min(self.total())
    }
}

/// Whether a part has a cache mark in it.
fn marked(part: &Value) -> bool {
    match part {
        Value::Object(map) => {
            map.get("cache_control").is_some_and(|mark| !mark.is_null()) || map.values().any(marked)
        }
        Value::Array(list) => list.iter().any(marked),
        _ => false,
    }
}

/// The prefixes of the last accepted requests.
#[derive(Debug, Default)]
pub(crate) struct PrefixCache {
    known: VecDeque<CachePrefix>,
}

impl PrefixCache {
    /// Tokens of the longest prefix that it shares with a remembered request; remembers it too.
    ///
    /// With `explicit`, a prefix is remembered up to a mark only, and found from a mark only.
    pub fn read(&mut self, prefix: &CachePrefix, explicit: bool) -> u64 {
        let longest = self.known.iter().map(|known| {
            let common = prefix.common(known);
            if explicit { found(prefix, known, common) } else { common }
        });
        let cached = prefix.tokens(longest.max().unwrap_or(0));
        self.known.push_back(prefix.clone());
        if self.known.len() > REMEMBERED {
            self.known.pop_front();
        }
        cached
    }
}

/// Parts up to the last mark of a known request that is among the common ones and not too far before a
/// mark of this one.
fn found(prefix: &CachePrefix, known: &CachePrefix, common: usize) -> usize {
    let near =
        |mark: &&usize| prefix.marks.iter().any(|own| (**mark..=**mark + LOOKBACK).contains(own));
    let marks = known.marks.iter().filter(|mark| **mark < common).filter(near);
    marks.max().map_or(0, |mark| mark + 1)
}
