//! What was asked of a model for this session, what is there, and what became of it.

use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::fold::{Fold, Span, VerdictCode, VerdictRecord};
use crate::narrate::{AcceptedNarration, FailureClass};
use crate::trigger::Millis;

/// What is asked, what is there, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NarrationQueue {
    /// What was asked for last and is not answered.
    pub asked: Option<WantedNarration>,
    /// Failed attempts at it that the ladder has counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// The request that was answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handled: Option<Hash>,
    /// What a person asked to keep, for the next narration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// What a client says with each of its requests that it wants kept: for each narration and each fold,
    /// until it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// An accepted narration for the next fold.
    pub ready: Option<AcceptedNarration>,
    /// A fold that was prepared with it.
    #[serde(skip)]
    pub prepared: Option<Fold>,
    /// Verdicts since the last fold.
    pub verdicts: Vec<VerdictRecord>,
}

/// A span that should be narrated: what a queue has to know of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedNarration {
    /// The request's id.
    pub id: Hash,
    /// What the narration will cover.
    pub span: Span,
    /// Events before this one are covered by the narration before.
    pub from: u32,
    /// The narration before, by its request.
    pub previous: Option<Hash>,
    /// Tokens that the recap has room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
    /// When it was asked for.
    pub at: Millis,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl NarrationQueue {
    /// Whether an answer is awaited for so long that it would be asked for again.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.asked.as_ref().is_some_and(|asked| now.saturating_sub(asked.at) >= FORGOTTEN)
    }

    /// Whether what a request was told has what a person asked to keep.
    pub(super) fn knows(&self, told: &str) -> bool {
        self.focus.as_ref().is_none_or(|focus| told.contains(&**focus))
    }

    /// What the next narration is told to keep.
    pub(super) fn wishes(&self) -> Option<String> {
        let all: Vec<&str> = self.focus.iter().chain(&self.standing).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// The answer to this request is here, whatever it is.
    pub(super) fn answered(&mut self, request: Hash) {
        if self.asked.as_ref().is_some_and(|asked| asked.id == request) {
            self.asked = None;
            self.attempts = 0;
            self.handled = Some(request);
        }
    }

    /// What the record of a fold made now says about the model: what became of its replies, and that
    /// one is still awaited.
    pub(super) fn on_record(&self, failed: Option<FailureClass>) -> Vec<VerdictRecord> {
        let mut verdicts = self.verdicts.clone();
        let asked = self.asked.iter().filter(|_| self.ready.is_none());
        verdicts.extend(asked.map(|asked| VerdictRecord {
            request: asked.id,
            code: VerdictCode::Pending,
            detail: match (self.attempts, failed) {
                (0, _) => "asked for, and not answered yet".to_owned(),
                (1, Some(class)) => format!("one attempt failed ({class}), to be tried again"),
                (n, Some(class)) => format!("{n} attempts failed ({class}), to be tried again"),
                (n, None) => format!("{n} attempts failed, to be tried again"),
            },
            dropped: Vec::new(),
        }));
        verdicts
    }

    /// A fold was made: its record has the verdicts, and what it used is used.
    pub(super) fn folded(&mut self, fold: &Fold) {
        self.verdicts.clear();
        self.prepared = None;
        let used = fold.narrated.as_ref().map(|narrated| narrated.request);
        if self.ready.as_ref().map(|ready| ready.request) == used {
            self.ready = None;
        }
    }
}

/// An answer that has not come after this long is asked for again.
const FORGOTTEN: Millis = 600_000;
