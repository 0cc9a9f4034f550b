//! Hidden exchanges in memory, by the places where they took place.

use std::collections::{HashMap, VecDeque};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use midfold_core::exchanges::{
    ClientChain, ExchangePlace, ExchangeWalk, FoundExchange, HiddenCall, ShownReply,
};
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{AnsweredCall, calls};

use super::owner::{owner, walk};
use crate::sender::RequestSender;

/// The most bytes of memory for exchanges and places.
const MEMORY: usize = 64 << 20;
/// Bytes of memory for an exchange beside its messages, for each message beside its bytes, for a place, and for each
/// exchange of a past.
const EXCHANGE: usize = 256;
const MESSAGE: usize = 96;
const PLACE: usize = 192;
const OF_PAST: usize = size_of::<Arc<HiddenExchange>>();

/// The exchanges of one history, the oldest first. All replies between two exchanges share one.
pub(crate) type HiddenPast = Arc<PastExchanges>;

#[derive(Default)]
pub(crate) struct PastExchanges {
    all: Vec<Arc<HiddenExchange>>,
    /// Counts its memory as long as anything holds it.
    used: Arc<AtomicUsize>,
}

impl PastExchanges {
    fn new(all: Vec<Arc<HiddenExchange>>, used: &Arc<AtomicUsize>) -> HiddenPast {
        used.fetch_add(OF_PAST * all.len(), Ordering::Relaxed);
        Arc::new(Self { all, used: Arc::clone(used) })
    }

    /// This past with further exchanges; the same one where there are none.
    fn with(self: Arc<Self>, new: Vec<Arc<HiddenExchange>>) -> HiddenPast {
        match new.is_empty() {
            true => self,
            false => Self::new([&self.all[..], &new].concat(), &new[0].used),
        }
    }
}

impl Deref for PastExchanges {
    type Target = [Arc<HiddenExchange>];

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl Drop for PastExchanges {
    fn drop(&mut self) {
        self.used.fetch_sub(OF_PAST * self.all.len(), Ordering::Relaxed);
    }
}

/// For each reply that was heard, the exchanges of the history that it ends. The oldest reply is dropped first.
#[derive(Default)]
pub(crate) struct HiddenExchanges {
    known: HashMap<ExchangePlace, KnownPast>,
    order: VecDeque<ExchangePlace>,
    /// How many places each owner has. A request of another owner is not searched.
    owners: HashMap<ExchangePlace, usize>,
    used: Arc<AtomicUsize>,
    /// Rises when a request may find more, or less, than before.
    version: u64,
}

struct KnownPast {
    owner: ExchangePlace,
    past: HiddenPast,
    /// Whether no log of the store has the same replies with nothing hidden, as far as that was looked up. An earlier
    /// process may have heard them in another conversation.
    is_compared: bool,
}

/// The messages that belong in the place where a client only has the model's answer.
pub(crate) struct HiddenExchange {
    /// Where it took place.
    pub place: ExchangePlace,
    /// How many replies of the client it replaces.
    pub shown: usize,
    /// How many replies the client has up to its end.
    pub replies: usize,
    /// All messages of the exchange.
    pub messages: Vec<Bytes>,
    /// Results of hidden calls that follow together with the results of the client's own calls.
    pub behind: Vec<AnsweredCall>,
    /// Counts its memory as long as anything holds it.
    used: Arc<AtomicUsize>,
}

impl PartialEq for HiddenExchange {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.messages == other.messages && self.behind == other.behind
    }
}

impl Drop for HiddenExchange {
    fn drop(&mut self) {
        self.used.fetch_sub(self.memory(), Ordering::Relaxed);
    }
}

impl HiddenExchange {
    fn memory(&self) -> usize {
        let messages = self.messages.iter().map(|message| message.len() + MESSAGE);
        let behind = self
            .behind
            .iter()
            .map(|answered| answered.text.len() + answered.call.arguments.len() + MESSAGE);
        EXCHANGE + messages.chain(behind).sum::<usize>()
    }

    /// Copies an exchange out of the messages in which it was found. `None` if it is not all there.
    fn copied_from(
        kind: DialectKind,
        messages: &[Bytes],
        found: &FoundExchange,
        first: usize,
        used: &Arc<AtomicUsize>,
    ) -> Option<Self> {
        let (start, end) = (found.messages.start(), found.messages.end());
        let own = messages.get(start.checked_sub(first)?..=end.checked_sub(first)?)?;
        let answered = |(call, text): &(HiddenCall, String)| {
            let message = messages.get(call.message.checked_sub(first)?)?;
            let call =
                calls(kind, std::slice::from_ref(message)).own.into_iter().nth(call.number)?;
            Some(AnsweredCall { call, text: unwrapped(kind, text) })
        };
        let exchange = Self {
            place: found.place,
            shown: found.shown,
            replies: found.replies,
            // Copied, because a slice would keep the whole answer in memory.
            messages: own.iter().map(|message| Bytes::copy_from_slice(message)).collect(),
            behind: found.behind.iter().map(answered).collect::<Option<_>>()?,
            used: Arc::clone(used),
        };
        used.fetch_add(exchange.memory(), Ordering::Relaxed);
        found.is_complete.then_some(exchange)
    }
}

/// A whole history that a store has. It is read without a lock, because that takes time.
pub(crate) struct StoredHistory<'a> {
    kind: DialectKind,
    owner: ClientChain,
    walk: ExchangeWalk,
    messages: &'a [Bytes],
}

impl<'a> StoredHistory<'a> {
    /// Reads it. `system` are the instructions beside the messages, as the store has them.
    pub fn read(
        kind: DialectKind,
        who: &RequestSender,
        system: Option<&Bytes>,
        messages: &'a [Bytes],
    ) -> Self {
        let owner = owner(kind, who, system);
        let mut walk = walk(kind, owner);
        read(kind, &mut walk, messages);
        Self { kind, owner, walk, messages }
    }
}

impl HiddenExchanges {
    /// Rises when a request may find more, or less, than before.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether any reply of this owner is known.
    pub fn knows(&self, owner: ClientChain) -> bool {
        self.owners.contains_key(&owner.place())
    }

    /// The newest of these replies of which something is known.
    fn newest_known(&self, shown: &[ShownReply]) -> Option<&KnownPast> {
        shown.iter().rev().find_map(|reply| self.known.get(&reply.place))
    }

    /// The exchanges of a history with these replies, up to the newest one that is known.
    pub fn past_of(&self, shown: &[ShownReply]) -> HiddenPast {
        self.newest_known(shown).map(|known| Arc::clone(&known.past)).unwrap_or_default()
    }

    /// Whether the newest of these replies that is known was compared with the store.
    pub fn is_compared(&self, shown: &[ShownReply]) -> bool {
        self.newest_known(shown).is_some_and(|known| known.is_compared)
    }

    /// Notes that the newest of these replies that is known was compared with the store.
    pub fn note_compared(&mut self, shown: &[ShownReply]) {
        let newest = shown.iter().rev().find(|reply| self.known.contains_key(&reply.place));
        if let Some(known) = newest.and_then(|reply| self.known.get_mut(&reply.place)) {
            known.is_compared = true;
        }
    }

    /// Notes an answer, and what of it its client does not get. `walk` was at the end of the request, in whose history
    /// `past` is hidden; the `messages` followed.
    pub fn hear(
        &mut self,
        kind: DialectKind,
        owner: ClientChain,
        mut walk: ExchangeWalk,
        past: &HiddenPast,
        messages: &[Bytes],
    ) {
        let (first, before) = (walk.read(), walk.shown().len());
        let known = walk.exchanges().len();
        read(kind, &mut walk, messages);
        let exchanges = &walk.exchanges()[known..];
        let copied =
            |exchange| HiddenExchange::copied_from(kind, messages, exchange, first, &self.used);
        let new: Vec<_> = exchanges.iter().filter_map(copied).map(Arc::new).collect();
        let (earlier, replies) = walk.shown().split_at(before.min(walk.shown().len()));
        // Whoever has a later reply has the earlier ones, too.
        let is_compared = new.is_empty() && self.is_compared(earlier);
        self.note(owner, replies, past, &new, before, is_compared);
    }

    /// Takes the exchanges of a whole history that a store has. Another conversation may have had the same up to the answer of an exchange, and an earlier
    /// process knew that. So a history is known to have the exchange from the next answer on.
    pub fn read_back(&mut self, history: &StoredHistory<'_>) {
        let StoredHistory { kind, owner, walk, messages } = history;
        let copied = |found: &FoundExchange| {
            let exchange = HiddenExchange::copied_from(*kind, messages, found, 0, &self.used)?;
            Some((*found.messages.end(), Arc::new(exchange)))
        };
        let all: Vec<_> = walk.exchanges().iter().filter_map(copied).collect();
        let (mut rest, mut past) = (all.into_iter().peekable(), HiddenPast::default());
        let mut after_exchange = 0;
        // Where nothing of this owner is hidden, it is not worth its memory that this is so.
        let notes_empty_past = self.knows(*owner);
        for reply in walk.shown() {
            let mut here = Vec::new();
            while let Some((end, exchange)) = rest.next_if(|(end, _)| *end <= reply.end) {
                after_exchange = end + 1;
                here.push(exchange);
            }
            past = past.with(here);
            let is_noted =
                if past.is_empty() { notes_empty_past } else { reply.start > after_exchange };
            if is_noted {
                self.put(owner.place(), reply.place, Arc::clone(&past), false);
            }
        }
        self.trim();
    }

    /// Notes replies in order. `before` replies came before them; `is_compared` holds for all of them.
    fn note(
        &mut self,
        owner: ClientChain,
        replies: &[ShownReply],
        past: &HiddenPast,
        new: &[Arc<HiddenExchange>],
        before: usize,
        is_compared: bool,
    ) {
        let mut past_so_far = Arc::clone(past);
        for (at, reply) in replies.iter().enumerate() {
            let here: Vec<_> = new
                .iter()
                .filter(|exchange| exchange.replies == before + at + 1)
                .cloned()
                .collect();
            past_so_far = past_so_far.with(here);
            self.put(owner.place(), reply.place, Arc::clone(&past_so_far), is_compared);
        }
        self.trim();
    }

    /// Notes what is hidden up to a reply. If two answers are the same for their client and differ in what is hidden,
    /// nobody can say which of them it has. Then only what is common to both stays.
    fn put(
        &mut self,
        owner: ExchangePlace,
        place: ExchangePlace,
        past: HiddenPast,
        is_compared: bool,
    ) {
        let Some(known) = self.known.get_mut(&place) else {
            self.version += u64::from(!past.is_empty());
            self.used.fetch_add(PLACE, Ordering::Relaxed);
            *self.owners.entry(owner).or_default() += 1;
            self.order.push_back(place);
            self.known.insert(place, KnownPast { owner, past, is_compared });
            return;
        };
        if known.past[..] != past[..] {
            self.version += 1;
            let both = known.past.iter().zip(past.iter());
            let common =
                both.take_while(|(one, other)| one == other).map(|(one, _)| Arc::clone(one));
            known.past = PastExchanges::new(common.collect(), &self.used);
        }
    }

    fn trim(&mut self) {
        while self.used.load(Ordering::Relaxed) > MEMORY {
            let Some(oldest) = self.order.pop_front() else { break };
            let Some(removed) = self.known.remove(&oldest) else { continue };
            self.used.fetch_sub(PLACE, Ordering::Relaxed);
            self.version += u64::from(!removed.past.is_empty());
            if let Some(places) = self.owners.get_mut(&removed.owner) {
                *places -= 1;
                if *places == 0 {
                    self.owners.remove(&removed.owner);
                }
            }
        }
    }
}

fn read(kind: DialectKind, walk: &mut ExchangeWalk, messages: &[Bytes]) {
    for message in messages {
        walk.message(&kind.dialect().view(message), message);
    }
    walk.end();
}

/// The text of a result; Gemini wraps it into an object.
fn unwrapped(kind: DialectKind, text: &str) -> String {
    let object = || serde_json::from_str::<serde_json::Value>(text).ok();
    let wrapped = (kind == DialectKind::Gemini).then(object).flatten();
    let output = wrapped.and_then(|json| json["output"].as_str().map(str::to_owned));
    output.unwrap_or_else(|| text.to_owned())
}
