//! The ledger of a conversation: its requests and their cost, until they are written to a store.

use midfold_core::engine::Session;
use midfold_core::event::Usage;
use midfold_core::fold::FoldJoin;
use midfold_core::ledger::{CallInput, CallRecord, ClientHistory, Ledger, ReportedCost};
use midfold_store::{CallRow, Millis, NewCall, StoreError};

/// A call that is not written yet, and the JSON of the cost that the provider reported, if it reported one.
pub(super) type UnwrittenCall = (NewCall, Option<String>);

/// The ledger of a conversation, with the calls that are not written yet.
#[derive(Default)]
pub(super) struct CallLedger {
    ledger: Ledger,
    unwritten: Vec<UnwrittenCall>,
}

impl CallLedger {
    /// Continues a ledger that was read from a store.
    pub fn after(ledger: Ledger) -> Self {
        Self { ledger, unwritten: Vec::new() }
    }

    /// Records a request with the history that it carried, what its `client` sent of that, and the room that its newest
    /// messages were cut to. `usage` is the provider's count, if it reported one.
    pub fn record(
        &mut self,
        session: &Session,
        client: Option<ClientHistory>,
        newest_room: Option<u64>,
        usage: Option<Usage>,
        now: Millis,
    ) {
        let log = session.log();
        let (turn, request) = log.events().last().map_or((0, 0), |event| (event.turn, event.step));
        let joining = FoldJoin { session: session.id().to_owned(), turn, request };
        let call = CallInput {
            joining: &joining,
            events: u32::try_from(log.len()).unwrap_or(u32::MAX),
            head_hash: log.head_hash(),
            fold: session.active(),
            void: session.void(),
            pins: session.pins(),
            meter: session.meter(),
            client,
            newest_room,
        };
        let record = self.ledger.record(&session.view(), &call);
        // Records are plain values, and always have JSON.
        let body = serde_json::to_string(&record).unwrap_or_default();
        let settled =
            usage.map(|usage| serde_json::to_string(&ReportedCost { usage }).unwrap_or_default());
        let new = NewCall {
            number: record.number,
            head: record.events.into(),
            fold: record.fold,
            hash: record.hash,
            body,
            now,
        };
        self.unwritten.push((new, settled));
    }

    pub fn unwritten(&self) -> &[UnwrittenCall] {
        &self.unwritten
    }

    /// Drops the first `count` unwritten calls, because they are written now.
    pub fn note_written(&mut self, count: usize) {
        self.unwritten.drain(..count.min(self.unwritten.len()));
    }

    /// Learns the last call that the store has in its ledger. If it is one of ours, only the store's answer was
    /// lost: the calls up to it are written. If another process wrote it, this ledger goes on from it. Our
    /// unwritten calls are dropped then, because their hashes do not continue its chain.
    pub fn learn(&mut self, last: Option<&CallRow>) -> Result<(), StoreError> {
        let hash = last.map(|row| row.call.hash);
        if let Some(at) = self.unwritten.iter().position(|(call, _)| Some(call.hash) == hash) {
            self.note_written(at + 1);
            return Ok(());
        }
        let Some(row) = last else { return Ok(()) };
        // The store ends before our first unwritten call, so nobody else took its number, and ours still continue the
        // chain.
        if row.call.number < self.unwritten.first().map_or(u64::MAX, |(call, _)| call.number) {
            return Ok(());
        }
        let record: CallRecord = serde_json::from_str(&row.call.body)?;
        *self = Self::after(Ledger::after(&record));
        Ok(())
    }
}
