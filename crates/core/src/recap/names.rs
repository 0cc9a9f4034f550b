//! Finds names that a narration uses and that no event has.
//!
//! A name is grounded where each of its parts occurs in the log. A writer puts names such as `fields.py:308`,
//! `docs/refactor.md#WP7`, `Session.append` or a relative path together from parts that it read. Numbers and parts of
//! fewer than three letters are not judged. A name in `snake_case` is copied as a whole, so it is one part.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::identifiers;
use crate::log::EventLog;
use crate::narrate::SummaryRequest;
use crate::recap::ordinary::is_ordinary;
use crate::view::{BlockKind, TextRef};

/// A shorter part is an ending or an article, and proves nothing.
const MIN_PART: usize = 3;
/// The start of a hash has to have this many hex digits to be taken for the hash.
const SHORT_HASH: usize = 7;

/// The names of each text that occur in no event before `end`. Names in the earlier narration, the focus and the
/// date are known, too.
pub(crate) fn invented<'a>(
    log: &EventLog,
    end: usize,
    request: &SummaryRequest,
    texts: &'a [String],
) -> Vec<Vec<&'a str>> {
    let mut search =
        WordSearch::new(texts.iter().flat_map(|text| identifiers(text)).flat_map(parts));
    search.look_through(log, end, request);
    let is_new = |id: &&str| !parts(id).all(|part| search.has(part));
    texts.iter().map(|text| identifiers(text).filter(is_new).collect()).collect()
}

/// The parts of a name that have to occur somewhere.
fn parts(id: &str) -> impl Iterator<Item = &str> {
    let id = if is_choice(id) { "" } else { id };
    let words = id.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|part| part.len() >= MIN_PART && !is_number(part) && !is_ordinary(part))
}

/// Whether a name is two plain words with a slash that means "or", such as `read/write`, and no path.
fn is_choice(id: &str) -> bool {
    let mut words = id.split('/');
    let is_plain = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase());
    id.contains('/') && words.clone().count() == 2 && words.all(is_plain)
}

/// Whether a part is a number, also with a unit or a version mark: `200ms`, `v2`, `x86`, `0x1f`.
fn is_number(part: &str) -> bool {
    let bare = part.strip_prefix(['v', 'x', 'V']).unwrap_or(part).trim_matches('_');
    let digits = bare.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit = bare.len() - digits.len();
    !digits.is_empty() && unit <= 3 && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// The spellings by which a part counts as found, the part itself first. All words of one spelling have to occur.
fn spellings(part: &str) -> Vec<Vec<&str>> {
    let mut out = vec![vec![part]];
    if let Some(one) = part.strip_suffix('s').filter(|one| one.len() >= MIN_PART) {
        out.push(vec![one]);
    }
    let humps = humps(part);
    if humps.len() > 1 && humps.iter().all(|hump| hump.len() >= 2) {
        out.push(humps);
    }
    out
}

/// Splits `WebWorker` into `Web` and `Worker`. Empty for a part that holds anything but letters.
fn humps(part: &str) -> Vec<&str> {
    if !part.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let bytes = part.as_bytes();
    let (mut out, mut from) = (Vec::new(), 0);
    for at in 1..bytes.len() {
        let next_is_low = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        if bytes[at].is_ascii_uppercase() && (bytes[at - 1].is_ascii_lowercase() || next_is_low) {
            out.push(&part[from..at]);
            from = at;
        }
    }
    out.push(&part[from..]);
    out
}

/// Searches the log for all words of all spellings at once.
struct WordSearch<'a> {
    /// All words of all spellings, in the order of the automaton's patterns.
    words: Vec<&'a str>,
    /// The spellings of each part: see [`spellings`].
    spellings: FxHashMap<&'a str, Vec<Vec<&'a str>>>,
    /// The words that were found so far.
    seen_words: FxHashSet<&'a str>,
    automaton: Option<AhoCorasick>,
}

impl<'a> WordSearch<'a> {
    fn new(parts: impl Iterator<Item = &'a str>) -> Self {
        let spellings: FxHashMap<_, _> = parts.map(|part| (part, spellings(part))).collect();
        let mut words: Vec<&str> = spellings.values().flatten().flatten().copied().collect();
        words.sort_unstable();
        words.dedup();
        let automaton = AhoCorasick::builder()
            // Overlapping hits need this kind: one word may be inside another.
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(&words)
            .ok();
        Self { words, spellings, seen_words: FxHashSet::default(), automaton }
    }

    /// Searches the request and the events before `end`, until every word is found.
    fn look_through(&mut self, log: &EventLog, end: usize, request: &SummaryRequest) {
        for known in [&request.previous, &request.focus, &request.today].into_iter().flatten() {
            self.look_in(known);
        }
        let mut scratch = String::new();
        for event in log.events().iter().take(end) {
            for block in &event.view.blocks {
                self.look_in(block.plain_with(&event.bytes, &mut scratch));
                if let BlockKind::Call { name: Some(name), .. }
                | BlockKind::Result { name: Some(name), .. } = &block.kind
                {
                    self.look_in(&name.decode(&event.bytes));
                }
            }
        }
        // Call ids and file names of media are in no block, so the raw messages are searched last.
        for event in log.events().iter().take(end) {
            if self.is_done() {
                return;
            }
            self.look_in(&raw(&event.bytes));
        }
    }

    /// Notes the words that a text holds as whole words.
    fn look_in(&mut self, text: &str) {
        let Some(automaton) = self.automaton.as_ref().filter(|_| !self.is_done()) else { return };
        for hit in automaton.find_overlapping_iter(text) {
            let word = self.words[hit.pattern().as_usize()];
            if !self.seen_words.contains(word) && stands_alone(text, word, hit.start(), hit.end()) {
                self.seen_words.insert(word);
            }
        }
    }

    /// Whether all words of some spelling of this part were found.
    fn has(&self, part: &str) -> bool {
        let all = |words: &Vec<&str>| words.iter().all(|word| self.seen_words.contains(word));
        self.spellings.get(part).is_some_and(|spellings| spellings.iter().any(all))
    }

    fn is_done(&self) -> bool {
        self.seen_words.len() == self.words.len()
    }
}

fn raw(bytes: &[u8]) -> Cow<'_, str> {
    let all = crate::view::ByteRange::new(0, bytes.len());
    TextRef::raw(all).decode(bytes)
}

/// Whether a found word is a whole word, or the start of a hash.
fn stands_alone(text: &str, word: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let inside = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(inside);
    // In raw JSON, the letter of an escape such as `\n` may be right before the name.
    let escaped = start >= 2 && bytes[start - 2] == b'\\';
    let starts_one = is_short_hash(word) && bytes.get(end).is_some_and(u8::is_ascii_hexdigit);
    (!before || escaped) && (starts_one || !bytes.get(end).is_some_and(inside))
}

/// Whether a word may be the start of a hash: hex digits, with a decimal one among them.
fn is_short_hash(word: &str) -> bool {
    word.len() >= SHORT_HASH
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_as_good_as_its_parts() {
        let read = "def append(self) in class Session; src/core/fields.py, line 308: commit \
                    17015f9ab3c4d5; docs/refactor.md has WP7; a web worker; README.md";
        let texts = [
            "fields.py:308 Session.append docs/refactor.md#WP7 core/fields.py src/…/fields.py:12",
            "17015f9 WebWorker READMEs src/{core,docs}/refactor.md append() v2.1.0 200ms 196-223",
            "and/or read/write 2026-11-22 append(self) Session<Worker> 0.7.1 #30323",
            "fields.rs:308 ghost.py src/core/phantom_fields.py Session.prepend 99915f9",
        ]
        .map(str::to_owned);
        let mut search = WordSearch::new(texts.iter().flat_map(|t| identifiers(t)).flat_map(parts));
        search.look_in(read);
        let new = |text: &String| -> Vec<String> {
            let is_new = |id: &&str| !parts(id).all(|part| search.has(part));
            identifiers(text).filter(is_new).map(str::to_owned).collect()
        };
        for text in &texts[..3] {
            assert_eq!(new(text), Vec::<String>::new(), "{text}");
        }
        let wanted = ["ghost.py", "src/core/phantom_fields.py", "Session.prepend", "99915f9"];
        assert_eq!(new(&texts[3]), wanted, "endings of two letters are not judged");
    }

    #[test]
    fn numbers_are_no_names() {
        for (part, number) in [
            ("308", true),
            ("v2", true),
            ("200ms", true),
            ("x86", true),
            ("a1b2", false),
            ("WP7", false),
        ] {
            assert_eq!(is_number(part), number, "{part}");
        }
        assert_eq!(humps("getHTTPResponse"), ["get", "HTTP", "Response"]);
        assert!(humps("a_b").is_empty());
    }
}
