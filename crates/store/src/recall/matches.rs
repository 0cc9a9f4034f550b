//! Finds the lines of a message that match a query.

use midfold_core::log::Event;
use serde::Serialize;

use super::reading::PairedEvents;
use crate::error::StoreError;
use crate::text::{CandidateRanking, Matcher, Postings, find_folded, find_word, searched};
use crate::types::{LogSearch, SearchMode};

/// At most this many matching lines of a message are shown.
const LINES: usize = 3;
/// Most characters of a shown line, around the match.
pub const LINE: usize = 240;

/// A line of a message that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextLine {
    /// The number of the line in the message, from 1.
    pub number: usize,
    /// Whether the line matches. If not, it is shown as context.
    pub hit: bool,
    /// The text of the line; a long line is cut around the match.
    pub text: String,
}

/// The lines of one message that are shown for a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageLines {
    /// The line that matches best.
    pub best: String,
    /// Number of the best line, from 1; `None` where the message has a single line.
    pub number: Option<usize>,
    /// The matching lines and their context.
    pub shown: Vec<TextLine>,
    /// How many more lines match.
    pub more: usize,
}

/// A compiled query, with which lines and messages are compared.
pub struct LineQuery {
    matcher: Option<Matcher>,
}

impl LineQuery {
    /// Compiles a query. Fails with [`StoreError::Query`] where it is not valid. An empty query matches everything.
    pub fn new(query: &str, mode: SearchMode) -> Result<Self, StoreError> {
        if query.trim().is_empty() {
            return Ok(Self { matcher: None });
        }
        let search = |query: String| LogSearch { query, mode, range: None, limit: 1 };
        let asked = Matcher::new(&search(query.to_owned()))?;
        // Only lines are shown, so `^` and `$` match the ends of lines. The query was compiled alone before, so that
        // an error message is about the query as it was written.
        let matcher = match mode {
            SearchMode::Regex => Matcher::new(&search(format!("(?m){query}")))?,
            SearchMode::Text | SearchMode::Literal => asked,
        };
        Ok(Self { matcher: Some(matcher) })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.matcher.is_none()
    }

    /// Whether a text matches. For a query of words, one of the words is enough.
    pub(super) fn is_in(&self, text: &str) -> bool {
        match &self.matcher {
            None => true,
            Some(Matcher::Words(words, _)) => {
                let own: Vec<String> = crate::text::words(text).collect();
                words.iter().any(|word| own.contains(word))
            }
            Some(matcher) => matcher.find(text).is_some(),
        }
    }

    /// The same lines where they are in `part` of the message, or else the matching lines of that part.
    pub(super) fn lines_within(
        &self,
        lines: MessageLines,
        part: &str,
        context: usize,
    ) -> MessageLines {
        let all = || lines.shown.iter().map(|line| &line.text).chain([&lines.best]);
        let stands = |line: &String| {
            // A long line was cut around its match, and the marks of the cut are not in the text.
            let line = line.trim_matches('…').trim();
            part.contains(line)
        };
        if all().all(stands) {
            return lines;
        }
        let own = self.lines(part, part, context);
        MessageLines { number: None, ..own }
    }

    /// The messages that match: the best first for a query of words, and otherwise the newest first.
    pub(super) fn ranked<'e>(
        &self,
        log: &PairedEvents<'e>,
        among: Vec<&'e Event>,
    ) -> Vec<&'e Event> {
        match &self.matcher {
            None => among,
            Some(Matcher::Words(words, phrase)) => {
                let text = |event: &Event| searched(&event.view, &event.bytes);
                let texts = among.iter().map(|event| (event.seq.into(), text(event).into()));
                let postings = Postings::of_texts(texts, words);
                let mut ranking = CandidateRanking::new(words, phrase, &postings);
                for seq in postings.best() {
                    if let Some(event) = log.event(seq) {
                        ranking.push(seq, &text(event));
                    }
                }
                let hits = ranking.finish(u32::MAX);
                hits.iter().filter_map(|hit| log.event(hit.seq)).collect()
            }
            Some(matcher) => {
                let says = |event: &&&Event| {
                    let plain = searched(&event.view, &event.bytes);
                    matcher.find(&plain).is_some()
                        || (event.view.has_calls()
                            && matcher.find(&super::readable::text(log, event)).is_some())
                };
                among.iter().rev().filter(says).copied().collect()
            }
        }
    }

    /// The lines of a message to show. `text` is its readable form. Where only `written`, the original text, matches,
    /// one line of that is shown.
    pub fn lines(&self, text: &str, written: &str, context: usize) -> MessageLines {
        let lines: Vec<&str> = text.lines().collect();
        let scores = self.scores(text, &lines);
        let Some(best) = best(&scores) else {
            // The query matches across two arguments or a tool's name, or there is no query.
            let at = self.matcher.as_ref().and_then(|matcher| matcher.find(written));
            let source = if at.is_some() { written } else { text };
            return MessageLines {
                best: around(source, at.unwrap_or(0)),
                ..MessageLines::default()
            };
        };
        let equal = |at: &usize| scores[*at].0 == scores[best].0;
        let all: Vec<usize> =
            (0..lines.len()).filter(|at| scores[*at].0 > 0).filter(equal).collect();
        let hits = &all[..all.len().min(LINES)];
        let near = |at: usize| hits.iter().any(|hit| hit.abs_diff(at) <= context);
        let one = |at: usize| TextLine {
            number: at + 1,
            hit: hits.contains(&at),
            text: around(lines[at], scores[at].1),
        };
        let first = hits.first().map_or(0, |at| at.saturating_sub(context));
        let last = hits.last().map_or(0, |at| (at + context).min(lines.len() - 1));
        MessageLines {
            best: around(lines[best], scores[best].1),
            number: (lines.len() > 1).then_some(best + 1),
            shown: (first..=last).filter(|at| near(*at)).map(one).collect(),
            more: all.len() - hits.len(),
        }
    }

    /// For each line, how well it matches, and the byte offset of the match.
    fn scores(&self, text: &str, lines: &[&str]) -> Vec<(usize, usize)> {
        match &self.matcher {
            None => vec![(0, 0); lines.len()],
            Some(Matcher::Words(words, phrase)) => {
                lines.iter().map(|line| words_in(line, words, phrase)).collect()
            }
            Some(matcher) => {
                let mut scores: Vec<_> = lines
                    .iter()
                    .map(|line| matcher.find(line).map_or((0, 0), |at| (1, at)))
                    .collect();
                // No single line matches: the match spans a line break, or is anchored to the whole text.
                if scores.iter().all(|(score, _)| *score == 0)
                    && let Some(at) = matcher.find(text)
                {
                    let number = text[..at].matches('\n').count();
                    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
                    if let Some(score) = scores.get_mut(number) {
                        *score = (1, at - start);
                    }
                }
                scores
            }
        }
    }
}

/// Index of the first line with the highest score; `None` where no line matches.
fn best(scores: &[(usize, usize)]) -> Option<usize> {
    let most = scores.iter().map(|(score, _)| *score).max().filter(|score| *score > 0)?;
    scores.iter().position(|(score, _)| *score == most)
}

/// How many characters of the query's words a line has, and the byte offset of the longest of these words. Long words
/// count more, because they are rarer.
fn words_in(line: &str, words: &[String], phrase: &str) -> (usize, usize) {
    let (mut score, mut at, mut longest) = (0, 0, 0);
    for word in words {
        if let Some(found) = find_word(line, word) {
            let chars = word.chars().count();
            score += chars;
            if chars > longest {
                (at, longest) = (found, chars);
            }
        }
    }
    match find_folded(line, phrase).filter(|_| score > 0) {
        Some(found) => (score + phrase.len(), found),
        None => (score, at),
    }
}

/// About [`LINE`] characters of a text around a byte offset, on one line.
fn around(text: &str, at: usize) -> String {
    let text = text.trim_end();
    let at = text.floor_char_boundary(at.min(text.len()));
    if text.chars().count() <= LINE && !text.contains('\n') {
        return text.replace('\r', "");
    }
    let from = text[..at].char_indices().rev().nth(LINE / 3).map_or(0, |(from, _)| from);
    let cut = if from > 0 { "…" } else { "" };
    let mut rest = text[from..].chars();
    let part: String =
        rest.by_ref().take(LINE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let more = if rest.next().is_some() { "…" } else { "" };
    format!("{cut}{}{more}", part.trim_end())
}
