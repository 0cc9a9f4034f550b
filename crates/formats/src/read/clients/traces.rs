//! Traces of calls of a model. Each call holds the conversation up to it, so the longest one holds it whole.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::calendar::Millis;
use midfold_core::event::{RawEvent, Usage};
use midfold_core::jsonstr;
use serde::de::IgnoredAny;

use crate::read::{Conversation, Envelope, InputSource, TranscriptFormat, UnsentCount};
use crate::scan;

/// One call of a model.
pub(super) struct TracedCall {
    /// The conversation to which it belongs, or else its trace.
    pub group: String,
    pub format: TranscriptFormat,
    pub envelope: Envelope,
    /// The messages that it was sent.
    pub inputs: Vec<RawEvent>,
    /// The messages that came back.
    pub replies: Vec<RawEvent>,
    /// When it began and ended.
    pub times: (Option<Millis>, Option<Millis>),
    pub usage: Option<Usage>,
    /// Its place in the input.
    pub place: usize,
}

/// One conversation for each group: that of its longest call, with the reply. Of equally long ones the newest counts.
pub(super) fn conversations(
    source: &mut InputSource<'_>,
    calls: Vec<TracedCall>,
) -> Vec<Conversation> {
    let mut groups: Vec<Vec<TracedCall>> = Vec::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for call in calls {
        let at = *by_name.entry(call.group.clone()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(call),
            None => groups.push(vec![call]),
        }
    }
    let mut others = UnsentCount::default();
    let out = groups.into_iter().filter_map(|group| conversation(source, group, &mut others));
    let out = out.collect();
    others.note(source, "other-calls", "{} calls of other conversations in a trace are left out");
    out
}

/// The conversation of the longest call. The other calls say when its messages were added, and what they cost.
fn conversation(
    source: &mut InputSource<'_>,
    mut calls: Vec<TracedCall>,
    others: &mut UnsentCount,
) -> Option<Conversation> {
    calls.sort_by_key(|call| call.times.0);
    let longest = calls.iter().max_by_key(|call| call.inputs.len())?;
    let mut traced = Conversation::new(longest.format, source.line_of(longest.place));
    traced.id = Some(longest.group.clone());
    traced.envelope = longest.envelope.clone();
    traced.events = longest.inputs.iter().chain(&longest.replies).cloned().collect();
    let mut known = 0;
    for call in &calls {
        let end = call.inputs.len();
        let is_start = call.inputs.iter().zip(&traced.events).all(|(a, b)| a.bytes == b.bytes);
        if !is_start {
            others.add(call.place);
            continue;
        }
        for event in traced.events.iter_mut().take(end).skip(known) {
            event.at = call.times.0;
        }
        for (at, event) in traced.events.iter_mut().skip(end).take(call.replies.len()).enumerate() {
            event.at = call.times.1.or(call.times.0);
            event.usage = call.usage.filter(|_| at == 0);
        }
        known = known.max(end + call.replies.len());
    }
    Some(traced)
}

/// A JSON value, which may be written as a text that holds it. A text that holds none is `None`.
pub(super) fn decoded(input: &Bytes, at: Range<usize>) -> Option<Bytes> {
    let written = input.get(at.clone())?;
    if written.first() != Some(&b'"') {
        return Some(input.slice(at));
    }
    let text = jsonstr::decode(written).into_owned();
    serde_json::from_str::<IgnoredAny>(&text).ok().map(|_| text.into())
}

/// The range of the value in decoded bytes.
pub(super) fn whole(bytes: &[u8]) -> Range<usize> {
    scan::value(bytes, scan::skip_space(bytes, 0)).unwrap_or(0..0)
}
