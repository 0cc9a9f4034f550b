//! The narrations of a session: the open request, the accepted answer, and the verdicts.

use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::fold::{Fold, Span, VerdictCode, VerdictRecord};
use crate::narrate::{AcceptedNarration, FailureClass};
use crate::trigger::Millis;

/// The last request to a model, the answer for the next fold, and the verdicts since the last fold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NarrationQueue {
    /// The last request.
    pub request: RequestState,
    /// The text that a person wants kept, for the next narration alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// The text that a client wants kept and repeats with each request: for each narration and each fold until it says
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// Nothing is asked for before the log has this many tokens: there was nothing to narrate when it was looked for.
    #[serde(skip)]
    pub idle_until: u64,
    /// An accepted narration for the next fold.
    pub ready: Option<ReadyNarration>,
    /// Verdicts since the last fold.
    pub verdicts: Vec<VerdictRecord>,
}

/// The state of the last request for a narration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// No request was made.
    #[default]
    Absent,
    /// The request has no answer yet.
    Open(OpenRequest),
    /// The request with this id has an answer or failed for good.
    Answered(Hash),
}

/// A request that has no answer yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRequest {
    /// The span that it asks for.
    pub wanted: WantedNarration,
    /// Failed attempts that the cooldown has counted.
    pub attempts: u32,
    /// Whether a person's focus is newer than the request, which then may lack those words.
    pub lacks_focus: bool,
}

/// A narration that the next fold uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadyNarration {
    /// The narration.
    #[serde(flatten)]
    pub narration: AcceptedNarration,
    /// A fold that a worker prepared with it.
    #[serde(skip)]
    pub fold: Option<Fold>,
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

impl NarrationQueue {
    /// The request that has no answer yet.
    #[must_use]
    pub fn open(&self) -> Option<&OpenRequest> {
        match &self.request {
            RequestState::Open(open) => Some(open),
            RequestState::Absent | RequestState::Answered(_) => None,
        }
    }

    /// The open request, if it has this id.
    pub(super) fn open_mut(&mut self, id: Hash) -> Option<&mut OpenRequest> {
        match &mut self.request {
            RequestState::Open(open) if open.wanted.id == id => Some(open),
            _ => None,
        }
    }

    /// The accepted narration for the next fold.
    #[must_use]
    pub fn accepted(&self) -> Option<&AcceptedNarration> {
        self.ready.as_ref().map(|ready| &ready.narration)
    }

    /// Whether the answer is overdue, so that a new request may be made.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.open().is_some_and(|open| now.saturating_sub(open.wanted.at) >= FORGOTTEN)
    }

    /// Notes a new request.
    pub(super) fn note_asked(&mut self, wanted: WantedNarration) {
        self.request = RequestState::Open(OpenRequest { wanted, attempts: 0, lacks_focus: false });
    }

    /// Notes what a person wants kept. A request that is open now was made without it.
    pub(super) fn note_focus(&mut self, focus: &str) {
        self.focus = Some(focus.to_owned());
        if let RequestState::Open(open) = &mut self.request {
            open.lacks_focus = true;
        }
    }

    /// Whether a request's focus text contains what a person asked to keep; true where no person asked.
    pub(super) fn knows(&self, text: &str) -> bool {
        self.focus.as_ref().is_none_or(|focus| text.contains(&**focus))
    }

    /// The texts that the next narration is asked to keep, the person's first; `None` where there are none.
    pub(super) fn wishes(&self) -> Option<String> {
        let all: Vec<&str> = self.focus.iter().chain(&self.standing).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// Takes an accepted narration. One that no fold has used gives way to it, and has a verdict that says so.
    pub(super) fn take(&mut self, narration: AcceptedNarration) {
        let request = narration.request;
        let before = self.ready.replace(ReadyNarration { narration, fold: None });
        let unused =
            before.map(|before| before.narration.request).filter(|&other| other != request);
        self.verdicts.extend(unused.map(|request| VerdictRecord {
            request,
            code: VerdictCode::Unused,
            detail: "a later narration took its place".to_owned(),
            dropped: Vec::new(),
        }));
    }

    /// Notes that the request has an answer or failed for good. Returns it, if it was open.
    pub(super) fn note_answered(&mut self, request: Hash) -> Option<OpenRequest> {
        let open = self.open_mut(request)?.clone();
        self.request = RequestState::Answered(request);
        Some(open)
    }

    /// The verdicts for the record of a fold that is made now, with one for a request that is still awaited.
    pub(super) fn on_record(&self, failed: Option<FailureClass>) -> Vec<VerdictRecord> {
        let mut verdicts = self.verdicts.clone();
        // With a narration at hand, the fold waits for none.
        let open = self.open().filter(|_| self.ready.is_none());
        verdicts.extend(open.map(|open| VerdictRecord {
            request: open.wanted.id,
            code: VerdictCode::Pending,
            detail: match (open.attempts, failed) {
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
        let used = fold.narrated.as_ref().map(|narrated| narrated.request);
        // Another narration, which was accepted meanwhile, stays for the next fold; its own fold built on another one.
        if self.accepted().map(|ready| ready.request) == used {
            self.ready = None;
        } else if let Some(ready) = &mut self.ready {
            ready.fold = None;
        }
    }
}

/// After this many milliseconds without an answer a narration may be asked for again.
const FORGOTTEN: Millis = 600_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// A store keeps this state as JSON, and a later version opens it.
    #[test]
    fn a_state_that_an_earlier_version_stored_is_read() {
        let id = "0".repeat(64);
        let span = format!(r#"{{"start":2,"end":9,"before":"{id}","through":"{id}"}}"#);
        let wanted = format!(
            r#"{{"id":"{id}","span":{span},"from":2,"previous":null,"room":525,"at":1000}}"#
        );
        let ready = format!(r#"{{"request":"{id}","span":{span},"sections":[],"model":"small"}}"#);
        let stored = format!(
            r#"{{"asked":{wanted},"attempts":2,"focus":"the list","ready":{ready},"verdicts":[]}}"#
        );
        let queue: NarrationQueue = serde_json::from_str(&stored).unwrap();
        assert_eq!(queue.accepted().map(|ready| &*ready.model), Some("small"));
        assert_eq!(queue.focus.as_deref(), Some("the list"));
        // The job of an open request is in the store, and the session takes it from there.
        assert_eq!(queue.request, RequestState::Absent);
        let again = serde_json::to_string(&queue).unwrap();
        assert_eq!(serde_json::from_str::<NarrationQueue>(&again).unwrap(), queue);
    }
}
