//! Tells who speaks in a message of the user's role: the user, a client, a tool. No other module reads the tables of
//! [`crate::wrappers`].

use std::borrow::Cow;

use memchr::memmem;
use midfold_core::{Passage, Voice};

use crate::fences::{closes, fence};
use crate::programs::{ProgramMarks, element_end, is_plain_element};
use crate::steers::{self, SteerMarks};
use crate::wrappers::{
    ANSWERS, ARGUMENTS, ASKS, COMMAND, COMPACTIONS, FRAMES, INJECTED, OBSERVATIONS, RESULT,
    WrapperShape,
};

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
    let parts = split(texts);
    let behind = |at: usize| at.checked_sub(1).and_then(|before| parts.get(before));
    let owned = |(at, (voice, text)): (usize, &(Voice, &str))| {
        let is_argument = behind(at) == Some(&(Voice::Client, ARGUMENTS));
        let command = is_argument.then(|| command(&parts[..at])).flatten();
        let text = command.map_or_else(|| (*text).to_owned(), |name| format!("{name} {text}"));
        Passage { voice: *voice, text }
    };
    parts.iter().enumerate().map(owned).collect()
}

/// The user's words at the end of a tool's result: where they start, and their passages.
pub(crate) fn steered(last: &str, is_own: bool) -> Option<(usize, Vec<Passage>)> {
    steers::at_end(last, is_own).map(|(at, words)| (at, passages(&[words])))
}

/// The command of the user that precedes these arguments: `/plan`. `None` where the passages before hold no command.
fn command<'a>(before: &[(Voice, &'a str)]) -> Option<&'a str> {
    let named = before.iter().rev().find_map(|(voice, text)| {
        let name = text.strip_prefix(COMMAND.0)?.strip_suffix(COMMAND.1)?.trim();
        (*voice == Voice::Client).then_some(name)
    });
    named.filter(|name| !name.is_empty())
}

/// The passages of one message, as parts of its text blocks.
pub(crate) fn split<'a>(texts: &[&'a str]) -> Vec<(Voice, &'a str)> {
    let mut parts = split_inside(texts, 0);
    // What a user types after `/compact` is for the summariser alone.
    let mut is_for_summariser = false;
    for at in 0..parts.len() {
        if parts[at] == (Voice::Client, ARGUMENTS) {
            let name = command(&parts[..at]);
            is_for_summariser = name.is_some_and(|name| COMPACTIONS.contains(&name));
        } else if parts[at].0 == Voice::Client {
            is_for_summariser = false;
        } else if is_for_summariser {
            parts[at].0 = Voice::Client;
        }
    }
    parts
}

/// As [`split`], for texts inside this many wrappers around a user's words.
fn split_inside<'a>(texts: &[&'a str], nesting: usize) -> Vec<(Voice, &'a str)> {
    let mut out = Vec::new();
    let mut result = None;
    let mut laid_out = Vec::new();
    for text in texts {
        let mut splitter = VoiceSplitter {
            text,
            unclosed: 0,
            from: 0,
            passages: Vec::new(),
            outputs: Vec::new(),
            programs: ProgramMarks::default(),
            steers: SteerMarks::default(),
            result,
            nesting,
        };
        splitter.run();
        result = splitter.result;
        let outputs = splitter.outputs.iter().map(|at| at + out.len());
        let outputs: Vec<usize> = outputs.collect();
        out.append(&mut splitter.passages);
        if shown_or_answered(&mut out, &outputs) {
            laid_out.extend(outputs);
        }
    }
    // Only now is it known that no block has words of the user's own: a client may send its elements in a block before.
    if out.iter().all(|(voice, _)| *voice != Voice::User) {
        laid_out.iter().for_each(|at| out[*at].0 = Voice::User);
    }
    out
}

/// Output of programs is a tool's result in a message without words of the user; otherwise the user shows it. Several
/// elements without a speaker's name, and nothing else, may be a task that the user laid out; returns whether they may.
fn shown_or_answered(passages: &mut [(Voice, &str)], outputs: &[usize]) -> bool {
    let is_said = passages.iter().any(|(voice, _)| *voice == Voice::User);
    let is_layout = outputs.len() > 1 && outputs.iter().all(|at| is_plain_element(passages[*at].1));
    if !is_said && !is_layout {
        outputs.iter().for_each(|at| passages[*at].0 = Voice::Tool);
    }
    !is_said && is_layout
}

/// A flattened result. It continues to the end of the message, through all text blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlattenedResult {
    /// The words are the tool's.
    Tool,
    /// A person answered the call.
    Answer,
}

struct VoiceSplitter<'a> {
    text: &'a str,
    /// The wrappers, by index in the table, whose closing text does not occur in the rest. Each is searched once, so
    /// that a text full of open tags costs no more than any other.
    unclosed: u128,
    /// The start of the passage that is being read.
    from: usize,
    passages: Vec<(Voice, &'a str)>,
    /// The indices of the passages that are output of a program by their form alone.
    outputs: Vec<usize>,
    programs: ProgramMarks<'a>,
    steers: SteerMarks,
    result: Option<FlattenedResult>,
    /// The number of wrappers around a user's words in which the text is.
    nesting: usize,
}

const _: () = assert!(INJECTED.len() <= 128);

impl<'a> VoiceSplitter<'a> {
    fn run(&mut self) {
        if ended(self.text) {
            self.result = Some(FlattenedResult::Tool);
            return self.push(self.text.len(), Voice::Tool);
        }
        let mut at = 0;
        while at < self.text.len() && self.result.is_none() {
            at = self.add_line(at);
        }
        self.push(at, Voice::User);
        match self.result {
            Some(FlattenedResult::Answer) => self.answers(),
            _ => self.push(self.text.len(), Voice::Tool),
        }
    }

    /// Reads from `at` on, to the end of the line or further, and returns the position that it reached.
    fn add_line(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(self.text.len(), |n| at + n + 1);
        let line = rest.trim_start();
        let start = at + (rest.len() - line.len());
        // A blank line belongs to the passage before it.
        if start >= end {
            return start;
        }
        if let Some(result) = self.starts_result(start) {
            self.result = Some(result);
            return start;
        }
        if let Some(past) = self.shown(start, end) {
            return self.take(start, past, Voice::Shown);
        }
        if let Some(past) = self.steered(start) {
            return past;
        }
        if let Some(past) = self.wrapper(start) {
            return self.take(start, past, Voice::Client);
        }
        let fresh = self.text[..at].trim_end_matches([' ', '\t']).ends_with("\n\n")
            || at == 0
            || self.text[at..start].contains("\n");
        if !FRAMES.iter().any(|tag| self.text[start..].starts_with(*tag))
            && let Some(past) = self.programs.end(self.text, start, end, fresh)
        {
            self.push(start, Voice::User);
            self.outputs.push(self.passages.len());
            let length = self.passages.len();
            self.push(past, Voice::Shown);
            if self.passages.len() == length {
                self.outputs.pop();
            }
            return past;
        }
        // A wrapper may open in the middle of a line, after words of the user.
        let text = self.text;
        let mut inner = memchr::memchr_iter(b'<', &text.as_bytes()[start..end]);
        match inner.find_map(|n| Some((start + n, self.wrapper(start + n)?))) {
            Some((open, past)) => self.take(open, past, Voice::Client),
            None => end,
        }
    }

    /// Ends the user's passage at `start`, and adds one of `voice` up to `end`.
    fn take(&mut self, start: usize, end: usize, voice: Voice) -> usize {
        self.push(start, Voice::User);
        self.push(end, voice);
        end
    }

    fn push(&mut self, end: usize, voice: Voice) {
        let text = self.text[self.from..end].trim();
        self.from = end;
        if text.is_empty() {
            return;
        }
        self.passages.push((voice, text));
    }

    /// Whether no words of the user are before `at`.
    fn starts_text(&self, at: usize) -> bool {
        self.text[self.from..at].trim().is_empty()
            && self.passages.iter().all(|(voice, _)| *voice == Voice::Client)
    }

    fn starts_result(&self, at: usize) -> Option<FlattenedResult> {
        let line = &self.text[at..];
        let flattened = OBSERVATIONS.iter().any(|wrapper| match wrapper.shape {
            WrapperShape::Line(text) => line.starts_with(text),
            WrapperShape::Start(text) => line.starts_with(text) && self.starts_text(at),
            _ => false,
        });
        if flattened { Some(FlattenedResult::Tool) } else { labelled(line) }
    }

    /// The end of a fenced block or a quotation that starts here. `None` where none starts.
    fn shown(&self, start: usize, end: usize) -> Option<usize> {
        let line = &self.text[start..end];
        if line.starts_with('>') && !line.starts_with(">>> ") {
            let lines = self.text[start..].split_inclusive('\n');
            let quoted = lines.take_while(|line| line.trim_start().starts_with('>'));
            return Some(start + quoted.map(str::len).sum::<usize>());
        }
        let fence = fence(line)?;
        let mut at = end;
        for line in self.text[end..].split_inclusive('\n') {
            at += line.len();
            if closes(line.trim(), fence) {
                break;
            }
        }
        Some(at)
    }

    /// The end of a client's wrapper that opens here. `None` where none opens.
    fn wrapper(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        if let Some(tag) = FRAMES.iter().find(|tag| rest.starts_with(**tag)) {
            return Some(at + tag.len());
        }
        for (index, wrapper) in INJECTED.iter().enumerate() {
            let close = match opens(&wrapper.shape, rest) {
                Some(ClosingTag::Nothing) if self.starts_text(at) => return Some(self.text.len()),
                Some(ClosingTag::With(close)) if self.unclosed & (1 << index) == 0 => close,
                _ => continue,
            };
            let Some(close_at) = memmem::find(rest.as_bytes(), close.as_bytes()) else {
                self.unclosed |= 1 << index;
                continue;
            };
            let end = at + close_at + close.len();
            // Elements of the same name may be inside; if they are not balanced, the last closing tag counts.
            return Some(match wrapper.shape {
                WrapperShape::Element(name)
                    if rest[name.len() + 1..close_at].contains(&rest[..name.len() + 1]) =>
                {
                    let last = memmem::rfind(rest.as_bytes(), close.as_bytes());
                    element_end(self.text, at + name.len() + 1, name)
                        .or_else(|| last.map(|last| at + last + close.len()))
                        .unwrap_or(end)
                }
                _ => end,
            });
        }
        None
    }

    /// Reads user's words that a client passes on here, and returns the end of their wrapper.
    fn steered(&mut self, start: usize) -> Option<usize> {
        let steer = self.steers.at_start(&self.text[start..])?;
        let text = self.text;
        self.take(start, start + steer.words, Voice::Client);
        self.add_words(&text[start + steer.words..start + steer.close]);
        self.from = start + steer.close;
        self.push(start + steer.past, Voice::Client);
        Some(start + steer.past)
    }

    /// Reads the rest as the result of a call that asked a person: adds the answers as passages.
    fn answers(&mut self) {
        for _ in 0..MOST_ANSWERS {
            let Some((open, body, close)) = self.next_answer() else { break };
            self.push(open, Voice::Tool);
            self.from = body;
            let answer = self.text[body..close].trim();
            self.from = close;
            self.add_words(answer);
        }
        self.push(self.text.len(), Voice::Tool);
    }

    /// Adds the passages of words that a client passes on for the user.
    fn add_words(&mut self, words: &'a str) {
        if self.nesting < MOST_NESTED {
            self.passages.extend(split_inside(&[words], self.nesting + 1));
        } else if !words.trim().is_empty() {
            self.passages.push((Voice::User, words.trim()));
        }
    }

    fn next_answer(&self) -> Option<(usize, usize, usize)> {
        let rest = &self.text[self.from..];
        let answer = ANSWERS.iter().filter_map(|name| {
            let open = rest.find(&format!("<{name}>"))?;
            let body = open + name.len() + 2;
            let close = body + rest[body..].find(&format!("</{name}>"))?;
            Some((self.from + open, self.from + body, self.from + close))
        });
        answer.min()
    }
}

/// The most wrappers around a user's words that are read inside each other. A user may paste words that a client passed
/// on before; the stack must not grow with the input.
const MOST_NESTED: usize = 4;

/// The most answers of a person in one result. Each costs a search of the rest.
const MOST_ANSWERS: usize = 16;

/// The text that closes an opening.
enum ClosingTag {
    /// No text: all that follows belongs to the wrapper.
    Nothing,
    With(Cow<'static, str>),
}

fn opens(shape: &WrapperShape, text: &str) -> Option<ClosingTag> {
    use WrapperShape::{Element, End, Line, Span, Start};
    match *shape {
        Start(start) => text.starts_with(start).then_some(ClosingTag::Nothing),
        Span(open, close) => text.starts_with(open).then(|| ClosingTag::With(close.into())),
        Element(name) => {
            let inner = text.strip_prefix('<')?.strip_prefix(name)?;
            let opens = inner.starts_with(['>', ' ', '\n', '/']);
            opens.then(|| ClosingTag::With(format!("</{name}>").into()))
        }
        Line(_) | End(..) => None,
    }
}

/// The most bytes of a call in brackets before its result.
const LABEL: usize = 4_096;

/// The kind of result with which the line starts: `[read_file for 'src/a.rs'] Result:`.
fn labelled(line: &str) -> Option<FlattenedResult> {
    let inner = line.strip_prefix('[')?;
    let name = inner.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let (name, rest) = inner.split_at(name);
    let names_call = !name.is_empty() && (rest.starts_with(" for ") || rest.starts_with(']'));
    let near = &rest[..rest.floor_char_boundary(LABEL)];
    if !names_call || !near.contains(RESULT) {
        return None;
    }
    Some(if ASKS.contains(&name) { FlattenedResult::Answer } else { FlattenedResult::Tool })
}

/// Whether a text ends as some client's flattened results do.
fn ended(text: &str) -> bool {
    OBSERVATIONS.iter().any(|wrapper| match wrapper.shape {
        WrapperShape::End(end, task) => text.trim_end().ends_with(end) && !text.contains(task),
        _ => false,
    })
}

#[cfg(test)]
mod tests;
