//! A request that the provider has taken: what its answer teaches.

use std::sync::Arc;

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_core::spent::Folded;
use midfold_formats::answer::Seen;
use midfold_formats::request::Request;
use midfold_store::Millis;

use super::conversation::Conversation;
use super::history::Kept;
use super::learned::Source;
use super::lock::lock;
use super::narrate::Narratable;
use super::place::Place;
use super::shared::Proxy;

/// A request whose answer is on its way.
pub struct Awaited {
    pub(super) proxy: Arc<Proxy>,
    pub(super) place: Option<Place>,
    /// The fold that the request was read through.
    pub(super) fold: Option<Hash>,
    /// What it carried, and what it would have carried without that fold.
    pub(super) carried: Folded,
    /// Whose window it fitted.
    pub(super) source: Option<Source>,
    /// The request, where a later one may name its answer.
    pub(super) named: Option<(Request, Kept)>,
}

impl Awaited {
    /// The conversation, for a model that narrates. Nothing where there is no history yet.
    #[must_use]
    pub fn narratable(&self) -> Option<Narratable> {
        let place = self.place.as_ref().filter(|place| !place.is_aside)?;
        Some(Narratable {
            proxy: Arc::clone(&self.proxy),
            conversation: Arc::downgrade(&place.conversation),
            budget: place.budget.clone(),
        })
    }

    /// The answer has passed: what the provider counted, and what a later request may go on from.
    pub fn answered(self, seen: &Seen, now: Millis) {
        if let (Some(id), Some((request, kept))) = (&seen.id, &self.named)
            && seen.is_complete
        {
            self.proxy.keep(request, kept, id, &seen.output);
        }
        let Some(place) = &self.place else { return };
        // Not every client has its provider say what a stream cost.
        if seen.usage.is_none() && !seen.is_complete {
            return;
        }
        if let (Some(source), Some(usage)) = (&self.source, seen.usage) {
            lock(&self.proxy.learned).accepted(source, usage);
        }
        let mut held = lock(&place.conversation);
        let Conversation { session, calls, .. } = &mut *held;
        if let Some(usage) = seen.usage {
            self.proxy.spend(session, usage, self.fold.map(|_| self.carried));
        }
        let is_current = session.log().len() == place.events
            && session.active().map(|fold| fold.id) == self.fold;
        if is_current && self.proxy.is_stored() {
            // What is behind the history is in it with the next request.
            calls.record(session, seen.usage, now);
        }
        if let Some(usage) = seen.usage.filter(|_| is_current && !place.is_aside) {
            // The meter is of the history; what is behind it comes and goes.
            let prompt = usage.prompt.saturating_sub(place.suffix).max(1);
            session.observe(Usage { prompt, ..usage }, now);
        }
        drop(held);
        self.proxy.queue(&place.conversation);
    }
}
