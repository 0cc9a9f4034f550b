//! Columns of lists with one element per turn (masks, weights, rewards), which have to change with the turns.

use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field};
use midfold_core::trajectory::TurnMap;
use midfold_formats::trajectory::ALIGNED;

use crate::RowReport;
use crate::columns::ListColumn;
use crate::rebuild::{ArrayPieces, nothing, relist};
use crate::row::RowChange;

/// Removes from such columns the elements of turns that were replaced. A summary that is a turn of its own gets an
/// empty element. `more` names further columns beside [`ALIGNED`].
pub(crate) fn columns(
    batch: &RecordBatch,
    columns: &mut [ArrayRef],
    changes: &[(usize, RowChange)],
    rows: &[RowReport],
    more: &[String],
) -> Result<(), ArrowError> {
    // A row that is one text has its lists inside the text.
    let changed = changes.iter().filter(|(_, change)| !matches!(change, RowChange::Whole(_)));
    let maps: Vec<(usize, &TurnMap)> = changed
        .filter_map(|(at, _)| match rows.get(*at)? {
            RowReport::Done { map, .. } => Some((*at, map)),
            RowReport::Failed { .. } => None,
        })
        .collect();
    for (field, column) in batch.schema_ref().fields().iter().zip(columns) {
        let name = field.name().as_str();
        if !ALIGNED.contains(&name) && !more.iter().any(|more| more == name) {
            continue;
        }
        let aligned = match ListColumn::of(column) {
            Some(ListColumn::Small(lists)) => follow(lists, &maps)?,
            Some(ListColumn::Large(lists)) => follow(lists, &maps)?,
            None => None,
        };
        if let Some(aligned) = aligned {
            *column = aligned;
        }
    }
    Ok(())
}

/// The lists without the elements of turns that were replaced. `None` where no list changes.
fn follow<O: OffsetSizeTrait>(
    lists: &GenericListArray<O>,
    maps: &[(usize, &TurnMap)],
) -> Result<Option<ArrayRef>, ArrowError> {
    let mut pieces = ArrayPieces::default();
    let mut maps = maps.iter().peekable();
    let mut lengths = Vec::with_capacity(lists.len());
    let mut changed = false;
    for at in 0..lists.len() {
        let map = maps.next_if(|(row, _)| *row == at).map(|(_, map)| *map);
        let offsets = lists.value_offsets();
        let (start, end) = (offsets[at].as_usize(), offsets[at + 1].as_usize());
        // A null list has no elements, whatever its offsets say.
        let turns = if lists.is_valid(at) { start..end } else { start..start };
        match map.and_then(|map| Some((map, map.span()?))) {
            Some((map, span)) if map.turns_before() == turns.len() => {
                changed = true;
                pieces.keep(start..start + span.start);
                if map.summary().is_some() {
                    pieces.put(0);
                }
                pieces.keep(start + span.end..end);
                lengths.push(map.turns_after());
            }
            _ => {
                lengths.push(turns.len());
                pieces.keep(turns);
            }
        }
    }
    if !changed {
        return Ok(None);
    }
    let (DataType::List(item) | DataType::LargeList(item)) = lists.data_type() else {
        return Ok(None);
    };
    // A model must learn nothing from a summary, so its element is 0, `false` or "". It is null only for nested types.
    let plain = !item.data_type().is_nested();
    let filler = nothing(&Field::clone(&**item).with_nullable(!plain));
    let values = pieces.join(lists.values(), &filler)?;
    relist(lists, lengths, values).map(Some)
}
