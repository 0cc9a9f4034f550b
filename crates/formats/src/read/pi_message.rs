//! Converts messages of pi to Chat Completions messages, built from the recorded tokens.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::chat::{self, ContentPart, inside};
use super::shape::{MessageShape, PartRule, RoleSpeaker};
use super::source::InputSource;
use crate::fields::ObjectFields;

/// The shape of messages and of entries in the user's role.
pub(super) static SHAPE: MessageShape = MessageShape {
    parts: &[
        ("text", PartRule::Text("text")),
        ("image", PartRule::Image("mimeType", "data")),
        ("thinking", PartRule::Thought("thinking")),
        ("toolCall", PartRule::Call("id", "name", "arguments")),
    ],
    roles: &[
        ("assistant", RoleSpeaker::Model),
        ("toolResult", RoleSpeaker::Tool),
        ("system", RoleSpeaker::System),
        ("custom", RoleSpeaker::Client),
    ],
    result: ("toolCallId", "toolName"),
};

/// The message at `at`. `None` for one that the client never sends.
pub(super) fn message(source: &mut InputSource<'_>, at: Range<usize>) -> Option<RawEvent> {
    let fields = ObjectFields::of(source.input, at.clone());
    match &*fields.text("role")? {
        "bashExecution" if fields.is_true("excludeFromContext") => None,
        "bashExecution" => {
            let event = source.built(shell(&fields), vec![at]);
            Some(RawEvent { origin: Some(TextOrigin::Injected), ..event })
        }
        "branchSummary" | "compactionSummary" => {
            fields.string("summary").map(|summary| source.recap(summary))
        }
        _ => Some(SHAPE.message(source, at, &fields)),
    }
}

/// A command that the user ran: the typed line and its output.
fn shell(fields: &ObjectFields<'_>) -> Vec<u8> {
    // The insides are joined as they are escaped, so nothing is decoded and written anew.
    let mut out = br#""$ "#.to_vec();
    out.extend_from_slice(inside(fields.raw("command").unwrap_or_default()));
    out.extend_from_slice(br"\n");
    out.extend_from_slice(inside(fields.raw("output").unwrap_or_default()));
    let code = fields.raw("exitCode").filter(|code| !matches!(*code, b"0" | b"null"));
    if let Some(code) = code {
        out.extend_from_slice(&[br"\n[exit code ", code, b"]"].concat());
    }
    if fields.is_true("cancelled") {
        out.extend_from_slice(br"\n[cancelled by the user]");
    }
    out.push(b'"');
    chat::message("user", &[ContentPart::Text(Cow::Owned(out))])
}
