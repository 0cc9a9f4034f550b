//! A message in the user's role that holds the words of several speakers.

use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use crate::read::{
    InputSource,
    chat::{self, ContentPart},
};

/// Neighbouring parts of one speaker.
struct SpeakerRun<'a> {
    origin: Option<TextOrigin>,
    parts: Vec<ContentPart<'a>>,
    ranges: Vec<Range<usize>>,
}

/// The parts of a message, split where the speaker changes, because an event has one origin.
#[derive(Default)]
pub(super) struct SpokenParts<'a>(Vec<SpeakerRun<'a>>);

impl<'a> SpokenParts<'a> {
    /// Adds a part that is at `at`. An empty text is skipped.
    pub(super) fn push(
        &mut self,
        origin: Option<TextOrigin>,
        part: ContentPart<'a>,
        at: Range<usize>,
    ) {
        if matches!(&part, ContentPart::Text(text) if chat::inside(text).is_empty()) {
            return;
        }
        match self.0.last_mut().filter(|run| run.origin == origin) {
            Some(run) => {
                run.parts.push(part);
                run.ranges.push(at);
            }
            None => self.0.push(SpeakerRun { origin, parts: vec![part], ranges: vec![at] }),
        }
    }

    /// One message for each run of a speaker, in the order of the parts.
    pub(super) fn events(self, source: &mut InputSource<'_>) -> Vec<RawEvent> {
        let built = self.0.into_iter().map(|run| {
            let mut event = source.built(chat::message("user", &run.parts), run.ranges);
            event.origin = run.origin;
            event
        });
        built.collect()
    }
}
