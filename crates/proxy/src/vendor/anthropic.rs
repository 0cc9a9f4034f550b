//! Reads the compaction that a Messages request asks for.

use bytes::Bytes;
use midfold_core::TextKind;
use midfold_core::log::measure;
use midfold_core::profile::ReasoningBinding;
use midfold_formats::request::Request;
use midfold_formats::vendor::anthropic::{
    AnthropicRefusal, ClearedMessages, ContextEdit, ConversationMeasure, ErrorCode, PlacedBlock,
    check_placement, clear, compaction_blocks, message_behind, read_request, without_asked,
};

use super::{
    EditedRequest, RequestPurpose, VendorRefusal, VendorRequest, VendorWork, messages, opened, with,
};
use crate::lock::lock;
use crate::prefer::CompactionPreference;
use crate::rules::RequestReading;
use crate::seal::Seal;
use crate::sender::RequestSender;
use crate::shared::Proxy;

impl From<AnthropicRefusal> for VendorRefusal {
    fn from(refusal: AnthropicRefusal) -> Self {
        Self { status: refusal.status(), body: refusal.body(None) }
    }
}

impl Proxy {
    /// The part of [`Proxy::wish`] for requests of Messages.
    pub(super) fn anthropic_wish(
        &self,
        request: Request,
        who: &RequestSender,
        purpose: RequestPurpose,
        seal: &Seal,
    ) -> Result<VendorRequest, VendorRefusal> {
        let (request, is_replay) = expanded(request, who, seal)?;
        // Only the vendor understands its own compaction block, or a thread that it keeps. Everything that is asked in
        // such a request is left to the vendor.
        let is_theirs = request.continues_thread
            || compaction_blocks(request.body()).iter().any(|block| block.content.is_some());
        if self.prefer == CompactionPreference::Upstream || is_theirs {
            return Ok(VendorRequest { request, work: None, is_replay, strips_betas: false });
        }
        let parsed = read_request(request.body())?;
        let others =
            parsed.edits.iter().filter(|edit| matches!(edit, ContextEdit::Other(_))).count();
        let is_left = others == parsed.edits.len() && parsed.summarize.is_none();
        // If some edits are left to the vendor, the vendor needs the header of its betas.
        let strips_betas = others == 0 && (is_replay || !is_left);
        if is_left {
            return Ok(VendorRequest { request, work: None, is_replay, strips_betas });
        }
        let bare = Request::read(request.kind(), without_asked(request.body()));
        let Ok(bare) = bare else {
            return Ok(VendorRequest { request, work: None, is_replay, strips_betas: false });
        };
        let (request, work) = match (parsed.summarize, purpose) {
            (Some(_), RequestPurpose::Count) => (bare, None),
            (Some(summarize), _) => (bare, Some(VendorWork::OnDemand(summarize.instructions))),
            (None, _) => self.edited(bare, &parsed.edits, who, purpose),
        };
        Ok(VendorRequest { request, work, is_replay, strips_betas })
    }

    /// Applies the edits to the messages of a request.
    fn edited(
        &self,
        request: Request,
        edits: &[ContextEdit],
        who: &RequestSender,
        purpose: RequestPurpose,
    ) -> (Request, Option<VendorWork>) {
        let model = request.model.clone().unwrap_or_default();
        let reading = lock(&self.rules).reading(&request, &model, who);
        let cleared = match reading {
            Ok(reading) => cleared(&request, edits, &reading),
            Err(_) => {
                ClearedMessages { messages: request.messages().collect(), applied: Vec::new() }
            }
        };
        let tokens = cleared.input_tokens();
        let request = match cleared.applied.is_empty() {
            true => request,
            false => with(&request, cleared.messages).unwrap_or(request),
        };
        if purpose == RequestPurpose::Count {
            return (request, Some(VendorWork::Count { cleared: tokens }));
        }
        let compact = edits.iter().find_map(|edit| match edit {
            ContextEdit::Compact(compact) => Some(compact.clone()),
            _ => None,
        });
        let edited = EditedRequest { applied: cleared.applied, compact };
        (request, Some(VendorWork::Edited(Box::new(edited))))
    }
}

/// Applies the edits, with this request's way to count.
fn cleared(request: &Request, edits: &[ContextEdit], reading: &RequestReading) -> ClearedMessages {
    let json = |part: &Bytes| {
        let text = String::from_utf8_lossy(part);
        u64::from(reading.counter.count(&text, TextKind::Json))
    };
    let beside = [&request.system, &request.tools].into_iter().flatten().map(json).sum();
    let dialect = request.kind().dialect();
    let count = |message: &Bytes| {
        u64::from(measure(&*reading.counter, message, &dialect.view(message)).total)
    };
    let is_bound = reading.profile.reasoning != ReasoningBinding::Free;
    clear(
        request.messages().collect(),
        edits,
        &ConversationMeasure { beside, is_bound, count: &count },
    )
}

/// Replaces our newest compaction block, and all messages before it, with the messages that are sealed in it. Also
/// returns whether there was one.
fn expanded(
    request: Request,
    who: &RequestSender,
    seal: &Seal,
) -> Result<(Request, bool), VendorRefusal> {
    let blocks = compaction_blocks(request.body());
    let is_own = |block: &&PlacedBlock| sealed(block).is_some();
    let Some(newest) = blocks.iter().rev().find(is_own) else { return Ok((request, false)) };
    if newest.signature.is_some() {
        check_placement(&blocks)?;
    }
    let invalid = || {
        let place = format!("messages.{}.content.{}", newest.message, newest.block);
        VendorRefusal::from(AnthropicRefusal::of(
            ErrorCode::SignatureInvalid,
            format!(
                "{place}: the signature of the `compaction` block does not verify; send the block \
                 as it came, with the key that it was made with"
            ),
        ))
    };
    let text = sealed(newest).unwrap_or_default();
    let blob = opened(seal, who, request.kind(), text).ok_or_else(invalid)?;
    if newest.content.as_deref() != Some(&blob.recap) {
        return Err(AnthropicRefusal::of(
            ErrorCode::ContentMismatch,
            format!(
                "messages.{}.content.{}: the content of the `compaction` block is not what was \
                 signed; send the block as it came",
                newest.message, newest.block
            ),
        )
        .into());
    }
    let behind = message_behind(&request.message(newest.message), newest.block).map(Bytes::from);
    let rest = request.messages().skip(newest.message + 1);
    let all = messages(blob).into_iter().chain(behind).chain(rest);
    Ok((with(&request, all).map_err(|_| invalid())?, true))
}

/// The sealed text of a block that midfold made: the `signature` of one that was made on demand, the
/// `encrypted_content` of another one. `None` for the vendor's own blocks.
fn sealed(block: &PlacedBlock) -> Option<&str> {
    let texts = [&block.signature, &block.encrypted_content];
    texts.into_iter().flatten().map(String::as_str).find(|text| Seal::is_ours(text))
}
