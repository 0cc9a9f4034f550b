//! What holds on while the work goes on: what still runs, where the agent works, what the client said last about its
//! modes, the approved plan, the skills in use. What ended is forgotten.

mod client_notes;
mod ended_call;
mod place;
mod plan;
mod running;
mod skills;

use client_notes::ClientNotes;
pub(super) use ended_call::EndedCall;
use place::WorkPlace;
use plan::ApprovedPlan;
use running::RunningWork;
use skills::LoadedSkills;

use crate::passage::{Passage, Voice};
use crate::recap::numbers::MessageNumbers;
use crate::recap::state;

/// All facts that hold until something ends them.
#[derive(Clone, Debug, Default)]
pub(super) struct StandingFacts {
    /// Commands and agents that still run.
    pub running: RunningWork,
    place: WorkPlace,
    notes: ClientNotes,
    plan: ApprovedPlan,
    skills: LoadedSkills,
}

impl StandingFacts {
    /// Notes what a call began, ended or showed.
    pub(super) fn note_call(&mut self, call: &EndedCall<'_>) {
        self.running.note_call(call);
        self.place.note_call(call);
        self.plan.note_call(call);
        self.notes.note_call(call);
        self.skills.note_call(call);
        if let Some(words) = reminder_in(call.text) {
            self.notes.note(call.message, "system-reminder", words);
        }
    }

    /// Notes what a client said beside the user. Returns the commands that ended meanwhile, each with its exit code.
    pub(super) fn note_passages(
        &mut self,
        message: u32,
        passages: &[Passage],
    ) -> Vec<(String, i64)> {
        let mut ended = Vec::new();
        for passage in passages.iter().filter(|passage| passage.voice == Voice::Client) {
            let (name, words) = element(&passage.text);
            ended.extend(self.running.note_client(message, words));
            self.place.note_client(message, words);
            self.skills.note_client(message, &passage.text);
            self.notes.note(message, name, words);
        }
        ended
    }

    /// Notes the words of the user, who may answer a plan.
    pub(super) fn note_asked(&mut self, message: u32, passages: &[Passage]) {
        self.plan.note_asked(message, &said(passages));
    }

    /// Notes the user's words in the result of the call in message `call`, which may have brought a plan.
    pub(super) fn note_answered(&mut self, call: u32, message: u32, passages: &[Passage]) {
        self.plan.note_answered(call, message, &said(passages));
    }

    /// Notes words of the assistant, which may hold a plan. `ends_turn` says that they end the turn.
    pub(super) fn note_said(&mut self, message: u32, text: &str, ends_turn: bool) {
        self.plan.note_said(message, text, ends_turn);
    }

    /// Notes that all items of a to-do list are done, and with them the plan before it.
    pub(super) fn note_finished(&mut self) {
        self.plan = ApprovedPlan::default();
        self.notes.note_finished();
    }

    /// The lines of the state section. `later` are the standing facts behind the recap, which grew out of these: what
    /// ended or changed there is left out.
    pub(super) fn lines(&self, later: Option<&Self>, numbers: MessageNumbers) -> Vec<String> {
        let mut lines = self.notes.modes(later.map(|later| &later.notes), numbers);
        lines.extend(self.running.lines(later.map(|later| &later.running), numbers));
        lines.extend(self.place.lines(later.map(|later| &later.place), numbers));
        lines.extend(self.plan.lines(later.map(|later| &later.plan), numbers));
        lines.extend(self.skills.lines(numbers));
        lines.extend(self.notes.said_once(later.map(|later| &later.notes), numbers));
        lines
    }

    /// Reads an entry of the list with this label from the state section of an earlier recap.
    pub(super) fn read(&mut self, label: &str, text: &str, starts: bool) {
        match label {
            state::RUNNING | state::REPORTED => self.running.read(label, text),
            state::PLACE => self.place.read(text),
            state::PLAN => self.plan.read(text, starts),
            state::SKILLS => self.skills.read(text),
            state::CLIENT | state::SAID => self.notes.read(label, text),
            _ => {}
        }
    }
}

/// The words of persons in some passages.
fn said(passages: &[Passage]) -> String {
    let texts = passages.iter().filter(|passage| passage.is_said());
    texts.map(|passage| passage.text.trim()).collect::<Vec<_>>().join(" ")
}

/// The reminder that a client put behind the output of a tool; `None` where the text does not end with one.
fn reminder_in(text: &str) -> Option<&str> {
    const TAGS: (&str, &str) = ("<system-reminder>", "</system-reminder>");
    let before = text.trim_end().strip_suffix(TAGS.1)?;
    before.rfind(TAGS.0).map(|at| before[at + TAGS.0.len()..].trim())
}

/// The name of the element around a client's words, and the words; an empty name where there is no element.
fn element(text: &str) -> (&str, &str) {
    let text = text.trim();
    let open = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let Some((name, rest)) = open else { return ("", text) };
    let inner = rest.strip_suffix('>').and_then(|rest| rest.rsplit_once("</"));
    inner.map_or(("", text), |(words, _)| (name, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_recap_tells_is_read_back() {
        let rows = [
            (state::CLIENT, "plan mode: left, the plan was approved @3"),
            (state::RUNNING, "`make serve` (pid 4711) @9"),
            (state::RUNNING, "agent: Audit: read a.py (id a93f) @7"),
            (state::RUNNING, "`docker compose up -d` @5"),
            (state::REPORTED, "Audit (a1): Two roundings are wrong. @8"),
            (
                state::PLACE,
                "folder /w/a @2, branch fix/b @3, environment .venv @4, worktree ../wt @5",
            ),
            (state::PLAN, "3, approved, in /u/plans/a.md"),
            (state::PLAN, "1. One."),
            (state::PLAN, "2. Two."),
            (state::SKILLS, "audit @4, deploy @6"),
            (state::SAID, "Servers: open the ledger before you read it. @5"),
        ];
        let mut standing = StandingFacts::default();
        let mut wanted = String::new();
        let mut last = "";
        for (label, text) in rows {
            let starts = label != last;
            standing.read(label, text, starts);
            wanted += &format!("{}{text}\n", if starts { label } else { "  " });
            last = label;
        }
        assert_eq!(standing.lines(None, MessageNumbers::Shown).concat(), wanted);
        // A recap leaves out what ended or changed behind it.
        let mut later = standing.clone();
        later.running = RunningWork::default();
        later.plan = ApprovedPlan::default();
        let lines_left = standing.lines(Some(&later), MessageNumbers::Shown).concat();
        assert!(!lines_left.contains("4711") && !lines_left.contains("plan @3"), "{lines_left}");
        assert!(lines_left.contains("folder /w/a @2"), "{lines_left}");
    }
}
