//! The newest messages of a request, which follow its history and are sent as they are. Where even the smallest fold
//! leaves no room for them, their results may be shown cut.

use bytes::Bytes;
use midfold_core::budget::{Budget, Ratio};
use midfold_core::event::RawEvent;
use midfold_core::log::{EventLog, measure};
use midfold_core::meter::Meter;
use midfold_core::reduce::cut_results;
use midfold_formats::request::Request;

use super::identities::{QuickKey, key};
use super::rules::RequestReading;

/// The newest results are cut to the room behind the fixed part of the prompt, divided by this. The rest is for the
/// recap, and for the next steps.
const SHARE: u64 = 2;

/// The newest messages take more than estimated by this share of the estimate, before one of them is taken for dense. An
/// estimate of other text is off by less.
const EXCESS: Ratio = Ratio(5_000);

/// A message that has far more tokens than midfold counts: pictures of characters, numbers, other scripts.
#[derive(Clone, Copy, Debug)]
pub(super) struct DenseMessage {
    key: QuickKey,
    /// The provider's tokens for each that midfold counts.
    ratio: Ratio,
}

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
    /// The counted tokens that they are cut to, where one is shown cut.
    room: Option<u64>,
    /// The dense one among them, by its place in the request.
    dense: Option<(usize, Ratio)>,
}

impl NewestMessages {
    /// Counts the messages of a request after the first `history`. `dense` is known from an earlier refusal.
    pub fn of(
        request: &Request,
        history: usize,
        reading: &RequestReading,
        meter: &Meter,
        dense: Option<DenseMessage>,
    ) -> Self {
        let at_of = |known: DenseMessage| {
            let mut newest = history..request.len();
            let at = newest.find(|at| key(&request.message(*at)) == known.key)?;
            Some((at, known.ratio))
        };
        let mut newest = Self { history, dense: dense.and_then(at_of), ..Self::default() };
        newest.count(request, reading, meter);
        newest
    }

    /// Counts them as they are sent.
    fn count(&mut self, request: &Request, reading: &RequestReading, meter: &Meter) {
        (self.counted, self.tokens) = (0, 0);
        for at in self.history..request.len() {
            let counted = tokens(&self.message(request, at), reading);
            self.counted += counted;
            self.tokens += self.ratio(at, meter).of(counted);
        }
    }

    /// The provider's tokens for each counted one of the message at this place.
    fn ratio(&self, at: usize, meter: &Meter) -> Ratio {
        self.dense.filter(|(place, _)| *place == at).map_or(meter.ratio, |(_, ratio)| ratio)
    }

    /// Takes the longest of them for dense, if the provider counts them as `real` tokens and that is far more than
    /// estimated.
    pub fn note_real(
        &mut self,
        request: &Request,
        reading: &RequestReading,
        meter: &Meter,
        real: u64,
    ) -> Option<DenseMessage> {
        if self.is_cut() || real <= self.tokens + EXCESS.of(self.tokens) {
            return None;
        }
        let sizes =
            (self.history..request.len()).map(|at| (tokens(&request.message(at), reading), at));
        let (longest, at) = sizes.max()?;
        let others = self.tokens - self.ratio(at, meter).of(longest);
        let parts = u128::from(real - others) * 10_000 / u128::from(longest.max(1));
        let ratio = Ratio(u32::try_from(parts).unwrap_or(u32::MAX));
        self.dense = Some((at, ratio));
        self.count(request, reading, meter);
        Some(DenseMessage { key: key(&request.message(at)), ratio })
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

    /// The counted tokens that the messages are cut to; `None` where all are whole.
    pub fn room(&self) -> Option<u64> {
        self.room
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
        let room = budget.tokens().saturating_sub(fixed) / SHARE;
        // Where one is dense, all are cut as if they were: the others are short beside it.
        let room = match self.dense {
            Some((_, ratio)) => Meter { ratio, ..Meter::exact() }.counted(room),
            None => meter.counted(room),
        };
        if !reading.cuts_results || self.is_cut() || self.counted <= room {
            return false;
        }
        let messages = (self.history..request.len()).map(|at| RawEvent::new(request.message(at)));
        let dialect = reading.kind.shared();
        let log = EventLog::of(dialect, reading.profile, reading.counter.clone(), messages);
        let whole = self.tokens;
        self.cut = cut_results(&log, room)
            .into_iter()
            .map(|(at, bytes)| (self.history + at, bytes))
            .collect();
        self.count(request, reading, meter);
        self.left_out = whole.saturating_sub(self.tokens);
        self.room = self.is_cut().then_some(room);
        self.is_cut()
    }
}

/// The tokens of a message by midfold's own count.
pub(super) fn tokens(message: &Bytes, reading: &RequestReading) -> u64 {
    let view = reading.kind.dialect().view(message);
    u64::from(measure(&*reading.counter, message, &view).total)
}
