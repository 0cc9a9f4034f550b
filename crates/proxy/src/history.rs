//! Histories that a provider is asked to keep. A request may only say which answer it goes on from.
//! It is sent in full, so that it can be folded, and so that any provider takes it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::request::{Request, RequestError};

use super::answers::key;

/// Memory that histories may take, for requests that name an answer.
const MEMORY: usize = 128 << 20;
/// Memory that a history takes without its items, and each item beside its bytes.
const HISTORY: usize = 512;
const ITEM: usize = 96;

/// Histories, by the answer that they end with. The oldest goes first.
#[derive(Default)]
pub(super) struct HistoryCache {
    known: HashMap<(String, String), Arc<HistoryItems>>,
    order: VecDeque<(String, String)>,
    /// Memory of all that somebody holds: also of those that others go on from.
    bytes: Arc<AtomicUsize>,
}

/// The items up to an answer.
pub(super) struct HistoryItems {
    before: Option<Arc<HistoryItems>>,
    /// Items since then: those of the request, and those of the answer.
    items: Vec<Bytes>,
    used: Arc<AtomicUsize>,
    /// By what a store finds it.
    key: Hash,
    /// The store knows that all of it is of a session.
    is_placed: AtomicBool,
}

impl HistoryCache {
    /// The history that ends with this answer.
    pub fn get(&self, scope: &str, answer: &str) -> Option<Arc<HistoryItems>> {
        self.known.get(&(scope.to_owned(), answer.to_owned())).cloned()
    }

    /// Keeps a history: what a request added to the one before, and what was answered.
    pub fn put(
        &mut self,
        scope: &str,
        answer: &str,
        before: Option<Arc<HistoryItems>>,
        items: Vec<Bytes>,
    ) {
        self.insert((scope, answer), before, items, false);
    }

    /// Takes in a history that was in a store, which knows its session or does not.
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
        self.known.insert(key.clone(), Arc::new(history));
        self.order.push_back(key);
        while self.bytes.load(Ordering::Relaxed) > MEMORY && self.order.len() > 1 {
            // Those that go on from it hold its items still; they are let go in their turn.
            let oldest = self.order.pop_front();
            oldest.map(|key| self.known.remove(&key));
        }
    }
}

impl Drop for HistoryItems {
    /// One after the other: they are a chain of any length, and a stack is not.
    fn drop(&mut self) {
        self.used.fetch_sub(self.memory(), Ordering::Relaxed);
        let mut before = self.before.take();
        while let Some(history) = before {
            before = Arc::into_inner(history).and_then(|mut history| history.before.take());
        }
    }
}

impl HistoryItems {
    /// The request, with this history in front of it instead of the name of an answer.
    pub fn in_front_of(&self, request: &Request) -> Result<Request, RequestError> {
        let kind = request.kind();
        let bare = Request::read(kind, request.without("previous_response_id"))?;
        let whole = bare.with_messages(self.all().into_iter().chain(request.messages()));
        Request::read(kind, whole)
    }

    /// By what a store finds it.
    pub fn key(&self) -> Hash {
        self.key
    }

    /// Whether its session is known only now: once.
    pub fn finds_its_place(&self) -> bool {
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

/// What a request leaves to the provider.
#[derive(Default)]
pub(super) enum ProviderHistory {
    /// Nothing: it has its whole history.
    #[default]
    Nothing,
    /// A history that is known; how many of the request's messages are its own.
    Known(Arc<HistoryItems>, usize),
    /// A history that only the provider has.
    Unknown,
}

impl ProviderHistory {
    /// So many messages more are the request's own.
    pub fn own(&mut self, more: usize) {
        if let Self::Known(_, own) = self {
            *own += more;
        }
    }
}

/// By what a request and its answer are found again.
#[derive(Default)]
pub(super) struct HistoryKeys {
    pub scope: String,
    pub before: ProviderHistory,
}
