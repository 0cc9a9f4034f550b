//! Plain words: names that no shape tells from prose, such as `pool`, `billing` or `rebase`. Those
//! that the assistant wrote come first, and of these the short ones: more of them fit.

use std::ops::Range;

use compact_str::CompactString;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::is_word;
use crate::log::Event;
use crate::recap::ordinary::is_ordinary;
use crate::recap::rank::sort_best;
use crate::recap::redact::{REPLACEMENT, Redactor};
use crate::recap::{END, section};
use crate::view::{Block, BlockKind, Origin, Role};

/// A word that occurs more often is no name that gets lost. The bound of the second ruler of a
/// replay (docs/MEASURES.md): that ruler is no guard over this list.
const RARE: u32 = 4;
/// Lengths of a word, in bytes. Shorter ones say nothing, longer ones are data.
const LENGTHS: Range<usize> = 3..41;
/// Of what there is room for, the words of the assistant take at most this, in parts per 10.
const OWN: usize = 8;

/// This much text is read of what was written, and as much of what results showed, in bytes, the
/// newest first: of words that are older few are used again.
const NEWEST: usize = 128 * 1024;

/// How a word was used.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    count: u32,
    said: bool,
    last: u32,
    /// It stood where its form is its own: not only as the first word of sentences.
    named: bool,
}

/// The words of a span.
#[derive(Clone, Debug, Default)]
pub struct Words {
    table: FxHashMap<CompactString, Use>,
    /// Handed on by an earlier recap, best first.
    carried: Vec<String>,
    /// What was taken in.
    runs: Vec<Range<usize>>,
    blocks: Vec<(usize, usize)>,
}

impl Words {
    /// The words of these events, and of single blocks of later ones: event and place in it. What
    /// was taken in before is read again only where it was something else: planning a fold asks
    /// for the same once for each size of recap that it tries.
    #[must_use]
    pub fn over(
        before: Option<Self>,
        events: &[Event],
        runs: &[Range<usize>],
        blocks: &[(usize, usize)],
    ) -> Self {
        if let Some(same) = before.filter(|had| had.runs == runs && had.blocks == blocks) {
            return same;
        }
        let mut words = Self { runs: runs.to_vec(), blocks: blocks.to_vec(), ..Self::default() };
        let (mut written, mut shown) = (NEWEST, NEWEST);
        let mut add = |words: &mut Self, event, block: &Block| {
            let left = if block.is_result() { &mut shown } else { &mut written };
            if *left > 0 {
                *left = left.saturating_sub(words.add(event, block));
            }
        };
        for (at, index) in blocks.iter().rev() {
            add(&mut words, &events[*at], &events[*at].view.blocks[*index]);
        }
        for event in runs.iter().rev().flat_map(|run| events[run.clone()].iter().rev()) {
            match event.view.origin {
                Origin::Recap => words.carry(&event.text()),
                _ => event.view.blocks.iter().for_each(|block| add(&mut words, event, block)),
            }
        }
        words
    }

    /// Takes in a block, and says how many bytes it has.
    fn add(&mut self, event: &Event, block: &Block) -> usize {
        if block.is_reasoning() {
            return 0;
        }
        let text = block.plain(&event.bytes);
        let said = event.view.role == Role::Assistant && !block.is_result();
        // What is hidden by its name is a word like any other once the name is gone.
        let (redacted, _) = Redactor::shared().redact(&text);
        let prose = matches!(block.kind, BlockKind::Text | BlockKind::Refusal);
        for part in redacted.split(REPLACEMENT) {
            for word in words(part).filter(|word| !is_data(word)) {
                let used = self.table.entry(word.into()).or_default();
                used.count += 1;
                used.said |= said;
                used.last = used.last.max(event.seq);
                used.named |= !(prose && opens_sentence(part, word));
            }
        }
        text.len()
    }

    fn carry(&mut self, recap: &str) {
        let lines = recap.lines();
        let lines =
            lines.skip_while(|line| line.strip_prefix("### ") != Some(section::WORDS)).skip(1);
        let own = lines.take_while(|line| !line.starts_with("### ") && *line != END);
        let own = own.filter_map(|line| line.strip_prefix(LABEL));
        self.carried.extend(own.flat_map(str::split_whitespace).map(str::to_owned));
    }

    /// Those that are not `elsewhere`, best first; `room` is how many can be named at all.
    #[must_use]
    pub fn ranked(&self, elsewhere: impl Fn(&str) -> bool, room: usize) -> Vec<&str> {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for (word, used) in &self.table {
            if used.named && used.count <= RARE && !is_ordinary(word) && !elsewhere(word) {
                let list = if used.said { &mut own } else { &mut other };
                list.push((word.len(), u32::MAX - used.last, word.as_str()));
            }
        }
        let (own, other) = (best(own, room), best(other, room));
        let first = own.len().min(room * OWN / 10);
        let carried = self.carried.iter().map(String::as_str).filter(|word| !elsewhere(word));
        let mut seen = FxHashSet::default();
        let all = own[..first].iter().copied().chain(carried);
        let all = all.chain(own[first..].iter().chain(&other).copied());
        all.filter(|word| seen.insert(*word)).take(room).collect()
    }
}

/// The words of the `room` least, in order.
fn best(mut list: Vec<(usize, u32, &str)>, room: usize) -> Vec<&str> {
    sort_best(&mut list, room);
    list.into_iter().take(room).map(|(_, _, word)| word).collect()
}

/// Whether a word of a text is a capitalised one that begins a sentence or a line: `Great`, `Let`,
/// `Looking`. Its capital says nothing, and openings are habits more often than matters.
fn opens_sentence(text: &str, word: &str) -> bool {
    let capitalised = match word.as_bytes() {
        [first, rest @ ..] => first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_lowercase),
        [] => false,
    };
    // Asked of such words alone, what stands between them is passed once.
    if !capitalised {
        return false;
    }
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    let before =
        text[..at].trim_end_matches([' ', '\t', '"', '\'', '`', '*', '_', '#', '>', '-', '(']);
    before.is_empty() || before.ends_with(['\n', '.', '!', '?', ':'])
}

/// What has a digit is an identifier, and runs of `a` to `f` are mostly pieces of one.
fn is_data(word: &str) -> bool {
    let hex = |byte: u8| (b'a'..=b'f').contains(&byte);
    word.bytes().any(|byte| byte.is_ascii_digit()) || word.len() > 3 && word.bytes().all(hex)
}

/// Before the first of them.
pub(super) const LABEL: &str = "words:";

/// Runs of letters, digits and `_` of a text. What an escape of nested JSON leaves before a word
/// (`\nfoo`) is none of it.
///
/// ```
/// use midfold_core::recap::words::words;
/// assert!(words("a pool of 4 (retry)").eq(["pool", "retry"]));
/// ```
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + run(&text[at..], false);
            at = start + run(&text[start..], true);
            if at == start {
                return None;
            }
            let escaped = start > 0 && text.as_bytes()[start - 1] == b'\\';
            let word = &text[start..at];
            let word = match escaped {
                true => word.strip_prefix(['n', 't', 'r']).unwrap_or(word),
                false => word,
            };
            if LENGTHS.contains(&word.len()) {
                return Some(word);
            }
        }
    })
}

/// How many bytes at the start belong to a word, or to none. Every byte of a span comes by here.
fn run(text: &str, of_word: bool) -> usize {
    let ends = |byte: &u8| is_word(*byte) != of_word || !byte.is_ascii();
    let mut at = 0;
    loop {
        let rest = &text.as_bytes()[at..];
        at += rest.iter().position(ends).unwrap_or(rest.len());
        match text[at..].chars().next() {
            Some(c) if !c.is_ascii() && c.is_alphanumeric() == of_word => at += c.len_utf8(),
            _ => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_escapes_are_none() {
        let text = "let pool_size = a.b(\"x\\nretry\\tonce\"); né—naïve… 12ab";
        let found: Vec<_> = words(text).collect();
        assert_eq!(found, ["let", "pool_size", "retry", "once", "né", "naïve", "12ab"]);
    }

    #[test]
    fn pieces_of_identifiers_are_none() {
        let found = "bad 2024-bffd-41cc pool4 decoded";
        assert!(words(found).filter(|word| !is_data(word)).eq(["bad", "decoded"]));
    }

    #[test]
    fn the_first_word_of_a_sentence_is_no_name_for_its_capital() {
        let text = "Great! Now the Denmark rates.\n- **Looking** at \"Oslo: Then\" pool GPU. Étude";
        let opening = |word: &&str| opens_sentence(text, word);
        assert!(words(text).filter(opening).eq(["Great", "Now", "Looking", "Then"]));
    }

    #[test]
    fn what_the_assistant_wrote_comes_first_then_what_was_handed_on() {
        let used = |said, count| Use { count, said, last: 1, named: true };
        let table = [
            ("billing", used(true, 1)),
            ("pool", used(true, 4)),
            ("often", used(true, 5)),
            ("seen", used(false, 1)),
            ("here", used(true, 1)),
            ("because", used(true, 1)),
        ];
        let table = table.map(|(word, used)| (CompactString::from(word), used));
        let table = table.into_iter().collect();
        let words =
            Words { table, carried: vec!["rebase".into(), "here".into()], ..Words::default() };
        let elsewhere = |word: &str| word == "here";
        assert_eq!(words.ranked(elsewhere, 10), ["pool", "billing", "rebase", "seen"]);
        assert_eq!(words.ranked(elsewhere, 2), ["pool", "rebase"]);
    }
}
