//! When messages were recorded, as the files of clients say it.

use std::ops::Range;

use midfold_core::calendar::{self, Millis};
use midfold_core::event::RawEvent;

use super::Conversation;
use super::text::TopValue;
use crate::fields::ObjectFields;

/// Where clients write it: most of them `timestamp`; Goose `created`, ChatGPT `create_time`, Letta
/// `created_at`, Roo Code `ts`.
const NAMES: [&str; 5] = ["timestamp", "created_at", "created", "create_time", "ts"];

/// From this number on it counts milliseconds and not seconds: as seconds it is of the year 5138.
const MILLIS_FROM: f64 = 1e11;

/// Notes with each message when it was recorded: in itself, else in its record. A record that is the
/// whole file is none of a single message.
pub(super) fn note(input: &[u8], records: &[TopValue], conversations: &mut [Conversation]) {
    let mut known: Option<(usize, Option<Millis>)> = None;
    let mut of_record = |at: usize| {
        if records.len() == 1 {
            return None;
        }
        let place = records.partition_point(|record| record.range.start <= at).checked_sub(1)?;
        if let Some((_, found)) = known.filter(|(of, _)| *of == place) {
            return found;
        }
        let found = of_object(input, records[place].range.clone());
        known = Some((place, found));
        found
    };
    let events = conversations.iter_mut().flat_map(|conversation| &mut conversation.events);
    for event in events.filter(|event| event.at.is_none()) {
        event.at = newest(event).and_then(|source| {
            let start = source.start;
            of_object(input, source).or_else(|| of_record(start))
        });
    }
}

/// The last part of what a message was made of: before it the message was not whole.
fn newest(event: &RawEvent) -> Option<Range<usize>> {
    event.source.iter().max_by_key(|range| range.start).cloned()
}

/// The time that an object states of itself.
fn of_object(input: &[u8], range: Range<usize>) -> Option<Millis> {
    let fields = ObjectFields::of(input, range);
    NAMES.iter().find_map(|name| of_field(&fields, name))
}

/// The time in a field: ISO 8601, or seconds or milliseconds since 1970.
pub(super) fn of_field(fields: &ObjectFields<'_>, name: &str) -> Option<Millis> {
    if let Some(text) = fields.text(name) {
        return calendar::moment(&text);
    }
    let number: f64 = std::str::from_utf8(fields.raw(name)?).ok()?.parse().ok()?;
    let millis = if number < MILLIS_FROM { number * 1e3 } else { number };
    (millis.is_finite() && millis > 0.0).then(|| millis.round() as Millis)
}
