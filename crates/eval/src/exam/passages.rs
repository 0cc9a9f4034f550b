//! Divides a context into passages: lines, or sentences of a longer line.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The longest passage, in characters.
pub const LONG: usize = 400;

/// The passages of these messages, in order.
pub fn passages<'a>(messages: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut out = Vec::new();
    for message in messages {
        for text in texts(message) {
            for line in text.split('\n') {
                split(line.trim(), &mut out);
            }
        }
    }
    out
}

/// The members of a message that are read.
#[derive(Deserialize)]
struct PassageMessage<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<PassageCall<'a>>>,
}

/// The members of a call that are read.
#[derive(Deserialize)]
struct PassageCall<'a> {
    #[serde(borrow)]
    function: PassageFunction<'a>,
}

/// The members of a called function that are read.
#[derive(Deserialize)]
struct PassageFunction<'a> {
    #[serde(borrow)]
    arguments: Option<Cow<'a, str>>,
}

/// The texts of one message: its content, then the arguments of its calls, unescaped.
fn texts(message: &[u8]) -> Vec<String> {
    let Ok(message) = serde_json::from_slice::<PassageMessage<'_>>(message) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if let Some(content) = message.content {
        leaves(content.get(), &mut out);
    }
    for call in message.tool_calls.unwrap_or_default() {
        let arguments = call.function.arguments.unwrap_or_default();
        // Arguments that are no JSON can leave some texts in `parts` before they fail. These are dropped.
        let mut parts = Vec::new();
        if leaves(&arguments, &mut parts) {
            out.append(&mut parts);
        } else {
            out.push(arguments.into_owned());
        }
    }
    out
}

/// Adds the leaves of a JSON value, each after the keys that lead to it. Returns `false` where the text is no JSON.
fn leaves(json: &str, out: &mut Vec<String>) -> bool {
    let mut reader = serde_json::Deserializer::from_str(json);
    TextLeaves { prefix: String::new(), out }.deserialize(&mut reader).is_ok()
        && reader.end().is_ok()
}

/// Collects the leaves of a JSON value. `prefix` are the keys that lead to it.
struct TextLeaves<'a> {
    prefix: String,
    out: &'a mut Vec<String>,
}

impl TextLeaves<'_> {
    fn leaf<E>(self, text: &str) -> Result<(), E> {
        self.out.push(self.prefix + text);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for TextLeaves<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TextLeaves<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let prefix = format!("{}{key}: ", self.prefix);
            map.next_value_seed(TextLeaves { prefix, out: self.out })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { prefix, out } = self;
        while list.next_element_seed(TextLeaves { prefix: prefix.clone(), out })?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.leaf(text)
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        // The exams' scorer in Python prints it so.
        self.leaf(if value { "True" } else { "False" })
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.leaf(&value.to_string())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.leaf(&value.to_string())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        // Like Python, this prints `1.0` and not `1`.
        self.leaf(&format!("{value:?}"))
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Adds a line, or pieces of it made of whole sentences, each with at most [`LONG`] characters.
fn split(line: &str, out: &mut Vec<String>) {
    let length = |text: &str| text.chars().count();
    if length(line) <= LONG {
        if !line.is_empty() {
            out.push(line.to_owned());
        }
        return;
    }
    let mut current = String::new();
    let mut flush = |current: &mut String| {
        if !current.is_empty() {
            out.push(std::mem::take(current));
        }
    };
    for mut sentence in sentences(line) {
        while length(sentence) > LONG {
            flush(&mut current);
            let at = sentence.char_indices().nth(LONG).map_or(sentence.len(), |(at, _)| at);
            let (front, rest) = sentence.split_at(at);
            let mut front = front.to_owned();
            flush(&mut front);
            sentence = rest;
        }
        if length(&current) + length(sentence) + 1 > LONG {
            flush(&mut current);
            sentence.clone_into(&mut current);
        } else {
            current = format!("{current} {sentence}").trim().to_owned();
        }
    }
    flush(&mut current);
}

/// The sentences of a line: it is cut after `.`, `!`, `?` or `;` and the white space that follows.
fn sentences(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut ended) = (0, false);
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if ended && c.is_whitespace() {
            out.push(&line[start..at]);
            while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
            start = chars.peek().map_or(line.len(), |(at, _)| *at);
            ended = false;
        } else {
            ended = matches!(c, '.' | '!' | '?' | ';');
        }
    }
    out.push(&line[start..]);
    out
}
