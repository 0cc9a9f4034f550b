//! Reads a conversation that a caller passes as JSON, and writes a context in the same shape.

use bytes::Bytes;
use midfold_core::project::Context;
use midfold_formats::ReadProblem;
use midfold_formats::read::{Conversation, Envelope, TranscriptFormat, read};
use midfold_formats::transcript;

use crate::advice::AdvisedError;
use crate::failure::{Door, Failure, FailureArea};

/// Reads JSON that holds exactly one conversation; also returns the problems of reading it.
///
/// ```
/// use midfold::{Door, conversation};
/// let bytes = bytes::Bytes::from(r#"[{"role":"user","content":"hi"}]"#);
/// assert_eq!(conversation(&bytes, None, Door::Node)?.0.events.len(), 1);
/// # Ok::<(), midfold::Failure>(())
/// ```
///
/// # Errors
/// If there is no conversation or more than one, or if a message is not a JSON object.
pub fn conversation(
    bytes: &Bytes,
    format: Option<TranscriptFormat>,
    door: Door,
) -> Result<(Conversation, Vec<ReadProblem>), Failure> {
    let mut found = read(bytes, format).map_err(|error| error.advise(door))?;
    let input = |text: String| Failure::new(FailureArea::Input, text);
    if let Some(odd) = found.problems.iter().find(|problem| problem.code == "odd-message") {
        return Err(input(format!("a message is no JSON object: {odd}")));
    }
    match (found.conversations.pop(), found.conversations.len()) {
        (Some(conversation), 0) => Ok((conversation, found.problems)),
        (None, _) => Err(input("there are no messages".to_owned())),
        (Some(_), more) => {
            let text = format!("there are {} conversations", more + 1);
            Err(input(text).hint("pass one at a time"))
        }
    }
}

/// Writes a context in the shape of the conversation: one message a line, or a list with the JSON that was around it.
/// For a client's own file it writes a plain list.
#[must_use]
pub fn document(context: &Context, conversation: &Conversation) -> Vec<u8> {
    let messages: Vec<_> = context.pieces().map(|piece| piece.bytes.clone()).collect();
    let Envelope { system, tools, wrapper, .. } = &conversation.envelope;
    match wrapper {
        Some(wrapper) => transcript::wrapped(wrapper, &messages),
        None if system.is_none() && tools.is_none() && transcript::is_lines(conversation) => {
            transcript::lines(&messages)
        }
        None => transcript::list(&messages, b"\n"),
    }
}
