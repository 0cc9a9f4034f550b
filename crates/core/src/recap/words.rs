//! The words of a text as numbers, and how common each word is. A recap compares deeds by these numbers, which are
//! made once, when a deed enters.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// The numbers of the distinct words of a text.
pub(super) type WordNumbers = Box<[u32]>;

/// In scripts without spaces, each pair of letters counts as a word. A run of more letters than this is taken for such.
const LONGEST_WORD: usize = 12;

/// The words of a text: runs of letters and digits of at least three characters, figures of any length. Case and a
/// plural `s` make no difference. A word that is a name or a figure is marked: see [`is_name`].
pub(super) fn words(text: &str) -> WordNumbers {
    let mut numbers: Vec<u32> = Vec::new();
    // Between backticks, each word is a name. A capital letter makes a name of a word inside a sentence only.
    let (mut in_code, mut is_inside, mut from) = (false, false, 0);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(start) = text[from..].find(|c: char| is_part(c) || c == '`').map(|at| from + at)
    {
        if text[from..start].contains(['.', '!', '?', ':']) {
            is_inside = false;
        }
        if text[start..].starts_with('`') {
            in_code = !in_code;
            from = start + 1;
            continue;
        }
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |at| start + at);
        let word = &text[start..end];
        let is_name = in_code
            || looks_like_name(word)
            || is_inside && word.starts_with(char::is_uppercase) && word.len() > 1;
        add(word, is_name, &mut numbers);
        (is_inside, from) = (true, end);
    }
    numbers.sort_unstable();
    // Of a marked and an unmarked number of the same word, the marked one is the second.
    numbers.reverse();
    numbers.dedup_by_key(|number| key(*number));
    numbers.reverse();
    numbers.into()
}

/// Adds the number of a word; of a long run without spaces, the numbers of its pairs of letters.
fn add(word: &str, is_name: bool, numbers: &mut Vec<u32>) {
    if !word.is_ascii() && word.chars().nth(LONGEST_WORD).is_some() {
        let letters: Vec<usize> =
            word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
        // Three borders enclose two letters.
        numbers.extend(letters.windows(3).map(|pair| number(&word[pair[0]..pair[2]])));
    } else if word.len() > 2 || word.bytes().any(|b| b.is_ascii_digit()) {
        numbers.push(number(word) | u32::from(is_name));
    }
}

/// The number of a word, without a mark.
fn number(word: &str) -> u32 {
    let word = match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem,
        _ => word,
    };
    let hash = match word.bytes().any(|b| b.is_ascii_uppercase() || b >= 128) {
        true => FxBuildHasher.hash_one(word.to_lowercase()),
        false => FxBuildHasher.hash_one(word),
    };
    // The upper half is mixed best.
    (hash >> 32) as u32 & !1
}

/// Whether the word with this number is a name or a figure, which people do not use by chance.
pub(super) fn is_name(number: u32) -> bool {
    number & 1 == 1
}

/// The number by which a word is found, whether it is marked or not.
pub(super) fn key(number: u32) -> u32 {
    number & !1
}

/// Whether a word holds an underscore, a capital letter inside, or at least three characters with a digit.
fn looks_like_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    let has_digit = bytes.len() > 2 && bytes.iter().any(u8::is_ascii_digit);
    let has_hump =
        bytes.windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    has_digit || has_hump || bytes.contains(&b'_')
}

/// How a word was used.
#[derive(Clone, Copy, Debug, Default)]
struct WordUse {
    /// How many deeds hold it.
    deeds: u32,
    /// The last message in which the assistant said it.
    last_said: u32,
    /// The last message in which a call of the assistant held it.
    called: u32,
}

/// How all words of a span were used.
#[derive(Clone, Debug, Default)]
pub(super) struct WordTable {
    uses: FxHashMap<u32, WordUse>,
    /// The number of deeds.
    deeds: u32,
}

impl WordTable {
    /// Counts the words of a deed. `message` is the number of its message, where the assistant said them.
    pub fn add<'a>(&mut self, words: impl Iterator<Item = &'a WordNumbers>, message: Option<u32>) {
        self.deeds += 1;
        let mut own: Vec<u32> =
            words.flat_map(|words| words.iter().map(|word| key(*word))).collect();
        own.sort_unstable();
        own.dedup();
        for word in own {
            let used = self.uses.entry(word).or_default();
            used.deeds += 1;
            used.last_said = used.last_said.max(message.unwrap_or(0));
        }
    }

    /// Notes the words in the arguments of a call.
    pub fn note_called(&mut self, words: &[u32], message: u32) {
        for word in words {
            self.uses.entry(key(*word)).or_default().called = message;
        }
    }

    /// How much a word tells: four for each halving of the share of deeds that hold it, and [`NAME`] times that for a
    /// name.
    pub fn rarity(&self, word: u32) -> u64 {
        let deed_count = self.uses.get(&key(word)).map_or(1, |used| used.deeds.max(1));
        Self::weight(word) * self.deeds_log().saturating_sub(log2(deed_count))
    }

    /// The rarity of a word that no deed holds yet.
    pub fn deeds_log(&self) -> u64 {
        log2(self.deeds + 1)
    }

    /// [`NAME`] for a name, and 1 for another word.
    pub fn weight(word: u32) -> u64 {
        if is_name(word) { NAME } else { 1 }
    }

    /// Whether a word is a name in so few deeds that it singles them out.
    pub fn is_rare_name(&self, word: u32) -> bool {
        is_name(word) && self.uses.get(&key(word)).is_none_or(|used| used.deeds <= RARE)
    }

    /// Whether the assistant said a word, or used it in a call, after a message.
    pub fn is_used_after(&self, word: u32, message: u32) -> bool {
        self.uses.get(&key(word)).is_some_and(|used| used.last_said.max(used.called) > message)
    }

    /// Whether the assistant said all of these words after a message.
    pub fn are_said_after(&self, words: &[u32], message: u32) -> bool {
        let is_said =
            |word: &u32| self.uses.get(&key(*word)).is_some_and(|used| used.last_said > message);
        words.iter().all(is_said)
    }
}

/// A name in at most this many deeds is rare: that in which it came up, and a few that are about it.
const RARE: u32 = 4;

/// A name or a figure tells as much as this many other words.
const NAME: u64 = 2;

/// A set of words, by their keys.
pub(super) type WordSet = FxHashSet<u32>;

/// `4 × log2(n)`, interpolated linearly between powers of two, so that it is the same on each machine.
fn log2(n: u32) -> u64 {
    let n = u64::from(n.max(1));
    let whole = u64::from(n.ilog2());
    let base = 1_u64 << whole;
    4 * whole + 4 * (n - base) / base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_plural_make_no_difference() {
        assert_eq!(words("The ports of a_b: 7"), words("the port, of a_b 7"));
        assert_ne!(words("class"), words("clas"));
    }

    #[test]
    fn names_and_figures_are_marked() {
        let names = |text: &str| words(text).iter().filter(|word| is_name(**word)).count();
        assert_eq!(names("Then call it Walnut, at 8123, by make_it and `load`."), 4);
        assert_eq!(names("Let me look at this now. The rest is fine."), 0);
        assert_eq!(key(words("`load`")[0]), key(words("load")[0]));
    }

    #[test]
    fn scripts_without_spaces_have_pairs() {
        let pairs = words("不要把文件夹放在这里因为它是共享的");
        assert_eq!(pairs.len(), 16);
        assert!(words("文件夹").len() == 1, "a short run is one word");
    }

    #[test]
    fn a_word_of_few_deeds_tells_more() {
        let mut table = WordTable::default();
        for at in 0..16 {
            table.add([words(&format!("the number{at}"))].iter(), Some(at));
        }
        let of = |text: &str| words(text)[0];
        assert!(table.rarity(of("number7")) > 3 * table.rarity(of("the")).max(1));
        assert!(table.is_rare_name(of("number7")) && !table.is_rare_name(of("the")));
        assert!(table.is_used_after(of("the"), 14) && !table.is_used_after(of("number7"), 7));
    }
}
