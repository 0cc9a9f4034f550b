//! `dedup`: of identical results the newest stays; the others become a line that points to it.

use rustc_hash::FxHashMap;

use super::{Middle, MiddleBudget, Reducer, ReducerState};
use crate::policy::ReducerName;

/// The reducer `dedup`.
pub struct DedupReducer;

/// The text in the place of a duplicate.
pub const DUPLICATE: &str = "[Duplicate tool output: a later call returned the same content]";

impl Reducer for DedupReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Dedup
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        _: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        let min = state.policy.dedup.min_chars;
        // The newest result with each text, up to the end of the log: it may lie in the tail.
        let mut newest: FxHashMap<blake3::Hash, usize> = FxHashMap::default();
        let mut hashes = Vec::with_capacity(middle.results().len());
        for (index, result) in middle.results().iter().enumerate() {
            let token = result.view.body.token.of(&result.event.bytes);
            // Nested bodies share one token, so the text of the block itself is hashed.
            let hash = match result.view.body.nested {
                None => blake3::hash(token),
                Some(_) => blake3::hash(result.view.text(&result.event.bytes).as_bytes()),
            };
            hashes.push(hash);
            newest.insert(hash, index);
        }
        for (at, index) in middle.open_results() {
            let is_short = middle.results()[index].is_shorter_than(min);
            if !is_short && newest.get(&hashes[index]) != Some(&index) {
                middle.replace(at, DUPLICATE.to_owned(), ReducerName::Dedup, "duplicate");
            }
        }
        state
    }
}
