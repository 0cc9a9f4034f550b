//! Finds the rows of a batch, and writes each of them as JSON.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Fields, Schema};

use crate::columns::{ListColumn, TextColumn};
use crate::{BatchError, BatchOptions, json};

/// The names of columns that may hold the turns.
const NAMES: [&str; 2] = ["conversations", "messages"];
/// The names of columns that may hold whole rows.
const WHOLE: [&str; 4] = ["line", "row", "json", "text"];

/// The start of the JSON that is made around a list of turns. The name of the column does not matter here, because the
/// turns themselves show their form.
pub(crate) const OPEN: &[u8] = br#"{"conversations":"#;

/// The rows of a batch.
pub(crate) struct BatchRows<'a> {
    /// The index of the column.
    pub index: usize,
    rows: RowColumn<'a>,
    tools: Option<&'a dyn Array>,
}

/// A column of rows.
pub(crate) enum RowColumn<'a> {
    Text(TextColumn<'a>),
    Lists(ListColumn<'a>),
}

/// The form in which a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// The column has the whole row as JSON.
    Whole,
    /// The column has the list of turns as JSON, and the rest was made around it. The list ends at `end`.
    List { end: usize },
    /// The column has structs, and all of the JSON was made.
    Nested,
}

/// The index of the column with the rows.
pub(crate) fn find(schema: &Schema, named: Option<&str>) -> Result<usize, BatchError> {
    if let Some(name) = named {
        let (index, field) =
            schema.column_with_name(name).ok_or_else(|| BatchError::NoColumn(name.to_owned()))?;
        if is_text(field.data_type()) || turns(field.data_type()).is_some() {
            return Ok(index);
        }
        return Err(bad(name, field.data_type()));
    }
    for name in NAMES {
        if let Some((index, field)) = schema.column_with_name(name) {
            if is_text(field.data_type()) || turns(field.data_type()).is_some() {
                return Ok(index);
            }
            return Err(bad(name, field.data_type()));
        }
    }
    let whole = WHOLE.iter().filter_map(|name| schema.column_with_name(name));
    let mut texts = whole.filter(|(_, field)| is_text(field.data_type()));
    texts.next().map(|(index, _)| index).ok_or(BatchError::NoRows)
}

fn bad(name: &str, data_type: &DataType) -> BatchError {
    let wanted = "`from` and `value`, or `role` and `content`";
    BatchError::BadColumn { name: name.to_owned(), found: data_type.clone(), wanted }
}

pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The members of a turn, if this is the type of a list of turns.
fn turns(data_type: &DataType) -> Option<&Fields> {
    let (DataType::List(item) | DataType::LargeList(item)) = data_type else { return None };
    let DataType::Struct(fields) = item.data_type() else { return None };
    let has = |name: &str| fields.iter().any(|field| field.name() == name);
    ((has("from") && has("value")) || (has("role") && has("content"))).then_some(fields)
}

impl<'a> BatchRows<'a> {
    pub fn of(batch: &'a RecordBatch, options: &BatchOptions) -> Result<Self, BatchError> {
        let index = find(batch.schema_ref(), options.column.as_deref())?;
        let column = batch.column(index);
        let text = TextColumn::of(column).map(RowColumn::Text);
        let lists = || ListColumn::of(column).map(RowColumn::Lists);
        let name = batch.schema_ref().field(index).name();
        let rows = text.or_else(lists).ok_or_else(|| bad(name, column.data_type()))?;
        let tools = batch.column_by_name("tools").map(|column| &**column as &dyn Array);
        Ok(Self { index, rows, tools })
    }

    pub fn rows(&self) -> &RowColumn<'a> {
        &self.rows
    }

    /// The turns of all rows, if they are structs.
    pub fn turns(&self) -> Option<&'a StructArray> {
        match &self.rows {
            RowColumn::Lists(lists) => lists.values().as_struct_opt(),
            RowColumn::Text(_) => None,
        }
    }

    /// The index of the first turn of a row.
    pub fn first_turn(&self, at: usize) -> usize {
        match &self.rows {
            RowColumn::Lists(lists) => lists.get(at).map_or(0, |range| range.start),
            RowColumn::Text(_) => 0,
        }
    }

    /// Writes a row as JSON into `line`, and returns the form of the row.
    pub fn line(&self, at: usize, line: &mut Vec<u8>) -> RowForm {
        line.clear();
        let form = match &self.rows {
            RowColumn::Text(text) => match text.get(at) {
                // A text that starts with a brace is a whole row, whatever the column is called.
                Some(text) if text.trim_ascii_start().starts_with('{') => {
                    line.extend_from_slice(text.as_bytes());
                    return RowForm::Whole;
                }
                Some(text) => {
                    line.extend_from_slice(OPEN);
                    line.extend_from_slice(text.as_bytes());
                    RowForm::List { end: OPEN.len() + text.trim_ascii_end().len() }
                }
                None => RowForm::Nested,
            },
            RowColumn::Lists(lists) => {
                if let Some(range) = lists.get(at) {
                    line.extend_from_slice(OPEN);
                    json::list(lists.values(), range, line);
                }
                RowForm::Nested
            }
        };
        if line.is_empty() {
            // The row has no turns.
            line.extend_from_slice(b"{}");
            return RowForm::Whole;
        }
        if let Some(tools) = self.tools.filter(|tools| tools.is_valid(at)) {
            line.extend_from_slice(br#","tools":"#);
            json::value(tools, at, line);
        }
        line.push(b'}');
        form
    }
}
