//! Items that a provider holds and that passed here in an answer. A client may name them by their ids
//! (`item_reference`). The item is put in the place of its id, so that it can be folded.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use midfold_formats::DialectKind;
use midfold_formats::request::{Request, item_id, reference};

/// Memory that items may take.
const MEMORY: usize = 64 << 20;
/// Memory that an item takes beside its bytes.
const ITEM: usize = 192;

type ItemKey = (String, String);

/// Items by whose they are and by their ids. The oldest goes first.
#[derive(Default)]
pub(super) struct ProviderItems {
    known: HashMap<ItemKey, Bytes>,
    order: VecDeque<ItemKey>,
    bytes: usize,
}

impl ProviderItems {
    /// Keeps what was answered.
    pub fn put(&mut self, scope: &str, output: &[Bytes]) {
        for item in output {
            let Some(id) = item_id(item) else { continue };
            let key = (scope.to_owned(), id);
            self.bytes += ITEM + item.len();
            // Copied: a slice would keep the whole answer in memory.
            match self.known.insert(key.clone(), Bytes::copy_from_slice(item)) {
                Some(before) => self.bytes -= ITEM + before.len(),
                None => self.order.push_back(key),
            }
        }
        while self.bytes > MEMORY {
            let Some(oldest) = self.order.pop_front() else { break };
            let gone = self.known.remove(&oldest);
            self.bytes -= gone.map_or(0, |item| ITEM + item.len());
        }
    }

    /// The request with the items that it names, where they are known.
    pub fn named_in(&self, request: &Request, scope: &str) -> Option<Request> {
        if request.kind() != DialectKind::OpenAiResponses || self.known.is_empty() {
            return None;
        }
        let find = |message: &Bytes| {
            let id = reference(message)?;
            self.known.get(&(scope.to_owned(), id)).cloned()
        };
        let found: Vec<_> = request.messages().map(|message| find(&message)).collect();
        if found.iter().all(Option::is_none) {
            return None;
        }
        let messages = request.messages().zip(found);
        let whole = request.with_messages(messages.map(|(name, item)| item.unwrap_or(name)));
        Request::read(request.kind(), whole).ok()
    }
}
