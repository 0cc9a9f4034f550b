//! Defines the text of an event that searches see, and how hits are ranked. All stores share these rules, so the same
//! query finds the same events in each. The index of a store only finds candidates.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use midfold_core::view::{BlockKind, EventView};
use midfold_formats::DialectKind;
use regex::{Regex, RegexBuilder};

use crate::error::StoreError;
use crate::types::{Hit, LogSearch, SearchMode};

impl LogSearch {
    /// A search for messages that have this text, with its letters in either case.
    #[must_use]
    pub fn in_either_case(text: &str, limit: u32) -> Self {
        let query = format!("(?i){}", regex::escape(text));
        Self { query, mode: SearchMode::Regex, range: None, limit }
    }
}

/// Longest word that is indexed, in characters. Longer words are cut in texts and in queries.
pub const WORD: usize = 64;
/// At most this many words of a query count.
const QUERY_WORDS: usize = 32;
/// Length of a snippet, in characters.
pub const SNIPPET: usize = 300;
/// At most this many candidates have their texts read for the ranking.
pub(crate) const RANKED: usize = 200;
/// Memory that a compiled regex may use, in bytes.
const REGEX_BYTES: usize = 1 << 20;

/// The readable text of an event: messages, reasoning, arguments and results, decoded. Where the dialect is unknown,
/// all its bytes.
///
/// ```
/// let text = midfold_store::event_text("openai-chat", br#"{"role":"tool","content":"a\nb"}"#);
/// assert_eq!(text, "a\nb");
/// ```
#[must_use]
pub fn event_text<'a>(dialect: &str, bytes: &'a [u8]) -> Cow<'a, str> {
    let Some(kind) = DialectKind::from_name(dialect) else { return String::from_utf8_lossy(bytes) };
    kind.dialect().view(bytes).text_of(bytes, |_| true)
}

/// The text of an event with the escapes inside call arguments removed. Otherwise the `\t` of `\ttheme` would make
/// `ttheme` look like one word.
pub(crate) fn plain_text<'a>(dialect: &str, bytes: &'a [u8]) -> Cow<'a, str> {
    let Some(kind) = DialectKind::from_name(dialect) else { return String::from_utf8_lossy(bytes) };
    kind.dialect().view(bytes).plain(bytes)
}

/// The text of an event that a search sees: the names of the tools that it calls, and its plain text.
pub(crate) fn searched_text<'a>(dialect: &str, bytes: &'a [u8]) -> Cow<'a, str> {
    let Some(kind) = DialectKind::from_name(dialect) else { return String::from_utf8_lossy(bytes) };
    let view = kind.dialect().view(bytes);
    if view.has_calls() { Cow::Owned(searched(&view, bytes)) } else { view.plain(bytes) }
}

/// The text that [`searched_text`] returns, for an event whose view is known.
pub(crate) fn searched(view: &EventView, bytes: &[u8]) -> String {
    let mut text = String::new();
    for block in &view.blocks {
        if let BlockKind::Call { name: Some(name), .. } = &block.kind {
            text += &name.decode(bytes);
            text.push('\n');
        }
    }
    text += &view.plain(bytes);
    text
}

/// The words of a text in order, in lower case. A word is a run of letters and digits. In scripts without spaces,
/// each character is a word.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    words_at(text).map(|(_, word)| word)
}

/// The words of a text in order, each with its byte offset.
fn words_at(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|(_, c)| !c.is_alphanumeric()).is_some() {}
        let (at, first) = rest.next()?;
        let mut word: String = first.to_lowercase().collect();
        if is_unspaced(first) {
            return Some((at, word));
        }
        let mut length = 1;
        while let Some((_, c)) = rest.next_if(|(_, c)| c.is_alphanumeric() && !is_unspaced(*c)) {
            length += 1;
            if length <= WORD {
                word.extend(c.to_lowercase());
            }
        }
        Some((at, word))
    })
}

/// Byte offset of a word in a text, where it is a whole word. The word is one of [`words`].
pub(crate) fn find_word(text: &str, word: &str) -> Option<usize> {
    // Most texts do not have the word at all, and this look makes no words of them.
    find_folded(text, word)?;
    words_at(text).find(|(_, own)| own == word).map(|(at, _)| at)
}

/// Whether a character is of a script without spaces between words: Han, kana, Thai, Lao, Khmer or Myanmar.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

/// The distinct words of a text, sorted.
pub(crate) fn distinct_words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = words(text).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A word of a query, in singular and plural.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueryWord {
    /// The word as it is in the query, and its other form.
    forms: Vec<String>,
    /// The name of several words that it is part of, such as `referral_code` or `app/layout.tsx`, in lower case.
    name: Option<Arc<str>>,
}

/// A word where the text lacks the name that it is part of tells this part of what it tells elsewhere: of
/// `referral_code`, a message with `exit code` has little.
pub(crate) const PART_OF_NAME: usize = 4;

impl QueryWord {
    /// The words of a query, each once.
    fn all(query: &str) -> Vec<Self> {
        let mut query_words: Vec<Self> = Vec::new();
        for token in query.split_whitespace() {
            let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            // In scripts without spaces, several words next to each other are no name.
            let is_name = words(token).count() > 1 && !token.chars().any(is_unspaced);
            let name: Option<Arc<str>> = is_name.then(|| token.to_lowercase().into());
            for word in words(token) {
                if let Some(known) = query_words.iter_mut().find(|known| known.is(&word)) {
                    // A word that the query also has alone is no mere part.
                    known.name = known.name.take().filter(|_| name.is_some());
                } else if query_words.len() < QUERY_WORDS {
                    query_words.push(Self { name: name.clone(), ..Self::of(word) });
                }
            }
        }
        query_words
    }

    /// The forms of an English word that differ in number alone. A form that is no word finds nothing.
    fn of(word: String) -> Self {
        let is_plain = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
        let mut forms = vec![word];
        let word = forms[0].as_str();
        let cut = |end: &str| word.strip_suffix(end).filter(|stem| stem.len() > 2);
        let mut more: Vec<String> = Vec::new();
        if is_plain {
            more.extend(cut("ies").map(|stem| format!("{stem}y")));
            more.extend(cut("es").map(str::to_owned));
            more.extend(cut("s").filter(|stem| !stem.ends_with('s')).map(str::to_owned));
            if !word.ends_with('s') {
                more.push(format!("{word}s"));
            }
            more.extend(cut("y").map(|stem| format!("{stem}ies")));
            more.extend(
                ["s", "x", "ch", "sh"]
                    .iter()
                    .any(|end| word.ends_with(end))
                    .then(|| format!("{word}es")),
            );
        }
        forms.extend(more);
        Self { forms, name: None }
    }

    /// Whether it is part of a name that this text does not have.
    pub(crate) fn is_mere_part_in(&self, text: &str) -> bool {
        self.name.as_deref().is_some_and(|name| find_folded(text, name).is_none())
    }

    /// The word as it is in the query.
    pub(crate) fn written(&self) -> &str {
        &self.forms[0]
    }

    /// All forms.
    pub(crate) fn forms(&self) -> &[String] {
        &self.forms
    }

    fn is(&self, word: &str) -> bool {
        self.forms.iter().any(|form| form == word)
    }

    /// Whether a text has the word as the query has it.
    pub(crate) fn is_written_in(&self, text: &str) -> bool {
        find_word(text, self.written()).is_some()
    }

    /// Byte offset of the word in a text, in any of its forms.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        self.forms.iter().filter_map(|form| find_word(text, form)).min()
    }
}

/// A query, prepared for matching.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// The words of the query, and the whole query in lower case.
    Words(Vec<QueryWord>, String),
    Literal(String),
    Regex(Regex),
}

impl Matcher {
    /// Prepares a query. Fails with [`StoreError::Query`] where it is empty, has no words, or is a bad regex.
    pub(crate) fn new(search: &LogSearch) -> Result<Self, StoreError> {
        if search.query.trim().is_empty() {
            return Err(StoreError::Query("the query is empty".to_owned()));
        }
        match search.mode {
            SearchMode::Literal => Ok(Self::Literal(search.query.clone())),
            SearchMode::Regex => RegexBuilder::new(&search.query)
                .size_limit(REGEX_BYTES)
                .build()
                .map(Self::Regex)
                .map_err(|error| StoreError::Query(format!("not a regular expression: {error}"))),
            SearchMode::Text => {
                let query_words = QueryWord::all(&search.query);
                if query_words.is_empty() {
                    let hint = "the query has no words; search for it with `literal`";
                    return Err(StoreError::Query(hint.to_owned()));
                }
                Ok(Self::Words(query_words, search.query.trim().to_lowercase()))
            }
        }
    }

    /// The hit in this text; `None` where there is none, and for a query of words, which is never scanned for.
    pub(crate) fn scan(&self, seq: u64, text: &str) -> Option<Hit> {
        let at = self.find(text)?;
        Some(Hit { seq, snippet: snippet(text, at) })
    }

    /// Byte offset of the first match in a text; `None` where there is none, and for a query of words.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        match self {
            Self::Words(..) => None,
            Self::Literal(needle) => text.find(needle.as_str()),
            Self::Regex(regex) => regex.find(text).map(|hit| hit.start()),
        }
    }
}

/// For each word of a query, the events that have it, as an index finds them.
#[derive(Default)]
pub(crate) struct Postings {
    /// For each word, the seqs of its events, in order.
    lists: Vec<Vec<u64>>,
    /// The number of events that were searched.
    total: u64,
}

impl Postings {
    /// Empty postings for a session, or a range of one, with `total` events.
    pub(crate) fn new(total: u64) -> Self {
        Self { lists: Vec::new(), total }
    }

    /// The postings of these texts, which are in the order of their seqs. They equal those of an index.
    pub(crate) fn of_texts<'a>(
        texts: impl IntoIterator<Item = (u64, Cow<'a, str>)>,
        wanted: &[QueryWord],
    ) -> Self {
        let mut lists = vec![Vec::new(); wanted.len()];
        let mut total = 0;
        for (seq, text) in texts {
            total += 1;
            for word in words(&text) {
                if let Some(at) = wanted.iter().position(|wanted| wanted.is(&word))
                    && lists[at].last() != Some(&seq)
                {
                    lists[at].push(seq);
                }
            }
        }
        Self { lists, total }
    }

    /// Adds the seqs of the events that have the next word of the query.
    pub(crate) fn push(&mut self, seqs: Vec<u64>) {
        self.lists.push(seqs);
    }

    /// The weight of each word: rare words weigh more. Never negative.
    fn weights(&self) -> Vec<f64> {
        let weight = |list: &Vec<u64>| {
            let (n, df) = (self.total as f64, list.len() as f64);
            (1.0 + (n - df + 0.5).max(0.5) / (df + 0.5)).ln()
        };
        self.lists.iter().map(weight).collect()
    }

    /// The best candidates: the events with the most and the rarest words. Of equals, the newest come first. There are
    /// at most [`RANKED`].
    pub(crate) fn best(&self) -> Vec<u64> {
        let weights = self.weights();
        let mut scores: HashMap<u64, f64> = HashMap::new();
        for (list, weight) in self.lists.iter().zip(&weights) {
            for seq in list {
                *scores.entry(*seq).or_default() += weight;
            }
        }
        let mut all: Vec<(u64, f64)> = scores.into_iter().collect();
        all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        all.truncate(RANKED);
        all.into_iter().map(|(seq, _)| seq).collect()
    }
}

/// Ranks candidates by their texts, with BM25 over the frequencies in the session. A text that holds the query exactly
/// gets half as much again. Of equals, the newest come first.
pub(crate) struct CandidateRanking<'a> {
    words: &'a [QueryWord],
    /// The whole query in lower case.
    phrase: &'a str,
    /// The weight of each word.
    weights: Vec<f64>,
    /// The candidates, each with its score.
    scored: Vec<(f64, Hit)>,
}

impl<'a> CandidateRanking<'a> {
    pub(crate) fn new(words: &'a [QueryWord], phrase: &'a str, postings: &Postings) -> Self {
        Self { words, phrase, weights: postings.weights(), scored: Vec::new() }
    }

    /// Adds a candidate with its text.
    pub(crate) fn push(&mut self, seq: u64, text: &str) {
        let mut counts = vec![0u32; self.words.len()];
        let mut length = 0u32;
        for word in words(text) {
            length += 1;
            if let Some(at) = self.words.iter().position(|wanted| wanted.is(&word)) {
                counts[at] += 1;
            }
        }
        // Repetitions of a word count less and less, and words in long texts count less. That is BM25 with k1 = 1.2
        // and b = 0.3 around 200 words: tool results are long, and their length says little about them.
        let damp = 1.2 * (0.7 + 0.3 * f64::from(length) / 200.0).min(4.0);
        let gain = |(at, (count, weight)): (usize, (&u32, &f64))| {
            let is_part = *count > 0 && self.words[at].is_mere_part_in(text);
            let part = if is_part { PART_OF_NAME as f64 } else { 1.0 };
            let count = f64::from(*count);
            weight * count * 2.2 / (count + damp) / part
        };
        let mut score: f64 = counts.iter().zip(&self.weights).enumerate().map(gain).sum();
        let at = find_folded(text, self.phrase);
        // A query of one word is its own phrase in nearly every candidate, so the bonus would tell nothing apart.
        if at.is_some() && self.words.len() > 1 {
            score *= 1.5;
        }
        if score > 0.0 {
            let at = at.or_else(|| self.first_word(text)).unwrap_or(0);
            self.scored.push((score, Hit { seq, snippet: snippet(text, at) }));
        }
    }

    /// Byte offset of the first occurrence of the query's rarest word in a text.
    fn first_word(&self, text: &str) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.words.len()).collect();
        order.sort_by(|a, b| self.weights[*b].total_cmp(&self.weights[*a]));
        order.into_iter().find_map(|at| self.words[at].find(text))
    }

    /// The best `limit` hits.
    pub(crate) fn finish(mut self, limit: u32) -> Vec<Hit> {
        self.scored.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.seq.cmp(&a.1.seq)));
        self.scored.truncate(limit as usize);
        self.scored.into_iter().map(|(_, hit)| hit).collect()
    }
}

/// Byte offset of `needle`, which is in lower case, in `text` in any case.
pub fn find_folded(text: &str, needle: &str) -> Option<usize> {
    if needle.is_empty() {
        return None;
    }
    if text.is_ascii() && needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        let (lower, upper) = (needle[0].to_ascii_lowercase(), needle[0].to_ascii_uppercase());
        return memchr::memchr2_iter(lower, upper, text).find(|at| {
            let end = at + needle.len();
            text.get(*at..end).is_some_and(|part| part.eq_ignore_ascii_case(needle))
        });
    }
    // Lower-casing may change the length of a text, so characters are compared at each offset of the original.
    text.char_indices().map(|(at, _)| at).find(|at| {
        let mut folded = text[*at..].chars().flat_map(char::to_lowercase);
        needle.chars().all(|wanted| folded.next() == Some(wanted))
    })
}

/// About [`SNIPPET`] characters around a byte offset, on one line, with `…` where the text was cut.
pub fn snippet(text: &str, at: usize) -> String {
    let before = text[..at].char_indices().rev().nth(SNIPPET / 4 - 1).map_or(0, |(from, _)| from);
    let mut out = String::new();
    if before > 0 {
        out.push('…');
    }
    let mut rest = text[before..].chars();
    out.extend(rest.by_ref().take(SNIPPET - 2).map(|c| if c.is_control() { ' ' } else { c }));
    if rest.next().is_some() {
        out.push('…');
    }
    out
}
