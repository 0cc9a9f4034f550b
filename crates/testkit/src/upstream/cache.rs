//! The provider's prefix cache: finds the part of a prompt that it would hold.

use std::collections::VecDeque;

use serde_json::Value;

use super::count::{BYTES_PER_TOKEN, PromptWeight, ordered, weigh};
use super::request_parts::{AskedParts, fnv};

/// The number of accepted requests that the cache remembers.
pub const REMEMBERED: usize = 64;

/// The number of messages before a mark in which the cache looks for an earlier mark. Anthropic looks at 20 blocks.
const LOOKBACK: usize = 20;

/// The number of parts before the messages: tools and instructions.
const BEFORE_MESSAGES: usize = 2;

/// A prompt as the cache sees it: tools, instructions, then each message, as a hash each.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachePrefix {
    /// The hash of dialect and model, because models do not share a cache.
    of: u64,
    /// The hash of each part.
    parts: Vec<u64>,
    weights: Vec<PromptWeight>,
    /// The indices of the parts with a cache mark.
    marks: Vec<usize>,
}

impl CachePrefix {
    pub fn new(request: &AskedParts) -> Self {
        let of = fnv(format!("{} {}", request.dialect.name(), request.model).as_bytes());
        let weighed = ordered(request).map(|part| {
            let text = part.to_string();
            (fnv(text.as_bytes()), weigh(&part, text.len()))
        });
        let (parts, weights) = weighed.unzip();
        let all = [&request.tools, &request.system].into_iter().chain(&request.items);
        let marked = all.enumerate().filter(|(_, part)| marked(part)).map(|(at, _)| at);
        let mut marks: Vec<usize> = marked.collect();
        if !request.body["cache_control"].is_null() {
            // Automatic caching puts the mark at the end of the last message.
            marks.push(request.items.len() + BEFORE_MESSAGES - 1);
        }
        Self { of, parts, weights, marks }
    }

    /// The tokens of the whole prompt.
    pub fn total(&self) -> u64 {
        self.weights.iter().copied().fold(PromptWeight::default(), PromptWeight::and).tokens()
    }

    /// The tokens up to the last cache mark.
    pub fn marked(&self) -> u64 {
        self.marks.iter().max().map_or(0, |mark| self.tokens(mark + 1))
    }

    /// The number of messages that both prompts begin with. 0 where their tools or instructions differ.
    pub fn shared(&self, other: &Self) -> usize {
        self.common(other).saturating_sub(BEFORE_MESSAGES)
    }

    /// The number of parts that both prompts begin with.
    fn common(&self, other: &Self) -> usize {
        if self.of != other.of {
            return 0;
        }
        self.parts.iter().zip(&other.parts).take_while(|(a, b)| a == b).count()
    }

    /// Whether the prompt begins with all parts of an earlier one.
    pub fn extends(&self, earlier: &Self) -> bool {
        self.common(earlier) == earlier.parts.len()
    }

    /// The tokens of the first parts. They are rounded down, because a token that reaches beyond them is not cached.
    fn tokens(&self, parts: usize) -> u64 {
        let sum =
            self.weights[..parts].iter().copied().fold(PromptWeight::default(), PromptWeight::and);
        let cut = if parts == self.weights.len() { 0 } else { BYTES_PER_TOKEN - 1 };
        PromptWeight { bytes: sum.bytes.saturating_sub(cut), ..sum }.tokens().min(self.total())
    }
}

/// Whether a part has a cache mark anywhere in it.
fn marked(part: &Value) -> bool {
    match part {
        Value::Object(map) => {
            map.get("cache_control").is_some_and(|mark| !mark.is_null()) || map.values().any(marked)
        }
        Value::Array(list) => list.iter().any(marked),
        _ => false,
    }
}

/// The prompts of the last accepted requests.
#[derive(Debug, Default)]
pub(crate) struct PrefixCache {
    known: VecDeque<CachePrefix>,
}

impl PrefixCache {
    /// The tokens of the longest prefix that the prompt shares with a remembered one. The prompt is then remembered
    /// too.
    ///
    /// With `explicit`, a prefix counts only if it ends at a cache mark of the remembered prompt, and a mark of the new
    /// prompt follows closely.
    pub fn read(&mut self, prefix: &CachePrefix, explicit: bool) -> u64 {
        let longest = self.known.iter().map(|known| {
            let common = prefix.common(known);
            if explicit { find_cached(prefix, known, common) } else { common }
        });
        // Read before the prompt is remembered, or it would find itself.
        let cached = prefix.tokens(longest.max().unwrap_or(0));
        self.known.push_back(prefix.clone());
        if self.known.len() > REMEMBERED {
            self.known.pop_front();
        }
        cached
    }
}

/// The number of parts up to the last mark of a known prompt that is in the common part, and close enough before a mark
/// of the new prompt.
fn find_cached(prefix: &CachePrefix, known: &CachePrefix, common: usize) -> usize {
    let near =
        |mark: &&usize| prefix.marks.iter().any(|own| (**mark..=**mark + LOOKBACK).contains(own));
    let marks = known.marks.iter().filter(|mark| **mark < common).filter(near);
    marks.max().map_or(0, |mark| mark + 1)
}
