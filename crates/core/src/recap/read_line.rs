//! Reads a line of a recap back as a deed.

use crate::recap::checks::runs_of;
use crate::recap::deed::{
    CallDeed, CallEnding, CallSubject, Deed, DeedKind, DeedPart, FileEdit, PartKind, Speaker,
};
use crate::recap::print::{GAP, LINE_BREAK, OVER, label};
use crate::recap::prose;
use crate::repair::OF_SYSTEM;

/// Reads a line such as `@12 user: …`; `None` for other lines.
pub(super) fn deed(line: &str) -> Option<Deed> {
    let (message, text) = line.strip_prefix('@')?.split_once(' ')?;
    let message = message.parse().ok()?;
    let (text, times) = times(text);
    let words = |by: Speaker, text: &str| Deed::words(message, by, prose::quoted(text));
    let behind = |label: &str| text.strip_prefix(label);
    let mut deed = if let Some(rest) = behind(label::USER) {
        words(Speaker::User, rest)
    } else if let Some(rest) = behind(label::ANSWER) {
        words(Speaker::Answer, rest)
    } else if let Some(rest) = behind(OF_SYSTEM) {
        words(Speaker::Application, rest)
    } else if let Some(changed) = behind(label::CHANGED) {
        edit(message, changed)
    } else if let Some(deed) = ENDINGS
        .iter()
        .find_map(|(label, ending)| Some(call(message, text.strip_prefix(label)?, *ending)))
    {
        deed
    } else {
        words(Speaker::Assistant, behind(label::SAID).unwrap_or(text))
    };
    deed.times = times;
    Some(deed)
}

/// The message whose call or change a line of a recap tells of, and what it quotes of it. `None` for other lines.
pub(crate) fn told_call(line: &str) -> Option<(u32, &str)> {
    let deed = deed(line)?;
    let (_, text) = line.split_once(' ')?;
    let label = text.find(' ').map_or(0, |at| at + 1);
    let quoted = split_subject(&text[label..]).1;
    (!matches!(deed.kind, DeedKind::Words(_))).then_some((deed.message, quoted))
}

/// Whether quoted text is not whole: lines are joined, or parts are left out.
pub(crate) fn is_joined(quoted: &str) -> bool {
    quoted.contains(LINE_BREAK) || quoted.contains(GAP)
}

/// The labels of calls, with how the call ended.
const ENDINGS: [(&str, CallEnding); 5] = [
    (label::RAN, CallEnding::Ended),
    (label::SAW, CallEnding::Shown),
    (label::FAILED, CallEnding::Failed),
    (label::REJECTED, CallEnding::Rejected),
    (label::STOPPED, CallEnding::Stopped),
];

/// Reads what follows `changed `: files with notes in brackets, and lines.
fn edit(message: u32, text: &str) -> Deed {
    let (subject, rest) = split_subject(text);
    let (subject, command) = match subject.split_once(" by `") {
        Some((subject, command)) => (subject, Some(command.trim_matches(['`', ' ']).to_owned())),
        None => (subject, None),
    };
    let (files, notes) = subject.split_once(" (").unwrap_or((subject, ""));
    let note = |of: &str| notes.split("; ").find(|note| note.contains(of)).and_then(number_in);
    let edit = FileEdit {
        files: files.split(", ").map(str::to_owned).collect(),
        written: note("written").map(|lines| lines as usize),
        removed: notes.contains("removed"),
        edits: note(" edits to ").unwrap_or(1),
        last: notes.split_once(" edits to @").and_then(|(_, to)| number_in(to)).unwrap_or(message),
        command,
    };
    let lines = lines_of(rest).map(|line| match line.strip_prefix("- ") {
        Some(old) => DeedPart::new(old, PartKind::OldLine),
        None => DeedPart::new(line, PartKind::NewLine(String::new())),
    });
    Deed::new(message, DeedKind::Change(edit), lines.collect())
}

/// Reads what follows the label of a call: what was called, and lines.
fn call(message: u32, text: &str, ending: CallEnding) -> Deed {
    let (subject, rest) = split_subject(text);
    let (subject, over) = subject.split_once(OVER).unwrap_or((subject, ""));
    let ending = number_in(over).map_or(ending, CallEnding::Settled);
    let subject = subject.trim_end();
    let command = subject.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let subject = match command {
        Some(command) => CallSubject::Command(command.trim_matches(['`', ' ']).to_owned()),
        None => CallSubject::Other(subject.to_owned()),
    };
    let kind = match ending {
        CallEnding::Shown => PartKind::Output,
        CallEnding::Rejected => PartKind::Answered,
        _ => PartKind::Verdict,
    };
    let parts = lines_of(rest).map(|line| DeedPart::new(line, kind.clone())).collect();
    let mut call = CallDeed::new(subject, ending);
    if let CallSubject::Command(command) = &call.subject {
        call.runs = runs_of(command);
    }
    Deed::new(message, DeedKind::Call(call), parts)
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(LINE_BREAK).map(|line| line.trim_matches(['…', ' '])).filter(|line| !line.is_empty())
}

/// Splits off what was called or changed: a command in backticks, or text that ends in a colon.
fn split_subject(text: &str) -> (&str, &str) {
    let fence = text.len() - text.trim_start_matches('`').len();
    let closing = (fence > 0).then(|| text[fence..].find(&text[..fence])).flatten();
    let from = closing.map_or(0, |at| fence + at + fence);
    match text[from..].find(": ") {
        Some(at) => (&text[..from + at], &text[from + at + 2..]),
        None => (text, ""),
    }
}

/// Splits off the count in `… (79 times)`; 1 where there is none.
fn times(text: &str) -> (&str, u32) {
    let counted = text.strip_suffix(" times)").and_then(|rest| rest.rsplit_once(" ("));
    counted.and_then(|(text, n)| Some((text, n.parse().ok()?))).unwrap_or((text, 1))
}

/// The first number in a text.
pub(crate) fn number_in(text: &str) -> Option<u32> {
    let from = text.find(|c: char| c.is_ascii_digit())?;
    let digits = &text[from..];
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_read_back_as_it_was() {
        let lines = [
            "@3 user: Fix it.",
            "@4 The cache is stale.",
            "@5 said: user: push it.",
            "@5 changed src/a.rs (2 edits to @8): let x = 2; / let y = 3; / - let z;",
            "@6 changed src/b.rs (written, 3 lines)",
            "@7 saw `` echo `x`: y ``: z",
            "@9 failed `cargo test a` (2 times)",
            "@9 ran `cargo test b` (failed then, over since @12): 1 failed",
            "@9 rejected by the user `rm -r x`: the user said: no",
            "@10 [from the system] Never refund.",
        ];
        for line in lines {
            let deed = deed(line).unwrap();
            let all: Vec<usize> = (0..deed.parts.len()).collect();
            assert_eq!(crate::recap::print::DeedPrinter::default().line(&deed, &all), line);
        }
    }
}
