//! Numbers for texts, so that a text that is used often is looked up once.

use compact_str::CompactString;
use rustc_hash::FxHashMap;

/// Gives every different text a number, from 0.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    /// Most texts are short. Stored inline, they are compared without following a pointer, which is the main cost of a
    /// look-up.
    numbers: FxHashMap<CompactString, u32>,
    texts: Vec<CompactString>,
}

impl NameTable {
    /// The number of a text. An unknown text gets a new one.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        number
    }

    /// The number of a text; `None` where it is unknown.
    #[must_use]
    pub fn get(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// The text of a number; empty where the number is unknown.
    #[must_use]
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// The number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All texts, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        (0u32..).zip(self.texts.iter().map(CompactString::as_str))
    }
}
