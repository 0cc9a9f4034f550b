//! Builds Chat Completions messages out of the JSON tokens of a recording.
//!
//! Clients store a conversation in their own shapes. A recorded string is copied as the token that it is, so the same
//! file always gives the same bytes.

use std::borrow::Cow;

use midfold_core::jsonstr;

use crate::fields::ObjectFields;
use crate::scan;

/// A JSON string token with its quotes: the recorded one, or a new one where the client recorded no string.
pub(super) type StringToken<'a> = Cow<'a, [u8]>;

/// A new token for a text.
pub(super) fn token(text: &str) -> StringToken<'static> {
    let mut out = Vec::with_capacity(text.len() + 2);
    jsonstr::encode_into(text, &mut out);
    Cow::Owned(out)
}

/// The member `name` as a string token: a string as it is, any other value as its JSON. `None` where the member is
/// missing or `null`.
pub(super) fn text_of<'a>(fields: &ObjectFields<'a>, name: &str) -> Option<StringToken<'a>> {
    Some(match fields.raw(name)? {
        b"null" => return None,
        string @ [b'"', ..] => Cow::Borrowed(string),
        value => json_as_text(value),
    })
}

/// A JSON value as the token of a text.
pub(super) fn json_as_text(value: &[u8]) -> StringToken<'static> {
    token(&String::from_utf8_lossy(&scan::one_line(value)))
}

/// The inside of a string token; empty for other values.
pub(super) fn inside(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => b"",
    }
}

/// A part of the content of a message.
#[derive(Clone, Debug)]
pub(super) enum ContentPart<'a> {
    /// Text.
    Text(StringToken<'a>),
    /// An image: its media type and its base64.
    Image { mime: StringToken<'a>, data: StringToken<'a> },
    /// An image by its URL.
    Link(StringToken<'a>),
    /// Any other file: its name, and its data as a URL.
    File { name: Option<StringToken<'a>>, data: StringToken<'a> },
}

impl<'a> ContentPart<'a> {
    /// The JSON of a value that the reader does not know, as text, so that nothing is lost.
    pub(super) fn unknown(value: &[u8]) -> Self {
        Self::Text(json_as_text(value))
    }

    /// Writes the part as JSON.
    fn push(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                out.extend_from_slice(br#"{"type":"text","text":"#);
                out.extend_from_slice(text);
                out.push(b'}');
            }
            Self::Image { mime, data } => {
                out.extend_from_slice(br#"{"type":"image_url","image_url":{"url":"data:"#);
                out.extend_from_slice(inside(mime));
                out.extend_from_slice(b";base64,");
                out.extend_from_slice(inside(data));
                out.extend_from_slice(b"\"}}");
            }
            Self::Link(address) => {
                out.extend_from_slice(br#"{"type":"image_url","image_url":{"url":"#);
                out.extend_from_slice(address);
                out.extend_from_slice(b"}}");
            }
            Self::File { name, data } => {
                out.extend_from_slice(br#"{"type":"file","file":{"#);
                if let Some(name) = name {
                    out.extend_from_slice(br#""filename":"#);
                    out.extend_from_slice(name);
                    out.push(b',');
                }
                out.extend_from_slice(br#""file_data":"#);
                out.extend_from_slice(data);
                out.extend_from_slice(b"}}");
            }
        }
    }
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct ChatCall<'a> {
    pub id: StringToken<'a>,
    pub name: StringToken<'a>,
    /// The arguments as a JSON value: an object, or a string that holds one.
    pub arguments: Option<&'a [u8]>,
}

impl ChatCall<'_> {
    fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"id":"#);
        out.extend_from_slice(&self.id);
        out.extend_from_slice(br#","type":"function","function":{"name":"#);
        out.extend_from_slice(&self.name);
        out.extend_from_slice(br#","arguments":"#);
        match self.arguments {
            Some(string @ [b'"', ..]) => out.extend_from_slice(string),
            Some(b"null") | None => out.extend_from_slice(b"\"{}\""),
            Some(object) => out.extend_from_slice(&json_as_text(object)),
        }
        out.extend_from_slice(b"}}");
    }
}

/// A message that has nothing but content.
pub(super) fn message(role: &str, parts: &[ContentPart<'_>]) -> Vec<u8> {
    let mut out = format!(r#"{{"role":"{role}","content":"#).into_bytes();
    push_content(parts, b"\"\"", &mut out);
    out.push(b'}');
    out
}

/// A message of the model: its words, its reasoning and its calls.
pub(super) fn reply(
    parts: &[ContentPart<'_>],
    thoughts: &[StringToken<'_>],
    calls: &[ChatCall<'_>],
) -> Vec<u8> {
    let mut out = br#"{"role":"assistant","content":"#.to_vec();
    // A provider wants content or calls. Reasoning counts as neither.
    let none: &[u8] = if calls.is_empty() { b"\"\"" } else { b"null" };
    push_content(parts, none, &mut out);
    for (at, thought) in thoughts.iter().enumerate() {
        // Several strings become one: their insides are joined by an escaped line break.
        out.extend_from_slice(if at == 0 { br#","reasoning_content":""# } else { br"\n" });
        out.extend_from_slice(inside(thought));
    }
    if !thoughts.is_empty() {
        out.push(b'"');
    }
    for (at, call) in calls.iter().enumerate() {
        out.extend_from_slice(if at == 0 { br#","tool_calls":["# } else { b"," });
        call.push(&mut out);
    }
    if !calls.is_empty() {
        out.push(b']');
    }
    out.push(b'}');
    out
}

/// A message with the result of a call.
pub(super) fn result(id: &[u8], name: Option<&[u8]>, parts: &[ContentPart<'_>]) -> Vec<u8> {
    let mut out = br#"{"role":"tool","tool_call_id":"#.to_vec();
    out.extend_from_slice(id);
    if let Some(name) = name {
        out.extend_from_slice(br#","name":"#);
        out.extend_from_slice(name);
    }
    out.extend_from_slice(br#","content":"#);
    push_content(parts, b"\"\"", &mut out);
    out.push(b'}');
    out
}

/// Writes the content: a single text as a string, anything more as a list of parts, and `none` where there are no
/// parts.
fn push_content(parts: &[ContentPart<'_>], none: &[u8], out: &mut Vec<u8>) {
    match parts {
        [] => out.extend_from_slice(none),
        [ContentPart::Text(text)] => out.extend_from_slice(text),
        many => {
            for (at, part) in many.iter().enumerate() {
                out.push(if at == 0 { b'[' } else { b',' });
                part.push(out);
            }
            out.push(b']');
        }
    }
}
