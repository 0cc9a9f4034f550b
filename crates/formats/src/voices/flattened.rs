//! Results of tools that clients flatten into the text of a message.

use crate::wrappers::{ANSWERS, ASKS, OBSERVATIONS, RESULT, WrapperShape};

/// A flattened result. It continues to the end of the message, through all text blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlattenedResult {
    /// The words are the tool's.
    Tool,
    /// A person answered the call.
    Answer,
}

/// The call in brackets before a result: `[read_file for 'src/a.rs'] Result:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLabel<'a> {
    /// The name of the tool.
    pub name: &'a str,
    /// The text behind the label.
    pub result: &'a str,
}

/// The most bytes of a call in brackets that may start any line. Each is searched for its end.
const LABEL: usize = 4_096;

/// The result that starts with the line at the start of `rest`. `starts_text` says that no words of the user are before
/// it.
pub(super) fn starts_result(rest: &str, starts_text: bool) -> Option<FlattenedResult> {
    let is_flattened = OBSERVATIONS.iter().any(|wrapper| match wrapper.shape {
        WrapperShape::Line(start) => rest.starts_with(start),
        WrapperShape::Start(start) => starts_text && rest.starts_with(start),
        _ => false,
    });
    if is_flattened {
        return Some(FlattenedResult::Tool);
    }
    let label = call_label(&rest[..rest.floor_char_boundary(LABEL)])?;
    let is_answer = ASKS.contains(&label.name);
    Some(if is_answer { FlattenedResult::Answer } else { FlattenedResult::Tool })
}

/// Whether a text ends as some client's flattened results do.
pub(super) fn ends_as_result(text: &str) -> bool {
    OBSERVATIONS.iter().any(|wrapper| match wrapper.shape {
        WrapperShape::End(end, task) => text.trim_end().ends_with(end) && !text.contains(task),
        _ => false,
    })
}

/// The label with which a text starts. `None` where it starts with none: a user may write brackets, too.
pub(crate) fn call_label(text: &str) -> Option<CallLabel<'_>> {
    let inner = text.strip_prefix('[')?;
    let length = inner.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let (name, rest) = inner.split_at(length);
    let label = if rest.starts_with(" for '") { argument_end(rest)? } else { 0 };
    let result = rest[label..].strip_prefix(RESULT).filter(|_| !name.is_empty())?;
    Some(CallLabel { name, result })
}

/// The position of the bracket that closes a call with an argument: the first one before a result that is behind a
/// quotation mark, or the one that closes as many brackets as were opened.
fn argument_end(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut inner, mut is_open) = (0_usize, true);
    for at in memchr::memchr2_iter(b'[', b']', bytes) {
        let opens = bytes[at] == b'[';
        let closes_call = !opens && inner == 0 && is_open;
        let is_quoted = rest[..at].ends_with('\'');
        if !opens && (closes_call || is_quoted) && rest[at..].starts_with(RESULT) {
            return Some(at);
        }
        is_open &= !closes_call;
        inner = if opens { inner + 1 } else { inner.saturating_sub(1) };
    }
    None
}

/// The words of a person in a result.
pub(super) struct FoundAnswer {
    /// The start of the element around them.
    pub open: usize,
    pub words: std::ops::Range<usize>,
}

/// Looks for such words in one part of a text after another.
#[derive(Debug, Default)]
pub(super) struct AnswerMarks {
    /// The elements, by index in the table, that the rest of the text does not close. Each is searched once.
    unclosed: u8,
}

const _: () = assert!(ANSWERS.len() <= 8);

impl AnswerMarks {
    /// The first words of a person from `from` on.
    pub(super) fn next(&mut self, text: &str, from: usize) -> Option<FoundAnswer> {
        memchr::memchr_iter(b'<', &text.as_bytes()[from..]).find_map(|at| {
            let open = from + at;
            let inner = &text[open + 1..];
            let opened = |name: &&str| inner.strip_prefix(*name)?.strip_prefix('>');
            let index = ANSWERS.iter().position(|name| opened(name).is_some())?;
            if self.unclosed & (1 << index) != 0 {
                return None;
            }
            let start = open + ANSWERS[index].len() + 2;
            let length = text[start..].find(&format!("</{}>", ANSWERS[index]));
            if length.is_none() {
                self.unclosed |= 1 << index;
            }
            length.map(|length| FoundAnswer { open, words: start..start + length })
        })
    }
}
