//! What compression did to one trajectory, and to all of them. Field names are those of Hermes' compressor, so that
//! programs which read its files can read these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use crate::trajectory::{LogHistogram, TurnSpan};

/// The turns that a summary replaced; the indices are -1 where it replaced none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryRegion {
    /// Index of the first replaced turn.
    pub start_idx: i64,
    /// Index of the first turn behind them.
    pub end_idx: i64,
    /// How many turns were replaced.
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

/// The result of compressing one trajectory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrajectoryMetrics {
    /// Tokens before compression.
    pub original_tokens: u64,
    /// Tokens after compression.
    pub compressed_tokens: u64,
    /// Tokens saved; negative where the summary costs more than the turns that it replaces.
    pub tokens_saved: i64,
    /// Tokens after compression, divided by tokens before.
    #[serde(serialize_with = "four_places")]
    pub compression_ratio: f64,
    /// Turns before compression.
    pub original_turns: u64,
    /// Turns after compression.
    pub compressed_turns: u64,
    /// Turns removed, less the turn that was added for the summary.
    pub turns_removed: i64,
    /// The turns that were replaced.
    pub compression_region: SummaryRegion,
    /// Whether a summary replaced turns.
    pub was_compressed: bool,
    /// Whether the trajectory still exceeds the target.
    pub still_over_limit: bool,
    /// Whether the trajectory was left alone, because it fitted the target.
    pub skipped_under_target: bool,
    /// How many calls of a model its summary took.
    pub summarization_api_calls: u64,
    /// How many of these calls failed.
    pub summarization_errors: u64,
    /// Why the summary is computed although a model was asked: a kind of failure, or the fault of the reply. `None`
    /// otherwise. Hermes' metrics lack this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_refused: Option<String>,
}

impl TrajectoryMetrics {
    /// The metrics of a trajectory that stays as it is.
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

    /// Sets the result: tokens and turns of the trajectory after a summary took the place of `span`.
    #[must_use]
    pub fn add_fold(mut self, span: TurnSpan, tokens: u64, turns: usize, target: u64) -> Self {
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

/// Ratios are summed in billionths, because sums of integers do not depend on the order.
const BILLION: f64 = 1e9;

/// Sums over many trajectories. The order in which they are added or merged does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrajectoryTotals {
    /// Trajectories that were read and written.
    pub trajectories: u64,
    /// Trajectories in which a summary replaced turns.
    pub compressed: u64,
    /// Trajectories that were left alone, because they fitted the target.
    pub skipped_under_target: u64,
    /// Trajectories that still exceed the target.
    pub still_over_limit: u64,
    /// Rows of the data set that were rejected.
    pub failed: u64,
    /// Tokens before compression.
    pub tokens_before: u64,
    /// Tokens after compression.
    pub tokens_after: u64,
    /// Turns before compression.
    pub turns_before: u64,
    /// Turns after compression.
    pub turns_after: u64,
    /// Calls of a model.
    pub calls: u64,
    /// Calls of a model that failed.
    pub call_errors: u64,
    /// Computed summaries for which a model was asked, by the reason why its reply was not used.
    #[serde(default)]
    pub refused: BTreeMap<String, u64>,
    /// How often rows were rejected, by the short name of the reason.
    #[serde(default)]
    pub rejected: BTreeMap<String, u64>,
    /// Sum of the ratios of the compressed trajectories, in billionths.
    ratios: u64,
    /// Tokens saved in the compressed trajectories.
    saved: i64,
    /// Turns removed from the compressed trajectories.
    removed: i64,
    /// Lengths before compression, in tokens.
    pub before: LogHistogram,
    /// Lengths after compression, in tokens.
    pub after: LogHistogram,
}

impl TrajectoryTotals {
    /// Adds the metrics of a trajectory.
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

    /// Counts a row that was rejected for the reason with this short name.
    pub fn reject(&mut self, code: &str) {
        self.failed += 1;
        *self.rejected.entry(code.to_owned()).or_default() += 1;
    }

    /// Adds other sums.
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
        for (own, other) in
            [(&mut self.refused, &other.refused), (&mut self.rejected, &other.rejected)]
        {
            for (reason, count) in other {
                *own.entry(reason.clone()).or_default() += count;
            }
        }
        self.ratios += other.ratios;
        self.saved += other.saved;
        self.removed += other.removed;
        self.before.merge(&other.before);
        self.after.merge(&other.after);
    }

    /// The fraction of trajectories that were compressed.
    #[must_use]
    pub fn compression_rate(&self) -> f64 {
        rounded(self.compressed as f64 / self.trajectories.max(1) as f64, 1e4)
    }

    /// Tokens after compression, divided by tokens before.
    #[must_use]
    pub fn overall_ratio(&self) -> f64 {
        rounded(self.tokens_after as f64 / self.tokens_before.max(1) as f64, 1e4)
    }

    /// The mean ratio of the compressed trajectories; 1 where there are none.
    #[must_use]
    pub fn mean_ratio(&self) -> f64 {
        if self.compressed == 0 {
            return 1.0;
        }
        rounded(self.ratios as f64 / BILLION / self.compressed as f64, 1e4)
    }

    /// Tokens saved in a compressed trajectory, on average.
    #[must_use]
    pub fn mean_saved(&self) -> f64 {
        rounded(self.saved as f64 / self.compressed.max(1) as f64, 10.0)
    }

    /// Turns removed from a compressed trajectory, on average.
    #[must_use]
    pub fn mean_removed(&self) -> f64 {
        rounded(self.removed as f64 / self.compressed.max(1) as f64, 100.0)
    }

    /// The fraction of model calls that succeeded; 1 where there were none.
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
        let metrics = metrics.add_fold(TurnSpan { start: 4, end: 20 }, 15_000, 24, 15_250);
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
            if n.is_multiple_of(3) { metrics.add_fold(span, n * 70, 8, 5_000) } else { metrics }
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
