//! One row: its result, in the form of its column.

use midfold_core::jsonstr;
use midfold_formats::scan;
use midfold_formats::trajectory::{RowError, TrajectoryRow};

use arrow_array::StructArray;

use crate::source::{BatchRows, OPEN, RowForm, is_text};
use crate::{RowPass, RowReport};

/// The replacement of a row.
pub(crate) enum RowChange {
    /// The whole row, as JSON.
    Whole(String),
    /// The list of turns, as JSON.
    List(String),
    /// The turns, one by one.
    Turns(Vec<TurnSlot>),
}

/// A turn of a new row.
pub(crate) enum TurnSlot {
    /// The old row's turn at this index.
    Kept(usize),
    /// A new turn.
    New(NewTurn),
}

/// A turn that contains a summary or a notice.
pub(crate) struct NewTurn {
    /// The index of the old row's turn that it extends: members without a new text are copied from there. `None` for a
    /// turn of its own, whose other members are null.
    pub from: Option<usize>,
    /// The new texts, by index of the member.
    pub texts: Vec<(usize, String)>,
}

/// The reason why a row cannot be used.
struct RowFailure {
    code: &'static str,
    reason: String,
}

impl From<RowError> for RowFailure {
    fn from(error: RowError) -> Self {
        Self { code: error.code(), reason: error.to_string() }
    }
}

impl RowFailure {
    fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

pub(crate) fn compress(
    line: &[u8],
    form: RowForm,
    source: &BatchRows<'_>,
    pass: RowPass<'_>,
) -> (RowReport, Option<RowChange>) {
    match compressed(line, form, source, pass) {
        Ok(outcome) => outcome,
        Err(RowFailure { code, reason }) => (RowReport::Failed { code, reason }, None),
    }
}

/// Compresses a row, and returns its report and its replacement. The replacement is `None` where the row stays.
fn compressed(
    line: &[u8],
    form: RowForm,
    source: &BatchRows<'_>,
    pass: RowPass<'_>,
) -> Result<(RowReport, Option<RowChange>), RowFailure> {
    let outcome = pass(line)?;
    if let RowForm::List { end } = form {
        // A text may close the list early and go on. It is then no list, although the JSON made around it is valid.
        if scan::value(line, OPEN.len()).is_none_or(|list| list.end != end) {
            return Err(RowError::NotAList("conversations").into());
        }
    }
    let change = match (outcome.bytes, form) {
        (None, _) => None,
        (Some(bytes), RowForm::Whole) => Some(RowChange::Whole(text(bytes)?)),
        (Some(mut bytes), RowForm::List { .. }) => {
            let list = scan::value(&bytes, OPEN.len()).unwrap_or_default();
            bytes.truncate(list.end);
            Some(RowChange::List(text(bytes.split_off(list.start))?))
        }
        (Some(bytes), RowForm::Nested) => {
            let turns =
                source.turns().ok_or_else(|| RowFailure::new("no-list", "no list of turns"))?;
            let (old, new) = (TrajectoryRow::read(line)?, TrajectoryRow::read(&bytes)?);
            Some(RowChange::Turns(slots(&old, &new, &outcome.map, turns)?))
        }
    };
    Ok((
        RowReport::Done { metrics: outcome.metrics, map: outcome.map, counted: outcome.counted },
        change,
    ))
}

fn text(bytes: Vec<u8>) -> Result<String, RowFailure> {
    String::from_utf8(bytes)
        .map_err(|error| RowError::NotUtf8(error.utf8_error().valid_up_to()).into())
}

/// The turns of the new row, in order.
fn slots(
    old: &TrajectoryRow<'_>,
    new: &TrajectoryRow<'_>,
    map: &midfold_core::trajectory::TurnMap,
    column: &StructArray,
) -> Result<Vec<TurnSlot>, RowFailure> {
    let mut from = vec![None; new.turns().len()];
    for at in 0..map.turns_before() {
        if let Some(place) = map.get(at).and_then(|new| from.get_mut(new)) {
            *place = Some(at);
        }
    }
    let slot = |(at, from): (usize, Option<usize>)| match from {
        Some(was) if old.turn_bytes(was) == new.turn_bytes(at) => Ok(TurnSlot::Kept(was)),
        from => new_turn(new.turn_bytes(at), from, column).map(TurnSlot::New),
    };
    from.into_iter().enumerate().map(slot).collect()
}

/// A turn of the new row, as texts for the members of a struct. For a turn that existed before, only its content is
/// new.
fn new_turn(
    bytes: &[u8],
    from: Option<usize>,
    column: &StructArray,
) -> Result<NewTurn, RowFailure> {
    let says = ["value", "content"];
    let mut texts = Vec::new();
    for member in scan::members(bytes, 0..bytes.len()) {
        let name = jsonstr::decode(&bytes[member.key.clone()]);
        if from.is_some() && !says.contains(&&*name) {
            continue;
        }
        let token = &bytes[member.value.clone()];
        let fields = column.fields().iter().enumerate();
        let mut places = fields.filter(|(_, field)| *field.name() == name);
        match places.next() {
            Some((at, field)) if is_text(field.data_type()) && token.starts_with(b"\"") => {
                texts.push((at, jsonstr::decode(token).into_owned()));
            }
            _ => {
                let reason = format!("`{name}` of the column is no text: it cannot hold a summary");
                return Err(RowFailure::new("column-type", reason));
            }
        }
    }
    Ok(NewTurn { from, texts })
}
