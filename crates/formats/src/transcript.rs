//! Writes transcripts: messages in the shape that their conversation had. No other module writes that shape.

use bytes::Bytes;
use midfold_core::jsonstr;

use crate::dialect::DialectKind;
use crate::read::{Conversation, Envelope, MessageWrapper};

/// The names of the members of a request's body in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyNames {
    /// The member with the model.
    pub model: &'static str,
    /// The member with the system prompt.
    pub system: &'static str,
    /// The member with the tools.
    pub tools: &'static str,
    /// The member with the messages; one of [`LISTS`](crate::read::LISTS).
    pub messages: &'static str,
}

impl BodyNames {
    /// The names in this dialect.
    #[must_use]
    pub fn of(kind: DialectKind) -> Self {
        let most = Self { model: "model", system: "system", tools: "tools", messages: "messages" };
        match kind {
            DialectKind::OpenAiChat | DialectKind::Anthropic | DialectKind::Ollama => most,
            DialectKind::OpenAiResponses => {
                Self { system: "instructions", messages: "input", ..most }
            }
            DialectKind::ShareGpt => Self { messages: "conversations", ..most },
            DialectKind::Gemini => {
                Self { system: "systemInstruction", messages: "contents", ..most }
            }
            DialectKind::Bedrock => Self { model: "modelId", tools: "toolConfig", ..most },
        }
    }
}

/// The messages of a transcript, with the envelope.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::{DialectKind, read::Envelope, transcript::Transcript};
/// let envelope = Envelope { system: Some(Bytes::from_static(b"\"s\"")), ..Envelope::default() };
/// let messages = vec![Bytes::from_static(br#"{"role":"user","content":"hi"}"#)];
/// let transcript = Transcript::new(DialectKind::OpenAiResponses, &envelope, messages);
/// let line = r#"{"instructions":"s","input":[{"role":"user","content":"hi"}]}"#;
/// assert_eq!(transcript.line(), format!("{line}\n").as_bytes());
/// ```
#[derive(Clone, Debug)]
pub struct Transcript<'a> {
    kind: DialectKind,
    envelope: &'a Envelope,
    messages: Vec<Bytes>,
    is_lines: bool,
}

impl<'a> Transcript<'a> {
    /// A transcript of messages in this dialect, with their envelope.
    #[must_use]
    pub fn new(kind: DialectKind, envelope: &'a Envelope, messages: Vec<Bytes>) -> Self {
        Self { kind, envelope, messages, is_lines: false }
    }

    /// Sets whether the messages were written one per line, with nothing around them ([`is_lines`]).
    #[must_use]
    pub fn as_lines(mut self, is_lines: bool) -> Self {
        self.is_lines = is_lines;
        self
    }

    /// Writes the only conversation of a file in the shape of that file: a request, a list, or one message per line.
    #[must_use]
    pub fn document(&self) -> Vec<u8> {
        match &self.envelope.wrapper {
            Some(wrapper) => wrapped(wrapper, &self.messages),
            None if self.is_lines && !self.is_body() => lines(&self.messages),
            None => [&self.request(b"\n")[..], b"\n"].concat(),
        }
    }

    /// Writes one of several conversations, on a line of its own.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        let whole = match &self.envelope.wrapper {
            Some(wrapper) => {
                [&wrapper.before[..], &list(&self.messages, b""), &wrapper.after].concat()
            }
            None => self.request(b""),
        };
        [flat(&whole), b"\n".to_vec()].concat()
    }

    /// The messages as a JSON list.
    #[must_use]
    pub fn messages(&self) -> Vec<u8> {
        list(&self.messages, b"")
    }

    /// A body where there is a system prompt or a list of tools; otherwise a list, with `space` between the messages.
    fn request(&self, space: &[u8]) -> Vec<u8> {
        if !self.is_body() {
            return list(&self.messages, space);
        }
        let names = BodyNames::of(self.kind);
        let Envelope { model, system, tools, .. } = self.envelope;
        let model = model.as_ref().map(|model| Bytes::from(jsonstr::encode(model).into_bytes()));
        let mut out = vec![b'{'];
        let beside = [(names.model, model.as_ref()), (names.system, system.as_ref())];
        for (name, value) in beside.into_iter().chain([(names.tools, tools.as_ref())]) {
            if let Some(value) = value {
                out.extend_from_slice(&[b"\"", name.as_bytes(), b"\":", value, b","].concat());
            }
        }
        let name = names.messages.as_bytes();
        out.extend_from_slice(&[b"\"", name, b"\":", &self.messages(), b"}"].concat());
        out
    }

    /// Whether there is a system prompt or a list of tools.
    fn is_body(&self) -> bool {
        self.envelope.system.is_some() || self.envelope.tools.is_some()
    }
}

/// Whether a conversation is bare messages, one per line.
#[must_use]
pub fn is_lines(source: &Conversation) -> bool {
    source.format.is_wire() && source.envelope.wrapper.is_none()
}

/// The messages with the bytes that were around their list, and a line break at the end.
#[must_use]
pub fn wrapped(wrapper: &MessageWrapper, messages: &[Bytes]) -> Vec<u8> {
    let MessageWrapper { before, after } = wrapper;
    // The list is written as the bytes around it are: over several lines, or on one.
    let space: &[u8] = if before.is_empty() || before.contains(&b'\n') { b"\n" } else { b"" };
    [&before[..], &list(messages, space), after, b"\n"].concat()
}

/// The messages, one per line.
#[must_use]
pub fn lines(messages: &[Bytes]) -> Vec<u8> {
    messages.iter().flat_map(|message| [flat(message), b"\n".to_vec()].concat()).collect()
}

/// A JSON list, with `space` around the messages.
#[must_use]
pub fn list(messages: &[Bytes], space: &[u8]) -> Vec<u8> {
    let size: usize = messages.iter().map(|message| message.len() + space.len() + 1).sum();
    let mut out = Vec::with_capacity(size + 4);
    out.push(b'[');
    for (at, message) in messages.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(space);
        out.extend_from_slice(message);
    }
    out.extend_from_slice(space);
    out.push(b']');
    out
}

/// The same JSON without line breaks. This changes no string, because readers escape raw line breaks in strings.
#[must_use]
pub fn flat(json: &[u8]) -> Vec<u8> {
    json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    #[test]
    fn a_written_body_is_read_as_what_it_is() {
        for kind in DialectKind::ALL {
            let message = kind.dialect().made_message(midfold_core::Role::User, "hi");
            let tools = Some(Bytes::from_static(b"[]"));
            let system = match kind {
                DialectKind::Gemini => &br#"{"parts":[{"text":"s"}]}"#[..],
                DialectKind::Bedrock => br#"[{"text":"s"}]"#,
                _ => b"\"s\"",
            };
            let system = Some(Bytes::from_static(system));
            let envelope = Envelope { system, tools, model: Some("m".into()), wrapper: None };
            let line = Transcript::new(kind, &envelope, vec![message.clone()]).line();
            let conversation = read(&Bytes::from(line), None).unwrap().conversations.remove(0);
            assert!(crate::read::LISTS.contains(&BodyNames::of(kind).messages));
            let names = [&conversation.envelope.system, &conversation.envelope.tools];
            assert_eq!(names, [&envelope.system, &envelope.tools], "{kind}");
            assert_eq!(conversation.envelope.model, envelope.model, "{kind}");
            assert_eq!(conversation.events[0].bytes, message, "{kind}");
            // A single text looks the same in both dialects.
            if !matches!(kind, DialectKind::OpenAiChat | DialectKind::Ollama) {
                assert_eq!(conversation.format.dialect(), kind);
            }
        }
    }
}
