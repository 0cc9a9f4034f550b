//! Reads the `messages` argument of a call once, and returns a context in the same shape. The shapes are a list of
//! dicts, a dict that holds such a list among other values (a request's body), and JSON as text.

use std::ops::Range;

use bytes::Bytes;
use midfold::Door;
use midfold::core::project::{Context, PieceFate};
use midfold::formats::ReadProblem;
use midfold::formats::read::LISTS;
use midfold::formats::read::{Conversation, MessageWrapper, TranscriptFormat};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::errors::Failure;
use crate::json;
use crate::python::loads;

/// Messages as they were given, and their bytes.
pub struct GivenMessages<'py> {
    bytes: Bytes,
    shape: GivenShape<'py>,
}

enum GivenShape<'py> {
    /// The messages and where each of them is in the bytes.
    List(Vec<PlacedMessage<'py>>),
    /// A body, and its members that may be the messages.
    Body(Bound<'py, PyDict>, Vec<BodyList<'py>>),
    Text {
        is_str: bool,
    },
}

struct PlacedMessage<'py> {
    range: Range<usize>,
    message: Bound<'py, PyAny>,
}

/// A member of a body that may be the messages: its name, where it starts, and the messages that are objects of the
/// caller's.
struct BodyList<'py> {
    name: &'static str,
    start: usize,
    messages: Vec<PlacedMessage<'py>>,
}

/// The only conversation of what was given.
pub struct OnlyConversation {
    pub conversation: Conversation,
    pub problems: Vec<ReadProblem>,
}

impl<'py> GivenMessages<'py> {
    /// Takes what a caller passed as `messages`.
    pub fn new(messages: &Bound<'py, PyAny>) -> PyResult<Self> {
        let text = |bytes: &[u8], is_str| Self {
            bytes: Bytes::copy_from_slice(bytes),
            shape: GivenShape::Text { is_str },
        };
        if let Ok(string) = messages.cast::<PyString>() {
            return Ok(text(string.to_cow()?.as_bytes(), true));
        }
        if let Ok(bytes) = messages.cast::<PyBytes>() {
            return Ok(text(bytes.as_bytes(), false));
        }
        if let Ok(array) = messages.cast::<PyByteArray>() {
            return Ok(text(&array.to_vec(), false));
        }
        let mut out = Vec::new();
        let shape = match messages.cast::<PyDict>() {
            Ok(body) => GivenShape::Body(body.clone(), body_lists(body, &mut out)?),
            Err(_) => GivenShape::List(list(messages, &mut out, "messages")?),
        };
        Ok(Self { bytes: out.into(), shape })
    }

    /// The JSON of it.
    pub fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The object that each event was read from, by where it stood; none where a reader built it.
    pub fn objects<'a>(
        &self,
        sources: impl Iterator<Item = &'a [Range<usize>]>,
        wrapper: Option<&MessageWrapper>,
    ) -> Vec<Option<Bound<'py, PyAny>>> {
        let placed = match &self.shape {
            GivenShape::List(messages) => &messages[..],
            GivenShape::Body(_, lists) => {
                let start = wrapper.map(|wrapper| wrapper.before.len());
                let list = lists.iter().find(|list| Some(list.start) == start);
                list.map_or(&[][..], |list| &list.messages)
            }
            GivenShape::Text { .. } => &[],
        };
        let object = |source: &[Range<usize>]| {
            // An event that was read from several places, or from a part of a message, is no object of the caller's.
            let [range] = source else { return None };
            let at =
                placed.binary_search_by_key(&range.start, |message| message.range.start).ok()?;
            (placed[at].range == *range).then(|| placed[at].message.clone())
        };
        sources.map(object).collect()
    }

    /// A context in the shape of what was given.
    pub fn give_back(
        &self,
        py: Python<'py>,
        context: &Context,
        conversation: &Conversation,
        objects: &[Option<Bound<'py, PyAny>>],
    ) -> PyResult<Bound<'py, PyAny>> {
        if let GivenShape::Text { is_str } = self.shape {
            let text = midfold::document(context, conversation);
            return Ok(match is_str {
                true => PyString::new(py, &String::from_utf8_lossy(&text)).into_any(),
                false => PyBytes::new(py, &text).into_any(),
            });
        }
        let messages = PyList::empty(py);
        for piece in context.pieces() {
            let same = match piece.fate {
                PieceFate::Verbatim(seq) => objects.get(seq as usize).and_then(Option::as_ref),
                _ => None,
            };
            match same {
                Some(message) => messages.append(message)?,
                None => messages.append(loads(py, &piece.bytes)?)?,
            }
        }
        let GivenShape::Body(body, lists) = &self.shape else { return Ok(messages.into_any()) };
        let start = conversation.envelope.wrapper.as_ref().map(|wrapper| wrapper.before.len());
        let Some(list) = lists.iter().find(|list| Some(list.start) == start) else {
            return Ok(messages.into_any());
        };
        // A shallow copy: the other values of the body stay the caller's own objects.
        let copy = body.copy()?;
        copy.set_item(list.name, messages)?;
        Ok(copy.into_any())
    }
}

fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()
}

/// Whether a member of a body is meant as messages. A list without a dict may be anything, unless it is called so.
fn are_messages(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !is_list(value) || name == "messages" {
        return Ok(is_list(value));
    }
    for element in value.try_iter()? {
        if element?.is_instance_of::<PyDict>() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn list<'py>(
    values: &Bound<'py, PyAny>,
    out: &mut Vec<u8>,
    name: &str,
) -> PyResult<Vec<PlacedMessage<'py>>> {
    if !is_list(values) {
        let kind = values.get_type().name()?;
        return Err(Failure::input(format!("{name} is of type `{kind}`"))
            .hint("pass a list of dicts, a dict that holds one, or JSON as str or bytes")
            .into());
    }
    let mut placed = Vec::with_capacity(values.len()?);
    out.push(b'[');
    for (at, message) in values.try_iter()?.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let message = message?;
        let start = out.len();
        if !message.is_instance_of::<PyDict>() {
            let kind = message.get_type().name()?;
            return Err(Failure::input(format!("{name}[{at}] is of type `{kind}`, not a dict"))
                .hint("a message looks like {\"role\": \"user\", \"content\": \"…\"}")
                .into());
        }
        json::write(&message, out, || format!("{name}[{at}]"))?;
        placed.push(PlacedMessage { range: start..out.len(), message });
    }
    out.push(b']');
    Ok(placed)
}

fn body_lists<'py>(body: &Bound<'py, PyDict>, out: &mut Vec<u8>) -> PyResult<Vec<BodyList<'py>>> {
    let mut lists = Vec::new();
    out.push(b'{');
    for (at, (key, value)) in body.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let Ok(key) = key.cast::<PyString>() else {
            return Err(Failure::input("a key of messages is not a string")
                .hint("keys of JSON objects are strings: convert them first")
                .into());
        };
        let key = key.to_cow()?;
        midfold::core::jsonstr::encode_into(&key, out);
        out.push(b':');
        let start = out.len();
        let name = LISTS.into_iter().find(|name| *name == key);
        let messages = match name {
            Some(name) if are_messages(name, &value)? => list(&value, out, name)?,
            // Responses takes a text in the place of a list.
            _ => {
                json::write(&value, out, || format!("messages[\"{key}\"]"))?;
                Vec::new()
            }
        };
        lists.extend(name.map(|name| BodyList { name, start, messages }));
    }
    out.push(b'}');
    Ok(lists)
}

/// `dialect=`: how messages are read.
pub fn format(name: Option<&str>) -> Result<Option<TranscriptFormat>, Failure> {
    Ok(name.map(midfold::format).transpose()?)
}

/// Reads the only conversation of some JSON.
pub fn conversation(
    bytes: &Bytes,
    format: Option<TranscriptFormat>,
) -> Result<OnlyConversation, Failure> {
    let (conversation, problems) = midfold::conversation(bytes, format, Door::Python)?;
    Ok(OnlyConversation { conversation, problems })
}

/// `inject=`: texts by name.
pub fn texts(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let pairs = named(given, "inject", "{\"memory\": \"…\"}")?;
    let text = |(name, text): (String, Bound<'_, PyAny>)| {
        let wrong = |_| Failure::input(format!("inject[{name:?}] is no str"));
        let text = text.extract().map_err(wrong)?;
        Ok((name, text))
    };
    pairs.into_iter().map(text).collect()
}

/// `reserve=`: tokens by name.
pub fn reserves(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, u64)>> {
    let pairs = named(given, "reserve", "{\"memory\": 200}")?;
    let tokens = |(name, tokens): (String, Bound<'_, PyAny>)| {
        let wrong = |_| {
            Failure::input(format!("reserve[{name:?}] is no number of tokens"))
                .hint("200 keeps 200 tokens for it")
        };
        let tokens = tokens.extract().map_err(wrong)?;
        Ok((name, tokens))
    };
    pairs.into_iter().map(tokens).collect()
}

/// A dict by names, in its order.
fn named<'py>(
    given: Option<&Bound<'py, PyAny>>,
    argument: &str,
    example: &str,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let wrong = || {
        Failure::input(format!("{argument} is no dict by names"))
            .hint(format!("{argument}={example}"))
    };
    let dict = given.cast::<PyDict>().map_err(|_| wrong())?;
    let pair = |(name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
        Ok((name.extract().map_err(|_| wrong())?, value))
    };
    dict.iter().map(pair).collect()
}
