//! Reads the compaction that a Responses request asks for.

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::request::{Request, identity};
use midfold_formats::vendor::openai::{
    OpenaiRefusal, PlacedItem, compaction_items, instructs, read_request, without_management,
};

use super::{RequestPurpose, VendorRefusal, VendorRequest, VendorWork, messages, opened, with};
use crate::prefer::CompactionPreference;
use crate::seal::Seal;
use crate::sender::RequestSender;
use crate::shared::Proxy;

impl From<OpenaiRefusal> for VendorRefusal {
    fn from(refusal: OpenaiRefusal) -> Self {
        Self { status: 400, body: refusal.body() }
    }
}

impl Proxy {
    /// The part of [`Proxy::wish`] for requests of Responses.
    pub(super) fn openai_wish(
        &self,
        request: Request,
        who: &RequestSender,
        purpose: RequestPurpose,
        seal: &Seal,
    ) -> Result<VendorRequest, VendorRefusal> {
        let (request, is_replay) = expanded(request, who, seal)?;
        // A history that only the provider has cannot be summarised here.
        if self.prefer == CompactionPreference::Upstream || !self.is_whole(&request, who) {
            return Ok(VendorRequest { request, work: None, is_replay, strips_betas: false });
        }
        let parsed = read_request(request.body())?;
        let work = match (purpose, &parsed.trigger) {
            (RequestPurpose::Compact, _) => Some(VendorWork::Compact),
            (_, Some(_)) => Some(VendorWork::Trigger),
            _ => parsed.compacts.then_some(VendorWork::Threshold(parsed.threshold)),
        };
        let request = match &work {
            Some(_) => taken_out(&request, parsed.trigger.is_some()).unwrap_or(request),
            None => request,
        };
        Ok(VendorRequest { request, work, is_replay, strips_betas: false })
    }
}

/// Removes the parts of the request that midfold carries out.
fn taken_out(request: &Request, has_trigger: bool) -> Option<Request> {
    let bare = Request::read(request.kind(), without_management(request.body())).ok()?;
    if !has_trigger {
        return Some(bare);
    }
    with(&bare, bare.messages().take(bare.len() - 1)).ok()
}

/// Replaces our newest compaction item, and all messages before it, with the messages that are sealed in it.
/// Instructions and tools before it stay if the item does not have them, because clients put new ones there. Also
/// returns whether there was an item.
fn expanded(
    request: Request,
    who: &RequestSender,
    seal: &Seal,
) -> Result<(Request, bool), VendorRefusal> {
    let items = compaction_items(request.body());
    let is_own = |item: &&PlacedItem| Seal::is_ours(&item.encrypted_content);
    let Some(newest) = items.iter().rev().find(is_own) else { return Ok((request, false)) };
    let refused = || VendorRefusal::from(OpenaiRefusal::undecodable(newest.item));
    let kind = request.kind();
    let blob = opened(seal, who, kind, &newest.encrypted_content).ok_or_else(refused)?;
    let context = messages(blob);
    let known: Vec<Hash> = context.iter().map(|message| identity(kind, message)).collect();
    let stays = |message: &Bytes| instructs(message) && !known.contains(&identity(kind, message));
    let before: Vec<_> = request.messages().take(newest.item).filter(stays).collect();
    let rest = request.messages().skip(newest.item + 1);
    let whole = with(&request, before.into_iter().chain(context).chain(rest));
    // The item has the whole history up to it, so the name of an earlier answer adds nothing.
    let whole = whole.map(|whole| whole.without("previous_response_id"));
    let whole = whole.and_then(|body| Request::read(kind, body)).map_err(|_| refused())?;
    Ok((whole, true))
}
