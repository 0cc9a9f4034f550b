//! What requests cost: prompt caches charge little for a prefix that they have seen.

use serde::{Deserialize, Serialize};

/// A price table. All prices are for one million tokens, but for `reference`, which counts in
/// tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Its name.
    pub name: String,
    /// What it is of, and where the figures are from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Unit of the prices: `USD per million tokens`, or `tokens`.
    pub unit: String,
    /// Prompt tokens that no cache is asked for.
    pub input: f64,
    /// Prompt tokens read from the cache.
    pub read: f64,
    /// Prompt tokens written to the cache.
    pub write: f64,
    /// Output tokens.
    pub output: f64,
    /// A shorter prefix is not cached, in tokens.
    #[serde(default)]
    pub min_prefix: u64,
    /// From this size on the whole prompt costs more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cliff: Option<Cliff>,
}

/// A size of prompt above which prices rise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cliff {
    /// Prompt tokens.
    pub above: u64,
    /// Factor on input, reads and writes.
    pub input: f64,
    /// Factor on output.
    pub output: f64,
}

#[derive(Deserialize)]
struct File {
    prices: Vec<Prices>,
}

impl Prices {
    /// The measure's own table: 0.1 for what is read, 1.25 for the rest, in tokens.
    #[must_use]
    pub fn reference() -> Self {
        Self {
            name: "reference".to_owned(),
            source: "docs/MEASURES.md".to_owned(),
            unit: "tokens".to_owned(),
            input: 1.0,
            read: 0.1,
            write: 1.25,
            output: 5.0,
            min_prefix: 0,
            cliff: None,
        }
    }

    /// The tables that are built in, `reference` first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        // The file is part of the program, and a test reads it.
        let file: Result<File, _> = toml::from_str(include_str!("../data/prices.toml"));
        let known = file.map(|file| file.prices).unwrap_or_default();
        std::iter::once(Self::reference()).chain(known).collect()
    }

    /// Reads a table from TOML.
    ///
    /// # Errors
    /// When the text is no TOML, or a key is missing or unknown.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// A table by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|prices| prices.name == name)
    }

    /// What a prompt costs of which `prefix` tokens stood in the prompt before, in the unit of
    /// the table, and how much of it was read from the cache.
    #[must_use]
    pub fn prompt(&self, prefix: u64, tokens: u64) -> (f64, u64) {
        let cached = if prefix < self.min_prefix { 0 } else { prefix };
        let rest = tokens.saturating_sub(cached);
        let fresh = if tokens < self.min_prefix { self.input } else { self.write };
        let factor = self.cliff.filter(|cliff| tokens > cliff.above).map_or(1.0, |c| c.input);
        ((cached as f64 * self.read + rest as f64 * fresh) * factor / self.scale(), cached)
    }

    /// What a reply costs that followed a prompt of this size.
    #[must_use]
    pub fn reply(&self, prompt: u64, tokens: u64) -> f64 {
        let factor = self.cliff.filter(|cliff| prompt > cliff.above).map_or(1.0, |c| c.output);
        tokens as f64 * self.output * factor / self.scale()
    }

    fn scale(&self) -> f64 {
        if self.unit == "tokens" { 1.0 } else { 1e6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_tables_are_read_and_have_different_names() {
        let all = Prices::all();
        assert!(all.len() > 5, "{all:?}");
        let names: std::collections::BTreeSet<_> = all.iter().map(|p| &p.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(
            all.iter()
                .all(|p| p.read <= p.input && p.input <= p.write * 1.001 && !p.source.is_empty())
        );
    }

    #[test]
    fn a_prompt_pays_for_what_is_new_and_for_a_cliff() {
        let reference = Prices::reference();
        assert_eq!(reference.prompt(1_000, 1_500), (100.0 + 625.0, 1_000));
        let table = Prices {
            unit: "USD per million tokens".to_owned(),
            min_prefix: 1_024,
            cliff: Some(Cliff { above: 200_000, input: 2.0, output: 1.5 }),
            ..reference
        };
        let (small, cached) = table.prompt(1_000, 2_000);
        assert_eq!((small, cached), (2_000.0 * 1.25 / 1e6, 0));
        let (large, _) = table.prompt(0, 300_000);
        assert!((large - 2.0 * 300_000.0 * 1.25 / 1e6).abs() < 1e-12);
        assert!((table.reply(300_000, 100) - 100.0 * 5.0 * 1.5 / 1e6).abs() < 1e-12);
    }
}
