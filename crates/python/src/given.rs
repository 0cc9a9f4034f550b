//! What was given as messages, read once, and given back in the same shape: a list of dicts, a dict
//! that holds such a list beside other things (a request's body), or JSON as text.

use std::ops::Range;

use bytes::Bytes;
use midfold::RawEvent;
use midfold::core::project::{Context, Fate};
use midfold::formats::read::{Conversation, Format, Wrapper, read};
use midfold::formats::{DialectKind, Problem};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::errors::{Failure, Kind};
use crate::json;
use crate::python::loads;

/// Members of a request's body that hold its messages.
const LISTS: [&str; 3] = ["messages", "input", "conversations"];

/// Messages as they were given, and their bytes.
pub struct Given<'py> {
    bytes: Bytes,
    shape: Shape<'py>,
}

enum Shape<'py> {
    /// The messages and where each of them stands in the bytes.
    List(Vec<Placed<'py>>),
    /// A body, and its lists that may be the messages.
    Body(Bound<'py, PyDict>, Vec<List<'py>>),
    Text {
        is_str: bool,
    },
}

struct Placed<'py> {
    range: Range<usize>,
    message: Bound<'py, PyAny>,
}

/// A list of a body: its name, where it starts, and what is in it.
struct List<'py> {
    name: &'static str,
    start: usize,
    messages: Vec<Placed<'py>>,
}

/// The only conversation of what was given.
pub struct Found {
    pub conversation: Conversation,
    pub problems: Vec<Problem>,
}

impl<'py> Given<'py> {
    /// Takes what a caller passed as `messages`.
    pub fn new(messages: &Bound<'py, PyAny>) -> PyResult<Self> {
        let text = |bytes: &[u8], is_str| Self {
            bytes: Bytes::copy_from_slice(bytes),
            shape: Shape::Text { is_str },
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
            Ok(body) => Shape::Body(body.clone(), body_lists(body, &mut out)?),
            Err(_) => Shape::List(list(messages, &mut out, "messages")?),
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
        wrapper: Option<&Wrapper>,
    ) -> Vec<Option<Bound<'py, PyAny>>> {
        let placed = match &self.shape {
            Shape::List(messages) => &messages[..],
            Shape::Body(_, lists) => {
                let start = wrapper.map(|wrapper| wrapper.before.len());
                let list = lists.iter().find(|list| Some(list.start) == start);
                list.map_or(&[][..], |list| &list.messages)
            }
            Shape::Text { .. } => &[],
        };
        let object = |source: &[Range<usize>]| {
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
        if let Shape::Text { is_str } = self.shape {
            let text = document(context, conversation);
            return Ok(match is_str {
                true => PyString::new(py, &String::from_utf8_lossy(&text)).into_any(),
                false => PyBytes::new(py, &text).into_any(),
            });
        }
        let messages = PyList::empty(py);
        for piece in context.pieces() {
            let same = match piece.fate {
                Fate::Verbatim(seq) => objects.get(seq as usize).and_then(Option::as_ref),
                _ => None,
            };
            match same {
                Some(message) => messages.append(message)?,
                None => messages.append(loads(py, &piece.bytes)?)?,
            }
        }
        let Shape::Body(body, lists) = &self.shape else { return Ok(messages.into_any()) };
        let start = conversation.envelope.wrapper.as_ref().map(|wrapper| wrapper.before.len());
        let Some(list) = lists.iter().find(|list| Some(list.start) == start) else {
            return Ok(messages.into_any());
        };
        let copy = body.copy()?;
        copy.set_item(list.name, messages)?;
        Ok(copy.into_any())
    }
}

fn list<'py>(
    values: &Bound<'py, PyAny>,
    out: &mut Vec<u8>,
    name: &str,
) -> PyResult<Vec<Placed<'py>>> {
    let is_list = values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>();
    if !is_list {
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
        placed.push(Placed { range: start..out.len(), message });
    }
    out.push(b']');
    Ok(placed)
}

fn body_lists<'py>(body: &Bound<'py, PyDict>, out: &mut Vec<u8>) -> PyResult<Vec<List<'py>>> {
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
        match name.filter(|_| value.is_instance_of::<PyList>()) {
            Some(name) => lists.push(List { name, start, messages: list(&value, out, name)? }),
            None => json::write(&value, out, || format!("messages[\"{key}\"]"))?,
        }
    }
    out.push(b'}');
    Ok(lists)
}

/// `dialect=`: how messages are read.
pub fn format(name: Option<&str>) -> Result<Option<Format>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    let found = Format::from_name(name);
    Ok(Some(found.ok_or_else(|| Failure::unknown(Kind::Input, "dialect", name, &known))?))
}

/// Reads the only conversation of some JSON.
pub fn conversation(bytes: &Bytes, format: Option<Format>) -> Result<Found, Failure> {
    let mut found = read(bytes, format)?;
    if let Some(odd) = found.problems.iter().find(|problem| problem.code == "odd-message") {
        return Err(Failure::input(format!("a message is no JSON object: {odd}")));
    }
    match (found.conversations.pop(), found.conversations.len()) {
        (Some(conversation), 0) => Ok(Found { conversation, problems: found.problems }),
        (None, _) => Err(Failure::input("there are no messages")),
        (Some(_), more) => Err(Failure::input(format!("there are {} conversations", more + 1))
            .hint("pass one at a time")),
    }
}

/// The events of some JSON that is to be appended, all of which has to be messages; and what stood
/// around them.
pub fn events(
    bytes: &Bytes,
    kind: DialectKind,
) -> Result<(Vec<RawEvent>, Option<Wrapper>), Failure> {
    let found = conversation(bytes, Format::from_name(kind.name()))?;
    if let Some(problem) = found.problems.first() {
        return Err(Failure::input(problem.to_string()).hint("nothing was appended"));
    }
    Ok((found.conversation.events, found.conversation.envelope.wrapper))
}

/// A context as text, as it was: a list with what stood around it, or one message a line.
fn document(context: &Context, conversation: &Conversation) -> Vec<u8> {
    let wrapper = conversation.envelope.wrapper.clone();
    let is_bare = conversation.envelope.system.is_none() && conversation.envelope.tools.is_none();
    let Some(Wrapper { before, after }) = wrapper else {
        if !is_bare || is_client(conversation.format) {
            return joined(context, b"\n");
        }
        let mut out = Vec::new();
        for piece in context.pieces() {
            let flat = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
            out.extend(piece.bytes.iter().map(flat));
            out.push(b'\n');
        }
        return out;
    };
    let space: &[u8] = if before.is_empty() || before.contains(&b'\n') { b"\n" } else { b"" };
    [&before[..], &joined(context, space), &after, b"\n"].concat()
}

/// A client's session file: its messages stand alone in what comes out.
fn is_client(format: Format) -> bool {
    !matches!(
        format,
        Format::OpenAiChat
            | Format::OpenAiResponses
            | Format::Anthropic
            | Format::ShareGpt
            | Format::FineTuning
    )
}

fn joined(context: &Context, space: &[u8]) -> Vec<u8> {
    let mut out = vec![b'['];
    for (at, piece) in context.pieces().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(space);
        out.extend_from_slice(&piece.bytes);
    }
    out.extend_from_slice(space);
    out.push(b']');
    out
}
