//! All passes over one row.

use midfold_core::Counter;
use midfold_core::trajectory::{Decision, Metrics, Span, TurnMap};

use super::apply::{Spent, apply_spent};
use super::row::{Row, RowError};
use super::settings::Settings;
use super::summary::composed;
use super::weigh::{Weights, weigh};

/// What came of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Compressed {
    /// The new row; `None` where it stays as it is.
    pub bytes: Option<Vec<u8>>,
    /// What was done.
    pub metrics: Metrics,
    /// Where the turns went.
    pub map: TurnMap,
    /// Its tokens were counted. If not, they are a quarter of its bytes.
    pub counted: bool,
}

/// Tokens that are set aside beside the summary: the words around it, a token split differently.
const MARGIN: u64 = 8;

/// Chooses the turns that a summary replaces.
#[must_use]
pub fn plan(weights: &Weights, settings: &Settings) -> Decision {
    midfold_core::trajectory::plan(&weights.turns, weights.envelope, &settings.limits)
}

/// Compresses a row, with a computed summary. A row without turns stays as it is.
///
/// # Errors
/// [`RowError`]: the row cannot be read, or the trainer would not take what came of it.
pub fn compress(
    line: &[u8],
    settings: &Settings,
    counter: &dyn Counter,
) -> Result<Compressed, RowError> {
    match plan_row(line, settings, counter)? {
        Planned::Done(done) => Ok(done),
        Planned::Fold(folding) => folding.finish(None, &Spent::default(), settings, counter),
    }
}

/// What the first pass comes to.
#[derive(Clone, Debug)]
pub enum Planned<'a> {
    /// The row stays as it is.
    Done(Compressed),
    /// A summary is to be written.
    Fold(Folding<'a>),
}

/// A row between planning and applying: which turns a summary will replace, and how long it may be.
#[derive(Clone, Debug)]
pub struct Folding<'a> {
    pub(super) row: Row<'a>,
    pub(super) weights: Weights,
    pub(super) span: Span,
    /// The summary's tokens at most.
    pub(super) cap: u64,
}

/// The first pass over a row: reads it, counts it, and chooses the turns.
///
/// # Errors
/// As [`compress`].
pub fn plan_row<'a>(
    line: &'a [u8],
    settings: &Settings,
    counter: &dyn Counter,
) -> Result<Planned<'a>, RowError> {
    let row = Row::read(line)?;
    let limits = &settings.limits;
    // No token is shorter than a byte: what has few enough bytes fits.
    let fits = line.len() as u64 <= limits.target && limits.skip_under_target;
    if !row.has_turns() || (fits && !settings.count_all) {
        let tokens = line.len().div_ceil(4) as u64;
        return unchanged(&row, tokens, false, settings).map(Planned::Done);
    }
    let weights = weigh(&row, counter);
    let Decision::Fold(span) = plan(&weights, settings) else {
        return unchanged(&row, weights.total(), true, settings).map(Planned::Done);
    };
    let notice = settings.notice.as_deref().map_or(0, |notice| {
        let systems = row.turns()[..span.start].iter().filter(|turn| turn.role.is_system());
        u64::from(counter.count(notice, midfold_core::Content::Prose)) * systems.count() as u64
    });
    let cap = limits.summary.saturating_sub(notice + MARGIN);
    Ok(Planned::Fold(Folding { row, weights, span, cap }))
}

fn unchanged(
    row: &Row<'_>,
    tokens: u64,
    counted: bool,
    settings: &Settings,
) -> Result<Compressed, RowError> {
    let turns = row.turns().len();
    if let Some(trainer) = settings.trainer {
        trainer.check(row, &settings.aligned, turns).map_err(RowError::Flawed)?;
    }
    let metrics = match row.has_turns() {
        true => Metrics::unchanged(tokens, turns, settings.limits.target),
        // As Hermes counts what is no trajectory.
        false => Metrics { skipped_under_target: false, ..Metrics::unchanged(0, 0, u64::MAX) },
    };
    Ok(Compressed { bytes: None, metrics, map: TurnMap::identity(turns), counted })
}

impl Folding<'_> {
    /// The turns that the summary will replace.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The row as it is: for whoever only plans.
    #[must_use]
    pub fn unchanged(&self) -> Compressed {
        let turns = self.row.turns().len();
        let metrics = Metrics::unchanged(self.weights.total(), turns, u64::MAX);
        Compressed { bytes: None, metrics, map: TurnMap::identity(turns), counted: true }
    }

    /// The last pass: the summary, with `narrated` in it where a model wrote something that
    /// stands and finds room, in the place of the turns. `spent` is what it cost.
    ///
    /// # Errors
    /// [`RowError`]: the trainer would not take what came of it.
    pub fn finish(
        &self,
        narrated: Option<&midfold_core::narrate::Narrated>,
        spent: &Spent,
        settings: &Settings,
        counter: &dyn Counter,
    ) -> Result<Compressed, RowError> {
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
    /// As [`Folding::finish`].
    pub fn finish_with(
        &self,
        summary: &str,
        spent: &Spent,
        settings: &Settings,
        counter: &dyn Counter,
    ) -> Result<Compressed, RowError> {
        let Self { row, weights, span, .. } = self;
        let applied = apply_spent(row, *span, summary, spent, weights, settings, counter)?;
        if applied.metrics.compressed_tokens >= applied.metrics.original_tokens {
            // Nothing was gained: better no summary.
            let mut done = unchanged(row, weights.total(), true, settings)?;
            spent.note(&mut done.metrics);
            return Ok(done);
        }
        if let Some(trainer) = settings.trainer {
            let new = Row::read(&applied.bytes)?;
            trainer.check(&new, &settings.aligned, row.turns().len()).map_err(RowError::Flawed)?;
        }
        Ok(Compressed {
            bytes: Some(applied.bytes),
            metrics: applied.metrics,
            map: applied.map,
            counted: true,
        })
    }
}
