//! A request to a provider, as bytes: where its messages are, what is beside them, and the same request with other
//! messages. No other byte of it ever changes.

mod answer_wishes;
mod bounds;
mod identity;
mod lifetime;
mod listed;
mod named;
mod reply;
mod summary;
mod value;

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;

use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::scan;

use answer_wishes::AnswerWishes;
use bounds::{KnownLength, Tally};

pub use bounds::{Bounds, BoundsError, MESSAGE, memory_of};
pub use identity::{identity, without_marks};
pub use listed::lists_messages;
pub use named::{item_id, reference};
pub use reply::with_shorter_reply;
pub use summary::is_summary_request;

/// The reason why a body cannot be read as a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The body is no JSON object.
    #[error("the body is not a JSON object")]
    NotAnObject,
    /// The list of messages is missing.
    #[error("the body has no list `{0}`")]
    NoMessages(&'static str),
    /// The list does not end, or something follows the object.
    #[error("the body is not valid JSON")]
    Broken,
    /// The body exceeds a limit.
    #[error(transparent)]
    Over(#[from] BoundsError),
}

/// A request of which the positions of its messages are known.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::DialectKind;
/// use midfold_formats::request::Request;
///
/// let body = r#"{"model":"m", "messages": [ {"role":"user","content":"a"}, {"role":"user","content":"b"} ],"x":1.0}"#;
/// let request = Request::read(DialectKind::OpenAiChat, Bytes::from(body))?;
/// assert_eq!((request.len(), request.model.as_deref()), (2, Some("m")));
/// let shorter = request.with_messages([request.message(1)]);
/// assert_eq!(shorter, r#"{"model":"m", "messages": [{"role":"user","content":"b"}],"x":1.0}"#);
/// # Ok::<(), midfold_formats::request::RequestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    kind: DialectKind,
    body: Bytes,
    /// The range of the list of messages in the body.
    list: Range<usize>,
    /// The range of each message in the body.
    messages: Vec<Range<usize>>,
    /// The bytes of memory that the messages take once they are kept.
    memory: usize,
    /// The message of a Responses request whose input is a single text.
    lone: Option<Bytes>,
    /// The JSON of the system prompt beside the messages.
    pub system: Option<Bytes>,
    /// The JSON of the tools.
    pub tools: Option<Bytes>,
    /// The model, where the body names it.
    pub model: Option<String>,
    /// The most tokens of the reply, where the body names it.
    pub max_output: Option<u64>,
    /// The window in tokens that the model is to be loaded with, where the body names it (Ollama: `options.num_ctx`).
    pub window: Option<u64>,
    /// Whether the model has to reason before each answer (Anthropic: `thinking.type` is `enabled`; with `adaptive` it
    /// may skip the reasoning; Ollama: `think`).
    pub asks_reasoning: bool,
    /// Whether the answer is to be streamed. Gemini names that in the path and not in the body. Ollama streams unless
    /// the body says `false`.
    pub stream: bool,
    /// The id of the answer that this request continues, where the provider keeps the history.
    pub previous_response: Option<String>,
    /// Whether the provider is not to keep the answer.
    pub is_unstored: bool,
    /// Whether the request continues a thread that the provider keeps (Anthropic).
    pub continues_thread: bool,
    /// The seconds for which the provider is to keep the whole prompt in its cache.
    cache_retention: Option<u64>,
    /// The requirements on the answer.
    wanted: AnswerWishes,
}

/// The name of the member with the list of messages.
#[must_use]
pub fn list_name(kind: DialectKind) -> &'static str {
    match kind {
        DialectKind::OpenAiResponses => "input",
        DialectKind::Gemini => "contents",
        DialectKind::ShareGpt => "conversations",
        DialectKind::OpenAiChat
        | DialectKind::Anthropic
        | DialectKind::Bedrock
        | DialectKind::Ollama => "messages",
    }
}

impl Request {
    /// Finds the messages of a body in this dialect.
    ///
    /// # Errors
    /// The body is no object, or has no list of messages.
    pub fn read(kind: DialectKind, body: Bytes) -> Result<Self, RequestError> {
        Self::read_knowing(kind, body, &|_| None, Bounds::NONE)
    }

    /// Reads a body as [`Request::read`] does, with limits and with known messages: a client sends all its messages
    /// again each time. `known` returns the length of the known message with which the given bytes start. Such a
    /// message has to be an object that was read before, byte for byte.
    ///
    /// # Errors
    /// The errors of [`Request::read`], and an error for a body that exceeds the limits.
    pub fn read_knowing(
        kind: DialectKind,
        body: Bytes,
        known: KnownLength<'_>,
        bounds: Bounds,
    ) -> Result<Self, RequestError> {
        let name = list_name(kind);
        let mut tally = Tally::new(known, bounds);
        let (fields, listed) = top(&body, name, &mut tally)?;
        let is_gemini = kind == DialectKind::Gemini;
        let fields = if is_gemini { fields.in_either_spelling() } else { fields };
        let text = fields.string(name).filter(|_| kind == DialectKind::OpenAiResponses);
        let lone = text.clone().map(|text| user_message(&body[text]));
        let list = fields.array(name).or(text).ok_or(RequestError::NoMessages(name))?;
        let messages = if lone.is_some() { vec![list.clone()] } else { listed };
        let named = |names: &[&str]| {
            let at = names.iter().find_map(|name| fields.get(name))?;
            Some(body.slice(at))
        };
        let config = fields.inner("generationConfig");
        let is_ollama = kind == DialectKind::Ollama;
        let options =
            if is_ollama { fields.inner("options") } else { ObjectFields::of(&body, 0..0) };
        let max_output = ["max_completion_tokens", "max_output_tokens", "max_tokens"]
            .into_iter()
            .find_map(|name| fields.count(name))
            .or_else(|| config.count("maxOutputTokens"))
            .or_else(|| fields.inner("inferenceConfig").count("maxTokens"))
            .or_else(|| options.count("num_predict"));
        Ok(Self {
            kind,
            system: named(&["system", "instructions", "systemInstruction"]),
            // The older `functions` of Chat Completions are tools as well.
            tools: named(&["tools", "toolConfig", "functions"]),
            model: fields.text("model").map(std::borrow::Cow::into_owned),
            max_output,
            window: options.count("num_ctx").filter(|window| *window > 0),
            asks_reasoning: asks_reasoning(&fields),
            stream: match is_ollama {
                true => fields.raw("stream") != Some(b"false"),
                false => fields.is_true("stream"),
            },
            previous_response: fields
                .text("previous_response_id")
                .map(std::borrow::Cow::into_owned),
            is_unstored: fields.raw("store") == Some(b"false"),
            continues_thread: fields.inner("thread").is("type", "continue"),
            cache_retention: lifetime::top_level_seconds(&fields),
            wanted: AnswerWishes::of(&fields),
            list,
            messages,
            memory: tally.memory,
            lone,
            body: body.clone(),
        })
    }

    /// The request's dialect.
    #[must_use]
    pub fn kind(&self) -> DialectKind {
        self.kind
    }

    /// The body as it arrived.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// An upper estimate of the bytes of memory that the messages take once they are kept, beside those of the body. A
    /// caller reserves them before it keeps the messages.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Whether it has no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The message at this index, as a slice of the body without a copy. Empty after the last message.
    #[must_use]
    pub fn message(&self, at: usize) -> Bytes {
        match &self.lone {
            Some(lone) if at == 0 => lone.clone(),
            _ => self.messages.get(at).map_or_else(Bytes::new, |at| self.body.slice(at.clone())),
        }
    }

    /// All messages.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = Bytes> + '_ {
        (0..self.len()).map(|at| self.message(at))
    }

    /// The request with these messages. Every byte outside of the list stays.
    #[must_use]
    pub fn with_messages(&self, messages: impl IntoIterator<Item = Bytes>) -> Bytes {
        let messages: Vec<_> = messages.into_iter().collect();
        // The capacity is exact, because the body that arrived may be many times as long.
        let length: usize = messages.iter().map(|message| message.len() + 1).sum();
        let mut out = BytesMut::with_capacity(self.body.len() - self.list.len() + length + 2);
        out.extend_from_slice(&self.body[..self.list.start]);
        out.extend_from_slice(b"[");
        for (at, message) in messages.into_iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(b",");
            }
            out.extend_from_slice(&message);
        }
        out.extend_from_slice(b"]");
        out.extend_from_slice(&self.body[self.list.end..]);
        out.freeze()
    }

    /// The longest time in seconds for which the body asks the provider to keep the prompt in its cache. `None` where
    /// it asks for none, so that the provider's own time applies.
    ///
    /// ```
    /// use midfold_formats::{DialectKind, request::Request};
    /// let body = r#"{"messages":[],"system":[{"type":"text","text":"Be brief.",
    ///     "cache_control":{"type":"ephemeral","ttl":"1h"}}]}"#;
    /// let request = Request::read(DialectKind::Anthropic, body.into())?;
    /// assert_eq!(request.cache_lifetime(), Some(3_600));
    /// # Ok::<(), midfold_formats::request::RequestError>(())
    /// ```
    #[must_use]
    pub fn cache_lifetime(&self) -> Option<u64> {
        let newest = self.len().saturating_sub(lifetime::MARKED)..self.len();
        let beside = [&self.system, &self.tools].into_iter().flatten();
        let marked = beside.cloned().chain(newest.map(|at| self.message(at)));
        marked
            .filter_map(|json| lifetime::longest_mark_seconds(&json))
            .chain(self.cache_retention)
            .max()
    }

    /// The request without this member. The same bytes where it has no such member.
    #[must_use]
    pub fn without(&self, name: &str) -> Bytes {
        without_member(&self.body, name)
    }
}

/// Whether the request asks for reasoning: Anthropic, Bedrock, Ollama (`true`, or an effort).
fn asks_reasoning(fields: &ObjectFields<'_>) -> bool {
    let is_enabled = |holder: &ObjectFields<'_>| holder.inner("thinking").is("type", "enabled");
    is_enabled(fields)
        || is_enabled(&fields.inner("additionalModelRequestFields"))
        || fields.is_true("think")
        || fields.string("think").is_some()
}

/// The members of a body, and the elements of its list of messages. Both are found in one scan, because the list is
/// nearly all of the body.
fn top<'a>(
    body: &'a [u8],
    name: &str,
    tally: &mut Tally<'_>,
) -> Result<(ObjectFields<'a>, Vec<Range<usize>>), RequestError> {
    let start = scan::skip_space(body, 0);
    if body.get(start) != Some(&b'{') {
        return Err(RequestError::NotAnObject);
    }
    let (mut members, mut listed) = (SmallVec::new(), Vec::new());
    let mut at = start + 1;
    loop {
        at = scan::skip_separator(body, at);
        match body.get(at) {
            Some(b'}') => break,
            Some(b'"') => {}
            _ => return Err(RequestError::Broken),
        }
        let Some(member) = member(body, at, name, tally, &mut listed) else {
            // `member` stops for either reason, and only the tally knows which one it was.
            return Err(tally.over().map_or(RequestError::Broken, RequestError::Over));
        };
        at = member.value.end;
        members.push(member);
    }
    if scan::skip_space(body, at + 1) != body.len() {
        return Err(RequestError::Broken);
    }
    Ok((ObjectFields::of_members(body, members), listed))
}

/// The member whose key starts at `at`. Where it is the list called `name`, its elements are added to `listed`.
fn member(
    body: &[u8],
    at: usize,
    name: &str,
    tally: &mut Tally<'_>,
    listed: &mut Vec<Range<usize>>,
) -> Option<scan::Member> {
    let key = at..scan::string_end(body, at)?;
    let colon = scan::skip_space(body, key.end);
    let start = scan::skip_space(body, colon + 1);
    let is_colon = body.get(colon) == Some(&b':');
    let mut member = scan::Member { key, value: start..start };
    if body.get(start) == Some(&b'[') && member.is(body, name) {
        let (elements, end) = scan::list(body, start, |at| tally.message(body, at))?;
        *listed = elements;
        member.value.end = end;
    } else {
        member.value = scan::value(body, start)?;
        tally.beside(&body[member.value.clone()])?;
    }
    is_colon.then_some(member)
}

/// A lone text as a message of the user.
fn user_message(text: &[u8]) -> Bytes {
    Bytes::from([br#"{"role":"user","content":"#, text, b"}"].concat())
}

/// An object without the members of this name, and without the commas that belong to them.
pub(crate) fn without_member(object: &Bytes, name: &str) -> Bytes {
    let members: Vec<_> = scan::members(object, 0..object.len()).collect();
    if !members.iter().any(|member| member.is(object, name)) {
        return object.clone();
    }
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        return object.clone();
    };
    let mut out = BytesMut::with_capacity(object.len());
    out.extend_from_slice(&object[..first.key.start]);
    let mut is_first = true;
    for member in members.iter().filter(|member| !member.is(object, name)) {
        if !is_first {
            out.extend_from_slice(b",");
        }
        is_first = false;
        out.extend_from_slice(&object[member.whole()]);
    }
    out.extend_from_slice(&object[last.value.end..]);
    out.freeze()
}

#[cfg(test)]
mod tests;
