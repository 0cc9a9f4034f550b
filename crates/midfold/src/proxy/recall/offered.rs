//! Which requests carry the tool, and which must not call it.

use std::sync::Mutex;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{forbidden, offered, withheld};
use midfold_formats::request::Request;

use super::hidden::{HiddenExchanges, whole};
use crate::proxy::history::ProviderHistory;
use crate::proxy::lock::lock;

/// How often the provider is asked again for one request; the last time, the model cannot call the tool.
pub(super) const MOST_ROUNDS: usize = 5;

/// What a request has of recall.
#[derive(Default)]
pub(crate) struct RecallOffer {
    /// It may be given the tool.
    pub may: bool,
    /// It was given the tool: its answer may have calls that are answered here.
    pub is_offered: bool,
    /// What was known when messages were put back ([`HiddenExchanges::version`]).
    pub version: u64,
    /// Messages were put back into it.
    pub hides: bool,
    /// The chain of what its client has; worked out later where nothing could be put back.
    pub shown: Option<Hash>,
    /// How often the provider was asked again.
    pub rounds: usize,
    /// What was said so, and is behind the messages of the client.
    pub added: Vec<Bytes>,
}

impl RecallOffer {
    /// The body that is sent: with the tool from the first fold on.
    pub fn offer(&mut self, request: &Request, body: &Bytes, is_folded: bool) -> Bytes {
        let kind = request.kind();
        self.is_offered = self.may && (is_folded || self.hides);
        if self.is_offered {
            let body = offered(kind, body);
            return if self.rounds < MOST_ROUNDS { body } else { withheld(request, &body) };
        }
        // Calls in a history without any tool are refused.
        if self.hides && kind == DialectKind::Anthropic && !request.has_tools() {
            return forbidden(kind, &offered(kind, body));
        }
        body.clone()
    }
}

/// The request with the messages that its client does not know.
pub(crate) fn put_back(
    hidden: &Mutex<HiddenExchanges>,
    request: Request,
    before: &mut ProviderHistory,
    scope: &str,
) -> (Request, RecallOffer) {
    let (is_empty, version) = {
        let hidden = lock(hidden);
        (hidden.is_empty(), hidden.version())
    };
    if is_empty {
        return (request, RecallOffer::default());
    }
    let whole = whole(hidden, &request, scope);
    let recall = RecallOffer { shown: Some(whole.shown), version, ..RecallOffer::default() };
    if !whole.is_other {
        return (request, recall);
    }
    let more = whole.messages.len().saturating_sub(request.len());
    match Request::read(request.kind(), request.with_messages(whole.messages)) {
        Ok(request) => {
            before.own(more);
            (request, RecallOffer { hides: true, ..recall })
        }
        Err(_) => (request, recall),
    }
}
