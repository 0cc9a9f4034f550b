//! Decides which requests carry midfold's tools, and which of them must not call them.

use std::sync::Mutex;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{ToolOffer, forbidden, offered, withheld};
use midfold_formats::request::Request;

use super::hidden::{HiddenExchanges, whole};
use crate::history::ProviderHistory;
use crate::lock::lock;

/// How often the provider is asked again for one request. In the last round the model cannot call the tools, so that it
/// answers.
pub(crate) const MOST_ROUNDS: usize = 5;

/// The state of midfold's tools in one request.
#[derive(Default)]
pub(crate) struct RecallOffer {
    /// The tools that the request may carry.
    pub may: ToolOffer,
    /// The tools that it carries: its answer may have calls that the proxy answers.
    pub offered: ToolOffer,
    /// The version of the exchanges that were put back ([`HiddenExchanges::version`]).
    pub version: u64,
    /// Whether exchanges were put back into it.
    pub hides: bool,
    /// The chain of what its client has; `None` if there were no exchanges, so that it was not needed yet.
    pub shown: Option<Hash>,
    /// How often the provider was asked again.
    pub rounds: usize,
    /// The messages of these rounds, which follow the client's messages.
    pub added: Vec<Bytes>,
}

impl RecallOffer {
    /// Returns the body with the offered tools. The recall tool is added from the first fold on, the others from the
    /// start: the provider's cache has to find the same tools at the front of every request.
    pub fn offer(&mut self, request: &Request, body: &Bytes, is_folded: bool) -> Bytes {
        let kind = request.kind();
        let recall = self.may.recall && (is_folded || self.hides);
        self.offered = ToolOffer { recall, ..self.may };
        if !self.offered.is_nothing() {
            let body = offered(kind, body, self.offered);
            return match self.rounds < MOST_ROUNDS {
                true => body,
                false => withheld(request, &body, self.offered),
            };
        }
        // Anthropic refuses a history with calls if the request has no tools, so they are added and forbidden.
        if self.hides && kind == DialectKind::Anthropic && !request.has_tools() {
            let any = ToolOffer { recall: true, ..ToolOffer::default() };
            return forbidden(kind, &offered(kind, body, any));
        }
        body.clone()
    }
}

/// Puts the hidden exchanges back into a request.
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
            before.add_own_messages(more);
            (request, RecallOffer { hides: true, ..recall })
        }
        Err(_) => (request, recall),
    }
}
