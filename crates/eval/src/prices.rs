//! The prices of requests: a prompt cache charges little for a prefix that it has seen.

use midfold_core::calendar::Millis;
use serde::{Deserialize, Serialize};

/// A price table. The prices are for one million tokens; those of the table `reference` are for one token, and their
/// unit is the price of a token of plain input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// The name of the table.
    pub name: String,
    /// What the table is for, and where its figures come from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The unit of the prices: `USD per million tokens`, or `tokens`.
    pub unit: String,
    /// The price of prompt tokens for which no cache is used.
    pub input: f64,
    /// The price of prompt tokens that are read from the cache.
    pub read: f64,
    /// The price of prompt tokens that are written to the cache.
    pub write: f64,
    /// The price of output tokens.
    pub output: f64,
    /// The fewest tokens of a prefix that is cached.
    #[serde(default)]
    pub min_prefix: u64,
    /// The size from which on the whole prompt costs more. `None` where there is no such size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cliff: Option<PriceCliff>,
    /// The seconds for which the cache keeps a prefix after its last use. `None` means without end; a file that says
    /// nothing means 300.
    #[serde(default = "five_minutes")]
    pub lifetime_seconds: Option<u64>,
    /// The price of prompt tokens that are written to a cache with a lifetime of an hour or more. `None` means the
    /// price `write`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hour: Option<f64>,
}

/// The default lifetime of Anthropic's cache, in seconds.
pub const FIVE_MINUTES: u64 = 300;
/// The longer lifetime of Anthropic's cache, at a higher price, in seconds.
pub const HOUR: u64 = 3_600;

fn five_minutes() -> Option<u64> {
    Some(FIVE_MINUTES)
}

/// A size of prompt above which prices rise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceCliff {
    /// The number of prompt tokens above which the factors apply.
    pub above: u64,
    /// The factor on input, reads and writes.
    pub input: f64,
    /// The factor on output.
    pub output: f64,
}

/// The file of built-in tables.
#[derive(Deserialize)]
struct PriceFile {
    prices: Vec<PriceTable>,
}

impl PriceTable {
    /// The table of `docs/MEASURES.md`. Its unit is the price of a token of plain input. A token that is read from the
    /// cache costs 0.1. One that is written to it costs 1.25, or 2 where the cache lives for an hour. One of output costs 5.
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

    /// The built-in tables, `reference` first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        // The file is built in, and a test checks it, so an error cannot happen here.
        let file: Result<PriceFile, _> = toml::from_str(include_str!("../data/prices.toml"));
        let known = file.map(|file| file.prices).unwrap_or_default();
        std::iter::once(Self::reference()).chain(known).collect()
    }

    /// Reads a table from TOML.
    ///
    /// # Errors
    /// The text is no TOML, or a key is missing or unknown.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The built-in table of this name. `None` for an unknown name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|prices| prices.name == name)
    }

    /// The same table with a cache that lives for this many seconds. `None` means without end, which no provider sells.
    #[must_use]
    pub fn living(&self, seconds: Option<u64>) -> Self {
        Self { lifetime_seconds: seconds, ..self.clone() }
    }

    /// The price of written tokens, which is higher where the cache lives for an hour or more.
    fn written(&self) -> f64 {
        let is_long = self.lifetime_seconds.is_some_and(|seconds| seconds >= HOUR);
        self.write_hour.filter(|_| is_long).unwrap_or(self.write)
    }

    /// Whether the cache has expired after a gap of this many milliseconds between two requests.
    #[must_use]
    pub fn is_cold_after(&self, gap: Millis) -> bool {
        self.lifetime_seconds.is_some_and(|seconds| gap > seconds.saturating_mul(1_000))
    }

    /// The cost of a prompt of which the first `prefix` tokens were in the prompt before, in the unit of the table, and
    /// the number of tokens that were read from the cache.
    #[must_use]
    pub fn prompt(&self, prefix: u64, tokens: u64) -> (f64, u64) {
        let cached = if prefix < self.min_prefix { 0 } else { prefix };
        let rest = tokens.saturating_sub(cached);
        // A prompt below that size is not written to the cache either.
        let fresh = if tokens < self.min_prefix { self.input } else { self.written() };
        let factor = self.cliff.filter(|cliff| tokens > cliff.above).map_or(1.0, |c| c.input);
        ((cached as f64 * self.read + rest as f64 * fresh) * factor / self.scale(), cached)
    }

    /// The cost of a reply of `tokens` tokens after a prompt of `prompt` tokens.
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
        let table = PriceTable::from_toml(&format!("{file}\nlifetime_seconds = 7200")).unwrap();
        assert_eq!(table.lifetime_seconds, Some(7_200));
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
