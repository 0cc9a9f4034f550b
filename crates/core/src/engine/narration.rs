//! The narrations of a session: the open request, the accepted answer, and the verdicts.

use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::fold::{Fold, Span, VerdictCode, VerdictRecord};
use crate::narrate::{AcceptedNarration, FailureClass};
use crate::trigger::Millis;

/// The narration that is asked for, the accepted one, and the verdicts since the last fold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NarrationQueue {
    /// The last request that has no answer yet.
    pub asked: Option<WantedNarration>,
    /// Failed attempts at `asked` that the cooldown has counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// The id of the request that was answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handled: Option<Hash>,
    /// The text that a person wants kept, for the next narration alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// Whether `focus` was set while a request had no answer yet. That request may lack these words.
    #[serde(skip_serializing_if = "is_false")]
    pub is_focus_newer: bool,
    /// The text that a client wants kept and repeats with each request: for each narration and each fold until it says
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// Nothing is asked for before the log has this many tokens: there was nothing to narrate when it was looked for.
    #[serde(skip)]
    pub idle_until: u64,
    /// An accepted narration for the next fold.
    pub ready: Option<AcceptedNarration>,
    /// A fold that a worker prepared with that narration.
    #[serde(skip)]
    pub prepared: Option<Fold>,
    /// Verdicts since the last fold.
    pub verdicts: Vec<VerdictRecord>,
}

/// A span that a model should narrate: what a queue stores of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedNarration {
    /// The request's id.
    pub id: Hash,
    /// The events that the narration will cover.
    pub span: Span,
    /// The first event that the narration before does not cover.
    pub from: u32,
    /// The narration before, by the id of its request; `None` where there is none to go on from.
    pub previous: Option<Hash>,
    /// Tokens that the recap has room for; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
    /// When the request was made, in milliseconds.
    pub at: Millis,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl NarrationQueue {
    /// Whether the answer is overdue, so that a new request may be made.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.asked.as_ref().is_some_and(|asked| now.saturating_sub(asked.at) >= FORGOTTEN)
    }

    /// Whether a request's focus text contains what a person asked to keep; true where no person asked.
    pub(super) fn knows(&self, told: &str) -> bool {
        self.focus.as_ref().is_none_or(|focus| told.contains(&**focus))
    }

    /// The texts that the next narration is asked to keep, the person's first; `None` where there are none.
    pub(super) fn wishes(&self) -> Option<String> {
        let all: Vec<&str> = self.focus.iter().chain(&self.standing).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// Takes an accepted narration. One that no fold has used gives way to it, and has a verdict that says so.
    pub(super) fn take(&mut self, narrated: AcceptedNarration) {
        let request = narrated.request;
        let before = self.ready.replace(narrated).filter(|before| before.request != request);
        self.verdicts.extend(before.map(|before| VerdictRecord {
            request: before.request,
            code: VerdictCode::Unused,
            detail: "a later narration took its place".to_owned(),
            dropped: Vec::new(),
        }));
    }

    /// Takes note that the request is answered, whether with a narration or a failure.
    pub(super) fn note_answered(&mut self, request: Hash) {
        if self.asked.as_ref().is_some_and(|asked| asked.id == request) {
            self.asked = None;
            self.attempts = 0;
            self.handled = Some(request);
        }
    }

    /// The verdicts for the record of a fold that is made now, with one for a request that is still awaited.
    pub(super) fn on_record(&self, failed: Option<FailureClass>) -> Vec<VerdictRecord> {
        let mut verdicts = self.verdicts.clone();
        // With a narration at hand, the fold waits for none.
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

    /// Takes note of a fold: its record has the verdicts, and the narration that it used is removed.
    pub(super) fn note_folded(&mut self, fold: &Fold) {
        self.verdicts.clear();
        self.prepared = None;
        let used = fold.narrated.as_ref().map(|narrated| narrated.request);
        // Another narration, which was accepted meanwhile, stays for the next fold.
        if self.ready.as_ref().map(|ready| ready.request) == used {
            self.ready = None;
        }
    }
}

/// After this many milliseconds without an answer a narration may be asked for again.
const FORGOTTEN: Millis = 600_000;
