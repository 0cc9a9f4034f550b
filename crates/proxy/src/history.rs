//! Histories that a client leaves to the provider. Such a request only names the answer that it goes on from
//! (`previous_response_id`). The proxy sends it with its full history, so that the history can be folded and any
//! provider accepts it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::request::{Request, RequestError};

use super::answers::key;

/// The most bytes of memory for these histories.
const MEMORY: usize = 128 << 20;
/// Bytes of memory for a history beside its items, and for each item beside its bytes.
const HISTORY: usize = 512;
const ITEM: usize = 96;

/// Histories by the answer that they end with. The oldest is dropped first.
#[derive(Default)]
pub(super) struct HistoryCache {
    known: HashMap<(String, String), Arc<HistoryItems>>,
    order: VecDeque<(String, String)>,
    /// Bytes of all histories that are still referenced, also of dropped ones that a later history continues.
    bytes: Arc<AtomicUsize>,
}

/// The items up to an answer. Only the items since the answer before it are kept here; `before` has the others.
pub(super) struct HistoryItems {
    before: Option<Arc<HistoryItems>>,
    /// The items since the answer before: those of the request, and those of the answer.
    items: Vec<Bytes>,
    used: Arc<AtomicUsize>,
    /// The key under which a store has it.
    key: Hash,
    /// The store already knows which session all of its items belong to.
    is_placed: AtomicBool,
}

impl HistoryCache {
    /// Returns the history that ends with this answer.
    pub fn get(&self, scope: &str, answer: &str) -> Option<Arc<HistoryItems>> {
        self.known.get(&(scope.to_owned(), answer.to_owned())).cloned()
    }

    /// Keeps a history: the one before it, and the items that a request and its answer added.
    pub fn put(
        &mut self,
        scope: &str,
        answer: &str,
        before: Option<Arc<HistoryItems>>,
        items: Vec<Bytes>,
    ) {
        self.insert((scope, answer), before, items, false);
    }

    /// Keeps a history that was read from a store. With `is_placed`, the store knows its session.
    pub fn bring_back(&mut self, scope: &str, answer: &str, items: Vec<Bytes>, is_placed: bool) {
        self.insert((scope, answer), None, items, is_placed);
    }

    fn insert(
        &mut self,
        (scope, answer): (&str, &str),
        before: Option<Arc<HistoryItems>>,
        items: Vec<Bytes>,
        is_placed: bool,
    ) {
        let used = Arc::clone(&self.bytes);
        let (found_by, is_placed) = (key(scope, answer), AtomicBool::new(is_placed));
        let history = HistoryItems { before, items, used, key: found_by, is_placed };
        let key = (scope.to_owned(), answer.to_owned());
        self.bytes.fetch_add(history.memory(), Ordering::Relaxed);
        if self.known.insert(key.clone(), Arc::new(history)).is_some() {
            // A second entry would drop the newer history at the age of the older one.
            self.order.retain(|known| *known != key);
        }
        self.order.push_back(key);
        // The newest stays whatever its size: the client's next request names its answer.
        while self.bytes.load(Ordering::Relaxed) > MEMORY && self.order.len() > 1 {
            // Later histories still hold the items of the dropped one, so its memory is free only after they are
            // dropped, too.
            let oldest = self.order.pop_front();
            oldest.map(|key| self.known.remove(&key));
        }
    }
}

impl Drop for HistoryItems {
    /// Drops the chain of histories in a loop: it has any length, and recursion could overflow the stack.
    fn drop(&mut self) {
        self.used.fetch_sub(self.memory(), Ordering::Relaxed);
        let mut before = self.before.take();
        while let Some(history) = before {
            // `None` ends the loop: something else still holds the rest of the chain.
            before = Arc::into_inner(history).and_then(|mut history| history.before.take());
        }
    }
}

impl HistoryItems {
    /// The request with this history in front of it, and without the name of the answer.
    pub fn in_front_of(&self, request: &Request) -> Result<Request, RequestError> {
        let kind = request.kind();
        let bare = Request::read(kind, request.without("previous_response_id"))?;
        let whole = bare.with_messages(self.all().into_iter().chain(request.messages()));
        Request::read(kind, whole)
    }

    /// The key under which a store has it.
    pub fn key(&self) -> Hash {
        self.key
    }

    /// Marks the history as assigned to a session. True for the first call only, so that the caller writes the
    /// assignment to the store once.
    pub fn mark_placed(&self) -> bool {
        !self.is_placed.swap(true, Ordering::Relaxed)
    }

    fn memory(&self) -> usize {
        HISTORY + self.items.iter().map(|item| item.len() + ITEM).sum::<usize>()
    }

    fn all(&self) -> Vec<Bytes> {
        let mut links = vec![self];
        while let Some(before) = links.last().and_then(|link| link.before.as_deref()) {
            links.push(before);
        }
        links.iter().rev().flat_map(|link| link.items.iter().cloned()).collect()
    }
}

/// How much of its history a request leaves to the provider.
#[derive(Default)]
pub(super) enum ProviderHistory {
    /// Nothing: the request has its whole history.
    #[default]
    Nothing,
    /// The history is known here. The number says how many of the completed request's messages are not from it.
    Known(Arc<HistoryItems>, usize),
    /// The provider has a history that is not known here.
    Unknown,
}

impl ProviderHistory {
    /// Counts `more` messages as the request's own, because midfold put them back among them.
    pub fn add_own_messages(&mut self, more: usize) {
        if let Self::Known(_, own_messages) = self {
            *own_messages += more;
        }
    }

    /// Takes back what [`Self::add_own_messages`] counted.
    pub fn take_own_messages(&mut self, fewer: usize) {
        if let Self::Known(_, own_messages) = self {
            *own_messages -= fewer.min(*own_messages);
        }
    }
}

/// Whose history the request goes on from, and how much of it is known here.
#[derive(Default)]
pub(super) struct RequestHistory {
    /// The scope of the sender: a history is never found from another one.
    pub scope: String,
    /// The part that the request left to the provider.
    pub before: ProviderHistory,
}
