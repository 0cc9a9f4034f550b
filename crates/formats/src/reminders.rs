//! What clients tell the model once and what holds until they say otherwise: a mode, the skills in use, the working
//! folder. The table of [`crate::wrappers`] says which wrappers hold such words.

use midfold_core::{ClientReminder, Voice};

use crate::voices::split;
use crate::wrappers::{INJECTED, KnownWrapper, PASSING, WrapperHold, WrapperShape};

/// The reminders in the text blocks of one message in the user's role, in order.
///
/// ```
/// use midfold_formats::reminders::reminders;
/// let text = "Fix it.\n<system-reminder>\n## Plan mode is on\n\nChange no file.\n</system-reminder>";
/// let found = reminders(&[text]);
/// assert_eq!(found[0].text, "## Plan mode is on\n\nChange no file.");
/// assert_eq!(found[0].subject.as_deref(), Some("Plan mode is on"));
/// ```
#[must_use]
pub fn reminders(texts: &[&str]) -> Vec<ClientReminder> {
    let parts = split(texts).into_iter();
    parts.filter(|part| part.voice == Voice::Client).filter_map(|part| read(part.text)).collect()
}

/// The reminder with which a tool's result ends. A tool may print such a text, so only the very end counts.
pub(crate) fn at_end(result: &str) -> Option<ClientReminder> {
    let result = result.trim_end();
    let elements = INJECTED.iter().filter(|wrapper| wrapper.holds == WrapperHold::Subject);
    elements.filter_map(element_name).find_map(|name| {
        let close = format!("</{name}>");
        let at = result.ends_with(&close).then(|| result.rfind(&format!("<{name}>")))??;
        let starts_line = at == 0 || result[..at].ends_with('\n');
        starts_line.then(|| read(&result[at..]))?
    })
}

/// Whether a recorded message may hold reminders. The openings of all wrappers that hold on have one of these
/// characters, and a result is searched for the one wrapper that clients put beside and into results.
pub(crate) fn may_hold(recorded: &[u8], has_results: bool) -> bool {
    if has_results {
        return memchr::memmem::find(recorded, b"-reminder").is_some();
    }
    memchr::memchr2(b'<', b'#', recorded).is_some()
        || memchr::memmem::find(recorded, BASE).is_some()
}

/// The start of the one wrapper without these characters.
const BASE: &[u8] = b"Base directory";

fn read(text: &str) -> Option<ClientReminder> {
    INJECTED.iter().find_map(|wrapper| {
        let inner = match wrapper.shape {
            WrapperShape::Element(name) => inner(text, name)?,
            WrapperShape::Start(start) if text.starts_with(start) => text,
            _ => return None,
        };
        let name = element_name(wrapper).unwrap_or_default();
        let first = inner.trim().lines().next().unwrap_or_default().trim();
        let (kind, subject) = match wrapper.holds {
            WrapperHold::Nothing => return None,
            WrapperHold::One => (name.to_owned(), None),
            WrapperHold::Line => (format!("{name} {first}"), None),
            WrapperHold::Subject if PASSING.iter().any(|start| first.starts_with(start)) => {
                return None;
            }
            WrapperHold::Subject => (name.to_owned(), Some(subject(first).to_owned())),
        };
        Some(ClientReminder { kind, subject, text: inner.trim().to_owned() })
    })
}

/// The content of an element that is the whole of a text.
fn inner<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let behind = text.strip_prefix('<')?.strip_prefix(name)?;
    let body = match behind.strip_prefix('>') {
        Some(body) => body,
        None => behind.starts_with([' ', '\n']).then(|| behind.split_once('>'))??.1,
    };
    body.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")
}

fn element_name(wrapper: &KnownWrapper) -> Option<&'static str> {
    match wrapper.shape {
        WrapperShape::Element(name) => Some(name),
        _ => None,
    }
}

/// The first sentence of a line, without marks of a heading.
fn subject(line: &str) -> &str {
    let line = line.trim_start_matches(['#', ' ']);
    line.split_once(". ").map_or(line, |(sentence, _)| sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_is_read_and_what_passes_is_not() {
        let kinds = |texts: &[&str]| -> Vec<String> {
            reminders(texts).into_iter().map(|reminder| reminder.kind).collect()
        };
        let cwd = "<environment_context>\n<cwd>/srv/a</cwd>\n</environment_context>";
        assert_eq!(kinds(&[cwd]), ["environment_context"]);
        let skill = "<skill>\n<name>audit</name>\nRead first.\n</skill>";
        assert_eq!(kinds(&["Go on.", skill]), ["skill <name>audit</name>"]);
        let folder =
            "# AGENTS.md instructions for /w/sub\n\n<INSTRUCTIONS>\nRun ./test\n</INSTRUCTIONS>";
        assert_eq!(kinds(&[folder]), [" # AGENTS.md instructions for /w/sub"]);
        for passing in [
            "<system-reminder>\nOpened in the editor (/a.rs):\n\n</system-reminder>",
            "<system-reminder>\nThe list of tasks:\n1\nMend it\n</system-reminder>",
            "<system-reminder>\nNote: /a.rs was modified by a linter.\n</system-reminder>",
            "<system-reminder>\nYour todo list has changed.\n</system-reminder>",
            "<command-name>/model</command-name>",
            "<bash-stdout>ok</bash-stdout>",
            "<file path=\"a\">x</file>",
            "```\n<system-reminder>\nx\n</system-reminder>\n```",
            "<system-reminder>\nThe user sent a new message while you were working:\nStop.\n\nIMPORTANT: \
             After completing your current task, go on.\n</system-reminder>",
        ] {
            assert_eq!(kinds(&[passing]), [""; 0], "{passing}");
        }
    }

    #[test]
    fn only_the_end_of_a_result_counts() {
        let reminder = "<system-reminder>\nPlan mode is off. Go on.\n</system-reminder>";
        assert_eq!(
            at_end(&format!("Approved.\n\n{reminder}\n")).unwrap().subject.unwrap(),
            "Plan mode is off"
        );
        assert!(at_end(&format!("{reminder}\n1 line")).is_none());
        assert!(at_end(&format!("grep: {reminder}")).is_none());
    }
}
