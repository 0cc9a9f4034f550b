//! Cuts the texts of a message into spans, each with what its form says of it. Whose words a span is, is decided over the
//! whole message, by [`super::split`].

use super::flattened::{AnswerMarks, FlattenedResult, ends_as_result, starts_result};
use super::wrapper_ends::{WrapperMarks, WrapperPlace};
use crate::fences::{closes, fence, tags_outside_code};
use crate::programs::ProgramMarks;
use crate::steers::SteerMarks;
use crate::wrappers::FRAMES;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextSpan<'a> {
    pub form: SpanForm,
    pub text: &'a str,
}

/// What the form of a span says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanForm {
    /// No form: words, as a user writes them.
    Words,
    /// A fenced block or a quotation.
    Quoted,
    /// A client's wrapper, or its tags around words.
    Wrapper,
    /// The output of a program.
    Output,
    /// The result of a call, flattened to text.
    Result,
}

/// The spans of each text.
pub(super) fn cut<'a>(texts: &[&'a str]) -> Vec<Vec<TextSpan<'a>>> {
    let mut result = None;
    let spans = texts.iter().map(|text| {
        let mut cutter = TextCutter::new(text, 0);
        result = cutter.cut(result);
        cutter.spans
    });
    spans.collect()
}

/// The most wrappers around a user's words that are read inside each other. A user may paste words that a client passed
/// on before; the stack must not grow with the input.
const MOST_NESTED: usize = 4;

struct TextCutter<'a> {
    text: &'a str,
    /// The number of wrappers around a user's words in which the text is.
    nesting: usize,
    spans: Vec<TextSpan<'a>>,
    /// The end of what is in `spans`.
    from: usize,
    wrappers: WrapperMarks,
    programs: ProgramMarks<'a>,
    steers: SteerMarks,
}

impl<'a> TextCutter<'a> {
    fn new(text: &'a str, nesting: usize) -> Self {
        Self {
            text,
            nesting,
            spans: Vec::new(),
            from: 0,
            wrappers: WrapperMarks::default(),
            programs: ProgramMarks::default(),
            steers: SteerMarks::default(),
        }
    }

    /// Cuts the whole text, which goes on with the result of the text before it. Returns the result that goes on in the
    /// text behind it.
    fn cut(&mut self, before: Option<FlattenedResult>) -> Option<FlattenedResult> {
        let result = match before {
            _ if ends_as_result(self.text) => Some(FlattenedResult::Tool),
            Some(before) => Some(before),
            None => self.cut_lines(),
        };
        if result == Some(FlattenedResult::Answer) {
            self.cut_answers();
        }
        self.push(
            self.text.len(),
            if result.is_some() { SpanForm::Result } else { SpanForm::Words },
        );
        result
    }

    /// Cuts up to the first result, and returns it.
    fn cut_lines(&mut self) -> Option<FlattenedResult> {
        let mut at = 0;
        while at < self.text.len() {
            let rest = &self.text[at..];
            let end =
                memchr::memchr(b'\n', rest.as_bytes()).map_or(self.text.len(), |n| at + n + 1);
            let start = at + (rest.len() - rest.trim_start().len());
            // A blank line belongs to the span before it.
            if start >= end {
                at = start;
                continue;
            }
            if let Some(result) = starts_result(&self.text[start..], self.starts_text(start)) {
                self.push(start, SpanForm::Words);
                return Some(result);
            }
            at = self.cut_line(start, end);
        }
        None
    }

    /// Cuts from `start` to the end of its line or further, and returns the position that it reached.
    fn cut_line(&mut self, start: usize, end: usize) -> usize {
        if let Some(past) = self.quoted(start, end) {
            return self.take(start, past, SpanForm::Quoted);
        }
        if let Some(past) = self.cut_steer(start) {
            return past;
        }
        let starts_text = self.starts_text(start);
        let place = if starts_text { WrapperPlace::TextStart } else { WrapperPlace::LineStart };
        if let Some(past) = self.wrappers.end(self.text, start, place) {
            return self.take(start, past, SpanForm::Wrapper);
        }
        let starts_paragraph = self.starts_paragraph(start);
        if !FRAMES.iter().any(|tag| self.text[start..].starts_with(*tag))
            && let Some(past) = self.programs.end(self.text, start, end, starts_paragraph)
        {
            return self.take(start, past, SpanForm::Output);
        }
        // A wrapper may open in the middle of a line, behind words of the user.
        let text = self.text;
        let mut tags = tags_outside_code(&text[start..end]).map(|at| start + at);
        let wrapper = tags.find_map(|open| {
            let past = self.wrappers.end(text, open, WrapperPlace::InLine)?;
            Some((open, past))
        });
        wrapper.map_or(end, |(open, past)| self.take(open, past, SpanForm::Wrapper))
    }

    /// Ends the words at `start`, and adds a span up to `end`.
    fn take(&mut self, start: usize, end: usize, form: SpanForm) -> usize {
        self.push(start, SpanForm::Words);
        self.push(end, form);
        end
    }

    fn push(&mut self, end: usize, form: SpanForm) {
        let text = self.text[self.from..end].trim();
        self.from = end;
        if !text.is_empty() {
            self.spans.push(TextSpan { form, text });
        }
    }

    /// Whether nothing but wrappers is before `at`.
    fn starts_text(&self, at: usize) -> bool {
        self.text[self.from..at].trim().is_empty()
            && self.spans.iter().all(|span| span.form == SpanForm::Wrapper)
    }

    /// Whether `at` is behind a blank line, or on the first line behind something else than words.
    fn starts_paragraph(&self, at: usize) -> bool {
        let before = self.text[..at].trim_end();
        let breaks = memchr::memchr_iter(b'\n', &self.text.as_bytes()[before.len()..at]).count();
        let follows_words = before.len() > self.from;
        before.is_empty() || breaks > usize::from(follows_words)
    }

    /// The end of a fenced block or a quotation that starts here. `None` where none starts.
    fn quoted(&self, start: usize, end: usize) -> Option<usize> {
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

    /// Cuts words of the user that a client passes on here, and returns the end of their wrapper.
    fn cut_steer(&mut self, start: usize) -> Option<usize> {
        let steer = self.steers.at_start(&self.text[start..])?;
        self.take(start, start + steer.words, SpanForm::Wrapper);
        self.cut_inside(&self.text[start + steer.words..start + steer.close]);
        self.from = start + steer.close;
        self.push(start + steer.past, SpanForm::Wrapper);
        Some(start + steer.past)
    }

    /// Cuts the words of a person in the result of a call that asked one.
    fn cut_answers(&mut self) {
        let mut answers = AnswerMarks::default();
        while let Some(answer) = answers.next(self.text, self.from) {
            self.push(answer.open, SpanForm::Result);
            self.from = answer.words.end;
            self.cut_inside(self.text[answer.words].trim());
        }
    }

    /// Adds the spans of words that a client passes on for the user.
    fn cut_inside(&mut self, words: &'a str) {
        if self.nesting < MOST_NESTED {
            let mut cutter = TextCutter::new(words, self.nesting + 1);
            cutter.cut(None);
            self.spans.append(&mut cutter.spans);
        } else if !words.trim().is_empty() {
            self.spans.push(TextSpan { form: SpanForm::Words, text: words.trim() });
        }
    }
}
