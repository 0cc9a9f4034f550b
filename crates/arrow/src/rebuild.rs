//! Rebuilds columns with some rows replaced. All other values are copied from the old column as they are, with nulls
//! and nested values; they never pass through JSON.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, GenericListArray, LargeStringArray, OffsetSizeTrait, StringArray,
    StringViewArray, StructArray, make_array, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, Field};

use crate::columns::ListColumn;
use crate::row::{NewTurn, RowChange, TurnSlot};
use crate::source::{BatchRows, RowColumn};

/// The column of rows with `changes` in it. Each change is a row's index and its replacement, in order of index.
pub(crate) fn column(
    column: &ArrayRef,
    source: &BatchRows<'_>,
    changes: &[(usize, RowChange)],
) -> Result<ArrayRef, ArrowError> {
    match source.rows() {
        RowColumn::Text(_) => text_column(column, changes),
        RowColumn::Lists(ListColumn::Small(lists)) => list_column(lists, source, changes),
        RowColumn::Lists(ListColumn::Large(lists)) => list_column(lists, source, changes),
    }
}

fn text_column(column: &ArrayRef, changes: &[(usize, RowChange)]) -> Result<ArrayRef, ArrowError> {
    let mut pieces = ArrayPieces::default();
    let mut texts = Vec::new();
    let mut from = 0;
    for (at, change) in changes {
        let (RowChange::Whole(text) | RowChange::List(text)) = change else { continue };
        pieces.keep(from..*at);
        pieces.put(texts.len());
        texts.push(Some(text.as_str()));
        from = at + 1;
    }
    pieces.keep(from..column.len());
    pieces.join(column, &text_array(column.data_type(), &texts))
}

/// These texts as an array of this text type.
fn text_array(kind: &DataType, texts: &[Option<&str>]) -> ArrayRef {
    let texts = texts.iter().copied();
    match kind {
        DataType::LargeUtf8 => Arc::new(texts.collect::<LargeStringArray>()),
        DataType::Utf8View => Arc::new(texts.collect::<StringViewArray>()),
        _ => Arc::new(texts.collect::<StringArray>()),
    }
}

/// The column of lists with the changed rows in it.
fn list_column<O: OffsetSizeTrait>(
    lists: &GenericListArray<O>,
    source: &BatchRows<'_>,
    changes: &[(usize, RowChange)],
) -> Result<ArrayRef, ArrowError> {
    let mut pieces = ArrayPieces::default();
    let mut turns: Vec<(usize, &NewTurn)> = Vec::new();
    let mut changes = changes.iter().peekable();
    let mut lengths = Vec::with_capacity(lists.len());
    for at in 0..lists.len() {
        let before = pieces.len;
        let first = source.first_turn(at);
        match changes.next_if(|(row, _)| *row == at) {
            Some((_, RowChange::Turns(slots))) => {
                for slot in slots {
                    match slot {
                        TurnSlot::Kept(turn) => pieces.keep(first + turn..first + turn + 1),
                        TurnSlot::New(turn) => {
                            pieces.put(turns.len());
                            turns.push((first, turn));
                        }
                    }
                }
            }
            _ if lists.is_valid(at) => {
                pieces.keep(first..first + lists.value_length(at).as_usize())
            }
            _ => {}
        }
        lengths.push(pieces.len - before);
    }
    let values = lists.values();
    let new = new_turns(values.as_struct(), &turns)?;
    let values = pieces.join(values, &new)?;
    relist(lists, lengths, values)
}

/// Lists with the type and nulls of `lists`, but with other lengths and elements.
pub(crate) fn relist<O: OffsetSizeTrait>(
    lists: &GenericListArray<O>,
    lengths: Vec<usize>,
    values: ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let (DataType::List(item) | DataType::LargeList(item)) = lists.data_type() else {
        return Err(ArrowError::SchemaError("no list".to_owned()));
    };
    let offsets = OffsetBuffer::from_lengths(lengths);
    let lists =
        GenericListArray::<O>::try_new(Arc::clone(item), offsets, values, lists.nulls().cloned())?;
    Ok(Arc::new(lists))
}

/// New turns as structs of the same type as the old ones. Each turn comes with the index of its row's first turn.
fn new_turns(old: &StructArray, turns: &[(usize, &NewTurn)]) -> Result<ArrayRef, ArrowError> {
    let members = old.fields().iter().zip(old.columns()).enumerate();
    let columns = members.map(|(member, (field, column))| {
        let of = |turn: &'_ NewTurn| -> Option<usize> {
            turn.texts.iter().position(|(at, _)| *at == member)
        };
        let texts: Vec<Option<&str>> = turns
            .iter()
            .filter_map(|(_, turn)| of(turn).map(|at| Some(turn.texts[at].1.as_str())))
            .collect();
        // The new texts come first; after them comes the empty value, for members without a text.
        let nothing = nothing(field);
        let mut pieces = ArrayPieces::default();
        let mut text = 0;
        for (first, turn) in turns {
            match (of(turn), turn.from) {
                (Some(_), _) => {
                    pieces.put(text);
                    text += 1;
                }
                (None, Some(from)) => pieces.keep(first + from..first + from + 1),
                (None, None) => pieces.nothing(),
            }
        }
        // Without a text, the member may be of any type, and only an empty array of that type can be joined.
        let texts = match texts.is_empty() {
            true => nothing.slice(0, 0),
            false => text_array(field.data_type(), &texts),
        };
        pieces.join_three(column, &texts, &nothing)
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let len = turns.len();
    Ok(Arc::new(StructArray::try_new_with_length(old.fields().clone(), columns, None, len)?))
}

/// One empty value: null where the field allows it, or else the empty value of its type.
pub(crate) fn nothing(field: &Field) -> ArrayRef {
    let null = new_null_array(field.data_type(), 1);
    match field.is_nullable() {
        true => null,
        false => make_array(zero(null.to_data())),
    }
}

/// The bytes of a null value as a valid value: 0, `false`, "", [].
fn zero(data: ArrayData) -> ArrayData {
    let children = match data.data_type() {
        DataType::Struct(fields) => {
            let children = data.child_data().iter().cloned().zip(fields.iter());
            children
                .map(|(data, field)| if field.is_nullable() { data } else { zero(data) })
                .collect()
        }
        _ => data.child_data().to_vec(),
    };
    let valid = data.clone().into_builder().nulls(None).child_data(children).build();
    valid.unwrap_or(data)
}

/// The elements of a new array: runs of an old array, and single new elements.
#[derive(Default)]
pub(crate) struct ArrayPieces {
    /// The runs: the number of the array from which a run comes, and its range there.
    runs: Vec<(usize, Range<usize>)>,
    /// The number of elements of all runs.
    len: usize,
}

/// Numbers of the arrays from which elements come: the old one, the new one, and the empty element.
const OLD: usize = 0;
const NEW: usize = 1;
const NOTHING: usize = 2;

impl ArrayPieces {
    fn push(&mut self, from: usize, range: Range<usize>) {
        self.len += range.len();
        match self.runs.last_mut() {
            _ if range.is_empty() => {}
            Some((last, run)) if *last == from && run.end == range.start => run.end = range.end,
            _ => self.runs.push((from, range)),
        }
    }

    /// Adds elements of the old array.
    pub fn keep(&mut self, range: Range<usize>) {
        self.push(OLD, range);
    }

    /// Adds an element of the new array.
    pub fn put(&mut self, at: usize) {
        self.push(NEW, at..at + 1);
    }

    /// Adds an empty element.
    fn nothing(&mut self) {
        self.len += 1;
        self.runs.push((NOTHING, 0..1));
    }

    /// Builds the array.
    pub fn join(self, old: &dyn Array, new: &dyn Array) -> Result<ArrayRef, ArrowError> {
        self.join_all(&[&old.to_data(), &new.to_data()])
    }

    fn join_three(
        self,
        old: &dyn Array,
        new: &dyn Array,
        nothing: &dyn Array,
    ) -> Result<ArrayRef, ArrowError> {
        self.join_all(&[&old.to_data(), &new.to_data(), &nothing.to_data()])
    }

    fn join_all(self, from: &[&ArrayData]) -> Result<ArrayRef, ArrowError> {
        let mut joined = MutableArrayData::new(from.to_vec(), false, self.len);
        for (from, range) in self.runs {
            joined.try_extend(from, range.start, range.end)?;
        }
        Ok(make_array(joined.freeze()))
    }
}
