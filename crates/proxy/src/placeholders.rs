//! Finds the calls of an answer in which texts that the fold printed stand where content was meant.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::placeholder::{OriginalTexts, Placeholder, PrintedMarks};
use midfold_core::tools::{ToolEntry, ToolTable};
use midfold_formats::DialectKind;
use midfold_formats::answer::AnswerFacts;
use midfold_formats::recall_tool::client_calls;

use super::conversation::ProxyConversation;
use super::lock::lock;
use super::pending_answer::PendingAnswer;
use super::turn::MatchedRequest;

/// A call with placeholders.
pub(super) struct CopiedMarks {
    /// Its number among the calls of the client's tools in the answer.
    pub number: usize,
    /// At least one.
    pub placeholders: Vec<Placeholder>,
}

/// The marks of the fold in use, which are the same until the next fold.
#[derive(Default)]
pub(super) struct FoldMarks(Option<(Hash, Arc<PrintedMarks>)>);

impl FoldMarks {
    /// The marks of a fold of this conversation. `None` where it printed none.
    fn of(held: &mut ProxyConversation, fold: Hash) -> Option<Arc<PrintedMarks>> {
        let known = held.marks.0.as_ref().filter(|(of, _)| *of == fold);
        let marks = match known {
            Some((_, marks)) => Arc::clone(marks),
            None => {
                let session = &held.session;
                let record = session.folds().iter().rev().find(|record| record.id == fold)?;
                let marks = Arc::new(PrintedMarks::of(record, &**session.log().dialect()));
                held.marks.0 = Some((fold, Arc::clone(&marks)));
                marks
            }
        };
        (!marks.is_empty()).then_some(marks)
    }
}

/// An answer that is only watched, because the model cannot be asked again.
pub(super) struct WatchedAnswer {
    kind: DialectKind,
    marks: Arc<PrintedMarks>,
    tools: Vec<ToolEntry>,
    /// The messages of the request behind those in the log.
    newest: Vec<Bytes>,
}

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
        let of_fold = |fold| FoldMarks::of(&mut lock(&place.conversation), fold);
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
        copied(kind, output, &marks, &place.reading.policy.tools, originals)
    }

    /// What is needed to watch the answer. `None` where its calls are guarded, or where nothing can be copied.
    pub(super) fn watched(&self) -> Option<WatchedAnswer> {
        let place = self.place.as_ref().filter(|_| !self.recall.offered.recall)?;
        let marks = self.marks()?;
        let (from, to) = (place.newest.history_len(), self.request.len());
        Some(WatchedAnswer {
            kind: self.request.kind(),
            marks,
            tools: place.reading.policy.tools.clone(),
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
            newest.iter().for_each(|it| texts.add(&kind.dialect().view(it), it, false));
            texts
        };
        copied(*kind, &seen.output, marks, tools, originals).len()
    }
}

fn copied(
    kind: DialectKind,
    output: &[Bytes],
    marks: &PrintedMarks,
    tools: &[ToolEntry],
    originals: impl Fn() -> OriginalTexts,
) -> Vec<CopiedMarks> {
    let tools = ToolTable::of(tools);
    let mut found = Vec::new();
    for call in client_calls(kind, output) {
        let placeholders = marks.copied(&call.tool, &call.arguments, &tools, &originals);
        if !placeholders.is_empty() {
            found.push(CopiedMarks { number: call.number, placeholders });
        }
    }
    found
}
