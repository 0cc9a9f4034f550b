//! Finds many known texts in one pass.
//!
//! A text begins with a few bytes that few places of an input have. So a table of these beginnings tells at each place
//! whether a known text may begin there, and only there are the texts compared. Such a table is made in microseconds,
//! while an automaton for the same texts takes milliseconds: most inputs are shorter than that. Texts can be added at
//! any time.

use std::ops::Range;

use compact_str::CompactString;

/// How many bytes the table looks at.
const BEGINNING: usize = 3;
/// The number of places in the table, as a power of two.
const BITS: u32 = 14;
/// Spreads beginnings over the table. Of several such primes, this one gives the fewest places of source code, logs and
/// prose the same place as a secret's keyword.
const SPREAD: u32 = 0x1656_67B1;
/// The bit that tells small letters from capitals in ASCII.
const SMALL: u8 = 0x20;

/// Whether capitals and small letters of ASCII are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LetterCase {
    /// They are different.
    #[default]
    Exact,
    /// They are the same.
    Any,
}

impl LetterCase {
    /// The bits of four bytes that make no difference.
    fn fold(self) -> u32 {
        match self {
            Self::Exact => 0,
            Self::Any => u32::from_le_bytes([SMALL; 4]),
        }
    }
}

/// The place in the table of the three lowest bytes of four.
fn place(beginning: u32, fold: u32) -> usize {
    (((beginning | fold) & 0x00FF_FFFF).wrapping_mul(SPREAD) >> (u32::BITS - BITS)) as usize
}

/// Known texts, and the table by which they are found.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextFinder {
    case: LetterCase,
    texts: Vec<CompactString>,
    /// For each place of the table, the number of the newest entry there; 0 for none. Empty without texts.
    table: Vec<u16>,
    /// The texts by place. Entries are numbered from 1.
    entries: Vec<TextEntry>,
}

/// A text at its place of the table.
#[derive(Clone, Copy, Debug)]
struct TextEntry {
    /// The first four bytes of the text. They distinguish most texts of a place.
    start: u32,
    /// The bits of `start` that count.
    mask: u32,
    /// The index of the text.
    text: u16,
    /// The next entry of the same place; 0 for none.
    next: u16,
}

/// A known text that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundText {
    /// The byte range in the input.
    pub at: Range<usize>,
    /// The index of the text, in the order in which texts were added.
    pub text: usize,
}

impl TextFinder {
    /// A finder of these texts: see [`TextFinder::add`].
    pub fn new<'t>(case: LetterCase, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut finder = Self { case, ..Self::default() };
        texts.into_iter().for_each(|text| finder.add(text));
        finder
    }

    /// Adds a text of at least two bytes. A shorter one is never found, and neither is one of more than 65,000.
    pub fn add(&mut self, text: &str) {
        let Ok(number) = u16::try_from(self.texts.len()) else { return };
        self.texts.push(text.into());
        if self.table.is_empty() {
            self.table = vec![0; 1 << BITS];
        }
        match *text.as_bytes() {
            [one, two, three, ..] => self.enter([one, two, three], number),
            // Any byte may follow.
            [one, two] => (0..=u8::MAX).for_each(|three| self.enter([one, two, three], number)),
            _ => {}
        }
    }

    fn enter(&mut self, beginning: [u8; BEGINNING], number: u16) {
        let [one, two, three] = beginning;
        let fold = self.case.fold();
        let place = place(u32::from_le_bytes([one, two, three, 0]), fold);
        let next = self.table[place];
        let is_same = |at: usize| self.entries.get(at).is_some_and(|entry| entry.text == number);
        // A text of two bytes gets one place several times.
        if usize::from(next).checked_sub(1).is_some_and(is_same) {
            return;
        }
        let Ok(entry) = u16::try_from(self.entries.len() + 1) else { return };
        let start = |byte: fn(u8) -> u8| {
            let mut start = [0; 4];
            let text = self.texts.last().map_or(&[][..], |text| text.as_bytes());
            start.iter_mut().zip(text).for_each(|(start, own)| *start = byte(*own));
            u32::from_le_bytes(start)
        };
        let mask = start(|_| u8::MAX);
        let start = (start(|own| own) | fold) & mask;
        self.entries.push(TextEntry { start, mask, text: number, next });
        self.table[place] = entry;
    }

    /// All places of all texts, in the order in which they begin. Texts may overlap.
    pub fn find<'a>(&'a self, input: &'a str) -> FoundTexts<'a> {
        FoundTexts { finder: self, input: input.as_bytes(), at: 0, entry: 0 }
    }

    /// The first of these entries of one place with the same first bytes as the input; 0 for none.
    fn alike(&self, mut entry: u16, input: u32, fold: u32) -> u16 {
        while let Some(known) = self.entry(entry) {
            if (input | fold) & known.mask == known.start {
                return entry;
            }
            entry = known.next;
        }
        0
    }

    fn entry(&self, number: u16) -> Option<&TextEntry> {
        usize::from(number).checked_sub(1).and_then(|at| self.entries.get(at))
    }

    /// The first place at or behind `at` where a text begins with the same bytes, with its entry. `None` where there is
    /// none.
    fn next_place(&self, input: &[u8], mut at: usize) -> Option<(usize, u16)> {
        /// The places of which four bytes are among eight.
        const PLACES: usize = 8 + 1 - 4;
        let table = self.table.first_chunk::<{ 1 << BITS }>()?;
        let fold = self.case.fold();
        while let Some(bytes) = input.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let bytes = u64::from_le_bytes(*bytes);
            for more in 0..PLACES {
                let four = (bytes >> (8 * more)) as u32;
                let entry = table[place(four, fold) & (table.len() - 1)];
                if entry != 0 {
                    let entry = self.alike(entry, four, fold);
                    if entry != 0 {
                        return Some((at + more, entry));
                    }
                }
            }
            at += PLACES;
        }
        while let Some(rest) = input.get(at..).filter(|rest| rest.len() > 1) {
            let four = first_four(rest);
            let entry = self.alike(table[place(four, fold)], four, fold);
            if entry != 0 {
                return Some((at, entry));
            }
            at += 1;
        }
        None
    }
}

/// The first four bytes; zeros where there are fewer.
fn first_four(bytes: &[u8]) -> u32 {
    let mut four = [0; 4];
    four.iter_mut().zip(bytes).for_each(|(four, byte)| *four = *byte);
    u32::from_le_bytes(four)
}

/// The iterator that [`TextFinder::find`] returns.
pub(crate) struct FoundTexts<'a> {
    finder: &'a TextFinder,
    input: &'a [u8],
    /// Where the search is.
    at: usize,
    /// The next entry to compare there; 0 for none.
    entry: u16,
}

impl FoundTexts<'_> {
    /// Goes on at this byte, and leaves out what begins before it.
    pub fn skip_to(&mut self, at: usize) {
        if at >= self.at {
            (self.at, self.entry) = (at, 0);
        }
    }
}

impl Iterator for FoundTexts<'_> {
    type Item = FoundText;

    fn next(&mut self) -> Option<FoundText> {
        loop {
            while let Some(entry) = self.finder.entry(self.entry) {
                let (start, text) = (self.at, usize::from(entry.text));
                self.entry = entry.next;
                if entry.next == 0 {
                    self.at += 1;
                }
                let known = self.finder.texts[text].as_bytes();
                let Some(part) = self.input.get(start..start + known.len()) else { continue };
                let same = match self.finder.case {
                    LetterCase::Exact => part == known,
                    LetterCase::Any => part.eq_ignore_ascii_case(known),
                };
                if same {
                    return Some(FoundText { at: start..start + part.len(), text });
                }
            }
            (self.at, self.entry) = self.finder.next_place(self.input, self.at)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All places, by comparing everywhere.
    fn slow(texts: &[String], case: LetterCase, input: &str) -> Vec<(usize, usize)> {
        let fold = |text: &str| match case {
            LetterCase::Exact => text.to_owned(),
            LetterCase::Any => text.to_ascii_lowercase(),
        };
        let input = fold(input);
        let starts = (0..input.len()).filter(|at| input.is_char_boundary(*at));
        let places = starts.flat_map(|at| {
            let fits = |(_, text): &(usize, &String)| input[at..].starts_with(&fold(text));
            let all = texts.iter().enumerate().filter(|one| one.1.len() > 1).filter(fits);
            all.map(|(number, _)| (at, number)).collect::<Vec<_>>()
        });
        places.collect()
    }

    proptest::proptest! {
        #[test]
        fn every_place_is_found(
            texts in proptest::collection::vec("[abKk é-]{1,6}", 0..40),
            input in "[abABkK é-]{0,60}",
        ) {
            for case in [LetterCase::Exact, LetterCase::Any] {
                let finder = TextFinder::new(case, texts.iter().map(String::as_str));
                let mut places: Vec<_> =
                    finder.find(&input).map(|hit| (hit.at.start, hit.text)).collect();
                proptest::prop_assert!(places.is_sorted_by_key(|(at, _)| *at));
                places.sort_unstable();
                proptest::prop_assert_eq!(places, slow(&texts, case, &input));
            }
        }
    }

    #[test]
    fn a_search_can_go_on_behind_a_place() {
        let finder = TextFinder::new(LetterCase::Any, ["fail", "error"]);
        let mut hits = finder.find("FAIL fail: Error");
        assert_eq!(hits.next(), Some(FoundText { at: 0..4, text: 0 }));
        hits.skip_to(6);
        assert_eq!(hits.next(), Some(FoundText { at: 11..16, text: 1 }));
        assert_eq!(hits.next(), None);
        assert!(TextFinder::default().find("anything").next().is_none());
    }
}
