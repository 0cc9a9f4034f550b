//! Puts a summary in the place of turns. Everything else keeps its bytes.

use std::ops::Range;

use midfold_core::trajectory::{SummaryPlacement, TrajectoryMetrics, TurnMap, TurnSpan};
use midfold_core::{Counter, Role, jsonstr};

use super::row::{RowError, TrajectoryRow, TurnShape};
use super::settings::TrajectorySettings;
use super::summary::{self, HEADER};
use super::weigh::{TurnWeights, turn_tokens};
use super::{aligned, encoded};

/// A row with a summary in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SummarisedRow {
    /// The row.
    pub bytes: Vec<u8>,
    /// The metrics of the compression.
    pub metrics: TrajectoryMetrics,
    /// The new index of each turn.
    pub map: TurnMap,
}

/// The text between a turn's own text and a summary that is joined to it.
const BETWEEN: &str = "\n\n";

/// A range of bytes and the bytes that replace it.
pub(super) type RowEdit = (Range<usize>, Vec<u8>);

/// Puts `summary` in the place of `span`. Tags and template tokens in the summary are made harmless, and it gets its
/// header where it has none. `weights` are those of the row, so that turns which stay are not counted again.
///
/// # Errors
/// [`RowError::BadTurn`] where the summary would have to join a turn without text.
pub fn apply(
    row: &TrajectoryRow<'_>,
    span: TurnSpan,
    summary: &str,
    weights: &TurnWeights,
    settings: &TrajectorySettings,
    counter: &dyn Counter,
) -> Result<SummarisedRow, RowError> {
    apply_spent(row, span, summary, &SummaryCost::default(), weights, settings, counter)
}

/// The model calls that a summary took, for the metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryCost {
    /// The number of model calls, with those that failed.
    pub calls: u64,
    /// The number of calls that failed.
    pub errors: u64,
    /// Why the summary is the computed one although a model was asked. `None` where the model's text is used, or none
    /// was asked.
    pub refused: Option<String>,
}

impl SummaryCost {
    pub(super) fn note(&self, metrics: &mut TrajectoryMetrics) {
        metrics.summarization_api_calls = self.calls;
        metrics.summarization_errors = self.errors;
        metrics.summary_refused.clone_from(&self.refused);
    }
}

/// Puts a summary in the place of `span` as [`apply`] does, and notes its cost in the metrics.
pub(super) fn apply_spent(
    row: &TrajectoryRow<'_>,
    span: TurnSpan,
    summary: &str,
    spent: &SummaryCost,
    weights: &TurnWeights,
    settings: &TrajectorySettings,
    counter: &dyn Counter,
) -> Result<SummarisedRow, RowError> {
    let (header, body) = match summary.trim().strip_prefix(HEADER) {
        Some(body) => (HEADER, body),
        None => ("[CONTEXT SUMMARY]: ", summary.trim()),
    };
    let text = format!("{header}{}", summary::harmless(body));
    let mut writer = RowWriter { row, edits: Vec::new(), changed: Vec::new() };
    if let Some(notice) = &settings.notice {
        for at in (0..span.start).filter(|&at| row.turns[at].role.is_system()) {
            writer.extend(at, notice, RowEnd::Back)?;
        }
    }
    let own_turn = writer.place(span, &text, settings.limits.placement)?;
    let map = TurnMap::folded(row.turns.len(), span, own_turn);
    let (edits, changed) = (writer.edits, writer.changed);
    let mut edits = in_row(row, edits);
    for elements in aligned::lists(row, row.turns.len(), &settings.aligned) {
        edits.extend(aligned::edit(row.bytes, &elements, &map));
    }
    let bytes = splice(row.bytes, edits);
    // Reading the row again checks that the edits left valid JSON, and finds the places of its turns.
    let new = TrajectoryRow::read(&bytes)?;
    let mut metrics = measured(&new, &map, &changed, weights, settings, counter);
    spent.note(&mut metrics);
    let with_metrics = settings.row_metrics.then(|| with_metrics(&new, &metrics)).transpose()?;
    Ok(SummarisedRow { bytes: with_metrics.unwrap_or(bytes), metrics, map })
}

/// The end of a turn to which text is added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowEnd {
    Front,
    Back,
}

/// Collects the edits of the list of turns.
struct RowWriter<'r, 'a> {
    row: &'r TrajectoryRow<'a>,
    /// The edits of [`TrajectoryRow::text`].
    edits: Vec<RowEdit>,
    /// The old indices of the turns that were extended.
    changed: Vec<usize>,
}

impl RowWriter<'_, '_> {
    /// Places the summary. Returns `true` where it is a turn of its own.
    fn place(
        &mut self,
        span: TurnSpan,
        text: &str,
        placement: SummaryPlacement,
    ) -> Result<bool, RowError> {
        let turns = &self.row.turns;
        let before = span.start.checked_sub(1).filter(|&at| match placement {
            SummaryPlacement::HumanTurn => false,
            SummaryPlacement::MergeIntoPreviousObservation => true,
            SummaryPlacement::UserMessage => turns[at].role == Role::User,
        });
        let after = (placement == SummaryPlacement::UserMessage)
            .then_some(span.end)
            .filter(|&at| turns.get(at).is_some_and(|turn| turn.role == Role::User));
        let last = turns[span.end - 1].range.end;
        if let Some(before) = before {
            // The comma before the removed turns goes with them.
            self.edits.push((turns[before].range.end..last, Vec::new()));
            self.extend(before, &format!("{BETWEEN}{text}"), RowEnd::Back)?;
        } else if let Some(after) = after {
            // Here the comma after the removed turns goes with them.
            self.edits.push((turns[span.start].range.start..turns[after].range.start, Vec::new()));
            self.extend(after, &format!("{text}{BETWEEN}"), RowEnd::Front)?;
        } else {
            self.edits.push((turns[span.start].range.start..last, self.own_turn(text)));
            return Ok(true);
        }
        Ok(false)
    }

    /// A turn of the user, with the names that the row uses.
    fn own_turn(&self, text: &str) -> Vec<u8> {
        let users = || self.row.turns.iter().filter(|turn| turn.role == Role::User);
        let says = |name: &[u8]| {
            users().any(|turn| {
                memchr::memmem::find(&self.row.text[turn.range.clone()], name).is_some()
            })
        };
        let (keys, name) = match self.row.shape {
            TurnShape::Messages => (["role", "content"], "user"),
            TurnShape::ShareGpt if says(b"\"user\"") && !says(b"\"human\"") => {
                (["from", "value"], "user")
            }
            TurnShape::ShareGpt => (["from", "value"], "human"),
        };
        let [who, text_key] = keys;
        format!(r#"{{"{who}": "{name}", "{text_key}": {}}}"#, jsonstr::encode(text)).into_bytes()
    }

    /// Adds text to a turn: inside its string, as a part of its list, or in the place of `null`.
    fn extend(&mut self, at: usize, text: &str, end: RowEnd) -> Result<(), RowError> {
        let bytes = &self.row.text;
        let turn = &self.row.turns[at];
        let bad = RowError::BadTurn { turn: at, what: "it has no text that a summary could join" };
        let value = turn.value.clone().ok_or_else(|| bad.clone())?;
        let inner = value.start + 1..value.end.saturating_sub(1);
        let place = if end == RowEnd::Front { inner.start } else { inner.end };
        let edit = match bytes.get(value.start) {
            Some(b'"') => {
                let token = jsonstr::encode(text).into_bytes();
                (place..place, token[1..token.len() - 1].to_vec())
            }
            Some(b'[') => {
                let empty = bytes[inner].iter().all(u8::is_ascii_whitespace);
                let part = format!(r#"{{"type":"text","text":{}}}"#, jsonstr::encode(text.trim()));
                let part = match end {
                    _ if empty => part,
                    RowEnd::Front => part + ",",
                    RowEnd::Back => ",".to_owned() + &part,
                };
                (place..place, part.into_bytes())
            }
            Some(b'n') => (value, jsonstr::encode(text.trim()).into_bytes()),
            _ => return Err(bad),
        };
        self.edits.push(edit);
        // A turn may get both the notice and the summary.
        if !self.changed.contains(&at) {
            self.changed.push(at);
        }
        Ok(())
    }
}

/// Converts edits of the list of turns to edits of the row.
pub(super) fn in_row(row: &TrajectoryRow<'_>, mut edits: Vec<RowEdit>) -> Vec<RowEdit> {
    let Some(token) = &row.token else { return edits };
    // `places` walks the token once, so the offsets have to rise.
    edits.sort_by_key(|(range, _)| range.start);
    let offsets: Vec<usize> =
        edits.iter().flat_map(|(range, _)| [range.start, range.end]).collect();
    let places = encoded::places(&row.bytes[token.clone()], &offsets);
    let coded = edits.into_iter().zip(places.chunks_exact(2)).map(|((_, text), place)| {
        // The list is JSON in a string, so new text is escaped once more.
        let text = jsonstr::encode(&String::from_utf8_lossy(&text)).into_bytes();
        (token.start + place[0]..token.start + place[1], text[1..text.len() - 1].to_vec())
    });
    coded.collect()
}

pub(super) fn splice(bytes: &[u8], mut edits: Vec<RowEdit>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| range.start);
    let more: usize = edits.iter().map(|(_, text)| text.len()).sum();
    let mut out = Vec::with_capacity(bytes.len() + more);
    let mut from = 0;
    for (range, text) in edits {
        out.extend_from_slice(bytes.get(from..range.start).unwrap_or_default());
        out.extend_from_slice(&text);
        from = range.end;
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out
}

/// The metrics of the new row. Turns with unchanged bytes keep the counts that they have.
fn measured(
    new: &TrajectoryRow<'_>,
    map: &TurnMap,
    changed: &[usize],
    weights: &TurnWeights,
    settings: &TrajectorySettings,
    counter: &dyn Counter,
) -> TrajectoryMetrics {
    let target = settings.limits.target;
    let is_same = |at: &usize| map.get(*at).is_some() && !changed.contains(at);
    let same: u64 =
        (0..weights.turns.len()).filter(is_same).map(|at| weights.turns[at].tokens).sum();
    let others = changed.iter().filter_map(|&at| map.get(at)).chain(map.summary());
    let mut scratch = String::new();
    let others: u64 = others.map(|at| turn_tokens(new, at, counter, &mut scratch)).sum();
    let before = TrajectoryMetrics::unchanged(weights.total(), weights.turns.len(), target);
    let span = map.span().unwrap_or(TurnSpan { start: 0, end: 0 });
    before.add_fold(span, weights.envelope + same + others, new.turns.len(), target)
}

/// The row with a member `compression_metrics`, at its end or in the place of an earlier one.
fn with_metrics(row: &TrajectoryRow<'_>, metrics: &TrajectoryMetrics) -> Result<Vec<u8>, RowError> {
    const NAME: &str = "compression_metrics";
    let json = serde_json::to_vec(metrics).map_err(|error| RowError::NotJson(error.to_string()))?;
    // The last one counts where the name is there twice.
    let earlier = row.members.iter().rfind(|(name, _)| name == NAME);
    let edit = match earlier {
        Some((_, value)) => (value.clone(), json),
        None => {
            let end = row.end.saturating_sub(1);
            (end..end, [format!(r#", "{NAME}": "#).as_bytes(), &json].concat())
        }
    };
    Ok(splice(row.bytes, vec![edit]))
}
