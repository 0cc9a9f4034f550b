//! Reads a history message by message: its chain as the client has it, and the exchanges that are in it.

use std::ops::RangeInclusive;

use super::chain::{ClientChain, ExchangePlace};
use super::form::{ReplyForm, message_form};
use super::tools::{has_unrun_id, is_hidden, own_name};
use crate::json::NumberForm;
use crate::view::{BlockKind, BlockView, EventView, Role};

/// A reply of the model that the client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownReply {
    /// The index of its first message: the reply itself, or reasoning in front of it that clients may leave out.
    pub start: usize,
    /// The index of its last message.
    pub end: usize,
    /// The place behind it.
    pub place: ExchangePlace,
}

/// A hidden call in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenCall {
    /// The name of midfold's own tool; `None` for an unrun call of a client's tool.
    pub tool: Option<&'static str>,
    /// Its id, where the format has one.
    pub id: Option<String>,
    /// The index of its message.
    pub message: usize,
    /// How many hidden calls are before it in that message.
    pub number: usize,
}

/// An exchange in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundExchange {
    /// Its place.
    pub place: ExchangePlace,
    /// The messages that stand where the client only has replies.
    pub messages: RangeInclusive<usize>,
    /// How many replies the client has of it.
    pub shown: usize,
    /// How many replies the client has up to its end.
    pub replies: usize,
    /// Hidden calls whose results come behind these messages, with the text of the results.
    pub behind: Vec<(HiddenCall, String)>,
    /// Whether each of its calls has a result.
    pub is_complete: bool,
}

/// Walks through a history.
#[derive(Clone, Debug)]
pub struct ExchangeWalk {
    /// Whether each message of a reply is an item that the client has by itself.
    has_items: bool,
    numbers: NumberForm,
    front: InstructionsAtFront,
    begins: ClientChain,
    chain: ClientChain,
    next: usize,
    shown: Vec<ShownReply>,
    exchanges: Vec<FoundExchange>,
    /// The newest reply outside of exchanges with the chain before it, if no message of another role followed it.
    last: Option<(ShownReply, ReplyForm, ClientChain)>,
    /// The index of reasoning that no words have followed yet.
    silent: Option<usize>,
    open: Option<OpenExchange>,
}

/// What becomes of system messages at the front of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InstructionsAtFront {
    /// They are read as instructions.
    Read,
    /// They are in the chain already.
    Passed,
    /// Other messages have followed.
    Over,
}

/// An exchange that has begun, and may get more messages.
#[derive(Clone, Debug)]
struct OpenExchange {
    start: usize,
    end: usize,
    /// The replies that the client has of it.
    replies: Vec<(ReplyForm, usize)>,
    waiting: Vec<HiddenCall>,
    behind: Vec<(HiddenCall, String)>,
}

impl ExchangeWalk {
    /// A walk from the first message on. `chain` has the owner, and the instructions that are beside the messages. In a
    /// format with items (`Responses`) the client has each message of a reply by itself; elsewhere it gets one message
    /// for all of an exchange.
    #[must_use]
    pub fn new(chain: ClientChain, has_items: bool) -> Self {
        Self {
            has_items,
            numbers: NumberForm::Value,
            front: InstructionsAtFront::Read,
            begins: chain,
            chain,
            next: 0,
            shown: Vec::new(),
            exchanges: Vec::new(),
            last: None,
            silent: None,
            open: None,
        }
    }

    /// A walk through a log from a chain that [`ExchangeWalk::begins`] gave: the instructions are in it.
    #[must_use]
    pub fn from_begin(chain: ClientChain, has_items: bool) -> Self {
        Self { front: InstructionsAtFront::Passed, ..Self::new(chain, has_items) }
    }

    /// The same walk, with another form of numbers.
    pub(crate) fn writing(self, numbers: NumberForm) -> Self {
        Self { numbers, ..self }
    }

    /// The chain before the first message that is no instruction.
    #[must_use]
    pub fn begins(&self) -> ClientChain {
        self.begins
    }

    /// How many messages were read.
    #[must_use]
    pub fn read(&self) -> usize {
        self.next
    }

    /// The replies that the client has, in order.
    #[must_use]
    pub fn shown(&self) -> &[ShownReply] {
        &self.shown
    }

    /// The exchanges, in order.
    #[must_use]
    pub fn exchanges(&self) -> &[FoundExchange] {
        &self.exchanges
    }

    /// The chain of what the client has. Ask after [`ExchangeWalk::end`], which closes an open exchange.
    #[must_use]
    pub fn chain(&self) -> ClientChain {
        self.chain
    }

    /// Reads the next message.
    pub fn message(&mut self, view: &EventView, bytes: &[u8]) {
        let at = self.next;
        self.next += 1;
        if self.front != InstructionsAtFront::Over {
            if view.role.is_system() {
                if self.front == InstructionsAtFront::Read {
                    self.chain = self.chain.with_instructions(bytes);
                    self.begins = self.chain;
                }
                return;
            }
            self.front = InstructionsAtFront::Over;
        }
        match view.role {
            Role::Assistant => self.models(at, view, bytes),
            _ => self.others(view, bytes),
        }
    }

    /// Closes an exchange that is open at the end of the history.
    pub fn end(&mut self) {
        self.close();
    }

    fn models(&mut self, at: usize, view: &EventView, bytes: &[u8]) {
        let form = ReplyForm::of(view, bytes, self.numbers);
        let own = hidden_calls(at, view, bytes);
        let has_ours = !own.is_empty();
        if has_ours && self.open.is_none() {
            let start = self.silent.unwrap_or(at);
            self.open = Some(OpenExchange::at(start));
        }
        if let Some(open) = &mut self.open {
            open.end = at;
            // Results in front of this message are inside already; only those after the last one are kept apart.
            open.behind.clear();
            open.waiting.extend(own);
            let is_said = !form.is_empty();
            if is_said {
                open.replies.push((form, at));
            }
            if is_said && !has_ours && open.waiting.is_empty() {
                self.close();
            }
            return;
        }
        if form.is_empty() {
            self.silent.get_or_insert(at);
            return;
        }
        let (before, start) = (self.chain, self.silent.take().unwrap_or(at));
        let reply = self.reply(&form, start, at);
        self.last = Some((reply, form, before));
    }

    /// Notes a reply that the client has.
    fn reply(&mut self, form: &ReplyForm, start: usize, end: usize) -> ShownReply {
        self.chain = self.chain.behind(&form.write());
        let reply = ShownReply { start, end, place: self.chain.place() };
        self.shown.push(reply);
        reply
    }

    /// Reads a message that is not the model's. Results of hidden calls belong to the open exchange; anything else ends
    /// it.
    fn others(&mut self, view: &EventView, bytes: &[u8]) {
        let mut hidden = Vec::new();
        if let Some(open) = &mut self.open {
            hidden = open.takes(view, bytes);
        }
        if !hidden.is_empty() && hidden.len() == view.blocks.len() {
            return;
        }
        let form = message_form(view, bytes, self.numbers, |at, _| !hidden.contains(&at));
        self.close();
        (self.last, self.silent) = (None, None);
        self.chain = self.chain.behind(&form);
    }

    /// Closes the open exchange.
    fn close(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        if let (true, Some((reply, form, before))) = (open.replies.is_empty(), self.last.take()) {
            // The client has nothing of this exchange but the reply in front of it, so that one belongs to it.
            (open.start, self.chain) = (reply.start, before);
            open.replies.push((form, reply.end));
            self.shown.pop();
        }
        (self.last, self.silent) = (None, None);
        if !self.has_items {
            open.join();
        }
        let mut start = open.start;
        for (form, end) in &open.replies {
            self.reply(form, start, *end);
            start = end + 1;
        }
        // Without a reply the client has nothing by which the exchange could be found.
        if open.replies.is_empty() {
            return;
        }
        self.exchanges.push(FoundExchange {
            place: self.chain.place(),
            messages: open.start..=open.end,
            shown: open.replies.len(),
            replies: self.shown.len(),
            behind: open.behind,
            is_complete: open.waiting.is_empty(),
        });
    }
}

impl OpenExchange {
    fn at(start: usize) -> Self {
        Self { start, end: start, replies: Vec::new(), waiting: Vec::new(), behind: Vec::new() }
    }

    /// Takes the results of hidden calls out of a message, and returns the indices of their blocks.
    fn takes(&mut self, view: &EventView, bytes: &[u8]) -> Vec<usize> {
        let mut hidden = Vec::new();
        for (at, block) in view.blocks.iter().enumerate() {
            let Some(call) = self.answered_by(block, bytes) else { continue };
            let call = self.waiting.remove(call);
            self.behind.push((call, block.text(bytes).into_owned()));
            hidden.push(at);
        }
        hidden
    }

    /// The waiting call that a block answers. Formats without ids name the tool.
    fn answered_by(&self, block: &BlockView, bytes: &[u8]) -> Option<usize> {
        let BlockKind::Result { id, name, .. } = &block.kind else { return None };
        let tool = own_name(*name, bytes);
        if name.is_some() && tool.is_none() && !has_unrun_id(*id, bytes) {
            return None;
        }
        let id = id.map(|id| id.decode(bytes).into_owned());
        let answers = |call: &HiddenCall| call.id == id && (tool.is_none() || tool == call.tool);
        self.waiting.iter().position(answers)
    }

    /// Makes one reply of all, as the client gets them.
    fn join(&mut self) {
        let mut replies = std::mem::take(&mut self.replies).into_iter();
        let Some((mut all, mut end)) = replies.next() else { return };
        for (next, at) in replies {
            all.add(&next);
            end = at;
        }
        self.replies.push((all, end));
    }
}

/// The hidden calls in a message.
fn hidden_calls(at: usize, view: &EventView, bytes: &[u8]) -> Vec<HiddenCall> {
    let call = |block: &BlockView| match &block.kind {
        BlockKind::Call { id, name } if is_hidden(block, bytes) => {
            Some((own_name(*name, bytes), id.map(|id| id.decode(bytes).into_owned())))
        }
        _ => None,
    };
    let calls = view.blocks.iter().filter_map(call).enumerate();
    calls.map(|(number, (tool, id))| HiddenCall { tool, id, message: at, number }).collect()
}
