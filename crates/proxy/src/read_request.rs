//! A request that was read: which of its messages are history, and the chain that finds their conversation.

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::recall_tool::{ToolOffer, check};
use midfold_formats::request::Request;

use super::chain::{Chain, known};
use super::history::RequestHistory;
use super::lock::lock;
use super::recall::{AskedHistory, RecallOffer, with_exchanges};
use super::rules::RequestReading;
use super::sender::RequestSender;
use super::shared::Proxy;
use super::stable::stable;
use midfold::RequestFault;

/// A request that was read, and is not matched to its conversation yet.
pub struct ReadRequest {
    pub(super) request: Request,
    pub(super) who: RequestSender,
    pub(super) model: String,
    pub(super) history: RequestHistory,
    /// The settings to read it with, or the reason to send it unchanged.
    pub(super) read: Result<RequestReading, RequestFault>,
    pub(super) stable: usize,
    pub(super) chain: Chain,
    pub(super) recall: RecallOffer,
    /// The request without the exchanges that were put back into it; `None` if there are none.
    pub(super) without: Option<Request>,
}

impl Proxy {
    /// Whether conversations take all the memory that they may, including those that wait to be written, and this
    /// request would begin another one. Such a request should be passed on unchanged.
    #[must_use]
    pub fn is_full_for(&self, begun: &ReadRequest) -> bool {
        lock(&self.index).is_full_for(&begun.chain)
    }

    /// As [`Proxy::begin`], for a request with a vendor's compaction fields: whether it had a block that midfold made,
    /// and what its client wants kept ([`VendorWork::standing`](super::vendor::VendorWork::standing)).
    #[must_use]
    pub fn begin_wish(
        &self,
        request: Request,
        is_replay: bool,
        keep: Option<String>,
        who: &RequestSender,
    ) -> ReadRequest {
        let mut begun = self.begin(request, who);
        if let Ok(reading) = &mut begun.read {
            reading.is_replay = is_replay;
            reading.keep = keep;
        }
        begun
    }

    /// Marks a request whose answer the caller will read ([`MatchedRequest::hear`](super::MatchedRequest::hear)). It
    /// may be given the tools of `offer`, if the request allows that. The agent's tools are only given to a request that
    /// has tools of its own, because another one comes from no agent.
    #[must_use]
    pub fn recalling(&self, mut begun: ReadRequest, offer: ToolOffer) -> ReadRequest {
        if !offer.is_nothing()
            && let Ok(reading) = &mut begun.read
            && check(&begun.request).is_ok()
        {
            let agent = offer.agent && begun.request.has_tools();
            reading.offer = ToolOffer { agent, ..offer };
            if offer.recall {
                lock(&self.rules).let_look_up(reading, &begun.who);
            }
            // Its answer may begin the first exchange of this owner.
            let history = || AskedHistory::read(&self.hidden, &begun.request, &begun.who);
            begun.recall.history.get_or_insert_with(history);
        }
        begun
    }

    /// The tools that requests are given unless their sender has other ones.
    #[must_use]
    pub fn offer(&self) -> ToolOffer {
        self.offer
    }

    /// Reads a request: the first half of [`Proxy::turn`]. Between the two halves, its conversation can be loaded from
    /// a store ([`Proxy::bring_back`]).
    #[must_use]
    pub fn begin(&self, request: Request, who: &RequestSender) -> ReadRequest {
        let (request, before) = self.whole(request, who);
        let model = request.model.clone().or_else(|| who.model.clone()).unwrap_or_default();
        let read = lock(&self.rules).reading(&request, &model, who);
        let stable = if read.is_ok() { stable(&request) } else { 0 };
        let history = RequestHistory { scope: who.scope.clone(), before };
        let (who, chain, recall) = (who.clone(), Chain::default(), RecallOffer::default());
        let begun = ReadRequest {
            request,
            who,
            model,
            history,
            read,
            stable,
            chain,
            recall,
            without: None,
        };
        let begun = self.put_back(begun);
        self.chained(begun)
    }

    /// Reads the request again if exchanges became known since, because its conversation was loaded from a store.
    pub(super) fn once_more(&self, mut begun: ReadRequest) -> ReadRequest {
        if lock(&self.hidden).version() == begun.recall.version {
            return begun;
        }
        let had = begun.without.is_some();
        if let Some(without) = begun.without.take() {
            begun.history.before.take_own_messages(begun.request.len() - without.len());
            begun.request = without;
        }
        let begun = self.put_back(begun);
        if had || begun.without.is_some() { self.chained(begun) } else { begun }
    }

    /// Puts the hidden exchanges of its history back into a request.
    fn put_back(&self, mut begun: ReadRequest) -> ReadRequest {
        let owner = AskedHistory::owner_of(&begun.request, &begun.who);
        let (version, is_known) = {
            let hidden = lock(&self.hidden);
            (hidden.version(), hidden.knows(owner))
        };
        let is_asked = begun.recall.history.is_some();
        begun.recall = RecallOffer { version, ..RecallOffer::default() };
        if !is_known && !is_asked {
            return begun;
        }
        let history = AskedHistory::read(&self.hidden, &begun.request, &begun.who);
        if !history.past.is_empty() && !history.has_exchanges() {
            let past = history.past.iter().map(|exchange| &**exchange);
            let whole = with_exchanges(&begun.request, history.walk.shown(), past);
            let more = whole.len().saturating_sub(begun.request.len());
            if let Ok(whole) =
                Request::read(begun.request.kind(), begun.request.with_messages(whole))
            {
                begun.history.before.add_own_messages(more);
                begun.without = Some(std::mem::replace(&mut begun.request, whole));
                begun.recall.hides = true;
            }
        }
        begun.recall.history = Some(history);
        begun.stable = if begun.read.is_ok() { stable(&begun.request) } else { 0 };
        begun
    }

    /// Computes the chain of its history.
    fn chained(&self, mut begun: ReadRequest) -> ReadRequest {
        let messages: Vec<_> = (0..begun.stable).map(|at| begun.request.message(at)).collect();
        // Only unknown identities are computed, and outside of the lock, so that other requests do not wait for the
        // index.
        let known = known(lock(&self.index).identities(), &messages);
        begun.chain = begun.chain_of(&messages, known);
        begun
    }
}

impl ReadRequest {
    /// Bytes of memory that the request takes with its whole history, including a history that was left to the
    /// provider.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.request.body().len() + self.request.memory()
    }

    /// The link of its opening; `None` if the request already has an answer of the model.
    pub(super) fn opening(&self) -> Option<Hash> {
        if self.stable > 0 {
            return None;
        }
        let messages: Vec<_> = (0..self.request.len()).map(|at| self.request.message(at)).collect();
        self.chain_of(&messages, []).begins_with()
    }

    /// The chain of these messages for the sender of the request.
    pub(super) fn chain_of(
        &self,
        messages: &[Bytes],
        known: impl IntoIterator<Item = Option<Hash>>,
    ) -> Chain {
        let Ok(reading) = &self.read else { return Chain::default() };
        // Another profile or counter makes another log, so a request under it must not find this conversation.
        let root = Hash::ROOT
            .chain(self.who.scope.as_bytes())
            .chain(reading.profile.name.as_bytes())
            .chain(reading.counter.name().as_bytes());
        Chain::of(root, self.request.kind(), messages, known)
    }
}
