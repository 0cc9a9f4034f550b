//! Items of answers that a provider keeps. A client may send only the id of such an item (`item_reference`); the proxy
//! puts the item in the place of its id, so that it can be folded.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use midfold_formats::DialectKind;
use midfold_formats::request::{Request, item_id, reference};

/// The most bytes of memory for items.
const MEMORY: usize = 64 << 20;
/// Bytes of memory for an item beside its own bytes.
const ITEM: usize = 192;

type ItemKey = (String, String);

/// Items by their owner and their id. The oldest is dropped first.
#[derive(Default)]
pub(super) struct ProviderItems {
    known: HashMap<ItemKey, Bytes>,
    order: VecDeque<ItemKey>,
    bytes: usize,
}

impl ProviderItems {
    /// Keeps the items of an answer that have an id.
    pub fn put(&mut self, scope: &str, output: &[Bytes]) {
        for item in output {
            let Some(id) = item_id(item) else { continue };
            let key = (scope.to_owned(), id);
            self.bytes += ITEM + item.len();
            // Copied, because a slice would keep the whole answer in memory.
            match self.known.insert(key.clone(), Bytes::copy_from_slice(item)) {
                Some(before) => self.bytes -= ITEM + before.len(),
                None => self.order.push_back(key),
            }
        }
        while self.bytes > MEMORY {
            let Some(oldest) = self.order.pop_front() else { break };
            let removed = self.known.remove(&oldest);
            self.bytes -= removed.map_or(0, |item| ITEM + item.len());
        }
    }

    /// The request with the known items in the place of their ids; `None` if it names no known item.
    pub fn named_in(&self, request: &Request, scope: &str) -> Option<Request> {
        if request.kind() != DialectKind::OpenAiResponses || self.known.is_empty() {
            return None;
        }
        let find = |message: &Bytes| {
            let id = reference(message)?;
            self.known.get(&(scope.to_owned(), id)).cloned()
        };
        let named: Vec<_> = request.messages().map(|message| find(&message)).collect();
        if named.iter().all(Option::is_none) {
            return None;
        }
        let messages = request.messages().zip(named);
        let whole = request.with_messages(messages.map(|(name, item)| item.unwrap_or(name)));
        Request::read(request.kind(), whole).ok()
    }
}
