//! What compression did to a trajectory, and to all of them. Field names are those of Hermes'
//! compressor, so that what reads its files reads ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use crate::trajectory::{LogHistogram, TurnSpan};

/// The turns that a summary replaced; -1 where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryRegion {
    /// The first turn.
    pub start_idx: i64,
    /// The first turn after it.
    pub end_idx: i64,
    /// How many.
    pub turns_count: u64,
}

impl Default for SummaryRegion {
    fn default() -> Self {
        Self { start_idx: -1, end_idx: -1, turns_count: 0 }
    }
}

impl From<TurnSpan> for SummaryRegion {
    fn from(span: TurnSpan) -> Self {
        let place = |at| i64::try_from(at).unwrap_or(i64::MAX);
        Self {
            start_idx: place(span.start),
            end_idx: place(span.end),
            turns_count: span.len() as u64,
        }
    }
}

/// What was done to one trajectory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrajectoryMetrics {
    /// Tokens before.
    pub original_tokens: u64,
    /// Tokens after.
    pub compressed_tokens: u64,
    /// The difference; below zero where a summary cost more than it replaced.
    pub tokens_saved: i64,
    /// Tokens after / tokens before.
    #[serde(serialize_with = "four_places")]
    pub compression_ratio: f64,
    /// Turns before.
    pub original_turns: u64,
    /// Turns after.
    pub compressed_turns: u64,
    /// The difference.
    pub turns_removed: i64,
    /// Which turns.
    pub compression_region: SummaryRegion,
    /// A summary replaces turns.
    pub was_compressed: bool,
    /// It is longer than the target all the same.
    pub still_over_limit: bool,
    /// It fitted already.
    pub skipped_under_target: bool,
    /// Model calls for its summary.
    pub summarization_api_calls: u64,
    /// Those of them that failed.
    pub summarization_errors: u64,
    /// Why a summary is the computed one though a model was asked: a class of failure, or what
    /// was wrong with the reply. Not in Hermes' metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_refused: Option<String>,
}

impl TrajectoryMetrics {
    /// Of a trajectory that stays as it is.
    #[must_use]
    pub fn unchanged(tokens: u64, turns: usize, target: u64) -> Self {
        Self {
            original_tokens: tokens,
            compressed_tokens: tokens,
            tokens_saved: 0,
            compression_ratio: 1.0,
            original_turns: turns as u64,
            compressed_turns: turns as u64,
            turns_removed: 0,
            compression_region: SummaryRegion::default(),
            was_compressed: false,
            still_over_limit: tokens > target,
            skipped_under_target: tokens <= target,
            summarization_api_calls: 0,
            summarization_errors: 0,
            summary_refused: None,
        }
    }

    /// Sets what came of it: tokens and turns after a summary took the place of `span`.
    #[must_use]
    pub fn folded(mut self, span: TurnSpan, tokens: u64, turns: usize, target: u64) -> Self {
        let less = |before: u64, after: u64| {
            let part = i64::try_from(before.abs_diff(after)).unwrap_or(i64::MAX);
            if after > before { -part } else { part }
        };
        self.compressed_tokens = tokens;
        self.tokens_saved = less(self.original_tokens, tokens);
        self.compression_ratio = tokens as f64 / self.original_tokens.max(1) as f64;
        self.compressed_turns = turns as u64;
        self.turns_removed = less(self.original_turns, turns as u64);
        self.compression_region = span.into();
        self.was_compressed = true;
        self.still_over_limit = tokens > target;
        self.skipped_under_target = false;
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn four_places<S: Serializer>(ratio: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*ratio, 10_000.0))
}

fn rounded(value: f64, places: f64) -> f64 {
    (value * places).round() / places
}

/// Ratios are summed in billionths: sums of integers do not depend on their order.
const BILLION: f64 = 1e9;

/// The sums over many trajectories. Adding in any order, or in parts, gives the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrajectoryTotals {
    /// Trajectories that were looked at and written.
    pub trajectories: u64,
    /// A summary replaces turns.
    pub compressed: u64,
    /// Fitted already.
    pub skipped_under_target: u64,
    /// Longer than the target all the same.
    pub still_over_limit: u64,
    /// Rows that were rejected.
    pub failed: u64,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after.
    pub tokens_after: u64,
    /// Turns before.
    pub turns_before: u64,
    /// Turns after.
    pub turns_after: u64,
    /// Model calls.
    pub calls: u64,
    /// Those that failed.
    pub call_errors: u64,
    /// Summaries that are computed though a model was asked, by reason.
    #[serde(default)]
    pub refused: BTreeMap<String, u64>,
    /// Of the compressed ones: the sum of their ratios, in billionths.
    ratios: u64,
    /// Of the compressed ones: tokens and turns saved.
    saved: i64,
    removed: i64,
    /// How long they were, in tokens.
    pub before: LogHistogram,
    /// How long they are, in tokens.
    pub after: LogHistogram,
}

impl TrajectoryTotals {
    /// Takes in a trajectory.
    pub fn add(&mut self, metrics: &TrajectoryMetrics) {
        self.trajectories += 1;
        self.compressed += u64::from(metrics.was_compressed);
        self.skipped_under_target += u64::from(metrics.skipped_under_target);
        self.still_over_limit += u64::from(metrics.still_over_limit);
        self.tokens_before += metrics.original_tokens;
        self.tokens_after += metrics.compressed_tokens;
        self.turns_before += metrics.original_turns;
        self.turns_after += metrics.compressed_turns;
        self.calls += metrics.summarization_api_calls;
        self.call_errors += metrics.summarization_errors;
        if let Some(reason) = &metrics.summary_refused {
            *self.refused.entry(reason.clone()).or_default() += 1;
        }
        if metrics.was_compressed {
            self.ratios += (metrics.compression_ratio * BILLION) as u64;
            self.saved += metrics.tokens_saved;
            self.removed += metrics.turns_removed;
        }
        self.before.add(metrics.original_tokens);
        self.after.add(metrics.compressed_tokens);
    }

    /// Takes in a row that was rejected.
    pub fn reject(&mut self) {
        self.failed += 1;
    }

    /// Takes in the sums of others.
    pub fn merge(&mut self, other: &Self) {
        self.trajectories += other.trajectories;
        self.compressed += other.compressed;
        self.skipped_under_target += other.skipped_under_target;
        self.still_over_limit += other.still_over_limit;
        self.failed += other.failed;
        self.tokens_before += other.tokens_before;
        self.tokens_after += other.tokens_after;
        self.turns_before += other.turns_before;
        self.turns_after += other.turns_after;
        self.calls += other.calls;
        self.call_errors += other.call_errors;
        for (reason, count) in &other.refused {
            *self.refused.entry(reason.clone()).or_default() += count;
        }
        self.ratios += other.ratios;
        self.saved += other.saved;
        self.removed += other.removed;
        self.before.merge(&other.before);
        self.after.merge(&other.after);
    }

    /// Compressed / all.
    #[must_use]
    pub fn compression_rate(&self) -> f64 {
        rounded(self.compressed as f64 / self.trajectories.max(1) as f64, 1e4)
    }

    /// Tokens after / tokens before.
    #[must_use]
    pub fn overall_ratio(&self) -> f64 {
        rounded(self.tokens_after as f64 / self.tokens_before.max(1) as f64, 1e4)
    }

    /// The mean ratio of the compressed ones; 1 where there are none.
    #[must_use]
    pub fn mean_ratio(&self) -> f64 {
        if self.compressed == 0 {
            return 1.0;
        }
        rounded(self.ratios as f64 / BILLION / self.compressed as f64, 1e4)
    }

    /// Tokens saved by a compressed one, on average.
    #[must_use]
    pub fn mean_saved(&self) -> f64 {
        rounded(self.saved as f64 / self.compressed.max(1) as f64, 10.0)
    }

    /// Turns that a compressed one lost, on average.
    #[must_use]
    pub fn mean_removed(&self) -> f64 {
        rounded(self.removed as f64 / self.compressed.max(1) as f64, 100.0)
    }

    /// Model calls that did not fail / all of them.
    #[must_use]
    pub fn success_rate(&self) -> f64 {
        rounded(1.0 - self.call_errors as f64 / self.calls.max(1) as f64, 1e4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_names_and_the_order_of_the_peer() {
        let metrics = TrajectoryMetrics::unchanged(30_000, 40, 15_250);
        assert!(metrics.still_over_limit && !metrics.skipped_under_target);
        let metrics = metrics.folded(TurnSpan { start: 4, end: 20 }, 15_000, 24, 15_250);
        assert_eq!(
            serde_json::to_string(&metrics).unwrap(),
            concat!(
                r#"{"original_tokens":30000,"compressed_tokens":15000,"tokens_saved":15000,"#,
                r#""compression_ratio":0.5,"original_turns":40,"compressed_turns":24,"#,
                r#""turns_removed":16,"compression_region":{"start_idx":4,"end_idx":20,"#,
                r#""turns_count":16},"was_compressed":true,"still_over_limit":false,"#,
                r#""skipped_under_target":false,"summarization_api_calls":0,"#,
                r#""summarization_errors":0}"#
            )
        );
    }

    #[test]
    fn sums_in_parts_are_the_sums_of_all() {
        let row = |n: u64| {
            let metrics = TrajectoryMetrics::unchanged(n * 100, 10, 5_000);
            let span = TurnSpan { start: 4, end: 7 };
            if n.is_multiple_of(3) { metrics.folded(span, n * 70, 8, 5_000) } else { metrics }
        };
        let (mut all, mut odd, mut even) =
            (TrajectoryTotals::default(), TrajectoryTotals::default(), TrajectoryTotals::default());
        for n in 1..=100 {
            all.add(&row(n));
            if n.is_multiple_of(2) { even.add(&row(n)) } else { odd.add(&row(n)) }
        }
        odd.merge(&even);
        assert_eq!(odd, all);
        assert!((all.mean_ratio() - 0.7).abs() < 1e-4 && (all.mean_removed() - 2.0).abs() < 1e-9);
        let back: TrajectoryTotals =
            serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap();
        assert_eq!(back, all);
    }
}
