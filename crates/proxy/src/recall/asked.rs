//! A request as its client has it: the chain of its history, and the exchanges that belong into it.

use std::sync::Mutex;

use midfold_core::exchanges::{ClientChain, ExchangePlace, ExchangeWalk};
use midfold_core::ledger::ClientHistory;
use midfold_formats::request::Request;

use super::hidden::{HiddenExchanges, HiddenPast};
use super::owner::{owner, walk};
use crate::lock::lock;
use crate::sender::RequestSender;
use crate::stable::stable;

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
        let within = history.exchanges().iter().map(|exchange| exchange.place).collect();
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
