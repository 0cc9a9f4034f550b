//! Checks the recap or marker in the place of a span: it holds no secret, and no text that it quotes can be taken for a
//! line of midfold's own or for the system's.

use super::{ProofChecker, ReadMessage, rule};
use crate::recap::{LEFT_OUT, NOTE_START, RULES, section, state};
use crate::redact::Redactor;
use crate::repair::without_blank;
use crate::seal::is_end;
use crate::view::{Role, TextOrigin};

/// The starts of lines of a computed recap below its header: a message's number, a list mark, a command, an indent or a
/// label. A quotation from the log always follows one of these, so it never begins a line.
const LINES: &[&str] =
    &["@", "- ", "  ", "`", RULES, LEFT_OUT, "changed: ", "scratch: ", "read: ", "names: "];
/// The tags around lists of paths, one path a line (docs/SOURCES.md, *What Survives the Compression*).
const BLOCKS: &[(&str, &str)] =
    &[("<read-files>", "</read-files>"), ("<modified-files>", "</modified-files>")];

impl ProofChecker<'_> {
    /// Whether a message of the context may be a recap or a marker of midfold's own.
    pub(super) fn is_stand_in(&self, at: usize) -> bool {
        let message = &self.after[at];
        message.view.origin == TextOrigin::Recap
            || !message.view.role.is_system() && message.text().contains(NOTE_START)
    }

    /// Checks the message in the place of the span: its role, its lines, and that it holds no secret.
    pub(super) fn check_stand_in(&mut self, at: usize) {
        let role = self.after[at].view.role;
        let text = self.stand_in_text(at);
        self.expect_at(
            rule::AUTHORITY,
            matches!(role, Role::User | Role::Assistant),
            Some(at),
            || format!("the recap speaks as {}", role.name()),
        );
        // Searches secrets of a known form, and the values of secrets of the log: a recap may quote a value without the
        // words by which it was recognised there.
        let mut places: Vec<_> =
            Redactor::shared().find(&text).iter().map(|secret| secret.start).collect();
        places.extend(self.secrets.places(&text).iter().map(|secret| secret.start));
        self.expect_at(rule::SECRET, places.is_empty(), Some(at), || {
            format!("secrets in the recap, at bytes {places:?} of its text")
        });
        if text.contains(NOTE_START) {
            for detail in structure(&text) {
                self.fail(rule::AUTHORITY, Some(at), detail);
            }
            self.check(rule::AUTHORITY);
        }
    }

    /// The text of the message, without blank reasoning that a repair gave it.
    fn stand_in_text(&self, at: usize) -> String {
        let message = &self.after[at];
        match without_blank(&message.bytes, self.case.dialect) {
            Some(bare) => ReadMessage::new(self.case.dialect, &bare).text().into_owned(),
            None => message.text().into_owned(),
        }
    }

    /// Checks that a message which is not in the log is no system message.
    pub(super) fn check_no_new_system(&mut self, at: usize) {
        let role = self.after[at].view.role;
        self.expect_at(rule::AUTHORITY, !role.is_system(), Some(at), || {
            format!("a {} message that is not in the log", role.name())
        });
    }
}

/// The faults in the lines of a computed recap, in words.
fn structure(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let once = |mark: &str| text.lines().filter(|line| line.starts_with(mark)).count() == 1;
    if !once(NOTE_START) {
        wrong.push("the note below the header does not stand exactly once".to_owned());
    }
    let ends = text.lines().filter(|line| is_end(line)).count();
    if ends != 1 || !text.lines().last().is_some_and(is_end) {
        wrong.push("the end marker does not stand exactly once, at the end".to_owned());
    }
    let lines = text.lines().skip_while(|line| !line.starts_with(NOTE_START)).skip(1);
    let mut seen: Vec<&str> = Vec::new();
    let mut block = None;
    for line in lines {
        if let Some(close) = block {
            // A path may look like any line, but not like a heading or the note.
            if line == close {
                block = None;
            } else if line.starts_with("#") && line.contains("# ") || line.starts_with(NOTE_START) {
                wrong.push(format!("a list of paths holds the line {line:?}"));
            }
        } else if let Some((open, close)) = BLOCKS.iter().find(|(open, _)| *open == line) {
            block = Some(*close);
            seen.push(open);
        } else if let Some(name) = line.strip_prefix("### ") {
            seen.push(name);
            if !section::ALL.contains(&name) {
                wrong.push(format!("a header that no recap has: {name:?}"));
            }
        } else if !(is_end(line)
            || LINES.iter().chain(state::ALL).any(|start| line.starts_with(start)))
        {
            wrong.push(format!("a line that belongs to no section: {line:?}"));
        }
    }
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        wrong.push("a section stands twice".to_owned());
    }
    wrong
}
