//! A search over texts in memory, ranked as every store ranks: for a log that is in no store.

use std::collections::HashMap;

use crate::error::StoreError;
use crate::text::{Matcher, Postings, Ranking, words};
use crate::types::{Hit, Search, SearchMode};

/// The texts of a log, ready to be searched.
///
/// ```
/// use midfold_store::Finder;
/// let finder = Finder::new(["the port is 5432".to_owned(), "nothing".to_owned()]);
/// assert_eq!(finder.find("which port", 2, 5).unwrap()[0].seq, 0);
/// ```
pub struct Finder {
    texts: Vec<String>,
    /// The texts that have a word, in order.
    postings: HashMap<String, Vec<u64>>,
}

impl Finder {
    /// Takes in the texts of events, from event 0 on. O(text).
    #[must_use]
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let texts: Vec<String> = texts.into_iter().collect();
        let mut postings: HashMap<String, Vec<u64>> = HashMap::new();
        for (seq, text) in (0u64..).zip(&texts) {
            for word in words(text) {
                let seqs = postings.entry(word).or_default();
                if seqs.last() != Some(&seq) {
                    seqs.push(seq);
                }
            }
        }
        Self { texts, postings }
    }

    /// How many of the first `upto` events have the rarest word of a name; 0 for a name without words.
    #[must_use]
    pub fn events_with(&self, name: &str, upto: u64) -> usize {
        let seqs = words(name).filter_map(|word| self.postings.get(&word));
        seqs.map(|seqs| seqs.partition_point(|seq| *seq < upto)).min().unwrap_or(0)
    }

    /// The best `limit` of the first `upto` events for a query of words.
    ///
    /// # Errors
    /// [`StoreError::Query`] for a query without words.
    pub fn find(&self, query: &str, upto: u64, limit: u32) -> Result<Vec<Hit>, StoreError> {
        let search = Search { query: query.to_owned(), mode: SearchMode::Text, range: None, limit };
        let Matcher::Words(wanted, phrase) = Matcher::new(&search)? else { return Ok(Vec::new()) };
        let mut postings = Postings::new(upto);
        for word in &wanted {
            let seqs = self.postings.get(word).map_or(&[][..], Vec::as_slice);
            postings.push(seqs[..seqs.partition_point(|seq| *seq < upto)].to_vec());
        }
        let mut ranking = Ranking::new(&wanted, &phrase, &postings);
        for seq in postings.best() {
            let text = usize::try_from(seq).ok().and_then(|seq| self.texts.get(seq));
            ranking.push(seq, text.map_or("", String::as_str));
        }
        Ok(ranking.finish(limit))
    }
}
