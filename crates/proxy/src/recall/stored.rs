//! Finds the hidden exchanges in a history that was loaded from a store. A hidden exchange is a call of midfold's own
//! tools with its result: the model saw both, and the client neither. After a restart the client still sends its history
//! without them, and the proxy has to put them in again.

use std::sync::Mutex;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::view::BlockKind;
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{AnsweredCall, OwnTool, RecallCall, calls};
use serde_json::Value;

use super::hidden::{HiddenExchange, HiddenExchanges};
use super::shown_messages::{ShownMessage, answered, root, shown};
use crate::lock::lock;

/// Keeps the exchanges of these messages, which are a complete history with the hidden calls.
pub(crate) fn read_back(
    hidden: &Mutex<HiddenExchanges>,
    kind: DialectKind,
    scope: &str,
    messages: &[Bytes],
) {
    let names = |message: &Bytes, tool: &OwnTool| {
        memchr::memmem::find(message, tool.name().as_bytes()).is_some()
    };
    // Most histories have no hidden calls, and a search for the names is much cheaper than reading every message.
    if !messages.iter().any(|message| OwnTool::ALL.iter().any(|tool| names(message, tool))) {
        return;
    }
    let link = root(kind, scope);
    let mut reader =
        ExchangeReader { kind, messages, link, last_reply: None, silent: None, open: None, hidden };
    (0..messages.len()).for_each(|at| reader.message(at));
}

/// Reads a history message by message, and collects its exchanges.
struct ExchangeReader<'a> {
    hidden: &'a Mutex<HiddenExchanges>,
    kind: DialectKind,
    messages: &'a [Bytes],
    /// The hash of all messages that the client has, each chained to the one before, up to the open exchange.
    link: Hash,
    /// The last reply that the client has, if no message of another role followed it.
    last_reply: Option<ShownReply>,
    /// The index of reasoning that no words have followed yet.
    silent: Option<usize>,
    open: Option<OpenExchange>,
}

/// A reply of the model that the client has.
#[derive(Clone, Copy)]
struct ShownReply {
    /// Its index.
    at: usize,
    /// The chain before it.
    before: Hash,
}

/// An exchange that has begun, and may get more messages.
struct OpenExchange {
    start: usize,
    /// The index of the model's last message in it.
    end: usize,
    /// Hidden calls that wait for their results.
    waiting: Vec<RecallCall>,
    /// Results of hidden calls behind the model's last message.
    behind: Vec<AnsweredCall>,
}

impl ExchangeReader<'_> {
    fn message(&mut self, at: usize) {
        match shown(self.kind, &self.messages[at]) {
            ShownMessage::Others => self.others(at),
            ShownMessage::Silent => self.models(at, None),
            ShownMessage::Said(said) => {
                let next = said.behind(self.link);
                self.models(at, Some(next));
            }
        }
    }

    /// Handles a message of the model. `next` is the chain behind it; `None` if the client may leave the message out.
    fn models(&mut self, at: usize, next: Option<Hash>) {
        let message = std::slice::from_ref(&self.messages[at]);
        let ours = calls(self.kind, message).ours;
        let has_ours = !ours.is_empty();
        if has_ours && self.open.is_none() {
            let start = self.silent.unwrap_or(at);
            self.open =
                Some(OpenExchange { start, end: at, waiting: Vec::new(), behind: Vec::new() });
        }
        if let Some(open) = &mut self.open {
            open.end = at;
            // Results in front of this message are inside `start..=end` already; only those after the last one are kept
            // apart.
            open.behind.clear();
            open.waiting.extend(ours);
            if next.is_some() && !has_ours && open.waiting.is_empty() {
                self.close();
            }
            return;
        }
        match next {
            Some(next) => {
                self.last_reply = Some(ShownReply { at, before: self.link });
                (self.link, self.silent) = (next, None);
            }
            None => {
                self.silent.get_or_insert(at);
            }
        }
    }

    /// Handles a message that is not the model's. Results of hidden calls belong to the open exchange; any other
    /// message ends it.
    fn others(&mut self, at: usize) {
        let is_ours =
            self.open.as_mut().is_some_and(|open| open.takes(self.kind, &self.messages[at]));
        if !is_ours {
            self.close();
            (self.last_reply, self.silent) = (None, None);
        }
    }

    /// Closes the open exchange, and keeps it if all of its calls have results.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let mut start = open.start;
        let mut said = answered(self.kind, &self.messages[start..=open.end]);
        // The client has no message of this exchange, so the reply in front of it is included, by which it can be
        // found.
        if let (true, Some(reply)) = (said.is_empty(), self.last_reply) {
            (start, self.link) = (reply.at, reply.before);
            said = answered(self.kind, &self.messages[start..=open.end]);
        }
        self.link = said.iter().fold(self.link, |link, said| said.behind(link));
        (self.last_reply, self.silent) = (None, None);
        // Without words or calls there is no link by which a request could find the exchange.
        if open.waiting.is_empty() && !said.is_empty() {
            let messages = self.messages[start..=open.end].to_vec();
            let exchange = HiddenExchange { shown: said.len(), messages, behind: open.behind };
            lock(self.hidden).put(self.link, exchange);
        }
    }
}

impl OpenExchange {
    /// Takes the results of hidden calls out of a message; returns whether the message has nothing else.
    fn takes(&mut self, kind: DialectKind, message: &Bytes) -> bool {
        let view = kind.dialect().view(message);
        let mut all = !view.blocks.is_empty();
        for block in &view.blocks {
            let BlockKind::Result { id, .. } = &block.kind else {
                all = false;
                continue;
            };
            let id = id.map(|id| id.decode(message).into_owned());
            let place = self.waiting.iter().position(|call| call.id == id);
            match place.map(|place| self.waiting.remove(place)) {
                Some(call) => {
                    let text = text(kind, &block.text(message));
                    self.behind.push(AnsweredCall { call, text });
                }
                None => all = false,
            }
        }
        all
    }
}

/// The text of a result; Gemini wraps it into an object.
fn text(kind: DialectKind, text: &str) -> String {
    let object = (kind == DialectKind::Gemini).then(|| serde_json::from_str::<Value>(text).ok());
    let output = object.flatten().and_then(|it| it["output"].as_str().map(str::to_owned));
    output.unwrap_or_else(|| text.to_owned())
}
