//! What the client said to the model beside the user and does not say again: a mode that began or ended, permissions,
//! instructions of servers. Of each subject the newest words count.

use super::ended_call::{EndedCall, numbered};
use crate::recap::numbers::MessageNumbers;
use crate::recap::{escape, state};

/// At most this many subjects are kept.
const MOST: usize = 64;
/// At most this many notes that are about no mode are written.
const TOLD: usize = 4;
/// How many words at the start of a reminder show its subject.
const HEAD: usize = 6;
/// The note for a call that ends the mode in which the agent only plans.
const LEFT: &str = "left, the plan was approved";
/// Longest quotation, in characters.
const WORDS: usize = 320;
/// The subject of all words about the mode in which the agent only plans.
const PLANNING: &str = "plan mode";

/// The newest words about one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ClientNote {
    subject: String,
    words: String,
    message: u32,
    /// How often the client spoke of it.
    times: u32,
}

/// The newest words of the client, by subject.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientNotes(Vec<ClientNote>);

impl ClientNotes {
    /// Notes words of the client, in an element of this name.
    pub(super) fn note(&mut self, message: u32, element: &str, words: &str) {
        // Other parts read the place of the work and the end of a task, and other elements hold content.
        let named = element.ends_with("instructions") || element.ends_with("mode");
        if !named && element != "system-reminder" {
            return;
        }
        // A reminder about a mode begins with it. A list of tasks may name one further down.
        let opening = words.split_whitespace().take(HEAD).collect::<Vec<_>>().join(" ");
        let opening = opening.trim_start_matches(['#', ' ']).to_ascii_lowercase();
        let subject = match named {
            true => element.to_owned(),
            false if opening.contains(PLANNING) || opening.contains("operational mode") => {
                PLANNING.to_owned()
            }
            false => {
                let letters =
                    |word: &&str| word.bytes().all(|b| b.is_ascii_alphabetic() || b == b':');
                opening.split_whitespace().filter(letters).take(3).collect::<Vec<_>>().join(" ")
            }
        };
        self.set(subject, words, message);
    }

    /// Notes a call that begins or ends the mode in which the agent only plans.
    pub(super) fn note_call(&mut self, call: &EndedCall<'_>) {
        let words = if call.approved_plan() {
            LEFT
        } else if call.went_well() && call.is_named(&["enterplanmode"]) {
            "entered"
        } else {
            return;
        };
        // The client's own words beside the result say more.
        let said_since =
            |note: &ClientNote| note.subject == PLANNING && note.message > call.message;
        if !self.0.iter().any(said_since) {
            self.set(PLANNING.to_owned(), words, call.message);
        }
    }

    /// Forgets that a mode was left, because the work that it led to is done.
    pub(super) fn note_finished(&mut self) {
        self.0.retain(|note| note.words != LEFT);
    }

    fn set(&mut self, subject: String, words: &str, message: u32) {
        let times = self.0.iter().find(|note| note.subject == subject).map_or(0, |note| note.times);
        self.0.retain(|note| note.subject != subject);
        let words = crate::salient::shorten(words.trim_start_matches(['#', ' ']), WORDS);
        self.0.push(ClientNote { subject, words, message, times: times + 1 });
        if self.0.len() > MOST {
            self.0.remove(0);
        }
    }

    /// The lines about modes and permissions.
    pub(super) fn modes(&self, later: Option<&Self>, numbers: MessageNumbers) -> Vec<String> {
        self.lines(later, numbers, usize::MAX, |note| is_mode(&note.subject))
    }

    /// The lines about other subjects, of which the client spoke once. What it repeats will come again by itself.
    pub(super) fn said_once(&self, later: Option<&Self>, numbers: MessageNumbers) -> Vec<String> {
        self.lines(later, numbers, TOLD, |note| !is_mode(&note.subject) && note.times == 1)
    }

    fn lines(
        &self,
        later: Option<&Self>,
        numbers: MessageNumbers,
        most: usize,
        wanted: impl Fn(&ClientNote) -> bool,
    ) -> Vec<String> {
        let holds = |note: &&ClientNote| later.is_none_or(|later| later.0.contains(note));
        let shown = self.0.iter().rev().filter(holds).filter(|note| wanted(note)).take(most);
        shown
            .map(|note| {
                let (words, at) = (escape::inline(&note.words, WORDS), numbers.after(note.message));
                match is_mode(&note.subject) {
                    true => format!("{}{}: {words}{at}\n", state::CLIENT, note.subject),
                    false => format!("{}{words}{at}\n", state::SAID),
                }
            })
            .collect()
    }

    /// Reads a note of an earlier recap. A recap lists the newest first.
    pub(super) fn read(&mut self, label: &str, text: &str) {
        let Some((words, message)) = numbered(text) else { return };
        match words.split_once(": ").filter(|_| label == state::CLIENT) {
            Some((subject, words)) => self.set(subject.to_owned(), words, message),
            None => self.note(message, "system-reminder", words),
        }
        if !self.0.is_empty() {
            self.0.rotate_right(1);
        }
    }
}

fn is_mode(subject: &str) -> bool {
    subject == PLANNING || subject.ends_with("mode") || subject.ends_with("instructions")
}

#[cfg(test)]
mod tests {
    use super::{ClientNotes, MessageNumbers, state};

    #[test]
    fn notes_of_a_recap_keep_their_order() {
        let mut notes = ClientNotes::default();
        for (text, message) in [("Delta d d.", 9), ("Charlie c c.", 7), ("Bravo b b.", 7)] {
            notes.read(state::SAID, &format!("{text} @{message}"));
        }
        notes.note(71, "system-reminder", "Echo e e.");
        notes.note(73, "system-reminder", "Foxtrot f f.");
        let lines = notes.said_once(None, MessageNumbers::default()).concat();
        let at = |word| lines.find(word);
        assert!(at("Foxtrot") < at("Echo") && at("Echo") < at("Delta"), "{lines}");
        assert!(at("Delta") < at("Charlie") && at("Bravo").is_none(), "{lines}");
    }
}
