//! What an agent asks of its own session: a fold when it is done with something, and lines that each recap repeats.

use super::Session;
use super::wish::AgentWishes;
use crate::budget::Budget;
use crate::trigger::{FoldDue, HoldReason, Millis};

/// Characters of a note at most: a few sentences.
pub const NOTE_CHARS: usize = 500;
/// Characters of all notes at most: as much as what a person may ask to be kept in a narration.
pub const NOTES_CHARS: usize = 2_000;

/// Why a note is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// There is no word in it.
    #[error("the note is empty")]
    Empty,
    /// It is longer than a note may be.
    #[error("the note has {0} characters, {NOTE_CHARS} is the most")]
    Long(usize),
}

impl Session {
    /// Keeps a line of the agent's: each recap from the next fold on repeats it. Spaces and line breaks are folded. The
    /// answer is the older notes that had to go for it.
    ///
    /// # Errors
    /// When it is empty or too long.
    pub fn note(&mut self, text: &str) -> Result<Vec<String>, NoteError> {
        let note = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let chars = note.chars().count();
        if note.is_empty() {
            return Err(NoteError::Empty);
        }
        if chars > NOTE_CHARS {
            return Err(NoteError::Long(chars));
        }
        let notes = &mut self.agent.notes;
        // Said again, it is the newest.
        notes.retain(|known| *known != note);
        notes.push(note);
        let all = |notes: &[String]| notes.iter().map(|it| it.chars().count()).sum::<usize>();
        let mut first = 0;
        while all(&notes[first..]) > NOTES_CHARS {
            first += 1;
        }
        Ok(notes.drain(..first).collect())
    }

    /// The agent's notes, oldest first.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.agent.notes
    }

    /// The agent asks for a fold: it is made with the next context, where that is above the line for it
    /// ([`TriggerPolicy::asked_tokens`](crate::policy::TriggerPolicy::asked_tokens)) and nothing else holds it back. It
    /// weighs what is said of the words of `keep`. The answer is what would come of it now; a wish that neither fires
    /// nor waits for the result of a call is forgotten.
    pub fn ask_for_fold(&mut self, budget: &Budget, keep: Option<&str>, now: Millis) -> FoldDue {
        self.agent.wants_fold = true;
        self.agent.keep = keep.map(|keep| keep.chars().take(NOTE_CHARS).collect());
        // What planning found too little to gain is looked at once more.
        self.gate.declined = None;
        let due = self.due(budget, now);
        self.heard_agent(due);
        due
    }

    /// From how many tokens on a fold is made because the agent asks for it.
    #[must_use]
    pub fn asked_line(&self, budget: &Budget) -> u64 {
        let budget = self.gate.budget(budget, &self.policy);
        self.policy.trigger.asked_tokens(budget.tokens())
    }

    /// Takes over the pins and wishes that somebody else kept with the session. Where there are some here that nobody
    /// kept yet, both stand.
    pub fn take_wishes(&mut self, pins: Vec<u32>, agent: AgentWishes, has_unkept: bool) {
        if !has_unkept {
            (self.pins, self.agent) = (pins, agent);
            return;
        }
        pins.into_iter().for_each(|pin| self.pin(pin));
        let own = std::mem::replace(&mut self.agent, agent);
        for note in own.notes {
            // Each was taken before: it is neither empty nor too long.
            let _ = self.note(&note);
        }
        self.agent.wants_fold |= own.wants_fold;
        self.agent.keep = own.keep.or_else(|| self.agent.keep.take());
    }

    /// A wish counts for one context, unless that cannot be folded yet.
    pub(super) fn heard_agent(&mut self, due: FoldDue) {
        if !due.fires() && due != FoldDue::Held(HoldReason::OpenCall) {
            self.take_wish();
        }
    }

    /// The wish is fulfilled, or forgotten. The answer is what it says of what the agent goes on with.
    pub(super) fn take_wish(&mut self) -> Option<String> {
        self.agent.wants_fold = false;
        self.agent.keep.take()
    }
}
