//! Cuts off the turns that trainers take at no end of a row: those before the first user's, and those behind the last
//! answer.

use std::ops::Range;

use midfold_core::Role;

use super::aligned;
use super::apply::{RowEdit, in_row, splice};
use super::row::{RowError, TrajectoryRow, TurnAt};

/// The row without the turns before the user's first and behind the assistant's last; system turns at the front stay.
/// Lists beside the turns lose the same elements: those of [`super::ALIGNED`] and of `aligned`. `None` where nothing is
/// cut off.
///
/// ```
/// use midfold_formats::trajectory::trimmed;
/// let row = br#"{"conversations":[{"from":"gpt","value":"Hello."},{"from":"human","value":"Why?"},{"from":"gpt","value":"So."},{"from":"human","value":"Thanks."}]}"#;
/// let cut = br#"{"conversations":[{"from":"human","value":"Why?"},{"from":"gpt","value":"So."}]}"#;
/// assert_eq!(trimmed(row, &[])?.as_deref(), Some(&cut[..]));
/// assert_eq!(trimmed(cut, &[])?, None);
/// # Ok::<(), midfold_formats::trajectory::RowError>(())
/// ```
///
/// # Errors
/// [`RowError`]: the row cannot be read.
pub fn trimmed(line: &[u8], aligned: &[String]) -> Result<Option<Vec<u8>>, RowError> {
    let row = TrajectoryRow::read(line)?;
    let turns = row.turns();
    let Some((front, back)) = ends(turns) else { return Ok(None) };
    if front.is_empty() && back.is_empty() {
        return Ok(None);
    }
    let places: Vec<_> = turns.iter().map(|turn| turn.range.clone()).collect();
    let mut edits = in_row(&row, cuts(&places, &front, &back));
    for elements in aligned::lists(&row, turns.len(), aligned) {
        edits.extend(cuts(&elements, &front, &back));
    }
    Ok(Some(splice(line, edits)))
}

/// The turns to cut off at both ends. `None` where no user speaks, or nobody answers.
fn ends(turns: &[TurnAt]) -> Option<(Range<usize>, Range<usize>)> {
    let begin = turns.iter().position(|turn| !turn.role.is_system())?;
    let first = turns.iter().position(|turn| turn.role == Role::User)?;
    let last = turns.iter().rposition(|turn| turn.role == Role::Assistant)?;
    (begin <= first && first < last).then_some((begin..first, last + 1..turns.len()))
}

/// The edits that take these elements out of a list, with the comma behind the front ones and before the back ones.
fn cuts(places: &[Range<usize>], front: &Range<usize>, back: &Range<usize>) -> Vec<RowEdit> {
    let mut edits = Vec::new();
    if !front.is_empty() {
        edits.push((places[front.start].start..places[front.end].start, Vec::new()));
    }
    if !back.is_empty() {
        edits.push((places[back.start - 1].end..places[back.end - 1].end, Vec::new()));
    }
    edits
}
