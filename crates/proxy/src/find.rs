//! Which conversation a request goes on with.

use std::sync::{Arc, Mutex};

use midfold_core::{Hash, Role};
use midfold_formats::recall_tool::ToolOffer;
use midfold_formats::request::Request;
use midfold_store::Millis;

use super::chain::Chain;
use super::conversation::{Course, ProxyConversation, id_of_new};
use super::lock::lock;
use super::rules::RequestReading;
use super::sender::RequestSender;
use super::shared::Proxy;

/// Senders whose newest conversation is remembered at most.
const MOST_SENDERS: usize = 4_096;

impl Proxy {
    /// The conversation that a request goes on with, with the messages of the request appended.
    pub(super) fn conversation(
        &self,
        request: &Request,
        chain: &Chain,
        reading: &RequestReading,
        who: &RequestSender,
        now: Millis,
    ) -> Arc<Mutex<ProxyConversation>> {
        let previous = previous_end(request, chain.links.len());
        let found = lock(&self.index).find(chain, previous, who.hint.as_deref(), now);
        let (known, at) = match found {
            Some((known, at)) => (Some(known), at),
            None => (None, 0),
        };
        if let Some(known) = &known {
            let mut held = lock(known);
            if held.goes_on_at(at, who) {
                held.hinted(who);
                if at < chain.links.len() {
                    held.course = Course::GoesOn;
                }
                held.extend(request, &chain.links[at..]);
                held.beside(request, reading.offer);
                lock(&self.index).put(known, &held, chain, at, now);
                drop(held);
                return Arc::clone(known);
            }
        }
        let end = chain.links.last().copied().unwrap_or(Hash::ROOT);
        // The first request that has an answer of the model in it.
        let opening = chain.begins_with().filter(|_| previous == 0);
        let promised = opening.and_then(|it| lock(&self.promised).remove(&hinted(it, who)));
        let mut made = match &known {
            // Somebody goes on from an earlier place, or another session with the same history.
            Some(known) => {
                let held = lock(known);
                let id = promised.unwrap_or_else(|| held.id_of_fork(at, end, who, now));
                held.fork(at, id, who)
            }
            None => {
                let id = promised.unwrap_or_else(|| id_of_new(end, who, now));
                ProxyConversation::new(request, id, reading, who)
            }
        };
        made.extend(request, &chain.links[at..]);
        made.beside(request, reading.offer);
        let is_new = known.is_none();
        let made = Arc::new(Mutex::new(made));
        if is_new && previous > 0 {
            self.follows_a_lone_one(&made, who);
        }
        lock(&self.index).put(&made, &lock(&made), chain, at, now);
        made
    }

    /// The id of a conversation that has only begun, with messages that are named so. A request without an answer of the
    /// model is no conversation yet; the one that goes on with its answer begins it with this id. A request that is sent
    /// once more gets the same one. Another process has not promised it, and begins the conversation with an id of its own.
    pub(super) fn promised(&self, opening: Hash, who: &RequestSender, now: Millis) -> String {
        let (mut promised, opening_of) = (lock(&self.promised), hinted(opening, who));
        if let Some(id) = promised.get(&opening_of) {
            return id.clone();
        }
        let id = id_of_new(opening, who, now);
        promised.insert(opening_of, id.clone());
        id
    }

    /// The messages of a request of the client's own about its conversation (whether that goes in circles, who
    /// speaks next): a conversation that is nobody's, nowhere found, and never stored. None where the request is
    /// a turn.
    pub(super) fn aside(
        &self,
        request: &Request,
        chain: &Chain,
        reading: &RequestReading,
        who: &RequestSender,
        now: Millis,
    ) -> Option<Arc<Mutex<ProxyConversation>>> {
        let asks_for_a_value = request.asks_for_a_value();
        if !asks_for_a_value && request.has_tools() {
            return None;
        }
        let previous = previous_end(request, chain.links.len());
        let found = lock(&self.index).find(chain, previous, who.hint.as_deref(), now);
        let is_about =
            |known: &Arc<Mutex<ProxyConversation>>| lock(known).is_asked_about_by(request);
        let is_aside = found.as_ref().is_some_and(|(known, _)| is_about(known))
            || (asks_for_a_value && request.has_foreign_calls());
        if !is_aside {
            return None;
        }
        let end = chain.links.last().copied().unwrap_or(Hash::ROOT);
        let (mut made, at) = match found {
            Some((known, at)) => {
                let held = lock(&known);
                let id = held.id_of_fork(at, end, who, now);
                (held.fork(at, id, who), at)
            }
            None => (ProxyConversation::new(request, id_of_new(end, who, now), reading, who), 0),
        };
        made.course = Course::Lone;
        made.extend(request, &chain.links[at..]);
        made.beside(request, ToolOffer::default());
        Some(Arc::new(Mutex::new(made)))
    }

    /// Marks a conversation as lone if no request went on with the one that its sender began before. Some clients
    /// change their first message with each request. Of those, the first conversation is stored, and each later
    /// one once a request goes on with it.
    fn follows_a_lone_one(&self, made: &Arc<Mutex<ProxyConversation>>, who: &RequestSender) {
        let sender = (who.scope.clone(), who.hint.clone(), who.client.clone());
        let mut begun = lock(&self.begun);
        if begun.len() >= MOST_SENDERS {
            begun.clear();
        }
        let before = begun.insert(sender, Arc::downgrade(made));
        drop(begun);
        let before = before.and_then(|before| before.upgrade());
        if before.is_some_and(|before| lock(&before).course != Course::GoesOn) {
            lock(made).course = Course::Lone;
        }
    }
}

/// What a conversation begins with, and what its client calls it.
fn hinted(opening: Hash, who: &RequestSender) -> Hash {
    opening.chain(who.hint.as_deref().unwrap_or_default().as_bytes())
}

/// Where the history of the client's request before this one ended. As a rule it has one turn of the model less:
/// it ends behind the model's words before those that this history ends with.
fn previous_end(request: &Request, end: usize) -> usize {
    let dialect = request.kind().dialect();
    let is_model = |at: &usize| dialect.view(&request.message(*at)).role == Role::Assistant;
    let before = (0..end).rev().skip_while(is_model).find(is_model);
    before.map_or(0, |at| at + 1)
}
