//! Converts any dialect to those that can be written ([`TARGETS`]), with a [`ReadProblem`] for each loss.

mod bedrock;
mod conversation;
mod gemini;
mod neutral;
mod ollama;
mod sharegpt;
mod write;

use std::ops::Range;

use bytes::Bytes;
use midfold_core::{EventView, Role};

use crate::dialect::DialectKind;
use crate::problem::ReadProblem;

use neutral::{ConversationIds, NeutralMessage, NeutralPiece, keeps_system_outside};

pub(crate) use neutral::UNSIGNED;

pub use conversation::{convert_conversation, put_system_first, system_message, system_prompt};

/// The result of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvertedMessages {
    /// The leading system text, where the target keeps it outside the messages (Anthropic, Gemini, Bedrock).
    pub system: Option<String>,
    /// The messages in the target dialect.
    pub messages: Vec<Bytes>,
    /// For each message, the range of source events that it was made of.
    pub sources: Vec<Range<usize>>,
    /// What could not be carried over; `at` is the index of the source event.
    pub problems: Vec<ReadProblem>,
}

/// Converts one event without its neighbours. Calls without an id get `call_0`, `call_1` and so on, and so do results.
/// The same dialect returns the same bytes.
///
/// ```
/// use midfold_formats::{DialectKind, convert::convert};
/// let row = br#"{"from":"human","value":"hi"}"#;
/// let view = DialectKind::ShareGpt.dialect().view(row);
/// let (messages, problems) =
///     convert(row, &view, DialectKind::ShareGpt, DialectKind::OpenAiChat);
/// assert_eq!(&messages[0][..], br#"{"role":"user","content":"hi"}"#);
/// assert!(problems.is_empty());
/// ```
#[must_use]
pub fn convert(
    bytes: &[u8],
    view: &EventView,
    from: DialectKind,
    to: DialectKind,
) -> (Vec<Bytes>, Vec<ReadProblem>) {
    if from == to {
        return (vec![Bytes::copy_from_slice(bytes)], Vec::new());
    }
    let Some(writer) = writer(to) else {
        return (Vec::new(), vec![unsupported(from, to)]);
    };
    let mut problems = Vec::new();
    let mut ids = ConversationIds::of(&[(bytes, view)], to);
    let message = NeutralMessage::read(bytes, view, &mut ids, &mut problems);
    let message = message.and_then(|message| message.fit(to, &mut problems));
    let mut messages = Vec::new();
    if let Some(mut message) = message {
        give_system_inside_to_user(&mut message, to, &mut problems);
        writer(&message, &mut messages, &mut problems);
    }
    (messages, problems)
}

/// Converts a conversation. The items of one response become one assistant message. Results in a row become one user
/// message where the target keeps results in user messages. Calls without an id get `call_<n>`; results without one
/// pair with the calls by order and get the same id.
#[must_use]
pub fn convert_all(
    events: &[(&[u8], &EventView)],
    from: DialectKind,
    to: DialectKind,
) -> ConvertedMessages {
    if from == to {
        let messages = events.iter().map(|(bytes, _)| Bytes::copy_from_slice(bytes)).collect();
        let sources = (0..events.len()).map(|at| at..at + 1).collect();
        return ConvertedMessages { messages, sources, ..ConvertedMessages::default() };
    }
    let Some(writer) = writer(to) else {
        return ConvertedMessages {
            problems: vec![unsupported(from, to)],
            ..ConvertedMessages::default()
        };
    };
    let mut out = ConvertedMessages::default();
    let mut ids = ConversationIds::of(events, to);
    let mut pending: Option<(Range<usize>, NeutralMessage)> = None;
    for (at, (bytes, view)) in events.iter().enumerate() {
        let noted = out.problems.len();
        let next = NeutralMessage::read(bytes, view, &mut ids, &mut out.problems);
        let next = next.and_then(|next| next.fit(to, &mut out.problems));
        let Some(mut next) = next else {
            place(&mut out.problems[noted..], at);
            continue;
        };
        // Later system text stays inside: in the system prompt it would come before what it followed.
        let is_beside = keeps_system_outside(to) && out.is_empty() && pending.is_none();
        if is_beside && view.role.is_system() {
            out.add_system(&next);
            place(&mut out.problems[noted..], at);
            continue;
        }
        give_system_inside_to_user(&mut next, to, &mut out.problems);
        place(&mut out.problems[noted..], at);
        let alternates = matches!(to, DialectKind::Gemini | DialectKind::Bedrock);
        if alternates && next.role == Role::Assistant && !next.can_be_said(to) {
            // The message would be empty and is left out. Its neighbours then have the same role and become one
            // message.
            // The writer is called for its problems alone.
            writer(&next, &mut Vec::new(), &mut out.problems);
            place(&mut out.problems[noted..], at);
            continue;
        }
        match &mut pending {
            Some((of, before)) if before.joins_with(&next, from, to) => {
                of.end = at + 1;
                before.append(next);
            }
            _ => {
                let before = pending.replace((at..at + 1, next));
                out.write(before, writer);
            }
        }
    }
    out.write(pending, writer);
    out
}

impl ConvertedMessages {
    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn add_system(&mut self, message: &NeutralMessage) {
        if message.pieces.iter().any(|piece| matches!(piece, NeutralPiece::Image(_))) {
            let detail = "an image in a system message was left out";
            self.problems.push(ReadProblem::new("media", detail));
        }
        let system = self.system.get_or_insert_default();
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str(&message.text());
    }

    fn write(
        &mut self,
        message: Option<(Range<usize>, NeutralMessage)>,
        writer: write::NeutralWriter,
    ) {
        let Some((of, message)) = message else { return };
        let noted = self.problems.len();
        writer(&message, &mut self.messages, &mut self.problems);
        place(&mut self.problems[noted..], of.start);
        // One message can become several (each result, then the rest), or no message at all.
        self.sources.resize(self.messages.len(), of);
    }
}

/// The dialects that any other can be converted to.
pub const TARGETS: [DialectKind; 6] = [
    DialectKind::OpenAiChat,
    DialectKind::Anthropic,
    DialectKind::Gemini,
    DialectKind::Bedrock,
    DialectKind::Ollama,
    DialectKind::ShareGpt,
];

fn writer(to: DialectKind) -> Option<write::NeutralWriter> {
    match to {
        DialectKind::OpenAiChat => Some(write::openai_chat),
        DialectKind::Anthropic => Some(write::anthropic),
        DialectKind::Gemini => Some(gemini::gemini),
        DialectKind::Bedrock => Some(bedrock::bedrock),
        DialectKind::Ollama => Some(ollama::ollama),
        DialectKind::ShareGpt => Some(sharegpt::sharegpt),
        DialectKind::OpenAiResponses => None,
    }
}

fn unsupported(from: DialectKind, to: DialectKind) -> ReadProblem {
    ReadProblem::new("unsupported-conversion", format!("{from} cannot be written as {to}"))
}

/// Makes a system message between others the user's, with a problem, where the target has no place for it.
fn give_system_inside_to_user(
    message: &mut NeutralMessage,
    to: DialectKind,
    problems: &mut Vec<ReadProblem>,
) {
    if message.role.is_system() && keeps_system_outside(to) {
        message.role = Role::User;
        let detail = "a system message inside the conversation became the user's";
        problems.push(ReadProblem::new("system-inside", detail));
    }
}

fn place(problems: &mut [ReadProblem], at: usize) {
    for problem in problems {
        problem.at = Some(at);
    }
}

#[cfg(test)]
mod tests;
