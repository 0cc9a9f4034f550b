//! Finds the calls of an answer in which texts that the fold printed stand where content was meant.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::placeholder::{OriginalTexts, PrintedMarks};
use midfold_formats::answer::AnswerFacts;

use super::conversation::ProxyConversation;
use super::fold_marks::{CopiedMarks, WatchedAnswer, copied};
use super::lock::lock;
use super::pending_answer::PendingAnswer;
use super::turn::MatchedRequest;

impl MatchedRequest {
    /// Whether an answer may copy what the fold printed, so that its calls have to be read.
    #[must_use]
    pub fn may_copy_marks(&self) -> bool {
        self.marks().is_some()
    }

    /// Whether calls that copy what the fold printed are answered by the proxy. The caller then has to hold back each
    /// call until [`MatchedRequest::hear`] has read the answer.
    #[must_use]
    pub fn guards_calls(&self) -> bool {
        self.recall.offered.recall && self.may_copy_marks()
    }

    fn marks(&self) -> Option<Arc<PrintedMarks>> {
        let place = self.place.as_ref().filter(|place| !place.is_aside)?;
        let of_fold = |fold| {
            let ProxyConversation { session, marks, .. } = &mut *lock(&place.conversation);
            marks.of(session, fold)
        };
        let marks = self.sent.fold.and_then(of_fold);
        if !place.newest.is_cut() {
            return marks;
        }
        let mut all = marks.map(|marks| (*marks).clone()).unwrap_or_default();
        for (at, bytes) in place.newest.cut_messages() {
            let view = self.request.kind().dialect().view(bytes);
            all.add_cut(u32::try_from(*at).unwrap_or(u32::MAX), &view, bytes);
        }
        Some(Arc::new(all))
    }

    /// The calls of an answer with placeholders.
    pub(super) fn copied_marks(&self, output: &[Bytes]) -> Vec<CopiedMarks> {
        let (Some(marks), Some(place)) = (self.marks(), &self.place) else { return Vec::new() };
        let kind = self.request.kind();
        let originals = || {
            let mut texts = OriginalTexts::default();
            for (at, message) in self.request.messages().enumerate() {
                texts.add(&kind.dialect().view(&message), &message, marks.is_before(at));
            }
            texts
        };
        copied(kind, output, &marks, &place.reading.policy_in(place.budget.window).tools, originals)
    }

    /// The parts that watch the answer. `None` where its calls are guarded, or where nothing can be copied.
    pub(super) fn watched(&self) -> Option<WatchedAnswer> {
        let place = self.place.as_ref().filter(|_| !self.recall.offered.recall)?;
        let marks = self.marks()?;
        let (from, to) = (place.newest.history_len(), self.request.len());
        Some(WatchedAnswer {
            kind: self.request.kind(),
            marks,
            tools: place.reading.policy_in(place.budget.window).tools.clone(),
            // Copied, because a slice would keep the whole request in memory.
            newest: (from..to)
                .map(|at| Bytes::copy_from_slice(&self.request.message(at)))
                .collect(),
        })
    }
}

impl PendingAnswer {
    /// How many calls of an answer that was passed on copy what the fold printed.
    #[must_use]
    pub fn copied_marks(&self, seen: &AnswerFacts) -> usize {
        let (Some(watched), Some(place)) = (&self.watched, &self.place) else { return 0 };
        let WatchedAnswer { kind, marks, tools, newest } = watched;
        let originals = || {
            let mut texts = OriginalTexts::default();
            for event in lock(&place.conversation).session.log().events() {
                texts.add(&event.view, &event.bytes, marks.is_before(event.seq as usize));
            }
            newest
                .iter()
                .for_each(|message| texts.add(&kind.dialect().view(message), message, false));
            texts
        };
        copied(*kind, &seen.output, marks, tools, originals).len()
    }
}
