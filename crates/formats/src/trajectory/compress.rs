//! Runs all passes over one row.

use midfold_core::Counter;
use midfold_core::trajectory::{TrajectoryDecision, TrajectoryMetrics, TurnMap, TurnSpan};

use super::apply::{SummaryCost, apply_spent};
use super::row::{RowError, TrajectoryRow, TurnShape};
use super::settings::TrajectorySettings;
use super::summary::composed;
use super::weigh::{TurnWeights, weigh};

/// The result for a row.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedRow {
    /// The new row. `None` where it stays as it is.
    pub bytes: Option<Vec<u8>>,
    /// The metrics of the compression.
    pub metrics: TrajectoryMetrics,
    /// The new index of each turn.
    pub map: TurnMap,
    /// The form of its turns. `None` for a row without turns.
    pub shape: Option<TurnShape>,
    /// Whether its tokens were counted. If not, they are estimated as a quarter of its bytes.
    pub counted: bool,
}

/// Tokens that are reserved beside the summary: for the words around it, and for a token that is split differently.
const MARGIN: u64 = 8;

/// Chooses the turns that a summary replaces.
#[must_use]
pub fn plan(weights: &TurnWeights, settings: &TrajectorySettings) -> TrajectoryDecision {
    midfold_core::trajectory::plan(&weights.turns, weights.envelope, &settings.limits)
}

/// Compresses a row with a computed summary. A row without turns stays as it is.
///
/// # Errors
/// [`RowError`]: the row cannot be read, or the trainer would refuse the result.
pub fn compress(
    line: &[u8],
    settings: &TrajectorySettings,
    counter: &dyn Counter,
) -> Result<CompressedRow, RowError> {
    match plan_row(line, settings, counter)? {
        PlannedRow::Done(compressed) => Ok(compressed),
        PlannedRow::Fold(folding) => {
            folding.finish(None, &SummaryCost::default(), settings, counter)
        }
    }
}

/// The result of the first pass.
#[derive(Clone, Debug)]
pub enum PlannedRow<'a> {
    /// The row stays as it is.
    Done(CompressedRow),
    /// A summary has to be written.
    Fold(RowFold<'a>),
}

/// A row between planning and applying: the turns that a summary will replace, and the most tokens of the summary.
#[derive(Clone, Debug)]
pub struct RowFold<'a> {
    pub(super) row: TrajectoryRow<'a>,
    pub(super) weights: TurnWeights,
    pub(super) span: TurnSpan,
    /// The most tokens of the summary.
    pub(super) cap: u64,
}

/// Runs the first pass over a row: reads it, counts it, and chooses the turns.
///
/// # Errors
/// The errors of [`compress`].
pub fn plan_row<'a>(
    line: &'a [u8],
    settings: &TrajectorySettings,
    counter: &dyn Counter,
) -> Result<PlannedRow<'a>, RowError> {
    let row = TrajectoryRow::read(line)?;
    let limits = &settings.limits;
    // A token has at least one byte, so a row with few enough bytes fits without a count.
    let fits = line.len() as u64 <= limits.target && limits.skip_under_target;
    if !row.has_turns() || (fits && !settings.count_all) {
        let tokens = line.len().div_ceil(4) as u64;
        return unchanged(&row, tokens, false, settings).map(PlannedRow::Done);
    }
    let weights = weigh(&row, counter);
    let TrajectoryDecision::Fold(span) = plan(&weights, settings) else {
        return unchanged(&row, weights.total(), true, settings).map(PlannedRow::Done);
    };
    let notice = settings.notice.as_deref().map_or(0, |notice| {
        let systems = row.turns()[..span.start].iter().filter(|turn| turn.role.is_system());
        u64::from(counter.count(notice, midfold_core::TextKind::Prose)) * systems.count() as u64
    });
    let replaced: u64 = weights.turns[span.range()].iter().map(|turn| turn.tokens).sum();
    // The summary fills its room, so where less than that is left of the target, it gets less.
    let room = limits.target.saturating_sub(weights.total() - replaced);
    let most = if room > 2 * MARGIN { limits.summary.min(room) } else { limits.summary };
    let cap = most.saturating_sub(notice + MARGIN);
    Ok(PlannedRow::Fold(RowFold { row, weights, span, cap }))
}

fn unchanged(
    row: &TrajectoryRow<'_>,
    tokens: u64,
    counted: bool,
    settings: &TrajectorySettings,
) -> Result<CompressedRow, RowError> {
    let turns = row.turns().len();
    if let Some(trainer) = settings.trainer {
        trainer.check(row, &settings.aligned, turns).map_err(RowError::Flawed)?;
    }
    let metrics = match row.has_turns() {
        true => TrajectoryMetrics::unchanged(tokens, turns, settings.limits.target),
        // The metrics that Hermes has for a row without turns.
        false => TrajectoryMetrics {
            skipped_under_target: false,
            ..TrajectoryMetrics::unchanged(0, 0, u64::MAX)
        },
    };
    let shape = row.has_turns().then(|| row.shape());
    Ok(CompressedRow { bytes: None, metrics, map: TurnMap::identity(turns), shape, counted })
}

impl RowFold<'_> {
    /// The turns that the summary will replace.
    #[must_use]
    pub fn span(&self) -> TurnSpan {
        self.span
    }

    /// The result that leaves the row as it is, for a caller that only plans.
    #[must_use]
    pub fn unchanged(&self) -> CompressedRow {
        let turns = self.row.turns().len();
        let metrics = TrajectoryMetrics::unchanged(self.weights.total(), turns, u64::MAX);
        let shape = Some(self.row.shape());
        CompressedRow { bytes: None, metrics, map: TurnMap::identity(turns), shape, counted: true }
    }

    /// Runs the last pass: puts the summary in the place of the turns. The summary contains `narrated`, a text that a
    /// model wrote and that was accepted, if there is room for it. `spent` is the cost of the summary.
    ///
    /// # Errors
    /// [`RowError`]: the trainer would refuse the result.
    pub fn finish(
        &self,
        narrated: Option<&midfold_core::narrate::AcceptedNarration>,
        spent: &SummaryCost,
        settings: &TrajectorySettings,
        counter: &dyn Counter,
    ) -> Result<CompressedRow, RowError> {
        let (summary, has_room) = composed(&self.row, self.span, self.cap, narrated, counter);
        let mut spent = spent.clone();
        if narrated.is_some() && !has_room {
            spent.refused = Some("no-room".to_owned());
        }
        self.finish_with(&summary, &spent, settings, counter)
    }

    /// Runs the last pass with a given summary, which is placed as it is: it is not judged, and no computed text is
    /// added. Tags and template tokens in it are made harmless. A row that would not become shorter stays as it is. The
    /// caller limits the length of the summary.
    ///
    /// # Errors
    /// The errors of [`RowFold::finish`].
    pub fn finish_with(
        &self,
        summary: &str,
        spent: &SummaryCost,
        settings: &TrajectorySettings,
        counter: &dyn Counter,
    ) -> Result<CompressedRow, RowError> {
        let Self { row, weights, span, .. } = self;
        let applied = apply_spent(row, *span, summary, spent, weights, settings, counter)?;
        if applied.metrics.compressed_tokens >= applied.metrics.original_tokens {
            // The row would not become shorter, so it stays without a summary.
            let mut unfolded = unchanged(row, weights.total(), true, settings)?;
            spent.note(&mut unfolded.metrics);
            return Ok(unfolded);
        }
        if let Some(trainer) = settings.trainer {
            let new = TrajectoryRow::read(&applied.bytes)?;
            trainer.check(&new, &settings.aligned, row.turns().len()).map_err(RowError::Flawed)?;
        }
        Ok(CompressedRow {
            bytes: Some(applied.bytes),
            metrics: applied.metrics,
            map: applied.map,
            shape: Some(row.shape()),
            counted: true,
        })
    }
}
