//! A request that the provider accepted, and what its answer teaches about count, window and cost.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::budget::Ratio;
use midfold_core::engine::Session;
use midfold_core::event::Usage;
use midfold_core::ledger::ClientHistory;
use midfold_core::spending::SpentPrompt;
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
use super::turn::MatchedRequest;

/// The prompt of a request whose answer has not come yet.
pub(super) struct SentPrompt {
    /// The fold that it was read through.
    pub fold: Option<Hash>,
    /// Its tokens in the provider's count, as estimated.
    pub tokens: u64,
    /// Its tokens in midfold's own count.
    pub counted: u64,
    /// The same with every message.
    pub whole: u64,
    /// Whether it goes on after a look-up, of which the client does not know.
    pub is_own: bool,
}

/// A request whose answer has not come yet.
pub struct PendingAnswer {
    pub(super) proxy: Arc<Proxy>,
    pub(super) place: Option<ConversationSlot>,
    /// The key of the conversation that the request opened, if there is no history yet.
    pub(super) opening: Option<Hash>,
    /// The prompt that was sent.
    pub(super) sent: SentPrompt,
    /// The owner of the window that the request fitted.
    pub(super) source: Option<WindowOwner>,
    /// The request, if a later one may name its answer.
    pub(super) named: Option<(Request, RequestHistory)>,
    /// What the client sent, for the record of the call.
    pub(super) client: Option<ClientHistory>,
    /// What the client sent behind the history, if the answer may be the last one of its conversation.
    pub(super) step: Option<Vec<Bytes>>,
    /// Finds placeholders in the answer, where it is only watched.
    pub(super) watched: Option<WatchedAnswer>,
}

impl MatchedRequest {
    /// Turns the request into a pending answer after the provider accepted it. It will not be sent again, so its bytes
    /// need not stay in memory.
    #[must_use]
    pub fn into_pending(self) -> PendingAnswer {
        let (client, watched, is_own) = (self.recall.record(), self.watched(), self.is_own());
        let step = self.step();
        let named = self.wants_output().then_some((self.request, self.history));
        let Self { proxy, place, opening, sent, source, .. } = self;
        let sent = SentPrompt {
            fold: sent.fold,
            tokens: sent.tokens_after,
            counted: sent.counted,
            whole: sent.whole,
            is_own,
        };
        PendingAnswer { proxy, place, opening, sent, source, named, client, step, watched }
    }

    /// Whether it goes on after a look-up, of which the client does not know.
    pub(super) fn is_own(&self) -> bool {
        self.recall.rounds > 0
    }

    /// The shape of the request, for the account of its session.
    pub(super) fn spent(&self, session: &Session, now: Millis) -> SpentPrompt {
        let sent = &self.sent;
        let prompt = session.prompt_of(sent.fold, sent.whole, sent.counted, now);
        SpentPrompt { is_own: self.is_own(), ..prompt }
    }
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
    /// truncation if the counts so far show that the server silently drops a part of the prompt; the conversation is
    /// then folded for what it reads.
    pub fn take_facts(self, seen: &AnswerFacts, now: Millis) -> Option<SilentTruncation> {
        // This comes before the place is asked for: the next request may also name the answer to a first one, which has
        // no place.
        if let (Some(id), Some((request, history))) = (&seen.id, &self.named)
            && seen.is_complete
        {
            self.proxy.keep(request, history, id, &seen.output, self.place.as_ref());
        }
        let Some(place) = self.place.as_ref() else {
            self.spend_opening(seen.usage?, now);
            return None;
        };
        // A stream without usage is normal: not every client asks its provider for it. An incomplete one proves
        // nothing.
        if seen.usage.is_none() && !seen.is_complete {
            return None;
        }
        let count = seen.usage.map_or(CountKind::Other, |usage| self.judge(place, usage));
        let truncation = self.truncation(place, count);
        if let (Some(source), Some(window)) = (&self.source, seen.full_window())
            && window < place.budget.window
        {
            // Reply and prompt filled it together, so a later request has to leave room for its reply.
            let report = WindowReport { window, counts_reply: false };
            lock(&self.proxy.learned).note_refused(source, report);
        }
        match (&self.source, seen.usage, count) {
            (Some(source), _, CountKind::Truncated(window)) => {
                lock(&self.proxy.learned).note_cut(source, window);
            }
            (Some(source), Some(usage), CountKind::Prompt) => {
                let reading = &place.reading;
                let guess = reading.window_from.is_guess().then_some(reading.window);
                lock(&self.proxy.learned).note_accepted(source, usage, guess);
            }
            _ => {}
        }
        let mut conversation = lock(&place.conversation);
        let ProxyConversation { session, calls, .. } = &mut *conversation;
        if let Some(usage) = seen.usage {
            let prompt = session.prompt_of(self.sent.fold, self.sent.whole, self.sent.counted, now);
            self.proxy.spend(session, usage, SpentPrompt { is_own: self.sent.is_own, ..prompt });
        }
        // If another request has changed the session meanwhile, the count belongs to an earlier state and is not used.
        let is_current = session.log().len() == place.events
            && session.active().map(|fold| fold.id) == self.sent.fold;
        if is_current && self.proxy.is_stored() {
            // Messages behind the history are recorded with the next request, if that one still has them.
            // Recorded before `observe` moves the meter: the record holds the meter that this request was made with.
            calls.record(session, self.client, place.newest.room(), seen.usage, now);
        }
        let is_count = is_current && !place.is_aside && count == CountKind::Prompt;
        if let Some(usage) = seen.usage.filter(|_| is_count) {
            session.observe_with(usage, place.newest.tokens, now);
        }
        if let Some(step) = self.step.filter(|_| is_current && seen.is_complete) {
            Proxy::note_step(&mut conversation, place.reading.kind, step, &seen.output);
        }
        drop(conversation);
        self.proxy.queue(&place.conversation);
        truncation
    }

    /// Counts a request without a history. Its session takes that over with its second request.
    fn spend_opening(&self, usage: Usage, now: Millis) {
        let counted = self.sent.whole;
        let prompt = SpentPrompt {
            counted,
            ratio: Ratio::ONE,
            folded: None,
            is_own: false,
            at: now,
            lifetime: None,
        };
        self.proxy.spend_opening(self.opening, usage, prompt);
    }

    /// Decides what the provider's count is evidence of.
    fn judge(&self, place: &ConversationSlot, usage: Usage) -> CountKind {
        let counted = CountPair::of(self.sent.counted, usage);
        let (Some(counted), Some(source)) = (counted, &self.source) else {
            return CountKind::Other;
        };
        if place.is_aside {
            return CountKind::Prompt;
        }
        let mut conversation = lock(&place.conversation);
        let mut counts = *conversation.counts_of(source);
        let is_set = place.reading.window_from.is_set();
        let count = counts.judge(counted, is_set, || conversation.unsure_tokens());
        *conversation.counts_of(source) = counts;
        if matches!(count, CountKind::Truncated(_)) {
            conversation.forget_counts();
        }
        count
    }

    fn truncation(&self, place: &ConversationSlot, count: CountKind) -> Option<SilentTruncation> {
        let CountKind::Truncated(window) = count else { return None };
        let session = lock(&place.conversation).session.id().to_owned();
        Some(SilentTruncation { session, sent: self.sent.tokens, window })
    }
}

/// A server that dropped a part of a prompt without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentTruncation {
    /// The id of the session.
    pub session: String,
    /// The tokens that were sent.
    pub sent: u64,
    /// The tokens that the server reads at most.
    pub window: u64,
}
