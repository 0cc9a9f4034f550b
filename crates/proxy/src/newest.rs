//! The newest messages of a request, which follow its history and are sent as they are. Where even the smallest fold
//! leaves no room for them, their results may be shown cut.

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::event::RawEvent;
use midfold_core::log::{EventLog, measure};
use midfold_core::meter::Meter;
use midfold_core::reduce::cut_results;
use midfold_formats::request::Request;

use super::rules::RequestReading;

/// The newest results are cut to the room behind the fixed part of the prompt, divided by this. The rest is for the
/// recap, and for the next steps.
const SHARE: u64 = 2;

/// The messages of a request that follow its history.
#[derive(Clone, Debug, Default)]
pub(super) struct NewestMessages {
    /// How many messages of the request are history.
    history: usize,
    /// Their tokens by midfold's own count, uncorrected.
    pub counted: u64,
    /// Their tokens in the provider's count, as the meter estimates it.
    pub tokens: u64,
    /// The tokens that were left out of their results, in the provider's count.
    pub left_out: u64,
    /// The messages with results that are shown cut, by their places in the request.
    cut: Vec<(usize, Bytes)>,
}

impl NewestMessages {
    /// Counts the messages of a request after the first `history`.
    pub fn of(request: &Request, history: usize, reading: &RequestReading, meter: &Meter) -> Self {
        let counted =
            (history..request.len()).map(|at| tokens(&request.message(at), reading)).sum();
        let tokens = meter.ratio.of(counted);
        Self { history, counted, tokens, ..Self::default() }
    }

    /// Adds a message to them. Returns its tokens by midfold's own count and by the provider's.
    pub fn add(&mut self, message: &Bytes, reading: &RequestReading, meter: &Meter) -> (u64, u64) {
        let counted = tokens(message, reading);
        let of_provider = meter.ratio.of(counted);
        self.counted += counted;
        self.tokens += of_provider;
        (counted, of_provider)
    }

    /// How many messages of the request are history.
    pub fn history_len(&self) -> usize {
        self.history
    }

    /// Whether a result is shown cut.
    pub fn is_cut(&self) -> bool {
        !self.cut.is_empty()
    }

    /// The messages with results that are shown cut, by their places in the request.
    pub fn cut_messages(&self) -> &[(usize, Bytes)] {
        &self.cut
    }

    /// A message of the request as it is sent: with its results cut, where they are.
    pub fn message(&self, request: &Request, at: usize) -> Bytes {
        let cut = self.cut.iter().find(|(place, _)| *place == at);
        cut.map_or_else(|| request.message(at), |(_, bytes)| bytes.clone())
    }

    /// Cuts the longest results, so that the messages fit beside `fixed` tokens that no fold can remove. `budget` is
    /// that of all messages. Returns false if they would not get smaller.
    pub fn cut(
        &mut self,
        request: &Request,
        reading: &RequestReading,
        meter: &Meter,
        budget: &Budget,
        fixed: u64,
    ) -> bool {
        let room = meter.counted(budget.tokens().saturating_sub(fixed) / SHARE);
        if !reading.cuts_results || self.is_cut() || self.counted <= room {
            return false;
        }
        let messages = (self.history..request.len()).map(|at| RawEvent::new(request.message(at)));
        let dialect = reading.kind.shared();
        let log = EventLog::of(dialect, reading.profile, reading.counter.clone(), messages);
        let mut left_out = 0;
        for (at, bytes) in cut_results(&log, room) {
            let at = self.history + at;
            let whole = tokens(&request.message(at), reading);
            left_out += whole.saturating_sub(tokens(&bytes, reading));
            self.cut.push((at, bytes));
        }
        self.left_out = meter.ratio.of(left_out);
        self.counted -= left_out;
        self.tokens = meter.ratio.of(self.counted);
        self.is_cut()
    }
}

/// The tokens of a message by midfold's own count.
pub(super) fn tokens(message: &Bytes, reading: &RequestReading) -> u64 {
    let view = reading.kind.dialect().view(message);
    u64::from(measure(&*reading.counter, message, &view).total)
}
