//! A request that the provider accepted, and what its answer teaches about count, window and cost.

use std::sync::Arc;

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_core::ledger::ClientHistory;
use midfold_core::log::Event;
use midfold_core::spending::FoldedPrompt;
use midfold_formats::answer::AnswerFacts;
use midfold_formats::request::Request;
use midfold_store::Millis;

use super::conversation::ProxyConversation;
use super::fold_marks::WatchedAnswer;
use super::history::RequestHistory;
use super::learned_windows::{WindowOwner, WindowReport};
use super::lock::lock;
use super::narrate::NarrationTarget;
use super::shared::Proxy;
use super::slot::ConversationSlot;
use super::truncation::{CountKind, CountPair};

/// A request whose answer has not come yet.
pub struct PendingAnswer {
    pub(super) proxy: Arc<Proxy>,
    pub(super) place: Option<ConversationSlot>,
    /// The fold that the request was read through.
    pub(super) fold: Option<Hash>,
    /// The size of the prompt as it was sent, and as it would have been without that fold.
    pub(super) carried: FoldedPrompt,
    /// The tokens of the prompt, in midfold's own count.
    pub(super) counted: u64,
    /// The owner of the window that the request fitted.
    pub(super) source: Option<WindowOwner>,
    /// The request, if a later one may name its answer.
    pub(super) named: Option<(Request, RequestHistory)>,
    /// What the client sent, for the record of the call.
    pub(super) client: Option<ClientHistory>,
    /// Finds placeholders in the answer, where it is only watched.
    pub(super) watched: Option<WatchedAnswer>,
}

impl PendingAnswer {
    /// The id of the session; `None` if there is no history yet.
    #[must_use]
    pub fn session(&self) -> Option<String> {
        let place = self.place.as_ref()?;
        Some(lock(&place.conversation).session.id().to_owned())
    }

    /// The conversation for a model that narrates; `None` if there is no history yet.
    #[must_use]
    pub fn narratable(&self) -> Option<NarrationTarget> {
        let place = self.place.as_ref().filter(|place| !place.is_aside)?;
        Some(NarrationTarget {
            proxy: Arc::clone(&self.proxy),
            conversation: Arc::downgrade(&place.conversation),
            budget: place.budget.clone(),
        })
    }

    /// Takes the facts of the answer: the provider's count, and the id by which a later request may go on. Returns a
    /// truncation if the count shows that the server silently dropped a part of the prompt; the tokens that it read
    /// then become its window.
    pub fn take_facts(self, seen: &AnswerFacts, now: Millis) -> Option<SilentTruncation> {
        // This comes before the place is asked for: the next request may also name the answer to a first one, which has
        // no place.
        if let (Some(id), Some((request, kept))) = (&seen.id, &self.named)
            && seen.is_complete
        {
            self.proxy.keep(request, kept, id, &seen.output, self.place.as_ref());
        }
        let place = self.place.as_ref()?;
        // A stream without usage is normal: not every client asks its provider for it. An incomplete one proves
        // nothing.
        if seen.usage.is_none() && !seen.is_complete {
            return None;
        }
        let count = seen.usage.map_or(CountKind::Other, |usage| self.judge(place, usage));
        let truncation = self.truncation(place, count);
        if let Some(SilentTruncation { window, .. }) = &truncation {
            let told = WindowReport { window: *window, counts_reply: false };
            let source = self.source.iter();
            source.for_each(|source| lock(&self.proxy.learned).note_refused(source, told));
        } else if let (Some(source), Some(usage)) = (&self.source, seen.usage) {
            let reading = &place.reading;
            let is_guess = reading.window_from.is_guess() && count == CountKind::Prompt;
            let guess = is_guess.then_some(reading.window);
            lock(&self.proxy.learned).note_accepted(source, usage, guess);
        }
        let mut held = lock(&place.conversation);
        let ProxyConversation { session, calls, .. } = &mut *held;
        if let Some(usage) = seen.usage {
            self.proxy.spend(session, usage, self.fold.map(|_| self.carried));
        }
        // If another request has changed the session meanwhile, the count belongs to an earlier state and is not used.
        let is_current = session.log().len() == place.events
            && session.active().map(|fold| fold.id) == self.fold;
        if is_current && self.proxy.is_stored() {
            // Messages behind the history are recorded with the next request, if that one still has them.
            // Recorded before `observe` moves the meter: the record holds the meter that this request was made with.
            calls.record(session, self.client, seen.usage, now);
        }
        let is_count = is_current && !place.is_aside && count == CountKind::Prompt;
        if let Some(usage) = seen.usage.filter(|_| is_count) {
            // The meter compares counts of the history only, so the tokens of the messages behind it are subtracted.
            let prompt = usage.prompt.saturating_sub(place.newest.tokens).max(1);
            session.observe(Usage { prompt, ..usage }, now);
        }
        drop(held);
        self.proxy.queue(&place.conversation);
        truncation
    }

    /// Decides what the provider's count is evidence of.
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
        // The tokens of pictures are estimated more coarsely, so a first count that differs is no sign of truncation.
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

/// A server that dropped a part of a prompt without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentTruncation {
    /// The id of the session.
    pub session: String,
    /// The tokens that were sent.
    pub sent: u64,
    /// The tokens that the server read; its window from now on.
    pub window: u64,
}
