//! Checks messages that a client appends, so that the client gets an error for an unknown role or for messages of
//! another dialect. A transcript is read without these checks.

use midfold_core::Role;

use crate::dialect::DialectKind;
use crate::fields::ObjectFields;
use crate::read::{Conversation, TranscriptFormat};
use crate::scan;

/// The first of these messages with a role that no provider of the dialect knows: its index, and the role, empty where
/// it has none. Items of Responses have types in place of roles, and new types appear, so they are never reported.
///
/// ```
/// use midfold_formats::{DialectKind, role};
/// let messages = [r#"{"role":"user","content":"hi"}"#, r#"{"role":"alien","content":"hi"}"#];
/// let found = role::unknown(DialectKind::OpenAiChat, messages.iter().map(|m| m.as_bytes()));
/// assert_eq!(found, Some((1, "alien".to_owned())));
/// ```
pub fn unknown<'a>(
    kind: DialectKind,
    messages: impl IntoIterator<Item = &'a [u8]>,
) -> Option<(usize, String)> {
    if kind == DialectKind::OpenAiResponses {
        return None;
    }
    let key = if kind == DialectKind::ShareGpt { "from" } else { "role" };
    let odd = |bytes: &[u8]| kind.dialect().view(bytes).role == Role::Other;
    let (at, bytes) = messages.into_iter().enumerate().find(|(_, bytes)| odd(bytes))?;
    let token = scan::get(bytes, 0..bytes.len(), key).map(|range| &bytes[range]);
    let name = token.and_then(|token| serde_json::from_slice::<String>(token).ok());
    Some((at, name.unwrap_or_default()))
}

/// The index of the first message that is written as the AI SDK writes it: with a call or the result of one as a part of
/// its content, in words that no provider has. Read as a provider's message it would lose that part.
///
/// ```
/// use midfold_formats::role;
/// let result = r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","output":{}}]}"#;
/// assert_eq!(role::of_ai_sdk([result.as_bytes()]), Some(0));
/// ```
pub fn of_ai_sdk<'a>(messages: impl IntoIterator<Item = &'a [u8]>) -> Option<usize> {
    let is_part = |bytes: &[u8], part| {
        let part = ObjectFields::of(bytes, part);
        part.has("toolCallId")
            && part.text("type").is_some_and(|kind| matches!(&*kind, "tool-call" | "tool-result"))
    };
    let is = |bytes: &[u8]| {
        // Hosts give their whole list each time, and hardly any message has this word.
        memchr::memmem::find(bytes, br#""toolCallId""#).is_some()
            && scan::get(bytes, 0..bytes.len(), "content").is_some_and(|content| {
                scan::elements(bytes, content).any(|part| is_part(bytes, part))
            })
    };
    messages.into_iter().position(is)
}

/// Whether these messages fit the dialect: they are its own, or plain ones of role and text, which several dialects
/// write alike. Chat Completions also takes messages of Ollama.
#[must_use]
pub fn fits(conversation: &Conversation, kind: DialectKind) -> bool {
    let plain = [
        DialectKind::OpenAiChat,
        DialectKind::OpenAiResponses,
        DialectKind::Anthropic,
        DialectKind::Ollama,
    ];
    let format = conversation.format;
    format.dialect() == kind
        || (format == TranscriptFormat::Ollama && kind == DialectKind::OpenAiChat)
        || (matches!(format, TranscriptFormat::OpenAiChat | TranscriptFormat::FineTuning)
            && plain.contains(&kind)
            && !conversation.events.iter().any(|event| is_chat_only(&event.bytes)))
}

/// Whether a message has members or a role that only Chat Completions has.
fn is_chat_only(bytes: &[u8]) -> bool {
    let has = |name| scan::get(bytes, 0..bytes.len(), name);
    let role = has("role").map(|at| &bytes[at]);
    ["tool_calls", "tool_call_id", "function_call"].iter().any(|name| has(name).is_some())
        || matches!(role, Some(br#""tool""# | br#""function""#))
}
