//! Texts with numbers: what is looked up often is looked up once.

use compact_str::CompactString;
use rustc_hash::FxHashMap;

/// Gives every different text a number, from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Most texts are short: stored inline they are compared where they are found, which is what a
    /// look-up costs.
    numbers: FxHashMap<CompactString, u32>,
    texts: Vec<Box<str>>,
}

impl Names {
    /// The number of a text, a new one where it has none.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        number
    }

    /// The number of a text that is known.
    pub fn get(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// The text of a number.
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// All texts, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        (0u32..).zip(self.texts.iter().map(|text| &**text))
    }
}

/// How many of each number are there.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Vec<u32>);

impl Counts {
    pub fn add(&mut self, numbers: &[u32]) {
        for number in numbers {
            let at = *number as usize;
            if at >= self.0.len() {
                self.0.resize(at + 1, 0);
            }
            self.0[at] += 1;
        }
    }

    pub fn take(&mut self, numbers: &[u32]) {
        for number in numbers {
            if let Some(count) = self.0.get_mut(*number as usize) {
                *count = count.saturating_sub(1);
            }
        }
    }

    pub fn has(&self, number: u32) -> bool {
        self.0.get(number as usize).is_some_and(|count| *count > 0)
    }
}
