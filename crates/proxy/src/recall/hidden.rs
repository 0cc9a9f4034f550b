//! Exchanges that clients do not know: the model's calls of the tool and what they brought.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::recall_tool::{AnsweredCall, in_front_of, results};
use midfold_formats::request::Request;

use super::shown_messages::{ShownMessage, ShownReply, root, shown};
use super::spelling::{ids, respelled};
use crate::lock::lock;

/// Memory that exchanges may take.
const MEMORY: usize = 64 << 20;
/// Memory that an exchange takes without its messages, and each message beside its bytes.
const EXCHANGE: usize = 256;
const MESSAGE: usize = 96;

/// Exchanges by what their clients have of the conversation up to them: the words of another conversation lead to no
/// exchange of this one. The oldest goes first.
#[derive(Default)]
pub(crate) struct HiddenExchanges {
    known: HashMap<Hash, Arc<HiddenExchange>>,
    order: VecDeque<Hash>,
    bytes: usize,
    /// Counts what was new.
    version: u64,
}

/// What stands in a conversation where its client has an answer.
pub(crate) struct HiddenExchange {
    /// Messages with words or calls that the client has in its place.
    pub shown: usize,
    /// What was really said.
    pub messages: Vec<Bytes>,
    /// Results that follow with the client's own.
    pub behind: Vec<AnsweredCall>,
}

/// A request with all that its client does not know.
pub(super) struct WholeRequest {
    pub messages: Vec<Bytes>,
    /// The chain of what the client has.
    pub shown: Hash,
    /// Something was put back.
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
    /// Another one where exchanges came to be known since.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Keeps an exchange, which is found by the link of the last message that the client has of it.
    pub(crate) fn put(&mut self, link: Hash, exchange: HiddenExchange) {
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

/// The messages of a request with those that its client does not know, each in its place.
pub(super) fn whole(
    hidden: &Mutex<HiddenExchanges>,
    request: &Request,
    scope: &str,
) -> WholeRequest {
    let mut walk = ExchangeWalk::new(hidden, request, scope);
    request.messages().for_each(|message| walk.message(message));
    walk.end()
}

/// The messages of a request, one after the other.
struct ExchangeWalk<'a> {
    hidden: &'a Mutex<HiddenExchanges>,
    request: &'a Request,
    out: Vec<Bytes>,
    link: Hash,
    /// Where the replies begin that came so far, with the reasoning in front of each.
    replies: Vec<usize>,
    /// Where reasoning began that no words followed yet.
    silent: Option<usize>,
    /// Results that belong with the client's next message.
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

    fn reply(&mut self, said: &ShownReply, message: Bytes) {
        self.replies.push(self.silent.take().unwrap_or(self.out.len()));
        self.out.push(message);
        self.link = said.behind(self.link);
        let Some(exchange) = lock(self.hidden).get(&self.link) else { return };
        // A history that was kept for its client has it already.
        if self.out.ends_with(&exchange.messages) {
            return;
        }
        let first = self.replies.len().checked_sub(exchange.shown);
        let Some(start) = first.and_then(|first| self.replies.get(first)).copied() else { return };
        let kind = self.request.kind();
        let theirs = ids(kind, &self.out[start..]);
        self.out.truncate(start);
        let messages = exchange.messages.iter();
        self.out.extend(messages.map(|message| respelled(kind, message, &theirs)));
        self.is_other = true;
        self.behind = Some(exchange).filter(|it| !it.behind.is_empty());
    }

    /// The results that still wait, as messages of their own.
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
