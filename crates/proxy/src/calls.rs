//! The ledger of a conversation: what was sent and what it cost, until it is written.

use midfold_core::engine::Session;
use midfold_core::event::Usage;
use midfold_core::fold::FoldJoin;
use midfold_core::ledger::{CallInput, CallRecord, Ledger, ReportedCost};
use midfold_store::{CallRow, Millis, NewCall, StoreError};

/// A call that waits to be written, and what the provider reported, where it did.
pub(super) type UnwrittenCall = (NewCall, Option<String>);

/// The ledger of a conversation, and its calls that are not written yet.
#[derive(Default)]
pub(super) struct CallLedger {
    ledger: Ledger,
    unwritten: Vec<UnwrittenCall>,
}

impl CallLedger {
    /// Goes on with a ledger that was in a store.
    pub fn after(ledger: Ledger) -> Self {
        Self { ledger, unwritten: Vec::new() }
    }

    /// Records the history that a request carried, and what the provider counted for the request, where it said so.
    pub fn record(&mut self, session: &Session, usage: Option<Usage>, now: Millis) {
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

    /// The first `count` were written.
    pub fn wrote(&mut self, count: usize) {
        self.unwritten.drain(..count.min(self.unwritten.len()));
    }

    /// Learns the last call that the store has in its ledger. If it is one of ours, only the store's answer was
    /// lost: the calls up to it are written. If another process wrote it, this ledger goes on from it. Our
    /// unwritten calls are dropped then, because their hashes do not continue its chain.
    pub fn learn(&mut self, last: Option<&CallRow>) -> Result<(), StoreError> {
        let hash = last.map(|row| row.call.hash);
        if let Some(at) = self.unwritten.iter().position(|(call, _)| Some(call.hash) == hash) {
            self.wrote(at + 1);
            return Ok(());
        }
        let Some(row) = last else { return Ok(()) };
        if row.call.number < self.unwritten.first().map_or(u64::MAX, |(call, _)| call.number) {
            return Ok(());
        }
        let record: CallRecord = serde_json::from_str(&row.call.body)?;
        *self = Self::after(Ledger::after(&record));
        Ok(())
    }
}
