//! A reply with the figures that every dialect needs.

use serde_json::Value;

use crate::upstream::count::{BYTES_PER_TOKEN, of_bytes};
use crate::upstream::reply::ScriptedReply;
use crate::upstream::request_parts::{AskedParts, fnv};

/// The time of every reply, in seconds since 1970. It is fixed, because tests have no clock.
pub(crate) const CREATED: u64 = 1_790_000_000;

/// The bytes of one delta, roughly.
const PIECE: usize = 48;

/// The text of the model's thinking.
const THOUGHT: &str = "The last result is there, so the next part comes now.";

/// A reply with its numbers of tokens and the seed of its ids.
#[derive(Clone, Debug)]
pub(crate) struct NumberedReply<'a> {
    pub request: &'a AskedParts,
    pub reply: &'a ScriptedReply,
    /// The common part of all ids. It depends only on the prompt, so a retry gets the same ids.
    pub seed: String,
    pub text: String,
    pub thinking: Option<&'static str>,
    pub prompt: u64,
    pub cached: u64,
    pub output: u64,
    /// The tokens after the cached ones, up to the last cache mark. They are written to the cache.
    pub written: u64,
    /// Whether the reply was cut for lack of room.
    pub cut: bool,
    /// Whether signatures depend on the messages before them.
    pub bind: bool,
}

impl<'a> NumberedReply<'a> {
    pub fn new(
        request: &'a AskedParts,
        reply: &'a ScriptedReply,
        prompt: u64,
        cached: u64,
        thinks: bool,
    ) -> Self {
        let mut read = request.model.clone();
        for item in &request.items {
            read.push_str(&item.to_string());
        }
        let thinking = thinks.then_some(THOUGHT);
        let mut numbered = Self {
            request,
            reply,
            seed: format!("{:016x}", fnv(read.as_bytes())),
            text: reply.text.clone(),
            thinking,
            prompt,
            cached,
            output: 0,
            written: 0,
            cut: false,
            bind: false,
        };
        numbered.measure();
        if let Some(room) = request.max_tokens()
            && room < numbered.output
            && reply.calls.is_empty()
        {
            numbered.cut(room);
        }
        numbered
    }

    fn measure(&mut self) {
        let calls =
            self.reply.calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
        let bytes = self.text.len() + self.thinking.map_or(0, str::len) + calls.sum::<usize>();
        self.output = of_bytes(bytes);
    }

    /// Cuts the text to this many tokens and removes the thinking.
    pub fn cut(&mut self, tokens: u64) {
        let bytes = usize::try_from(tokens).unwrap_or(0) * BYTES_PER_TOKEN;
        self.text.truncate(self.text.floor_char_boundary(bytes.min(self.text.len())));
        self.thinking = None;
        self.cut = true;
        self.measure();
    }
}

/// An event without a name.
pub(crate) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// An event whose name is its type.
pub(crate) fn named(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

/// A text in pieces of roughly [`PIECE`] bytes. Empty for an empty text.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let end = if rest.len() <= PIECE { rest.len() } else { rest.ceil_char_boundary(PIECE) };
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}
