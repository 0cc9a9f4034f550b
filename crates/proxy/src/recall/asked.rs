//! A request as its client has it: the chain of its history, and the exchanges that belong into it.

use std::sync::Mutex;

use bytes::Bytes;
use midfold_core::exchanges::{ClientChain, ExchangePlace, ExchangeWalk};
use midfold_core::ledger::ClientHistory;
use midfold_formats::DialectKind;
use midfold_formats::request::{Request, without_marks};

use super::hidden::{HiddenExchanges, HiddenPast};
use crate::lock::lock;
use crate::read_request::stable;
use crate::sender::RequestSender;

/// A request as its client has it.
#[derive(Clone)]
pub(crate) struct AskedHistory {
    /// Whose history it is.
    pub owner: ClientChain,
    /// The walk through all of its messages.
    pub walk: ExchangeWalk,
    /// The exchanges that are hidden from its client, up to the newest reply that is known.
    pub past: HiddenPast,
    /// The chain behind the model's last message, which ends the history.
    end: ClientChain,
    /// The places of exchanges that were in the request already, up to there.
    within: Vec<ExchangePlace>,
}

/// Whose history a request is. Nothing is found from another owner: the sender's scope, its name for the session, the
/// format, and the instructions, which may be the only difference between two clients.
pub(super) fn owner(kind: DialectKind, who: &RequestSender, system: Option<&Bytes>) -> ClientChain {
    let hint = who.hint.as_deref().unwrap_or_default();
    let parts = [&who.scope, hint, kind.name()];
    let owner = ClientChain::begin(parts.map(str::as_bytes));
    system.map_or(owner, |system| owner.with_instructions(&without_marks(system)))
}

/// The walk from the first message of an owner's history on.
pub(super) fn walk(kind: DialectKind, owner: ClientChain) -> ExchangeWalk {
    ExchangeWalk::new(owner, kind == DialectKind::OpenAiResponses)
}

impl AskedHistory {
    /// Whose history a request is.
    pub fn owner_of(request: &Request, who: &RequestSender) -> ClientChain {
        owner(request.kind(), who, request.system.as_ref())
    }

    /// Reads a request as the client sent it, or as it was completed with a history that the provider keeps.
    pub fn read(hidden: &Mutex<HiddenExchanges>, request: &Request, who: &RequestSender) -> Self {
        let (owner, dialect) = (Self::owner_of(request, who), request.kind().dialect());
        let (mut walk, stable) = (walk(request.kind(), owner), stable(request));
        let mut history = walk.clone();
        for (at, message) in request.messages().enumerate() {
            if at == stable {
                history.clone_from(&walk);
            }
            walk.message(&dialect.view(&message), &message);
        }
        if stable == request.len() {
            history.clone_from(&walk);
        }
        history.end();
        walk.end();
        let past = lock(hidden).past_of(walk.shown());
        let within = history.exchanges().iter().map(|found| found.place).collect();
        Self { owner, past, end: history.chain(), within, walk }
    }

    /// Whether the request brings exchanges with it. It was completed with a kept history then, which has all of them.
    pub fn has_exchanges(&self) -> bool {
        !self.walk.exchanges().is_empty()
    }

    /// The record of what the client sent. Each exchange that was put back is named by the place where it took place,
    /// and not by the one where it is now, so that an audit can compare the two.
    pub fn record(&self, hides: bool) -> ClientHistory {
        let mut places = self.within.clone();
        if hides {
            places.extend(self.past.iter().map(|exchange| exchange.place));
        }
        ClientHistory::new(self.walk.begins(), self.end, &places)
    }
}
