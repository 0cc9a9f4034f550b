//! What requests cost: prompt caches charge little for a prefix that they have seen.

use midfold_core::calendar::Millis;
use serde::{Deserialize, Serialize};

/// A price table. All prices are for one million tokens, but for `reference`, which counts in
/// tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
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
    pub cliff: Option<PriceCliff>,
    /// Seconds after which the cache holds no prefix that nothing has asked for; never, where there are
    /// none. 300 where a file says nothing.
    #[serde(default = "five_minutes")]
    pub lifetime_seconds: Option<u64>,
    /// Prompt tokens written to a cache that lives for an hour or longer; the same as `write` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hour: Option<f64>,
}

/// What Anthropic's cache lives for, where nothing else is asked for.
pub const FIVE_MINUTES: u64 = 300;
/// What it lives for at a higher price.
pub const HOUR: u64 = 3_600;

fn five_minutes() -> Option<u64> {
    Some(FIVE_MINUTES)
}

/// A size of prompt above which prices rise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceCliff {
    /// Prompt tokens.
    pub above: u64,
    /// Factor on input, reads and writes.
    pub input: f64,
    /// Factor on output.
    pub output: f64,
}

#[derive(Deserialize)]
struct PriceFile {
    prices: Vec<PriceTable>,
}

impl PriceTable {
    /// The measure's own table: 0.1 for what is read, 1.25 for the rest, in tokens; 2 for the rest where
    /// the cache lives for an hour.
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
            lifetime_seconds: Some(FIVE_MINUTES),
            write_hour: Some(2.0),
        }
    }

    /// The tables that are built in, `reference` first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        // The file is part of the program, and a test reads it.
        let file: Result<PriceFile, _> = toml::from_str(include_str!("../data/prices.toml"));
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

    /// The same with a cache that lives for so many seconds; `None`: for ever, which nobody sells.
    #[must_use]
    pub fn living(&self, seconds: Option<u64>) -> Self {
        Self { lifetime_seconds: seconds, ..self.clone() }
    }

    /// What is written costs more where it lives for an hour or longer.
    fn written(&self) -> f64 {
        let is_long = self.lifetime_seconds.is_some_and(|seconds| seconds >= HOUR);
        self.write_hour.filter(|_| is_long).unwrap_or(self.write)
    }

    /// Whether nothing is left of the cache when the last request is so long ago.
    #[must_use]
    pub fn is_cold_after(&self, gap: Millis) -> bool {
        self.lifetime_seconds.is_some_and(|seconds| gap > seconds.saturating_mul(1_000))
    }

    /// What a prompt costs of which `prefix` tokens stood in the prompt before, in the unit of
    /// the table, and how much of it was read from the cache.
    #[must_use]
    pub fn prompt(&self, prefix: u64, tokens: u64) -> (f64, u64) {
        let cached = if prefix < self.min_prefix { 0 } else { prefix };
        let rest = tokens.saturating_sub(cached);
        let fresh = if tokens < self.min_prefix { self.input } else { self.written() };
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
    use midfold_core::spending::{PLAIN, READ, WRITE};

    use super::*;

    #[test]
    fn built_in_tables_are_read_and_have_different_names() {
        let all = PriceTable::all();
        assert!(all.len() > 5, "{all:?}");
        let names: std::collections::BTreeSet<_> = all.iter().map(|p| &p.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(
            all.iter()
                .all(|p| p.read <= p.input && p.input <= p.write * 1.001 && !p.source.is_empty())
        );
    }

    #[test]
    fn what_a_session_spent_is_reckoned_by_the_reference() {
        let own = PriceTable::reference();
        assert_eq!((own.input, own.read, own.write), (PLAIN, READ, WRITE));
    }

    #[test]
    fn a_cache_lives_as_long_as_the_table_says() {
        let own = PriceTable::reference();
        assert!(!own.is_cold_after(300_000) && own.is_cold_after(300_001));
        let hour = own.living(Some(HOUR));
        assert!(!hour.is_cold_after(3_600_000) && hour.is_cold_after(3_600_001));
        assert_eq!((own.prompt(0, 100).0, hour.prompt(0, 100).0), (125.0, 200.0));
        let never = own.living(None);
        assert!(
            !never.is_cold_after(Millis::MAX) && never.prompt(0, 100).0 == own.prompt(0, 100).0
        );
        let file = "name = 'a'\nunit = 'tokens'\ninput = 1\nread = 0.1\nwrite = 1\noutput = 5";
        let read = PriceTable::from_toml(file).unwrap();
        assert_eq!(read.lifetime_seconds, Some(300));
        assert_eq!(read.living(Some(HOUR)).prompt(0, 100).0, 100.0);
        let told = PriceTable::from_toml(&format!("{file}\nlifetime_seconds = 7200")).unwrap();
        assert_eq!(told.lifetime_seconds, Some(7_200));
    }

    #[test]
    fn a_prompt_pays_for_what_is_new_and_for_a_cliff() {
        let reference = PriceTable::reference();
        assert_eq!(reference.prompt(1_000, 1_500), (100.0 + 625.0, 1_000));
        let table = PriceTable {
            unit: "USD per million tokens".to_owned(),
            min_prefix: 1_024,
            cliff: Some(PriceCliff { above: 200_000, input: 2.0, output: 1.5 }),
            ..reference
        };
        let (small, cached) = table.prompt(1_000, 2_000);
        assert_eq!((small, cached), (2_000.0 * 1.25 / 1e6, 0));
        let (large, _) = table.prompt(0, 300_000);
        assert!((large - 2.0 * 300_000.0 * 1.25 / 1e6).abs() < 1e-12);
        assert!((table.reply(300_000, 100) - 100.0 * 5.0 * 1.5 / 1e6).abs() < 1e-12);
    }
}
