//! Decides which requests carry midfold's tools, and which of them must not call them.

use bytes::Bytes;
use midfold_core::ledger::ClientHistory;
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{OwnTool, ToolOffer, forbidden, offered, withheld};
use midfold_formats::request::Request;

use super::asked::AskedHistory;

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
    /// The version of the exchanges that were put back ([`HiddenExchanges::version`](super::HiddenExchanges::version)).
    pub version: u64,
    /// Whether exchanges were put back into it.
    pub hides: bool,
    /// The request as its client has it. `None` if no tool is offered and its owner has no exchanges.
    pub history: Option<AskedHistory>,
    /// How often the provider was asked again.
    pub rounds: usize,
    /// The messages of these rounds, which follow the client's messages.
    pub added: Vec<Bytes>,
}

impl RecallOffer {
    /// The record of what the client sent, where it is known.
    pub fn record(&self) -> Option<ClientHistory> {
        self.history.as_ref().map(|history| history.record(self.hides))
    }

    /// Returns the body with the offered tools. The recall tool is added from the first fold on, the others from the
    /// start: the provider's cache has to find the same tools at the front of every request.
    pub fn offer(&mut self, request: &Request, body: &Bytes, is_folded: bool) -> Bytes {
        let kind = request.kind();
        // An exchange of the agent's tools, such as a pin, does not bring the recall tool: the cache would be lost.
        let recalled = || {
            self.hides && memchr::memmem::find(body, OwnTool::Recall.name().as_bytes()).is_some()
        };
        let recall = self.may.recall && (is_folded || recalled());
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
