//! Finds the times at which messages were recorded, in the files of clients.

use std::ops::Range;

use midfold_core::calendar::{self, Millis};
use midfold_core::event::RawEvent;

use super::Conversation;
use super::text::TopValue;
use crate::fields::ObjectFields;

/// The members in which clients write the time. Most have `timestamp`; Goose has `created`, ChatGPT `create_time`,
/// Letta `created_at`, Roo Code `ts`.
const NAMES: [&str; 5] = ["timestamp", "created_at", "created", "create_time", "ts"];

/// A number from here on is in milliseconds and not in seconds: as seconds it would be in the year 5138.
const MILLIS_FROM: f64 = 1e11;

/// Notes in each message when it was recorded: the time in the message itself, or else that of its record. A record
/// that is the whole file has no time of a single message.
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

/// The last of the parts from which a message was built. Only then was the message complete.
fn newest(event: &RawEvent) -> Option<Range<usize>> {
    event.source.iter().max_by_key(|range| range.start).cloned()
}

/// The time that an object names.
fn of_object(input: &[u8], range: Range<usize>) -> Option<Millis> {
    let fields = ObjectFields::of(input, range);
    NAMES.iter().find_map(|name| of_field(&fields, name))
}

/// The time in a member: ISO 8601, or seconds or milliseconds since 1970. `None` where there is no such time.
pub(super) fn of_field(fields: &ObjectFields<'_>, name: &str) -> Option<Millis> {
    if let Some(text) = fields.text(name) {
        return calendar::moment(&text);
    }
    let number: f64 = std::str::from_utf8(fields.raw(name)?).ok()?.parse().ok()?;
    let millis = if number < MILLIS_FROM { number * 1e3 } else { number };
    (millis.is_finite() && millis > 0.0).then(|| millis.round() as Millis)
}
