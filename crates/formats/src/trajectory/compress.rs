//! All passes over one row.

use midfold_core::Counter;
use midfold_core::trajectory::{TrajectoryDecision, TrajectoryMetrics, TurnMap, TurnSpan};

use super::apply::{SummaryCost, apply_spent};
use super::row::{RowError, TrajectoryRow};
use super::settings::TrajectorySettings;
use super::summary::composed;
use super::weigh::{TurnWeights, weigh};

/// What came of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedRow {
    /// The new row; `None` where it stays as it is.
    pub bytes: Option<Vec<u8>>,
    /// What was done.
    pub metrics: TrajectoryMetrics,
    /// Where the turns went.
    pub map: TurnMap,
    /// Its tokens were counted. If not, they are a quarter of its bytes.
    pub counted: bool,
}

/// Tokens that are set aside beside the summary: the words around it, a token split differently.
const MARGIN: u64 = 8;

/// Chooses the turns that a summary replaces.
#[must_use]
pub fn plan(weights: &TurnWeights, settings: &TrajectorySettings) -> TrajectoryDecision {
    midfold_core::trajectory::plan(&weights.turns, weights.envelope, &settings.limits)
}

/// Compresses a row, with a computed summary. A row without turns stays as it is.
///
/// # Errors
/// [`RowError`]: the row cannot be read, or the trainer would not take what came of it.
pub fn compress(
    line: &[u8],
    settings: &TrajectorySettings,
    counter: &dyn Counter,
) -> Result<CompressedRow, RowError> {
    match plan_row(line, settings, counter)? {
        PlannedRow::Done(done) => Ok(done),
        PlannedRow::Fold(folding) => {
            folding.finish(None, &SummaryCost::default(), settings, counter)
        }
    }
}

/// What the first pass comes to.
#[derive(Clone, Debug)]
pub enum PlannedRow<'a> {
    /// The row stays as it is.
    Done(CompressedRow),
    /// A summary is to be written.
    Fold(RowFold<'a>),
}

/// A row between planning and applying: which turns a summary will replace, and how long it may be.
#[derive(Clone, Debug)]
pub struct RowFold<'a> {
    pub(super) row: TrajectoryRow<'a>,
    pub(super) weights: TurnWeights,
    pub(super) span: TurnSpan,
    /// The summary's tokens at most.
    pub(super) cap: u64,
}

/// The first pass over a row: reads it, counts it, and chooses the turns.
///
/// # Errors
/// As [`compress`].
pub fn plan_row<'a>(
    line: &'a [u8],
    settings: &TrajectorySettings,
    counter: &dyn Counter,
) -> Result<PlannedRow<'a>, RowError> {
    let row = TrajectoryRow::read(line)?;
    let limits = &settings.limits;
    // No token is shorter than a byte: what has few enough bytes fits.
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
    let cap = limits.summary.saturating_sub(notice + MARGIN);
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
        // As Hermes counts what is no trajectory.
        false => TrajectoryMetrics {
            skipped_under_target: false,
            ..TrajectoryMetrics::unchanged(0, 0, u64::MAX)
        },
    };
    Ok(CompressedRow { bytes: None, metrics, map: TurnMap::identity(turns), counted })
}

impl RowFold<'_> {
    /// The turns that the summary will replace.
    #[must_use]
    pub fn span(&self) -> TurnSpan {
        self.span
    }

    /// The row as it is: for whoever only plans.
    #[must_use]
    pub fn unchanged(&self) -> CompressedRow {
        let turns = self.row.turns().len();
        let metrics = TrajectoryMetrics::unchanged(self.weights.total(), turns, u64::MAX);
        CompressedRow { bytes: None, metrics, map: TurnMap::identity(turns), counted: true }
    }

    /// The last pass: the summary, with `narrated` in it where a model wrote something that
    /// stands and finds room, in the place of the turns. `spent` is what it cost.
    ///
    /// # Errors
    /// [`RowError`]: the trainer would not take what came of it.
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

    /// The last pass with a summary from anywhere, placed as it is given: nobody judges it and
    /// nothing computed is beside it. Tags and template tokens in it lose their meaning, and
    /// a row that it would not make shorter stays as it is. Its length is the caller's affair.
    ///
    /// # Errors
    /// As [`RowFold::finish`].
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
            // Nothing was gained: better no summary.
            let mut done = unchanged(row, weights.total(), true, settings)?;
            spent.note(&mut done.metrics);
            return Ok(done);
        }
        if let Some(trainer) = settings.trainer {
            let new = TrajectoryRow::read(&applied.bytes)?;
            trainer.check(&new, &settings.aligned, row.turns().len()).map_err(RowError::Flawed)?;
        }
        Ok(CompressedRow {
            bytes: Some(applied.bytes),
            metrics: applied.metrics,
            map: applied.map,
            counted: true,
        })
    }
}
