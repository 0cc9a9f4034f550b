//! What an agent may ask of its own session: a fold when it is done with some work, and notes that each recap repeats.

use super::Session;
use super::wish::{AgentNote, AgentWishes, NotedHistory};
use crate::budget::Budget;
use crate::trigger::{FoldDue, HoldReason, Millis};

/// The most characters that one note may have: room for a few sentences.
pub const NOTE_CHARS: usize = 500;
/// The most characters that all notes of a session may have together.
pub const NOTES_CHARS: usize = 2_000;

/// Why a note is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The note holds nothing but white space.
    #[error("the note is empty")]
    Empty,
    /// The note has more characters than [`NOTE_CHARS`].
    #[error("the note has {0} characters, {NOTE_CHARS} is the most")]
    Long(usize),
}

impl Session {
    /// Keeps a note of the agent's: each recap from the next fold on repeats it. Runs of white space become one space.
    /// Returns the oldest notes, which were removed because all notes together exceed [`NOTES_CHARS`].
    ///
    /// # Errors
    /// When the note is empty or longer than [`NOTE_CHARS`].
    pub fn note(&mut self, text: &str) -> Result<Vec<String>, NoteError> {
        let read = NotedHistory::of(&self.log);
        self.note_of(text, Some(read))
    }

    /// As [`Session::note`], for an agent that had also read messages that are not in the log yet. The note is of the
    /// history `read` and of none other: it is repeated once the log has that, and dropped if the log goes on otherwise.
    ///
    /// # Errors
    /// As [`Session::note`].
    pub fn note_of(
        &mut self,
        text: &str,
        read: Option<NotedHistory>,
    ) -> Result<Vec<String>, NoteError> {
        let note = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let chars = note.chars().count();
        if note.is_empty() {
            return Err(NoteError::Empty);
        }
        if chars > NOTE_CHARS {
            return Err(NoteError::Long(chars));
        }
        let notes = &mut self.agent.notes;
        // A note that is repeated moves to the newest place, so it is removed last.
        notes.retain(|known| known.text != note);
        notes.push(AgentNote { text: note, read });
        let all =
            |notes: &[AgentNote]| notes.iter().map(|one| one.text.chars().count()).sum::<usize>();
        let mut first = 0;
        while all(&notes[first..]) > NOTES_CHARS {
            first += 1;
        }
        Ok(notes.drain(..first).map(|note| note.text).collect())
    }

    /// The agent's notes about what the log has, oldest first.
    #[must_use]
    pub fn notes(&self) -> Vec<&str> {
        let known = self.agent.notes.iter().filter(|note| note.is_of(&self.log));
        known.map(|note| &*note.text).collect()
    }

    /// Drops the notes about messages that the log turned out not to have.
    pub fn drop_foreign_notes(&mut self) {
        self.agent.notes.retain(|note| !note.is_foreign(&self.log));
    }

    /// Records that the agent asks for a fold. The fold is made with the next context, provided that the context is
    /// above the line for such folds ([`TriggerPolicy::asked_tokens`](crate::policy::TriggerPolicy::asked_tokens)) and
    /// nothing else holds it back. `keep` names what the agent goes on with: statements with those words weigh more in
    /// the recap. Returns what the trigger would decide now; the request is dropped unless the fold is due, or waits
    /// for the result of an open call.
    pub fn ask_for_fold(&mut self, budget: &Budget, keep: Option<&str>, now: Millis) -> FoldDue {
        self.agent.wants_fold = true;
        self.agent.keep = keep.map(|keep| keep.chars().take(NOTE_CHARS).collect());
        // An earlier plan may have been refused for too small a gain; the agent's request lets planning try again.
        self.gate.declined = None;
        let due = self.due(budget, now);
        self.note_agent_wishes(due);
        due
    }

    /// The number of tokens from which on a fold is made because the agent asks for it.
    #[must_use]
    pub fn asked_line(&self, budget: &Budget) -> u64 {
        let budget = self.gate.budget(budget, &self.policy);
        self.policy.trigger.asked_tokens(budget.tokens())
    }

    /// Takes over the pins and the agent's wishes as another process stored them. `has_unkept` says that this session
    /// has pins or wishes that no store has yet; then both sets are merged.
    pub fn take_wishes(&mut self, pins: Vec<u32>, agent: AgentWishes, has_unkept: bool) {
        if !has_unkept {
            (self.pins, self.agent) = (pins, agent);
            return;
        }
        pins.into_iter().for_each(|pin| self.pin(pin));
        // The stored notes come first, because the oldest notes are dropped first and the own ones are newer.
        let own = std::mem::replace(&mut self.agent, agent);
        for note in own.notes {
            // The text was accepted before, so it is neither empty nor too long.
            let _ = self.note_of(&note.text, note.read);
        }
        self.agent.wants_fold |= own.wants_fold;
        self.agent.keep = own.keep.or_else(|| self.agent.keep.take());
    }

    /// Drops the agent's request after it was weighed for one context, unless an open call is what holds the fold back:
    /// then the request waits for the call's result.
    pub(super) fn note_agent_wishes(&mut self, due: FoldDue) {
        if !due.fires() && due != FoldDue::Held(HoldReason::OpenCall) {
            self.take_wish();
        }
    }

    /// Ends the agent's request, fulfilled or not, and returns its `keep` text.
    pub(super) fn take_wish(&mut self) -> Option<String> {
        self.agent.wants_fold = false;
        self.agent.keep.take()
    }
}
