//! Fills the facts of messages from the places that the table of their format names.

use midfold_core::calendar::{self, Millis};
use midfold_core::event::RawEvent;
use midfold_core::jsonstr;

use super::Conversation;
use super::columns::{Column, ColumnTable};
use super::text::TopValue;
use crate::fields::ObjectFields;

/// A number from here on is in milliseconds and not in seconds: as seconds it would be in the year 5138.
const MILLIS_FROM: f64 = 1e11;

/// Fills what the readers left open: whether calls failed, the times, the usage and the model.
pub(super) fn fill(
    input: &[u8],
    records: &[TopValue],
    columns: &ColumnTable,
    conversations: &mut [Conversation],
) {
    if !columns.is_walked() {
        return;
    }
    let mut objects = SourceObjects { input, records, known: None };
    for conversation in conversations {
        let mut model = None;
        // The newest message that names a model counts.
        for event in conversation.events.iter_mut().rev() {
            objects.fill(event, columns, &mut model);
        }
        conversation.envelope.model = model.or(conversation.envelope.model.take());
    }
}

/// What `read` finds at the first of these paths that has anything.
fn first<'a, T>(
    fields: &ObjectFields<'a>,
    paths: &[&str],
    read: impl Fn(&ObjectFields<'a>, &str) -> Option<T>,
) -> Option<T> {
    paths.iter().find_map(|path| fields.at_path(path, &read))
}

/// The objects from which messages were built, and the records that hold them.
struct SourceObjects<'a> {
    input: &'a [u8],
    records: &'a [TopValue],
    /// The last record that was asked for. Neighbouring messages often are in one record.
    known: Option<(usize, ObjectFields<'a>)>,
}

impl<'a> SourceObjects<'a> {
    fn fill(&mut self, event: &mut RawEvent, columns: &ColumnTable, model: &mut Option<String>) {
        let newest = event.source.iter().map(|part| part.start).max();
        // A message may hold several results. It counts as failed only if all of them are.
        let mut failed = newest.is_some();
        for part in event.source.iter().rev() {
            let own = ObjectFields::of(self.input, part.clone());
            let at = part.start;
            // A message was complete only with its newest part.
            if event.at.is_none() && Some(at) == newest {
                event.at = self.time(&columns.time, &own, at);
            }
            if event.usage.is_none()
                && let Some((place, fields)) = self.place(&columns.usage, &own, at)
            {
                let read =
                    |holder: &ObjectFields<'a>, name: &str| (place.read)(&holder.inner(name));
                event.usage = fields.at_path(place.at, read);
            }
            if model.is_none()
                && let Some((paths, fields)) = self.place(&columns.model, &own, at)
            {
                *model = first(fields, paths, ObjectFields::label);
            }
            let marks = self.place(&columns.error, &own, at);
            failed &=
                marks.is_some_and(|(marks, fields)| marks.iter().any(|mark| mark.is_in(fields)));
        }
        event.failed |= failed;
    }

    /// What the walker needs for a column, and the object in which it looks. `None` where the walker has no part in it.
    fn place<'s, 'c, W>(
        &'s mut self,
        column: &'c Column<W>,
        own: &'s ObjectFields<'a>,
        at: usize,
    ) -> Option<(&'c W, &'s ObjectFields<'a>)> {
        match column {
            Column::At(place) => Some((place, own)),
            Column::InRecord(place) => Some((place, self.record_of(at)?)),
            Column::ByReader(_) | Column::Unread(_) | Column::Lacks(_) => None,
        }
    }

    /// The time of the object that starts at `at`, or else of its record: a message has both in some files.
    fn time(
        &mut self,
        column: &Column<&'static [&'static str]>,
        own: &ObjectFields<'a>,
        at: usize,
    ) -> Option<Millis> {
        let Column::At(paths) = column else { return None };
        first(own, paths, moment).or_else(|| first(self.record_of(at)?, paths, moment))
    }

    /// The record that holds a position. `None` where the record is the whole file: what it says is of no single
    /// message.
    fn record_of(&mut self, at: usize) -> Option<&ObjectFields<'a>> {
        if self.records.len() == 1 {
            return None;
        }
        let place =
            self.records.partition_point(|record| record.range.start <= at).checked_sub(1)?;
        if self.known.as_ref().is_none_or(|(of, _)| *of != place) {
            let fields = ObjectFields::of(self.input, self.records[place].range.clone());
            self.known = Some((place, fields));
        }
        self.known.as_ref().map(|(_, fields)| fields)
    }
}

/// The time in a member. `None` where there is no such time.
pub(super) fn moment(fields: &ObjectFields<'_>, name: &str) -> Option<Millis> {
    moment_of(fields.raw(name)?)
}

/// The time that a JSON value says: ISO 8601, or seconds or milliseconds since 1970.
pub(super) fn moment_of(value: &[u8]) -> Option<Millis> {
    if value.starts_with(b"\"") {
        return calendar::moment(&jsonstr::decode(value));
    }
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    let millis = if number < MILLIS_FROM { number * 1e3 } else { number };
    (millis.is_finite() && millis > 0.0).then(|| millis.round() as Millis)
}
