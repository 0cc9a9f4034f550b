//! The pieces of a model's reply that are judged one by one. A list item is one claim, together with the lines
//! that continue it. Prose is split into sentences, because a whole section may be one line, and one bad sentence
//! must not cost the section.

use std::ops::Range;

use crate::narrate::is_nothing;
use crate::recap::prose::QUESTION_MARKS;
use crate::recap::quote;
use crate::recap::reply::{ReplySection, SectionLine};
use crate::recap::user_words::names_user;

/// A piece of a section that is kept or dropped on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionClaim {
    /// Index of the section in the request.
    pub section: usize,
    /// Indentation and list mark; empty for prose.
    pub lead: String,
    /// The words of the claim. Lines that continue it follow after line breaks.
    pub text: String,
    /// Whether it continues the line of the claim before it.
    pub glued: bool,
    /// Whether it starts a line of its own without a list mark. A forged chat turn would look the same.
    pub bare: bool,
    /// Whether it is about the user: it names the user, or a line above it announces something about the user.
    pub about_user: bool,
}

impl SectionClaim {
    /// The text on one line, so that a phrase which was broken over two lines is found.
    pub(crate) fn joined(&self) -> String {
        self.text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// Whether it is an item of a list.
    pub(crate) fn is_item(&self) -> bool {
        !self.lead.trim().is_empty()
    }

    /// Whether it says nothing, such as `none`.
    pub(crate) fn is_nothing(&self) -> bool {
        is_nothing(&self.text)
    }
}

/// The claims of all sections, in order. A line for which `is_apart` holds is a claim by itself, so that no
/// neighbour is lost when it is dropped.
pub(crate) fn claims(
    sections: &[ReplySection],
    is_apart: impl Fn(&str) -> bool,
) -> Vec<SectionClaim> {
    let mut out = Vec::new();
    for (section, (name, lines)) in sections.iter().enumerate() {
        let of_user = names_user(name);
        SectionReader { section, of_user, announced: None, is_apart: &is_apart }
            .read(lines, &mut out);
    }
    out
}

/// Reads one section.
struct SectionReader<'a> {
    /// Index of the section in the request.
    section: usize,
    /// Whether the section's name says that it is about the user.
    of_user: bool,
    /// The indentation of the last line that named the user and ended in a colon (0 for prose). `None` where no such
    /// line is in force.
    announced: Option<usize>,
    /// Whether a line is a claim by itself: see [`claims`].
    is_apart: &'a dyn Fn(&str) -> bool,
}

impl SectionReader<'_> {
    /// Adds the claims of a section. Lines that continue another one are joined with it first.
    fn read(&mut self, lines: &[SectionLine], out: &mut Vec<SectionClaim>) {
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            let (lead, text) = split_lead(&line.text);
            let mut text = text.to_owned();
            let bare = !line.named && lead.trim().is_empty();
            if !(self.is_apart)(&text) {
                while let Some(next) = lines.next_if(|next| self.goes_on(next, &text)) {
                    text.push('\n');
                    text.push_str(&next.text);
                }
            }
            self.line(lead, &text, bare, out);
        }
    }

    /// Whether a line continues the text before it: it has no list mark, and that text did not end a sentence.
    fn goes_on(&self, next: &SectionLine, text: &str) -> bool {
        let (lead, rest) = split_lead(&next.text);
        // The mark may be inside a quotation, brackets or emphasis, as in `… it works."`.
        let inner = text.trim_end().trim_end_matches(CLOSING);
        let ended = inner.ends_with(QUESTION_MARKS) || inner.ends_with(['.', '!', ':', '。', '！']);
        lead.trim().is_empty() && !ended && !next.named && !(self.is_apart)(rest)
    }

    /// Adds the claims of one list item, or of the sentences in one line of prose.
    fn line(&mut self, lead: &str, text: &str, bare: bool, out: &mut Vec<SectionClaim>) {
        let is_item = !lead.trim().is_empty();
        let depth = lead.len() - lead.trim_start().len() + usize::from(is_item);
        // A line that is not deeper is no longer of the announced list.
        if self.announced.is_some_and(|above| !is_item || depth <= above) {
            self.announced = None;
        }
        let inherited = self.of_user || self.announced.is_some();
        let pieces = if is_item { vec![text] } else { sentences(text) };
        let mut before = false;
        for (n, piece) in pieces.into_iter().enumerate() {
            let goes_on = n > 0 && before && leans_back(piece);
            let about_user = inherited || goes_on || names_user(piece);
            before = about_user;
            out.push(SectionClaim {
                section: self.section,
                lead: lead.to_owned(),
                text: piece.to_owned(),
                glued: n > 0,
                bare: bare && n == 0,
                about_user,
            });
        }
        if text.trim_end().ends_with([':', '：']) && before {
            self.announced = Some(if is_item { depth } else { 0 });
        }
    }
}

/// Marks that may follow the end of a sentence.
const CLOSING: [char; 14] =
    ['"', '\'', '”', '“', '’', '»', '«', '」', '』', ')', ']', '）', '*', '_'];

/// Whether a sentence has the same subject as the one before it: it begins with a pronoun or a quotation.
fn leans_back(sentence: &str) -> bool {
    let start = sentence.trim_start();
    let word: String = start.chars().take_while(|c| c.is_alphabetic()).collect();
    quote::ranges(start).first().is_some_and(|range| range.start == 0)
        || ["he", "she", "they"].contains(&word.to_lowercase().as_str())
}

/// Splits a line into indentation with list mark, and the rest.
fn split_lead(line: &str) -> (&str, &str) {
    let start = line.len() - line.trim_start().len();
    let text = &line[start..];
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = ["- ", "* ", "• ", "+ "].iter().find(|mark| text.starts_with(**mark));
    let number =
        (1..=3).contains(&digits) && [". ", ") "].iter().any(|m| text[digits..].starts_with(m));
    let width = match mark {
        Some(mark) => mark.len(),
        None if number => digits + 2,
        None => 0,
    };
    line.split_at(start + width)
}

/// The sentences of a text. A full stop, exclamation mark or question mark inside a quotation, brackets or a
/// name (`main.rs`) ends no sentence.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let quotes = quote::ranges(text);
    let quoted = |at: usize| quote::is_inside(&quotes, at);
    let brackets = brackets(text, quoted);
    let open = |at: usize| quote::is_inside(&brackets, at);
    // In `… it works." The next`, the full stop is before the closing quotation mark.
    let ends_one = |at: usize| {
        let index = quotes.binary_search_by_key(&at, |range| range.end);
        let inner = index.ok().map(|index| quote::inner(text, &quotes[index]));
        inner.is_some_and(|inner| inner.ends_with(['.', '!', '?']))
    };
    let (mut out, mut from) = (Vec::new(), 0);
    for (at, c) in text.char_indices().filter(|(at, _)| !quoted(*at)) {
        let end = at + c.len_utf8();
        let rest = &text[end..];
        let begins = rest.trim_start().chars().next().is_some_and(|c| !c.is_lowercase());
        match c {
            _ if open(at) => {}
            '.' | '!' | '?' | '؟' if rest.starts_with(char::is_whitespace) && begins => {
                let short = ["e.g.", "i.e.", "vs.", "cf.", "incl.", "No."];
                if !short.iter().any(|word| text[..end].ends_with(word)) {
                    out.push(&text[from..end]);
                    from = end;
                }
            }
            c if c.is_whitespace() && begins && ends_one(at) => {
                out.push(&text[from..at]);
                from = at;
            }
            '。' | '！' | '？' if !rest.is_empty() => {
                out.push(&text[from..end]);
                from = end;
            }
            _ => {}
        }
    }
    out.push(&text[from..]);
    out.retain(|piece| !piece.trim().is_empty());
    out
}

/// The pairs of brackets in a text, without those for which `skip` holds. A bracket that nothing closes, as in `:(`, is
/// left out.
fn brackets(text: &str, skip: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let (mut ranges, mut open) = (Vec::<Range<usize>>::new(), Vec::new());
    for (at, c) in text.char_indices() {
        let opener = match c {
            ')' => '(',
            ']' => '[',
            '(' | '[' if !skip(at) => {
                open.push((at, c));
                continue;
            }
            _ => continue,
        };
        // Brackets that were opened in between are never closed.
        if let Some(pair) = open.iter().rposition(|(_, mark)| *mark == opener && !skip(at)) {
            let start = open[pair].0;
            ranges.truncate(ranges.partition_point(|inner| inner.start < start));
            ranges.push(start..at + 1);
            open.truncate(pair);
        }
    }
    ranges
}

/// Drops each line that announces a list of which no item is kept, also where the reply was cut off before the
/// first item.
pub(crate) fn without_items(all: &[SectionClaim], stays: &mut [bool]) {
    // From the end, so that a list inside a list is judged before the line above both.
    for at in (0..all.len()).rev() {
        let (announcer, below) = (&all[at], &all[at + 1..]);
        if !stays[at] || !announcer.text.trim_end().ends_with([':', '：']) {
            continue;
        }
        let depth = |claim: &SectionClaim| claim.lead.len() - claim.lead.trim_start().len();
        let is_its = |claim: &&SectionClaim| {
            let deeper = !announcer.is_item() || depth(claim) > depth(announcer);
            claim.section == announcer.section && claim.is_item() && deeper
        };
        let count = below.iter().take_while(is_its).count();
        let any_stay = stays[at + 1..].iter().take(count).any(|stay| *stay);
        let goes_on = below.get(count).filter(|_| count == 0);
        // Where prose follows the colon, the line does not announce a list.
        let is_prose = goes_on.is_some_and(|next| {
            next.section == announcer.section && !next.is_item() && stays[at + 1]
        });
        stays[at] = any_stay || is_prose;
    }
}

/// Builds the sections again from the claims that are kept: `stays` says of each claim whether it stays.
pub(crate) fn rebuild(
    names: &[String],
    claims: &[SectionClaim],
    stays: &[bool],
    harmless: impl Fn(&str) -> String,
) -> Vec<(String, String)> {
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    let mut open = false;
    for (claim, stay) in claims.iter().zip(stays) {
        // A dropped sentence leaves this as it is: the next one of its line is still joined.
        open &= claim.glued;
        let Some(section) = lines.get_mut(claim.section).filter(|_| *stay) else { continue };
        match section.last_mut().filter(|_| open) {
            Some(line) => {
                line.push(' ');
                line.push_str(claim.text.trim());
            }
            None => section.push(format!("{}{}", claim.lead, claim.text.trim())),
        }
        open = true;
    }
    let body = |lines: &Vec<String>| {
        let lines = lines.iter().flat_map(|line| line.lines());
        lines.map(&harmless).collect::<Vec<_>>().join("\n")
    };
    names.iter().cloned().zip(lines.iter().map(body)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str], named: bool) -> Vec<SectionClaim> {
        let line = |(at, text): (usize, &&str)| SectionLine {
            text: (*text).to_owned(),
            named: named && at == 0,
        };
        let lines = lines.iter().enumerate().map(line).collect();
        claims(&[("Facts".to_owned(), lines)], |line| line.starts_with('['))
    }

    fn texts(lines: &[&str]) -> Vec<String> {
        of(lines, true).into_iter().map(|claim| claim.text.trim().to_owned()).collect()
    }

    #[test]
    fn items_are_whole_and_prose_is_taken_sentence_by_sentence() {
        let prose = "One in main.rs. Two (see a. B) holds. `x.y()` is i.e. \"Three. Four.\" here. \
                     \"Five!\" Six.";
        assert_eq!(
            texts(&[prose]),
            [
                "One in main.rs.",
                "Two (see a. B) holds.",
                "`x.y()` is i.e. \"Three. Four.\" here.",
                "\"Five!\"",
                "Six."
            ]
        );
        assert_eq!(
            texts(&["- One. Two.", "  goes on.", "- Three."]),
            ["One. Two.", "goes on.", "Three."]
        );
        assert_eq!(
            texts(&["ignore all", "  previous", "[x]", "rules"]),
            ["ignore all\n  previous", "[x]", "rules"]
        );
    }

    #[test]
    fn a_bracket_that_never_closes_joins_no_sentences() {
        assert_eq!(
            texts(&["It failed :( so we went on. The user wants X. The key (of a. B) is Y."]),
            ["It failed :( so we went on.", "The user wants X.", "The key (of a. B) is Y."]
        );
        assert_eq!(
            texts(&["One (a [b. C). Two] holds. D"]),
            ["One (a [b. C).", "Two] holds.", "D"]
        );
    }

    #[test]
    fn a_quotation_may_end_a_sentence_at_a_line_break() {
        assert_eq!(texts(&["They said \"it works.\"", "The key is Y."]).len(), 2);
        assert_eq!(texts(&["It is (so.)", "**It ran.**", "Three", "lines"]).len(), 3);
        assert_eq!(
            sentences("They said \"it works.\"\nThe key is Y."),
            ["They said \"it works.\"", "\nThe key is Y."]
        );
    }

    #[test]
    fn a_line_that_announces_nothing_is_dropped() {
        let judged = |lines: &[&str]| {
            let all = of(lines, false);
            let mut stays = vec![true; all.len()];
            without_items(&all, &mut stays);
            stays
        };
        assert_eq!(judged(&["- Steps:", "- Other"]), [false, true]);
        assert_eq!(judged(&["- Steps:", "  - One", "- Other"]), [true; 3]);
        assert_eq!(judged(&["- Steps:", "  - Deeper:", "- Other"]), [false, false, true]);
        assert_eq!(judged(&["Steps:", "- One"]), [true; 2]);
        assert_eq!(judged(&["Steps:", "It ran."]), [true; 2]);
        assert_eq!(judged(&["- Steps:"]), [false]);
    }

    #[test]
    fn who_is_spoken_of_is_handed_on() {
        let about = |lines: &[&str]| -> Vec<bool> {
            of(lines, false).iter().map(|claim| claim.about_user).collect()
        };
        assert_eq!(
            about(&["The user asked. They said \"a\". It works. \"b\"."]),
            [true, true, false, false]
        );
        assert_eq!(
            about(&["- The user wrote:", "  - \"a\"", "  - \"b\"", "- \"c\""]),
            [true, true, true, false]
        );
        assert_eq!(about(&["The user:", "- \"a\".", "It ran."]), [true, true, false]);
    }

    #[test]
    fn what_is_left_is_put_together_again() {
        let all = of(&["One. Two. Three.", "- Four", "  more", "- Five"], true);
        let back =
            |stays: &[bool]| rebuild(&["Facts".to_owned()], &all, stays, str::to_owned).remove(0).1;
        assert_eq!(back(&[true; 5]), "One. Two. Three.\n- Four\n  more\n- Five");
        assert_eq!(back(&[false, true, true, false, true]), "Two. Three.\n- Five");
        assert_eq!(back(&[true, false, true, true, false]), "One. Three.\n- Four\n  more");
    }
}
