//! Compares a log with what the client of a proxy sent.

use crate::exchanges::{ClientChain, ExchangeWalk};
use crate::json::NumberForm;
use crate::ledger::{CallRecord, ClientHistory};
use crate::log::EventLog;

/// The format whose replies are several messages that the client has one by one.
const ITEMS: &str = "openai-responses";

/// Compares the calls of a log with what their client sent, in the present normal form, and in that of older records.
#[derive(Default)]
pub(super) struct ClientLogs {
    present: ClientLog,
    older: ClientLog,
}

impl ClientLogs {
    /// How the events of a call differ from what its client sent. `None` where they do not, or where the record does
    /// not say what was sent.
    pub fn fault(&mut self, log: &EventLog, call: &CallRecord) -> Option<String> {
        let fault = self.present.fault(log, call, NumberForm::Value)?;
        self.older.fault(log, call, NumberForm::Spelled).map(|_| fault)
    }
}

/// Reads a log as its client has it. Calls come mostly in order, so each call goes on from the one before.
#[derive(Default)]
struct ClientLog {
    /// The walk through the first events, and their number.
    open: Option<(ExchangeWalk, usize)>,
}

impl ClientLog {
    fn fault(&mut self, log: &EventLog, call: &CallRecord, numbers: NumberForm) -> Option<String> {
        let recorded = call.client?;
        let events = call.events as usize;
        if events > log.len() {
            return None;
        }
        let begins = ClientChain::from_record(recorded.begins);
        let computed = ClientHistory::of(&self.walk(log, begins, events, numbers));
        if computed.exchanges != recorded.exchanges {
            return Some(format!(
                "the log has {} hidden exchanges among the first {events} events, {} took place",
                computed.exchanges, recorded.exchanges
            ));
        }
        if computed.places != recorded.places {
            return Some("a hidden exchange took place behind another history".to_owned());
        }
        (computed.hash != recorded.hash).then(|| {
            "without its hidden exchanges the log has another history than the client sent"
                .to_owned()
        })
    }

    /// The walk through the first `events` events.
    fn walk(
        &mut self,
        log: &EventLog,
        begins: ClientChain,
        events: usize,
        numbers: NumberForm,
    ) -> ExchangeWalk {
        let known = self.open.take();
        let known = known.filter(|(walk, read)| walk.begins() == begins && *read <= events);
        let has_items = log.dialect().name() == ITEMS;
        let begin = || (ExchangeWalk::from_begin(begins, has_items).writing(numbers), 0);
        let (mut walk, read) = known.unwrap_or_else(begin);
        for event in &log.events()[read..events] {
            walk.message(&event.view, &event.bytes);
        }
        // A later call may go on with an exchange that is open here, so the open walk is kept.
        let mut ended = walk.clone();
        self.open = Some((walk, events));
        ended.end();
        ended
    }
}
