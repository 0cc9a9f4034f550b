//! Tells who speaks in a message of the user's role: the user, a client, a tool. `cut` finds spans by their form, and one
//! decision over the message gives each a voice. No other module reads the tables of [`crate::wrappers`].

mod cut;
mod flattened;
mod wrapper_ends;

use midfold_core::{Passage, Voice};

use self::cut::{SpanForm, TextSpan, cut};
pub(crate) use self::flattened::call_label;
use crate::elements::is_plain_element;
use crate::steers;
use crate::wrappers::{ARGUMENTS, COMMAND, COMPACTIONS};

/// The passages of one message, given its text blocks.
///
/// ```
/// use midfold_core::Voice;
/// use midfold_formats::voices::passages;
/// let text = "<ide_opened_file>a.rs</ide_opened_file>\nFix the bug.\n> it panics";
/// let found = passages(&[text]);
/// let voices: Vec<_> = found.iter().map(|passage| passage.voice).collect();
/// assert_eq!(voices, [Voice::Client, Voice::User, Voice::Shown]);
/// assert_eq!(found[1].text, "Fix the bug.");
/// ```
#[must_use]
pub fn passages(texts: &[&str]) -> Vec<Passage> {
    let owned = |part: VoicedText<'_>| {
        let command = part.command.map(|name| format!("{name} {}", part.text));
        Passage { voice: part.voice, text: command.unwrap_or_else(|| part.text.to_owned()) }
    };
    split(texts).into_iter().map(owned).collect()
}

/// The user's words at the end of a tool's result: where they start, and their passages.
pub(crate) fn steered(last: &str, is_own: bool) -> Option<(usize, Vec<Passage>)> {
    steers::at_end(last, is_own).map(|(at, words)| (at, passages(&[words])))
}

/// A passage that borrows from the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VoicedText<'a> {
    pub voice: Voice,
    pub text: &'a str,
    /// The command of the user whose arguments these are: `/plan`.
    command: Option<&'a str>,
}

/// The passages of one message, as parts of its text blocks.
pub(crate) fn split<'a>(texts: &[&'a str]) -> Vec<VoicedText<'a>> {
    let mut parts = decide(&cut(texts));
    name_commands(&mut parts);
    parts
}

/// Gives each span its voice. Output of programs is a tool's result in a message without words of the user; otherwise the
/// user shows it.
fn decide<'a>(blocks: &[Vec<TextSpan<'a>>]) -> Vec<VoicedText<'a>> {
    let has_words = blocks.iter().flatten().any(|span| span.form == SpanForm::Words);
    let in_block = |spans: &Vec<TextSpan<'a>>| {
        let output = match has_words {
            true => Voice::Shown,
            false if is_layout(spans) => Voice::User,
            false => Voice::Tool,
        };
        let voiced = |span: &TextSpan<'a>| {
            let voice = match span.form {
                SpanForm::Words => Voice::User,
                SpanForm::Quoted => Voice::Shown,
                SpanForm::Wrapper => Voice::Client,
                SpanForm::Output => output,
                SpanForm::Result => Voice::Tool,
            };
            VoicedText { voice, text: span.text, command: None }
        };
        spans.iter().map(voiced).collect::<Vec<_>>()
    };
    blocks.iter().flat_map(in_block).collect()
}

/// Whether a block may be a task that the user laid out: several elements without a speaker's name, and no other output.
fn is_layout(spans: &[TextSpan<'_>]) -> bool {
    let outputs = || spans.iter().filter(|span| span.form == SpanForm::Output);
    outputs().count() > 1 && outputs().all(|span| is_plain_element(span.text))
}

/// Names the command of arguments. What a user types after `/compact` is for the summariser alone.
fn name_commands(parts: &mut [VoicedText<'_>]) {
    let (mut command, mut are_arguments, mut is_for_summariser) = (None, false, false);
    for part in parts {
        if part.voice != Voice::Client {
            part.command = command.filter(|_| are_arguments);
            if is_for_summariser {
                part.voice = Voice::Client;
            }
            are_arguments = false;
            continue;
        }
        command = command_name(part.text)
            .map_or(command, |name| Some(name).filter(|name| !name.is_empty()));
        are_arguments = part.text == ARGUMENTS;
        is_for_summariser =
            are_arguments && command.is_some_and(|name| COMPACTIONS.contains(&name));
    }
}

/// The name in the element of a command.
fn command_name(text: &str) -> Option<&str> {
    Some(text.strip_prefix(COMMAND.0)?.strip_suffix(COMMAND.1)?.trim())
}

#[cfg(test)]
mod tests;
