//! Finds the conversation that a request continues.

use std::sync::{Arc, Mutex};

use midfold_core::spending::SessionSpending;
use midfold_core::{Hash, Role};
use midfold_formats::recall_tool::ToolOffer;
use midfold_formats::request::Request;
use midfold_store::Millis;

use super::chain::Chain;
use super::conversation::{Course, ProxyConversation, id_of_new};
use super::lock::lock;
use super::opened::OpenedConversation;
use super::rules::RequestReading;
use super::sender::RequestSender;
use super::shared::Proxy;

/// How many senders' newest conversations are remembered; with more, all are forgotten.
const MOST_SENDERS: usize = 4_096;

impl Proxy {
    /// Returns the conversation that a request continues, with the new messages appended. If there is none, makes a new
    /// one or a fork.
    pub(super) fn conversation(
        &self,
        request: &Request,
        chain: &Chain,
        reading: &RequestReading,
        who: &RequestSender,
        now: Millis,
    ) -> Arc<Mutex<ProxyConversation>> {
        let previous = previous_end(request, chain.links.len());
        let indexed = lock(&self.index).find(chain, previous, who.hint.as_deref(), now);
        let (known, at) = match indexed {
            Some((known, at)) => (Some(known), at),
            None => (None, 0),
        };
        if let Some(known) = &known {
            let mut locked = lock(known);
            // Checked again under the conversation's lock: another request may have added messages since the index was
            // read.
            if locked.goes_on_at(at, chain.links.len(), who) {
                // A repeated request adds nothing, so it does not prove that the client goes on with this conversation.
                let adds = at < chain.links.len();
                locked.take_hint(who, adds);
                if adds {
                    locked.course = Course::GoesOn;
                }
                locked.extend(request, &chain.links[at..]);
                locked.count_envelope(request, reading.offer);
                lock(&self.index).put(known, &locked, chain, at, now);
                drop(locked);
                return Arc::clone(known);
            }
        }
        let end = chain.links.last().copied().unwrap_or(Hash::ROOT);
        // Only the first request with one answer of the model can use the id that was promised to its opening.
        let opening = chain.begins_with().filter(|_| previous == 0);
        let promised = opening.and_then(|link| lock(&self.promised).remove(&hinted(link, who)));
        let id = promised.as_ref().map(|opened| opened.id.clone());
        let mut created = match &known {
            // The history leaves the conversation at an earlier message, or it belongs to another session of the client
            // with the same messages so far: fork.
            Some(known) => {
                let locked = lock(known);
                let id = id.unwrap_or_else(|| locked.id_of_fork(at, end, who, now));
                locked.fork(at, id, who)
            }
            None => {
                let id = id.unwrap_or_else(|| id_of_new(end, who, now));
                ProxyConversation::new(request, id, reading, who)
            }
        };
        created.extend(request, &chain.links[at..]);
        created.count_envelope(request, reading.offer);
        if let Some(opened) = promised {
            created.take_promise(&opened);
        }
        let is_new = known.is_none();
        let created = Arc::new(Mutex::new(created));
        if is_new && previous > 0 {
            self.follows_a_lone_one(&created, who);
        }
        // Elsewhere a conversation is locked before the index. Here the order is free: no request can find the new one
        // yet.
        lock(&self.index).put(&created, &lock(&created), chain, at, now);
        created
    }

    /// The id for a conversation that begins with these messages. A request without an answer of the model begins no
    /// conversation yet; the next request with its answer does, and gets this id. A repeated first request gets the
    /// same id. A request that reaches another process gets another one, because the promise is only kept in memory.
    ///
    /// Returns the key of the opening, too.
    pub(super) fn promise_id(
        &self,
        opening: Hash,
        who: &RequestSender,
        now: Millis,
    ) -> (Hash, String) {
        let (mut promised, opening_of) = (lock(&self.promised), hinted(opening, who));
        if let Some(opened) = promised.get(&opening_of) {
            return (opening_of, opened.id.clone());
        }
        let id = id_of_new(opening, who, now);
        let opened =
            OpenedConversation { id: id.clone(), spent: SessionSpending::default(), before: 0 };
        promised.insert(opening_of, opened);
        (opening_of, id)
    }

    /// Makes a conversation for a request that is no turn but a question of the client about its conversation (does it
    /// go in circles, who speaks next). That conversation is not stored, and no later request finds it. `None` if the
    /// request is a turn.
    pub(super) fn aside(
        &self,
        request: &Request,
        chain: &Chain,
        reading: &RequestReading,
        who: &RequestSender,
        now: Millis,
    ) -> Option<Arc<Mutex<ProxyConversation>>> {
        let asks_for_a_value = request.asks_for_a_value();
        // `is_asked_about_by` needs one of the two. So an agent's turns are spared a second search of the index.
        if !asks_for_a_value && request.has_tools() {
            return None;
        }
        let previous = previous_end(request, chain.links.len());
        let indexed = lock(&self.index).find(chain, previous, who.hint.as_deref(), now);
        let is_about =
            |known: &Arc<Mutex<ProxyConversation>>| lock(known).is_asked_about_by(request);
        let is_aside = indexed.as_ref().is_some_and(|(known, _)| is_about(known))
            // After a restart the conversation is not known here. Calls of tools that the request lacks show it all the
            // same.
            || (asks_for_a_value && request.has_foreign_calls());
        if !is_aside {
            return None;
        }
        let end = chain.links.last().copied().unwrap_or(Hash::ROOT);
        let (mut created, at) = match indexed {
            Some((known, at)) => {
                let conversation = lock(&known);
                let id = conversation.id_of_fork(at, end, who, now);
                (conversation.fork(at, id, who), at)
            }
            None => (ProxyConversation::new(request, id_of_new(end, who, now), reading, who), 0),
        };
        created.course = Course::Lone;
        created.extend(request, &chain.links[at..]);
        created.count_envelope(request, ToolOffer::default());
        Some(Arc::new(Mutex::new(created)))
    }

    /// Marks a conversation as lone if no request continued the one that its sender began before. Some clients change
    /// their first message with each request; of those, the first conversation is stored, and each later one once a
    /// request continues it.
    fn follows_a_lone_one(&self, created: &Arc<Mutex<ProxyConversation>>, who: &RequestSender) {
        let sender = (who.scope.clone(), who.hint.clone(), who.client.clone());
        let mut begun = lock(&self.begun);
        if begun.len() >= MOST_SENDERS {
            begun.clear();
        }
        let before = begun.insert(sender, Arc::downgrade(created));
        // The map serves all senders, so it is free again before a conversation is locked, which may take long.
        drop(begun);
        let before = before.and_then(|before| before.upgrade());
        if before.is_some_and(|before| lock(&before).course != Course::GoesOn) {
            lock(created).course = Course::Lone;
        }
    }
}

/// A key for the opening of a conversation together with the client's name for the session.
fn hinted(opening: Hash, who: &RequestSender) -> Hash {
    opening.chain(who.hint.as_deref().unwrap_or_default().as_bytes())
}

/// The number of messages of the client's request before this one. Usually that request had one turn of the model less,
/// so it ended behind the model's messages before the last ones.
fn previous_end(request: &Request, end: usize) -> usize {
    let dialect = request.kind().dialect();
    let is_model = |at: &usize| dialect.view(&request.message(*at)).role == Role::Assistant;
    let before = (0..end).rev().skip_while(is_model).find(is_model);
    before.map_or(0, |at| at + 1)
}
