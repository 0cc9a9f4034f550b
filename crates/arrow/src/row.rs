//! One row: what comes of it, in the form in which its column wants it back.

use midfold_core::jsonstr;
use midfold_formats::scan;
use midfold_formats::trajectory::{RowError, TrajectoryRow};

use arrow_array::StructArray;

use crate::source::{BatchRows, OPEN, RowForm, is_text};
use crate::{RowPass, RowReport};

/// What takes the place of a row.
pub(crate) enum RowChange {
    /// All of the row, as JSON.
    Whole(String),
    /// The list of turns, as JSON.
    List(String),
    /// The turns, one by one.
    Turns(Vec<TurnSlot>),
}

/// A turn of a new row.
pub(crate) enum TurnSlot {
    /// That turn of the old one.
    Kept(usize),
    /// Another one.
    New(NewTurn),
}

/// A turn with a summary or a notice in it.
pub(crate) struct NewTurn {
    /// The turn of the old row that it extends. All that has no new text is as there; where it
    /// extends none, null.
    pub from: Option<usize>,
    /// New texts, by number of the member.
    pub texts: Vec<(usize, String)>,
}

/// What a row cannot be used for.
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
        Ok(done) => done,
        Err(RowFailure { code, reason }) => (RowReport::Failed { code, reason }, None),
    }
}

fn compressed(
    line: &[u8],
    form: RowForm,
    source: &BatchRows<'_>,
    pass: RowPass<'_>,
) -> Result<(RowReport, Option<RowChange>), RowFailure> {
    let done = pass(line)?;
    if let RowForm::List { end } = form {
        // What closes the list early and goes on is no list, though the row around it is one.
        if scan::value(line, OPEN.len()).is_none_or(|list| list.end != end) {
            return Err(RowError::NotAList("conversations").into());
        }
    }
    let change = match (done.bytes, form) {
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
            Some(RowChange::Turns(slots(&old, &new, &done.map, turns)?))
        }
    };
    Ok((RowReport::Done { metrics: done.metrics, map: done.map, counted: done.counted }, change))
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

/// A turn of the new row as texts for the members of a struct. Of a turn that was there before,
/// only what it says is new.
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
