//! A request that the provider has taken: what its answer teaches.

use std::sync::Arc;

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_core::log::Event;
use midfold_core::spending::FoldedPrompt;
use midfold_formats::answer::AnswerFacts;
use midfold_formats::request::Request;
use midfold_store::Millis;

use super::conversation::ProxyConversation;
use super::history::HistoryKeys;
use super::learned_windows::{WindowOwner, WindowReport};
use super::lock::lock;
use super::narrate::NarrationTarget;
use super::shared::Proxy;
use super::slot::ConversationSlot;
use super::truncation::{CountKind, CountPair};

/// A request whose answer is on its way.
pub struct PendingAnswer {
    pub(super) proxy: Arc<Proxy>,
    pub(super) place: Option<ConversationSlot>,
    /// The fold that the request was read through.
    pub(super) fold: Option<Hash>,
    /// What it carried, and what it would have carried without that fold.
    pub(super) carried: FoldedPrompt,
    /// Tokens of what it carried, by our own count.
    pub(super) counted: u64,
    /// Whose window it fitted.
    pub(super) source: Option<WindowOwner>,
    /// The request, where a later one may name its answer.
    pub(super) named: Option<(Request, HistoryKeys)>,
}

impl PendingAnswer {
    /// The conversation, for a model that narrates. Nothing where there is no history yet.
    #[must_use]
    pub fn narratable(&self) -> Option<NarrationTarget> {
        let place = self.place.as_ref().filter(|place| !place.is_aside)?;
        Some(NarrationTarget {
            proxy: Arc::clone(&self.proxy),
            conversation: Arc::downgrade(&place.conversation),
            budget: place.budget.clone(),
        })
    }

    /// The answer has passed: what the provider counted, and what a later request may go on from. Says so where
    /// the count tells that the server dropped what did not fit: what it read becomes its window.
    pub fn answered(self, seen: &AnswerFacts, now: Millis) -> Option<SilentTruncation> {
        if let (Some(id), Some((request, kept))) = (&seen.id, &self.named)
            && seen.is_complete
        {
            self.proxy.keep(request, kept, id, &seen.output, self.place.as_ref());
        }
        let place = self.place.as_ref()?;
        // Not every client has its provider say what a stream cost.
        if seen.usage.is_none() && !seen.is_complete {
            return None;
        }
        let count = seen.usage.map_or(CountKind::Other, |usage| self.judge(place, usage));
        let truncation = self.truncation(place, count);
        if let Some(SilentTruncation { window, .. }) = &truncation {
            let told = WindowReport { window: *window, counts_reply: false };
            let source = self.source.iter();
            source.for_each(|source| lock(&self.proxy.learned).refused(source, told));
        } else if let (Some(source), Some(usage)) = (&self.source, seen.usage) {
            let reading = &place.reading;
            let is_guess = reading.window_from.is_guess() && count == CountKind::Prompt;
            let guess = is_guess.then_some(reading.window);
            lock(&self.proxy.learned).accepted(source, usage, guess);
        }
        let mut held = lock(&place.conversation);
        let ProxyConversation { session, calls, .. } = &mut *held;
        if let Some(usage) = seen.usage {
            self.proxy.spend(session, usage, self.fold.map(|_| self.carried));
        }
        let is_current = session.log().len() == place.events
            && session.active().map(|fold| fold.id) == self.fold;
        if is_current && self.proxy.is_stored() {
            // The messages behind the history become a part of it with the next request.
            calls.record(session, seen.usage, now);
        }
        let is_count = is_current && !place.is_aside && count == CountKind::Prompt;
        if let Some(usage) = seen.usage.filter(|_| is_count) {
            // The meter is of the history; what is behind it comes and goes.
            let prompt = usage.prompt.saturating_sub(place.suffix).max(1);
            session.observe(Usage { prompt, ..usage }, now);
        }
        drop(held);
        self.proxy.queue(&place.conversation);
        truncation
    }

    /// What the provider's count is.
    fn judge(&self, place: &ConversationSlot, usage: Usage) -> CountKind {
        let Some(counted) = CountPair::of(self.counted, usage) else { return CountKind::Other };
        if place.is_aside {
            return CountKind::Prompt;
        }
        let mut held = lock(&place.conversation);
        let before = held.counted;
        let count = counted.judge(before);
        if count == CountKind::Prompt && before.is_none_or(|before| !counted.stands(before)) {
            held.counted = Some(counted);
        }
        // What pictures cost is guessed more coarsely than texts.
        let has_media = |event: &Event| event.view.blocks.iter().any(|it| !it.media.is_empty());
        match count {
            CountKind::Truncated(_) | CountKind::Other
                if before.is_none() && held.session.log().events().iter().any(has_media) =>
            {
                CountKind::Prompt
            }
            count => count,
        }
    }

    fn truncation(&self, place: &ConversationSlot, count: CountKind) -> Option<SilentTruncation> {
        let CountKind::Truncated(window) = count else { return None };
        let session = lock(&place.conversation).session.id().to_owned();
        Some(SilentTruncation { session, sent: self.carried.sent, window })
    }
}

/// A server dropped a part of what it was sent, and said nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentTruncation {
    /// The session.
    pub session: String,
    /// Tokens that were sent.
    pub sent: u64,
    /// Tokens that it read, which is its window from now on.
    pub window: u64,
}
