//! The newest messages of a client's request, which its session got with the request after it.

use bytes::Bytes;

use crate::event::RawEvent;
use crate::ledger::CallRecord;
use crate::log::EventLog;
use crate::reduce::cut_results;
use crate::view::Role;

/// The events of a prompt up to its end, and those of the newest that the model saw cut.
pub(super) struct NewestEvents {
    /// The number of the log's events that were in the prompt.
    pub end: usize,
    /// The cut events, by their numbers.
    cut: Vec<(usize, Bytes)>,
}

impl NewestEvents {
    /// A prompt of the first `end` events, whose newest ones were sent as the context has them.
    pub fn none(end: usize) -> Self {
        Self { end, cut: Vec::new() }
    }

    /// The prompt of a client's call: its newest events are those behind its history, up to the answer.
    pub fn of(log: &EventLog, call: &CallRecord) -> Self {
        let start = call.events as usize;
        let behind = log.events().iter().skip(start);
        let newest: Vec<_> =
            behind.take_while(|event| event.view.role != Role::Assistant).collect();
        let end = start + newest.len();
        let Some(room) = call.newest_room else { return Self::none(end) };
        // As the proxy cut them: the same messages, counter and room give the same cut.
        let raw = newest.iter().map(|event| RawEvent::new(event.bytes.clone()));
        let alone = EventLog::of(log.dialect().clone(), *log.profile(), log.counter().clone(), raw);
        let cut = cut_results(&alone, room).into_iter().map(|(at, bytes)| (start + at, bytes));
        Self { end, cut: cut.collect() }
    }

    /// The form in which an event was sent, if it was cut.
    pub fn cut(&self, seq: u32) -> Option<&Bytes> {
        self.cut.iter().find(|(at, _)| *at == seq as usize).map(|(_, bytes)| bytes)
    }
}
