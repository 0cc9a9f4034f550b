//! Which requests carry the tools, and which must not call them.

use std::sync::Mutex;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{ToolOffer, forbidden, offered, withheld};
use midfold_formats::request::Request;

use super::hidden::{HiddenExchanges, whole};
use crate::history::ProviderHistory;
use crate::lock::lock;

/// How often the provider is asked again for one request; the last time, the model cannot call the tools.
pub(crate) const MOST_ROUNDS: usize = 5;

/// What a request has of the tools.
#[derive(Default)]
pub(crate) struct RecallOffer {
    /// The tools that it may be given.
    pub may: ToolOffer,
    /// The tools that it was given: its answer may have calls that are answered here.
    pub offered: ToolOffer,
    /// The version of the exchanges when messages were put back ([`HiddenExchanges::version`]).
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
    /// The body that is sent: with the tool of recall from the first fold on, with the others from the beginning, so that
    /// the provider's cache finds the same tools in front of each request.
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
        // Calls in a history without any tool are refused.
        if self.hides && kind == DialectKind::Anthropic && !request.has_tools() {
            let any = ToolOffer { recall: true, ..ToolOffer::default() };
            return forbidden(kind, &offered(kind, body, any));
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
