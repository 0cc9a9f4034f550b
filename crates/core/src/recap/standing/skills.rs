//! The skills that the agent loaded. Their text is folded, so the agent loads them again by name.

use super::ended_call::{EndedCall, inside, numbered};
use crate::recap::numbers::MessageNumbers;
use crate::recap::{escape, state};

/// At most this many skills are written.
const MOST: usize = 12;

/// The loaded skills, each with the message that loaded it last.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadedSkills(Vec<(String, u32)>);

impl LoadedSkills {
    pub(super) fn note_call(&mut self, call: &EndedCall<'_>) {
        if !call.went_well() {
            return;
        }
        if call.is_named(&["skill"]) {
            let named = call.arguments(&["skill", "name", "skill_name"]);
            named.first().into_iter().for_each(|name| self.load(name, call.message));
        }
        for path in &call.facts.reads {
            let folder =
                path.strip_suffix("/SKILL.md").and_then(|folder| folder.rsplit('/').next());
            folder.into_iter().for_each(|name| self.load(name, call.message));
        }
    }

    /// Notes a skill whose text the client put into a message.
    pub(super) fn note_client(&mut self, message: u32, text: &str) {
        let base = text.strip_prefix("Base directory for this skill:");
        let folder = base.and_then(|rest| rest.lines().next()?.trim().rsplit('/').next());
        let named = text.starts_with("<skill>").then(|| inside(text, "name")).flatten();
        folder.or(named).into_iter().for_each(|name| self.load(name, message));
    }

    fn load(&mut self, name: &str, message: u32) {
        if name.is_empty() || name.len() > 100 {
            return;
        }
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), message));
        let over = self.0.len().saturating_sub(MOST);
        self.0.drain(..over);
    }

    pub(super) fn lines(&self, numbers: MessageNumbers) -> Vec<String> {
        let skills = self.0.iter();
        let skills = skills.map(|(name, at)| escape::inline(name, 100) + &numbers.after(*at));
        let skills = skills.collect::<Vec<_>>().join(", ");
        if skills.is_empty() { Vec::new() } else { vec![format!("{}{skills}\n", state::SKILLS)] }
    }

    pub(super) fn read(&mut self, text: &str) {
        for (name, message) in text.split(", ").filter_map(numbered) {
            self.load(name, message);
        }
    }
}
