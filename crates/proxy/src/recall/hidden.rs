//! Hidden exchanges: the model's calls of midfold's tools with their results, which the client never sees.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::recall_tool::{AnsweredCall, in_front_of, results};
use midfold_formats::request::Request;

use super::shown_messages::{ShownMessage, ShownReply, root, shown};
use super::spelling::{ids, respelled};
use crate::lock::lock;

/// The most bytes of memory for exchanges.
const MEMORY: usize = 64 << 20;
/// Bytes of memory for an exchange beside its messages, and for each message beside its bytes.
const EXCHANGE: usize = 256;
const MESSAGE: usize = 96;

/// Exchanges, by the chain of what the client has of the conversation up to them. So an exchange of one conversation is
/// not found from another. The oldest is dropped first.
#[derive(Default)]
pub(crate) struct HiddenExchanges {
    known: HashMap<Hash, Arc<HiddenExchange>>,
    order: VecDeque<Hash>,
    bytes: usize,
    /// Rises with each new exchange.
    version: u64,
}

/// The messages that belong in the place where a client only has the model's answer.
pub(crate) struct HiddenExchange {
    /// How many messages of the client this replaces: those with words or calls.
    pub shown: usize,
    /// All messages of the exchange.
    pub messages: Vec<Bytes>,
    /// Results of hidden calls that follow together with the results of the client's own calls.
    pub behind: Vec<AnsweredCall>,
}

/// A request with all hidden exchanges put back.
pub(super) struct WholeRequest {
    pub messages: Vec<Bytes>,
    /// The chain of the messages that the client has.
    pub shown: Hash,
    /// Whether anything was put back.
    pub is_other: bool,
}

impl HiddenExchange {
    fn memory(&self) -> usize {
        let messages = self.messages.iter().map(|message| message.len() + MESSAGE);
        let behind = self.behind.iter().map(|it| it.text.len() + it.call.arguments.len() + MESSAGE);
        EXCHANGE + messages.chain(behind).sum::<usize>()
    }
}

impl HiddenExchanges {
    /// A number that rises when new exchanges become known.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Keeps an exchange under the link of the last message that the client has of it.
    pub(crate) fn put(&mut self, link: Hash, exchange: HiddenExchange) {
        // A higher version makes requests be read again, so it must not rise for what is known already.
        if self.known.get(&link).is_some_and(|known| known.messages == exchange.messages) {
            return;
        }
        self.version += 1;
        self.bytes += exchange.memory();
        match self.known.insert(link, Arc::new(exchange)) {
            Some(before) => self.bytes -= before.memory(),
            None => self.order.push_back(link),
        }
        while self.bytes > MEMORY {
            let Some(oldest) = self.order.pop_front() else { break };
            let gone = self.known.remove(&oldest);
            self.bytes -= gone.map_or(0, |exchange| exchange.memory());
        }
    }

    fn get(&self, link: &Hash) -> Option<Arc<HiddenExchange>> {
        self.known.get(link).cloned()
    }
}

/// Puts the hidden exchanges back into the messages of a request.
pub(super) fn whole(
    hidden: &Mutex<HiddenExchanges>,
    request: &Request,
    scope: &str,
) -> WholeRequest {
    let mut walk = ExchangeWalk::new(hidden, request, scope);
    request.messages().for_each(|message| walk.message(message));
    walk.end()
}

/// Walks through the messages of a request, and builds the list with the exchanges put back.
struct ExchangeWalk<'a> {
    hidden: &'a Mutex<HiddenExchanges>,
    request: &'a Request,
    out: Vec<Bytes>,
    link: Hash,
    /// For each reply so far, its index in `out`, or that of the reasoning in front of it.
    replies: Vec<usize>,
    /// The index of reasoning that no words have followed yet.
    silent: Option<usize>,
    /// An exchange whose last results have to be put in front of the client's next message.
    behind: Option<Arc<HiddenExchange>>,
    is_other: bool,
}

impl<'a> ExchangeWalk<'a> {
    fn new(hidden: &'a Mutex<HiddenExchanges>, request: &'a Request, scope: &str) -> Self {
        Self {
            hidden,
            request,
            out: Vec::with_capacity(request.len()),
            link: root(request.kind(), scope),
            replies: Vec::new(),
            silent: None,
            behind: None,
            is_other: false,
        }
    }

    /// Appends one message of the client.
    fn message(&mut self, message: Bytes) {
        let kind = self.request.kind();
        match shown(kind, &message) {
            ShownMessage::Silent => {
                self.silent.get_or_insert(self.out.len());
                self.out.push(message);
            }
            ShownMessage::Said(said) => {
                self.results();
                self.reply(&said, message);
            }
            ShownMessage::Others => {
                self.silent = None;
                let behind = self.behind.as_ref();
                match behind.and_then(|it| in_front_of(kind, &message, &it.behind)) {
                    Some(with) => {
                        self.behind = None;
                        self.out.push(with);
                    }
                    None => {
                        self.results();
                        self.out.push(message);
                    }
                }
            }
        }
    }

    /// Appends a reply of the model. If an exchange ends with it, its messages take the place of the client's.
    fn reply(&mut self, said: &ShownReply, message: Bytes) {
        self.replies.push(self.silent.take().unwrap_or(self.out.len()));
        self.out.push(message);
        self.link = said.behind(self.link);
        let Some(exchange) = lock(self.hidden).get(&self.link) else { return };
        // If the proxy kept the history for the client, the exchange is already in it.
        if self.out.ends_with(&exchange.messages) {
            return;
        }
        let first = self.replies.len().checked_sub(exchange.shown);
        let Some(start) = first.and_then(|first| self.replies.get(first)).copied() else { return };
        let kind = self.request.kind();
        // Read before the client's messages are cut off: they show how the client spells the ids of its calls.
        let theirs = ids(kind, &self.out[start..]);
        self.out.truncate(start);
        let messages = exchange.messages.iter();
        self.out.extend(messages.map(|message| respelled(kind, message, &theirs)));
        self.is_other = true;
        self.behind = Some(exchange).filter(|it| !it.behind.is_empty());
    }

    /// Appends the results that still wait as messages of their own.
    fn results(&mut self) {
        if let Some(exchange) = self.behind.take() {
            self.out.extend(results(self.request.kind(), &exchange.behind));
        }
    }

    fn end(mut self) -> WholeRequest {
        self.results();
        WholeRequest { messages: self.out, shown: self.link, is_other: self.is_other }
    }
}
