//! Recognises orders that are the user's own words. A narration may report them, because they gain no authority that
//! the user did not have.
//!
//! A clause is allowed where it is in a message of the user, word for word. A part of a clause is allowed only at the
//! end of the statement, where no other words can change its meaning. What the user denied (`never push …`) has to be
//! denied in the statement, too. A tool's result is no message of the user, whatever it claims.

use std::ops::Range;

use crate::recap::claim::sentences;
use crate::recap::prose::is_negated;
use crate::recap::quote;

/// The user's sentences, in the form of [`quote::fold`].
pub(crate) struct UserSentences {
    sentences: Vec<String>,
}

impl UserSentences {
    /// The sentences of these messages.
    pub(crate) fn of(messages: &[String]) -> Self {
        let texts = messages.iter().flat_map(|message| paragraphs(message));
        let split = |text: String| -> Vec<String> {
            sentences(&text).into_iter().map(|one| quote::fold(&bare(one))).collect()
        };
        Self { sentences: texts.flat_map(split).collect() }
    }

    /// The clause around an order in a statement, where the user wrote that clause: from the start of the order to the
    /// end of the clause. `None` where the user wrote something else.
    pub(crate) fn clause(&self, of: &OrderLine, order: &Range<usize>) -> Option<Range<usize>> {
        let statement = of.line.as_str();
        let end = order.end + clause_end(&statement[order.end..]);
        let words = of.written(&statement[order.start..end]);
        let words = words.trim_matches(|c: char| !c.is_alphanumeric());
        // A single ASCII word, such as `system`, is too short to prove who wrote it.
        if words.is_ascii() && !words.contains(' ') {
            return None;
        }
        let before = is_negated(&statement[..order.start]);
        let is_last = !statement[end..].contains(char::is_alphanumeric);
        let is_users = |sentence: &String| {
            sentence.match_indices(words).any(|(at, _)| {
                let rest = &sentence[at + words.len()..];
                let behind = &rest[..clause_end(rest)];
                let is_whole = !behind.contains(char::is_alphanumeric);
                let lead = sentence[..at].rsplit([';', '；']).next().unwrap_or_default();
                stands_alone(sentence, at, at + words.len())
                    && (before || !is_negated(lead))
                    && (is_whole || (is_last && !is_negated(behind)))
            })
        };
        self.sentences.iter().any(is_users).then_some(order.start..end)
    }
}

/// A line that is searched for orders: in lower case, without emphasis, and with a private-use character in the
/// place of each code span. So an order is found even where its words have code between them.
pub(crate) struct OrderLine {
    /// The text that is searched.
    pub line: String,
    /// The code spans, in the order of their private-use characters.
    code: Vec<String>,
}

/// Private-use characters that take the place of code spans; a line has fewer spans than there are characters.
const PLACES: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{f8ff}';

impl OrderLine {
    pub(crate) fn of(line: &str) -> Self {
        let line = line.replace(|c| PLACES.contains(&c), "…");
        let (mut out, mut code, mut from) = (String::new(), Vec::new(), 0);
        let spans = quote::code(&line);
        for (span, place) in spans.iter().zip(PLACES) {
            out.push_str(&line[from..span.start]);
            out.push(place);
            code.push(quote::fold(&bare(quote::inner(&line, span))));
            from = span.end;
        }
        out.push_str(&line[from..]);
        Self { line: quote::fold(&bare(&out)), code }
    }

    /// A piece of the line with its code spans put back.
    fn written(&self, piece: &str) -> String {
        let mut out = piece.to_owned();
        for (place, code) in PLACES.zip(&self.code) {
            out = out.replace(place, code);
        }
        out
    }
}

/// Joins the lines of a paragraph: a line that begins with a lower-case letter continues the line above.
fn paragraphs(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        match out.last_mut().filter(|_| line.starts_with(char::is_lowercase)) {
            Some(above) if !above.is_empty() => {
                above.push(' ');
                above.push_str(line);
            }
            _ => out.push(line.to_owned()),
        }
    }
    out
}

/// Removes marks of emphasis and code, so that nothing separates the words of a phrase.
pub(crate) fn bare(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '*' | '_' | '\\' | '`')).collect()
}

/// Byte offset of the end of a clause: the first punctuation mark that is not inside a word (`main.rs`, `don't`,
/// `a/b`).
fn clause_end(text: &str) -> usize {
    let mut before = None;
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
        let is_mark = !c.is_alphanumeric() && !c.is_whitespace() && !PLACES.contains(&c);
        let is_open = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let is_wide = !c.is_ascii();
        if is_mark && (is_wide || is_open(next) || (at > 0 && is_open(before))) {
            return at;
        }
        before = Some(c);
    }
    text.len()
}

/// Whether the range begins and ends at the edges of words.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let cut = |edge: Option<char>, next: Option<char>| inside(edge) && inside(next);
    let words = &text[start..end];
    !cut(words.chars().next(), text[..start].chars().next_back())
        && !cut(words.chars().next_back(), text[end..].chars().next())
}
