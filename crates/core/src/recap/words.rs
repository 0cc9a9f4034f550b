//! Plain words: names that no shape tells from prose, such as `pool`, `billing` or `rebase`. Those
//! that the assistant wrote come first, and of these the short ones: more of them fit.

use std::ops::Range;

use compact_str::CompactString;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::log::Event;
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

/// How a word was used.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    count: u32,
    said: bool,
    last: u32,
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
    /// The words of these events, and of single blocks beside them: event and place in it. What was
    /// taken in before is read again only where it was something else: planning a fold asks for
    /// the same once for each size of recap that it tries.
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
        for event in runs.iter().flat_map(|run| &events[run.clone()]) {
            if event.view.origin == Origin::Recap {
                words.carry(&event.text());
                continue;
            }
            event.view.blocks.iter().for_each(|block| words.add(event, block));
        }
        for (at, index) in blocks {
            words.add(&events[*at], &events[*at].view.blocks[*index]);
        }
        words
    }

    fn add(&mut self, event: &Event, block: &Block) {
        if matches!(block.kind, BlockKind::Reasoning { .. } | BlockKind::Opaque) {
            return;
        }
        let text = block.text(&event.bytes);
        // What is hidden by its name is a word like any other once the name is gone.
        let (text, _) = Redactor::shared().redact(&text);
        let said = event.view.role == Role::Assistant && !block.is_result();
        for word in text.split(REPLACEMENT).flat_map(words) {
            if word.bytes().any(|byte| byte.is_ascii_digit()) {
                continue;
            }
            let used = self.table.entry(word.into()).or_default();
            used.count += 1;
            used.said |= said;
            used.last = event.seq;
        }
    }

    fn carry(&mut self, recap: &str) {
        let lines = recap.lines();
        let lines =
            lines.skip_while(|line| line.strip_prefix("### ") != Some(section::WORDS)).skip(1);
        let own = lines.take_while(|line| !line.starts_with("### ") && *line != END);
        let own = own.filter_map(|line| line.strip_prefix(LABEL));
        self.carried.extend(own.flat_map(str::split_whitespace).map(str::to_owned));
    }

    /// Those that stand nowhere else, best first; `room` is how many can be named at all.
    #[must_use]
    pub fn ranked(&self, elsewhere: &FxHashSet<&str>, room: usize) -> Vec<&str> {
        let mut own = Vec::new();
        let mut other = Vec::new();
        for (word, used) in &self.table {
            if used.count <= RARE && !elsewhere.contains(word.as_str()) {
                let list = if used.said { &mut own } else { &mut other };
                list.push((word.len(), u32::MAX - used.last, word.as_str()));
            }
        }
        own.sort_unstable();
        other.sort_unstable();
        let first = own.len().min(room * OWN / 10);
        let carried = self.carried.iter().map(String::as_str);
        let carried = carried.filter(|word| !elsewhere.contains(word));
        let mut seen = FxHashSet::default();
        let all = own[..first].iter().map(|w| w.2).chain(carried);
        let all = all.chain(own[first..].iter().chain(&other).map(|w| w.2));
        all.filter(|word| seen.insert(*word)).take(room).collect()
    }
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
    let start = text.as_ptr() as usize;
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(move |word| {
        let at = word.as_ptr() as usize - start;
        let escaped = at > 0 && text.as_bytes()[at - 1] == b'\\';
        let word = match escaped {
            true => word.strip_prefix(['n', 't', 'r']).unwrap_or(word),
            false => word,
        };
        LENGTHS.contains(&word.len()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_escapes_are_none() {
        let text = "let pool_size = a.b(\"x\\nretry\\tonce\"); né 12ab";
        let found: Vec<_> = words(text).collect();
        assert_eq!(found, ["let", "pool_size", "retry", "once", "né", "12ab"]);
    }

    #[test]
    fn what_the_assistant_wrote_comes_first_then_what_was_handed_on() {
        let used = |said, count| Use { count, said, last: 1 };
        let table = [
            ("billing", used(true, 1)),
            ("pool", used(true, 4)),
            ("often", used(true, 5)),
            ("seen", used(false, 1)),
            ("here", used(true, 1)),
        ];
        let table = table.map(|(word, used)| (CompactString::from(word), used));
        let table = table.into_iter().collect();
        let words =
            Words { table, carried: vec!["rebase".into(), "here".into()], ..Words::default() };
        let elsewhere = FxHashSet::from_iter(["here"]);
        assert_eq!(words.ranked(&elsewhere, 10), ["pool", "billing", "rebase", "seen"]);
        assert_eq!(words.ranked(&elsewhere, 2), ["pool", "rebase"]);
    }
}
