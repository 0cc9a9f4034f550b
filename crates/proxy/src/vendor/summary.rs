//! Makes the summary that a client asked for: folds the history of its request, and seals the messages that remain.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::fold::VerdictCode;
use midfold_core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold_core::plan::PlanOutcome;
use midfold_formats::request::Request;
use midfold_formats::vendor::blob::Blob;
use midfold_store::Millis;

use super::VendorWork;
use crate::lock::lock;
use crate::turn::MatchedRequest;

/// How many characters of each message are shown in the summary if nothing was folded.
const SHOWN: usize = 2_000;

/// The result of a compaction.
pub(super) struct VendorSummary {
    /// A text about it for people.
    pub text: String,
    /// The messages that replace the conversation from now on.
    pub context: Vec<Bytes>,
}

impl MatchedRequest {
    /// Returns the request that a model should answer before a summary on demand is made; the client waits for that.
    /// `None` if no model narrates, or if there is nothing to fold.
    #[must_use]
    pub fn wants(&self, work: &VendorWork, now: Millis) -> Option<SummaryRequest> {
        let VendorWork::OnDemand(instructions) = work else { return None };
        let place = self.place.as_ref()?;
        let conversation = lock(&place.conversation);
        let (session, focus) = (&conversation.session, instructions.as_deref());
        let budget = budget(session, place.newest.tokens, &place.budget, None);
        let Ok(PlanOutcome::Folded(fold)) = session.preview(&budget, focus) else { return None };
        session.request_if_allowed(&fold, focus, now)
    }

    /// Takes the model's answer and judges it line by line; the summary uses the accepted lines. `None` if it belongs
    /// to another state of the conversation.
    pub fn complete(
        &self,
        request: &SummaryRequest,
        answer: Result<SummaryReply, SummaryFailure>,
        now: Millis,
    ) -> Option<VerdictCode> {
        let place = self.place.as_ref()?;
        let verdict = lock(&place.conversation).session.complete(request, answer, now).ok()?;
        Some(verdict.code)
    }

    /// Folds the history now, to less than `most` tokens, or without `most` as far as the policy's shares allow. With
    /// `most`, it only folds if that frees a tenth, because such a client asks again with each request. Returns whether
    /// something was folded.
    pub(super) fn fold(&mut self, most: Option<u64>, focus: Option<&str>) -> bool {
        let Some(place) = &self.place else { return false };
        let conversation = Arc::clone(&place.conversation);
        let mut locked = lock(&conversation);
        let session = &mut locked.session;
        let before = session.active().map(|fold| fold.id);
        let of = |most| budget(session, place.newest.tokens, &place.budget, most);
        // If what may not be folded is already more than `most`, the policy's own shares decide how much stays.
        let budgets = [most.map(|most| of(Some(most))), Some(of(None))].into_iter().flatten();
        let wanted = |budget: &Budget| most.is_none() || frees(session, budget, focus);
        if let Some(budget) = budgets.into_iter().find(wanted) {
            // If nothing can be folded, the client gets all of its messages back.
            let _ = session.compact(&budget, focus);
        }
        let view = session.view();
        let was_new = self.sent.is_new_fold;
        self.sent.read(&self.request, session, &view, before, &place.newest);
        let is_folded = self.sent.is_new_fold;
        self.sent.is_new_fold |= was_new;
        drop(locked);
        self.offer();
        self.proxy.queue(&conversation);
        is_folded
    }

    /// The summary: the messages that are sent now, and the recap as text.
    pub(super) fn summary(&self) -> VendorSummary {
        let context = match Request::read(self.request.kind(), self.sent.body.clone()) {
            Ok(request) => request.messages().collect(),
            Err(_) => self.request.messages().collect(),
        };
        VendorSummary { text: self.recap().unwrap_or_else(|| shown(&self.request)), context }
    }

    fn recap(&self) -> Option<String> {
        let conversation = lock(&self.place.as_ref()?.conversation);
        let recap = conversation.session.active()?.recap.as_ref()?;
        Some(recap.text.clone()).filter(|text| !text.trim().is_empty())
    }

    /// Seals the result of a compaction; `None` if there is no seal or no randomness.
    pub(super) fn sealed(&self, summary: &VendorSummary) -> Option<String> {
        let (session, through) = match &self.place {
            Some(place) => {
                let conversation = lock(&place.conversation);
                let through = conversation.chain().last().map_or([0; 32], |link| link.0);
                (conversation.session.id().to_owned(), through)
            }
            None => (String::new(), [0; 32]),
        };
        let list = [&b"["[..], &summary.context.join(&b","[..]), b"]"].concat();
        let blob = Blob {
            dialect: self.request.kind(),
            session,
            messages: self.request.len() as u64,
            through,
            recap: summary.text.clone(),
            context: String::from_utf8(list).ok()?,
            ids: self.sent.fold.iter().map(|fold| fold.to_hex()).collect(),
        };
        self.proxy.seal.as_ref()?.seal(&self.history.scope, &blob.encode())
    }
}

/// The budget of the history: `most` less the messages behind the history. Without `most` it is the history's present
/// size, so that the policy's shares are shares of that.
fn budget(session: &Session, newest: u64, of: &Budget, most: Option<u64>) -> Budget {
    let have = session.meter().calibrated(session.view().tokens());
    let history = most.map_or(have, |most| most.saturating_sub(newest)).clamp(1, have.max(1));
    let injection_reserve = of.injection_reserve;
    Budget { injection_reserve, ..Budget::new(history + injection_reserve) }
}

fn frees(session: &Session, budget: &Budget, focus: Option<&str>) -> bool {
    match session.preview(budget, focus) {
        Ok(PlanOutcome::Folded(fold)) => fold.tokens_after * 10 <= fold.tokens_before * 9,
        _ => false,
    }
}

/// The messages as one text, if there was nothing to fold.
fn shown(request: &Request) -> String {
    let dialect = request.kind().dialect();
    let mut text = String::new();
    for message in request.messages() {
        let view = dialect.view(&message);
        let words: String = view.plain(&message).chars().take(SHOWN).collect();
        if !words.trim().is_empty() {
            text.push_str(&format!("{}: {}\n", view.role.name(), words.trim()));
        }
    }
    text
}
