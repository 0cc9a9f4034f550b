//! Answers requests for a vendor's compaction.

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_core::log::measure;
use midfold_formats::vendor::anthropic::{
    self, BlockInsertion, CompactionBlock, Iteration, IterationKind, StreamStyle, SummaryMessage,
};
use midfold_formats::vendor::openai::{self, CompactionItem, ResponseHead, is_users};
use midfold_store::Millis;

use super::insert::AnswerInsert;
use super::summary::VendorSummary;
use super::{EditedRequest, VendorRefusal, VendorWork};
use crate::lock::lock;
use crate::turn::MatchedRequest;

/// How many tokens of the user's messages the answer of a compaction keeps, the newest first.
const KEPT_TOKENS: u64 = 20_000;

/// The cost that is reported for a summary: nothing, because no model was asked.
const COST: Iteration = Iteration { kind: IterationKind::Compaction, usage: NOTHING };
const NOTHING: Usage = Usage { prompt: 0, cache_read: 0, cache_write: 0, output: 0 };

/// The outcome of a request for compaction.
pub enum VendorOutcome {
    /// The provider has to be asked. The insert, if any, is added to its answer.
    Ask(Option<AnswerInsert>),
    /// midfold answers itself.
    Answer(MadeAnswer),
    /// The request is refused.
    Refused(VendorRefusal),
}

/// An answer that midfold made instead of the provider.
pub struct MadeAnswer {
    /// Its content type.
    pub content_type: &'static str,
    /// Its body.
    pub body: Vec<u8>,
}

impl MadeAnswer {
    fn json(body: Vec<u8>) -> Self {
        Self { content_type: "application/json", body }
    }

    fn events(body: Vec<u8>) -> Self {
        Self { content_type: "text/event-stream; charset=utf-8", body }
    }
}

impl MatchedRequest {
    /// Carries out the compaction that a request asks for, before it is sent.
    #[must_use]
    pub fn work(&mut self, work: VendorWork, stream: bool, now: Millis) -> VendorOutcome {
        match work {
            VendorWork::Compact => self.answer_compacted(now),
            VendorWork::Trigger => self.answer_triggered(stream, now),
            VendorWork::Threshold(most) => self.answer_over_threshold(most),
            VendorWork::OnDemand(instructions) => {
                self.answer_on_demand(instructions.as_deref(), stream)
            }
            VendorWork::Edited(edited) => self.answer_edited(&edited, stream),
            VendorWork::Count { cleared } => {
                let folded = self.sent.tokens_before.saturating_sub(self.sent.tokens_after);
                VendorOutcome::Ask(Some(AnswerInsert::Counted(cleared + folded)))
            }
        }
    }

    /// Answers `/v1/responses/compact`.
    fn answer_compacted(&mut self, now: Millis) -> VendorOutcome {
        self.fold(None, None);
        let summary = self.summary();
        let Some(item) = self.compaction_item(&summary) else { return unsealed() };
        let messages = self.kept_messages();
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let head = self.response_head(&item, now);
        VendorOutcome::Answer(MadeAnswer::json(openai::compacted(
            &head,
            &messages,
            &item,
            &Usage::default(),
        )))
    }

    /// Answers a `compaction_trigger`.
    fn answer_triggered(&mut self, stream: bool, now: Millis) -> VendorOutcome {
        self.fold(None, None);
        let summary = self.summary();
        let Some(item) = self.compaction_item(&summary) else { return unsealed() };
        let head = self.response_head(&item, now);
        if self.wants_output() {
            self.proxy.keep_as(&self.history, &head.id, &summary.context);
        }
        // No model was asked, so the cost is zero.
        let usage = Usage::default();
        VendorOutcome::Answer(match stream {
            true => MadeAnswer::events(openai::response_events(&head, &item, &usage)),
            false => MadeAnswer::json(openai::response(&head, &item, &usage)),
        })
    }

    /// Carries out `context_management` of Responses.
    fn answer_over_threshold(&mut self, most: Option<u64>) -> VendorOutcome {
        let is_over = most.is_some_and(|most| self.sent.tokens_after > most);
        let is_folded = is_over && self.fold(most, None);
        if !is_folded && !self.sent.is_new_fold {
            return VendorOutcome::Ask(None);
        }
        let summary = self.summary();
        VendorOutcome::Ask(self.compaction_item(&summary).map(|item| AnswerInsert::openai(&item)))
    }

    /// Carries out `compaction` of Messages.
    fn answer_on_demand(&mut self, instructions: Option<&str>, stream: bool) -> VendorOutcome {
        self.fold(None, instructions);
        let summary = self.summary();
        let signature = self.sealed(&summary);
        let Some(signature) = signature.filter(|_| !summary.text.trim().is_empty()) else {
            return unavailable();
        };
        let head = self.message_head(&signature);
        let (content, signature) = (Some(summary.text), Some(signature));
        let block = CompactionBlock { content, signature, encrypted_content: None };
        let summary =
            SummaryMessage { head: &head, block: &block, iterations: &[COST], edits: None };
        VendorOutcome::Answer(paused(&summary, stream, StreamStyle::OnDemand))
    }

    /// Carries out `context_management` of Messages.
    fn answer_edited(&mut self, edited: &EditedRequest, stream: bool) -> VendorOutcome {
        let insertion = BlockInsertion::new().edits(&edited.applied);
        let ask =
            |insertion| VendorOutcome::Ask(Some(AnswerInsert::Anthropic(Box::new(insertion))));
        let Some(compact) = &edited.compact else { return ask(insertion) };
        let is_over = self.sent.tokens_after > compact.trigger;
        let is_folded =
            is_over && self.fold(Some(compact.trigger), compact.instructions.as_deref());
        if !is_folded && !self.sent.is_new_fold {
            return ask(insertion);
        }
        let summary = self.summary();
        let Some(sealed) = self.sealed(&summary) else { return ask(insertion) };
        let head = self.message_head(&sealed);
        let (content, encrypted_content) = (Some(summary.text), Some(sealed));
        let block = CompactionBlock { content, signature: None, encrypted_content };
        if compact.pause_after_compaction {
            let edits = Some(&*edited.applied);
            let summary = SummaryMessage { head: &head, block: &block, iterations: &[COST], edits };
            return VendorOutcome::Answer(paused(&summary, stream, StreamStyle::Threshold));
        }
        ask(insertion.block(&block).cost(COST))
    }

    fn message_head(&self, sealed: &str) -> anthropic::MessageHead {
        anthropic::MessageHead { id: format!("msg_{}", id_of(sealed)), model: self.model.clone() }
    }

    fn compaction_item(&self, summary: &VendorSummary) -> Option<CompactionItem> {
        let encrypted_content = self.sealed(summary)?;
        Some(CompactionItem { id: format!("cmp_{}", id_of(&encrypted_content)), encrypted_content })
    }

    fn response_head(&self, item: &CompactionItem, now: Millis) -> ResponseHead {
        let id = format!("resp_{}", id_of(&item.id));
        ResponseHead { id, created_at: now / 1_000, model: self.model.clone() }
    }

    /// The user's newest messages, unchanged, up to [`KEPT_TOKENS`].
    fn kept_messages(&self) -> Vec<Bytes> {
        let mut room = KEPT_TOKENS;
        let mut messages = Vec::new();
        let users = self.request.messages().filter(|message| is_users(message));
        for message in users.collect::<Vec<_>>().into_iter().rev() {
            let tokens = self.tokens(&message);
            if tokens > room {
                break;
            }
            room -= tokens;
            messages.push(message);
        }
        messages.reverse();
        messages
    }

    fn tokens(&self, message: &Bytes) -> u64 {
        let Some(place) = &self.place else { return message.len() as u64 / 4 };
        let conversation = lock(&place.conversation);
        let view = self.request.kind().dialect().view(message);
        u64::from(measure(&**conversation.session.log().counter(), message, &view).total)
    }
}

/// An answer of Messages that has only a summary.
fn paused(summary: &SummaryMessage<'_>, stream: bool, style: StreamStyle) -> MadeAnswer {
    match stream {
        true => MadeAnswer::events(summary.events(style)),
        false => MadeAnswer::json(summary.json()),
    }
}

fn unavailable() -> VendorOutcome {
    let text = "midfold: the summary could not be made; try again";
    VendorOutcome::Refused(
        anthropic::AnthropicRefusal::of(anthropic::ErrorCode::Unavailable, text).into(),
    )
}

/// A unique id: a hash of a text that is sealed with a random nonce.
fn id_of(text: &str) -> String {
    Hash::ROOT.chain(text.as_bytes()).to_hex()[..32].to_owned()
}

fn unsealed() -> VendorOutcome {
    let body = br#"{"error":{"message":"midfold: the summary could not be sealed; try again","type":"server_error","param":null,"code":"midfold_seal"}}"#;
    VendorOutcome::Refused(VendorRefusal { status: 500, body: body.to_vec() })
}
