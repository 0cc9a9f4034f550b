//! Finds the lines of a message that match a query.

use midfold_core::log::Event;
use serde::Serialize;

use super::reading::PairedEvents;
use crate::error::StoreError;
use crate::text::{
    CandidateRanking, Matcher, PART_OF_NAME, Postings, QueryWord, find_folded, searched,
};
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
    /// A bit for each word of the query that the message has, in the order of the query.
    pub words: u64,
    /// Whether a line has several words of the query side by side, as the query has them.
    pub is_phrase: bool,
}

/// A compiled query, with which lines and messages are compared.
pub struct LineQuery {
    matcher: Option<Matcher>,
    /// How much each word of the query tells. Words of few messages tell most.
    weights: Vec<usize>,
}

impl LineQuery {
    /// Compiles a query. Fails with [`StoreError::Query`] where it is not valid. An empty query matches everything.
    pub fn new(query: &str, mode: SearchMode) -> Result<Self, StoreError> {
        if query.trim().is_empty() {
            return Ok(Self { matcher: None, weights: Vec::new() });
        }
        let search = |query: String| LogSearch { query, mode, range: None, limit: 1 };
        let as_written = Matcher::new(&search(query.to_owned()))?;
        // Only lines are shown, so `^` and `$` match the ends of lines. The query was compiled alone before, so that
        // an error message is about the query as it was written.
        let matcher = match mode {
            SearchMode::Regex => Matcher::new(&search(format!("(?m){query}")))?,
            SearchMode::Text | SearchMode::Literal => as_written,
        };
        let weights = match &matcher {
            Matcher::Words(words, _) => vec![1; words.len()],
            _ => Vec::new(),
        };
        Ok(Self { matcher: Some(matcher), weights })
    }

    /// Weighs the words of the query by how many of these texts have them.
    pub(super) fn weigh(&mut self, texts: &[String]) {
        let Some(Matcher::Words(words, _)) = &self.matcher else { return };
        let weight = |word: &QueryWord| {
            let having = texts.iter().filter(|text| word.find(text).is_some()).count();
            // Of equally rare words, the longer one says more.
            let rarity = ((texts.len() + 1) / having.max(1)).max(1).ilog2() as usize;
            16 * (1 + rarity) + word.written().chars().count().min(15)
        };
        self.weights = words.iter().map(weight).collect();
    }

    /// The words of the query whose bits are not set, as they are in the query.
    pub(super) fn words_without(&self, bits: u64) -> Vec<String> {
        let Some(Matcher::Words(words, _)) = &self.matcher else { return Vec::new() };
        let missing = words.iter().enumerate().filter(|(at, _)| bits & (1 << at) == 0);
        missing.map(|(_, word)| word.written().to_owned()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.matcher.is_none()
    }

    /// Whether a text matches. For a query of words, one of the words is enough.
    pub(super) fn is_in(&self, text: &str) -> bool {
        match &self.matcher {
            None => true,
            Some(Matcher::Words(words, _)) => words.iter().any(|word| word.find(text).is_some()),
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
        let matches = self.matches(text, &lines);
        let words = matches.iter().fold(0, |all, line| all | line.words);
        let Some(best) = best(&matches) else {
            // The query matches across two arguments or a tool's name, or there is no query.
            let at = self.matcher.as_ref().and_then(|matcher| matcher.find(written));
            let source = if at.is_some() { written } else { text };
            return MessageLines {
                best: around(source, at.unwrap_or(0)),
                ..MessageLines::default()
            };
        };
        let (hits, more) = self.chosen(&matches, best);
        let near = |at: usize| hits.iter().any(|hit| hit.abs_diff(at) <= context);
        let one = |at: usize| TextLine {
            number: at + 1,
            hit: hits.contains(&at),
            text: around(lines[at], matches[at].at),
        };
        let first = hits.first().map_or(0, |at| at.saturating_sub(context));
        let last = hits.last().map_or(0, |at| (at + context).min(lines.len() - 1));
        MessageLines {
            best: around(lines[best], matches[best].at),
            number: (lines.len() > 1).then_some(best + 1),
            shown: (first..=last).filter(|at| near(*at)).map(one).collect(),
            more,
            words,
            is_phrase: matches[best].is_phrase,
        }
    }

    /// The lines to show, in order, and how many more are as good as the best. Lines that have further words of the
    /// query come before those that repeat the best one.
    fn chosen(&self, matches: &[LineMatch], best: usize) -> (Vec<usize>, usize) {
        let (mut hits, mut covered) = (vec![best], matches[best].words);
        let adds = |line: &LineMatch, covered: u64| self.weight(line.words & !covered);
        while hits.len() < LINES {
            let next = (0..matches.len())
                .max_by_key(|at| (adds(&matches[*at], covered), std::cmp::Reverse(*at)));
            let Some(next) = next.filter(|at| adds(&matches[*at], covered) > 0) else { break };
            covered |= matches[next].words;
            hits.push(next);
        }
        let equal = |at: &usize| matches[*at].score == matches[best].score && !hits.contains(at);
        let mut others: Vec<usize> = (0..matches.len()).filter(equal).collect();
        let room = others.len().min(LINES - hits.len());
        hits.extend(others.drain(..room));
        hits.sort_unstable();
        (hits, others.len())
    }

    fn weight(&self, words: u64) -> usize {
        let own = self.weights.iter().enumerate().filter(|(at, _)| words & (1 << at) != 0);
        own.map(|(_, weight)| weight).sum()
    }

    /// How well each line matches.
    fn matches(&self, text: &str, lines: &[&str]) -> Vec<LineMatch> {
        match &self.matcher {
            None => vec![LineMatch::default(); lines.len()],
            Some(Matcher::Words(words, phrase)) => {
                lines.iter().map(|line| self.words_in(line, words, phrase)).collect()
            }
            Some(matcher) => {
                let one = |at| LineMatch { score: 1, at, ..LineMatch::default() };
                let mut line_matches: Vec<LineMatch> = lines
                    .iter()
                    .map(|line| matcher.find(line).map_or_else(LineMatch::default, one))
                    .collect();
                // No single line matches: the match spans a line break, or is anchored to the whole text.
                if line_matches.iter().all(|line| line.score == 0)
                    && let Some(at) = matcher.find(text)
                {
                    let number = text[..at].matches('\n').count();
                    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
                    if let Some(line) = line_matches.get_mut(number) {
                        *line = one(at - start);
                    }
                }
                line_matches
            }
        }
    }

    /// How well a line matches the words of a query. The whole query counts as much as all of its words again.
    fn words_in(&self, line: &str, words: &[QueryWord], phrase: &str) -> LineMatch {
        let mut line_match = LineMatch::default();
        let mut most = 0;
        for (bit, (word, weight)) in words.iter().zip(&self.weights).enumerate() {
            if let Some(at) = word.find(line) {
                let part = if word.is_mere_part_in(line) { PART_OF_NAME } else { 1 };
                // Of two lines with the same words, that with the words as they were asked for comes first.
                line_match.score += weight / part + usize::from(word.is_written_in(line));
                line_match.words |= 1 << bit;
                if *weight > most {
                    (line_match.at, most) = (at, *weight);
                }
            }
        }
        match find_folded(line, phrase).filter(|_| line_match.score > 0 && words.len() > 1) {
            Some(at) => {
                LineMatch { score: 2 * line_match.score, at, is_phrase: true, ..line_match }
            }
            None => line_match,
        }
    }
}

/// How well a line matches.
#[derive(Clone, Copy, Debug, Default)]
struct LineMatch {
    /// 0 where it does not match.
    score: usize,
    /// Byte offset of the match.
    at: usize,
    /// A bit for each word of the query that it has.
    words: u64,
    is_phrase: bool,
}

/// Index of the first line with the highest score; `None` where no line matches.
fn best(matches: &[LineMatch]) -> Option<usize> {
    let most = matches.iter().map(|line| line.score).max().filter(|score| *score > 0)?;
    matches.iter().position(|line| line.score == most)
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
