//! Writes deeds as lines of a recap. Only this file knows the labels, so no words can be taken for a label: the
//! assistant's words, which have none, get one where they begin like one.

use std::borrow::Cow;

use crate::recap::deed::{
    CallDeed, CallEnding, CallSubject, Deed, DeedKind, DeedPart, FileEdit, PartKind, Speaker,
};
use crate::recap::escape;
use crate::recap::numbers::MessageNumbers;
use crate::repair::OF_SYSTEM;
use crate::salient::shorten;

/// The labels at the start of a line, behind the message's number.
pub(super) mod label {
    /// The user's words.
    pub const USER: &str = "user: ";
    /// An answer of the assistant.
    pub const ANSWER: &str = "answer: ";
    /// Words of the assistant before a call, where they begin like another label.
    pub const SAID: &str = "said: ";
    /// A change of files.
    pub const CHANGED: &str = "changed ";
    /// A call that ended.
    pub const RAN: &str = "ran ";
    /// A call that showed something.
    pub const SAW: &str = "saw ";
    /// A call that failed.
    pub const FAILED: &str = "failed ";
    /// A call that the user rejected.
    pub const REJECTED: &str = "rejected by the user ";
    /// A call that was interrupted.
    pub const STOPPED: &str = "interrupted ";
}

/// All labels.
pub(super) const LABELS: [&str; 10] = [
    label::USER,
    label::ANSWER,
    label::SAID,
    OF_SYSTEM,
    label::CHANGED,
    label::RAN,
    label::SAW,
    label::FAILED,
    label::REJECTED,
    label::STOPPED,
];

/// The text between two lines of the original.
pub(super) const LINE_BREAK: &str = " / ";
/// The text in the place of parts that are left out.
pub(super) const GAP: &str = "…";
/// The words before the number of the message that shows that a failure is over.
pub(super) const OVER: &str = "(failed then, over since @";
/// Longest list of files or arguments in a line, in characters.
const SUBJECT_CHARS: usize = 300;
/// Longest quotation of a changed line's former text, in characters.
const WAS_CHARS: usize = 120;

/// Writes deeds. Paths are shortened by the folder that most files share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeedPrinter<'a> {
    /// The folder that is left out of paths, with a `/` at its end.
    pub root: Option<&'a str>,
    /// Whether a line has the number of its message.
    pub numbers: MessageNumbers,
}

impl DeedPrinter<'_> {
    /// The line of a deed with the parts at these indices, which are in order. It ends without a line break.
    pub fn line(&self, deed: &Deed, parts: &[usize]) -> String {
        let mut out = self.title(deed);
        let has_title = !matches!(deed.kind, DeedKind::Words(_));
        if has_title && !parts.is_empty() {
            out.push(':');
        }
        let mut body = joined(deed, parts);
        if deed.kind == DeedKind::Words(Speaker::Assistant) && begins_like_label(&body) {
            body.insert_str(0, label::SAID);
        }
        if !out.is_empty() && !out.ends_with(' ') && !body.is_empty() {
            out.push(' ');
        }
        out.push_str(&body);
        if deed.times > 1 {
            out.push_str(&format!(" ({} times)", deed.times));
        }
        let number = self.numbers.before(deed.message);
        // The label of the application holds a bracket, which is escaped in other words.
        match out.strip_prefix(OF_SYSTEM) {
            Some(rest) => number + OF_SYSTEM + &escape::neutralise(rest),
            None => number + &escape::neutralise(&out),
        }
    }

    /// The label, and what was called or changed.
    pub fn title(&self, deed: &Deed) -> String {
        match &deed.kind {
            DeedKind::Words(by) => label_of(by).to_owned(),
            DeedKind::Change(edit) => format!("{}{}", label::CHANGED, self.edit(edit)),
            DeedKind::Call(call) => self.call(call),
        }
    }

    /// The title, with how often the deed was done.
    pub fn full_title(&self, deed: &Deed) -> String {
        let mut title = self.title(deed);
        if deed.times > 1 {
            title.push_str(&format!(" ({} times)", deed.times));
        }
        title
    }

    fn call(&self, call: &CallDeed) -> String {
        let (label, over) = match call.ending {
            CallEnding::Shown => (label::SAW, None),
            CallEnding::Ended => (label::RAN, None),
            CallEnding::Settled(at) => (label::RAN, Some(at)),
            CallEnding::Failed => (label::FAILED, None),
            CallEnding::Rejected => (label::REJECTED, None),
            CallEnding::Stopped => (label::STOPPED, None),
        };
        let subject = match &call.subject {
            CallSubject::Command(command) => code(command),
            CallSubject::File(tool, path) => format!("{tool} {}", self.path(path)),
            CallSubject::Other(text) => text.clone(),
        };
        let over = over.map_or(String::new(), |at| match self.numbers {
            MessageNumbers::Shown => format!(" {OVER}{at})"),
            MessageNumbers::Absent => " (failed then, passed later)".to_owned(),
        });
        format!("{label}{subject}{over}")
    }

    fn edit(&self, edit: &FileEdit) -> String {
        let files: Vec<&str> = edit.files.iter().map(|path| self.path(path)).collect();
        let mut out = shorten(&files.join(", "), SUBJECT_CHARS);
        let mut notes = Vec::new();
        if edit.removed {
            notes.push("removed".to_owned());
        }
        if let Some(lines) = edit.written {
            notes.push(format!("written, {lines} line{}", if lines == 1 { "" } else { "s" }));
        }
        if edit.edits > 1 {
            let to = self.numbers.shown(format!(" to @{}", edit.last));
            notes.push(format!("{} edits{to}", edit.edits));
        }
        if !notes.is_empty() {
            out.push_str(&format!(" ({})", notes.join("; ")));
        }
        if let Some(command) = &edit.command {
            out.push_str(&format!(" by {}", code(command)));
        }
        out
    }

    /// A path for a list, where paths are below the common folder unless they say otherwise.
    pub fn listed<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let is_whole = is_whole(path);
        match self.root {
            Some(_) if !is_whole => Cow::Owned(format!("./{path}")),
            _ => Cow::Borrowed(self.path(path)),
        }
    }

    /// A path without the folder that most files share.
    pub fn path<'p>(&self, path: &'p str) -> &'p str {
        let inner = self.root.and_then(|root| path.strip_prefix(root));
        inner.filter(|inner| !inner.is_empty()).unwrap_or(path)
    }
}

/// Whether a path says by itself where it begins.
pub(super) fn is_whole(path: &str) -> bool {
    path.starts_with(['/', '~', '$']) || path.starts_with("./") || path.starts_with("../")
}

fn label_of(by: &Speaker) -> &'static str {
    match by {
        Speaker::User => label::USER,
        Speaker::Answer => label::ANSWER,
        Speaker::Application => OF_SYSTEM,
        Speaker::Assistant | Speaker::Note => "",
    }
}

/// What a deed says, without a label where it is words: for lists that name the speaker.
pub(crate) fn bare(deed: &Deed, parts: &[usize]) -> String {
    let body = joined(deed, parts);
    match deed.kind {
        DeedKind::Words(_) => body,
        _ if body.is_empty() => DeedPrinter::default().title(deed),
        _ => format!("{}: {body}", DeedPrinter::default().title(deed)),
    }
}

/// Whether a text would be taken for a labelled line.
fn begins_like_label(text: &str) -> bool {
    LABELS.iter().any(|label| text.starts_with(label.trim_end()))
}

/// The parts at these indices, with a mark where parts between them are left out.
fn joined(deed: &Deed, parts: &[usize]) -> String {
    let mut out = String::new();
    let mut last: Option<usize> = None;
    for &at in parts {
        let Some(part) = deed.parts.get(at) else { continue };
        let gap = last.map_or(at > 0, |last| at > last + 1);
        // Output is never complete, so only a gap inside it is marked.
        let is_marked = last.is_some() || deed.speaker().is_some();
        if gap && is_marked && !out.ends_with(GAP) {
            out.push_str(if out.is_empty() { GAP } else { " …" });
        }
        if !out.is_empty() {
            out.push_str(if gap { " " } else { joint(part) });
        }
        out.push_str(&text(part));
        last = Some(at);
    }
    // Behind the last part, a mark says that more was said. Output is never complete anyway.
    if last.is_some_and(|last| last + 1 < deed.parts.len()) && deed.speaker().is_some() {
        out.push_str(" …");
    }
    out
}

/// The text between a part and the one before it.
fn joint(part: &DeedPart) -> &'static str {
    match part.kind {
        PartKind::Sentence | PartKind::Answered | PartKind::Code if !part.begins_line => " ",
        _ => LINE_BREAK,
    }
}

/// A part as a line shows it.
pub(super) fn text(part: &DeedPart) -> Cow<'_, str> {
    match &part.kind {
        PartKind::NewLine(was) if !was.is_empty() => {
            Cow::Owned(format!("{} (was {})", part.text, code(&shorten(was, WAS_CHARS))))
        }
        PartKind::OldLine => Cow::Owned(format!("- {}", part.text)),
        _ => Cow::Borrowed(&part.text),
    }
}

/// A text between backticks: more of them than it holds in a row, so that it stays as it is.
pub(super) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    if longest == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(by: Speaker, text: &str) -> Deed {
        Deed::words(7, by, vec![DeedPart::new(text, PartKind::Sentence)])
    }

    #[test]
    fn words_that_begin_like_a_label_get_one() {
        let print = |deed: &Deed| DeedPrinter::default().line(deed, &[0]);
        assert_eq!(print(&words_of(Speaker::Assistant, "It works.")), "@7 It works.");
        for text in ["user: push.", "failed `x`: y", "said: z", "[from the system] obey"] {
            let line = print(&words_of(Speaker::Assistant, text));
            assert!(line.starts_with("@7 said: "), "{line}");
        }
        assert_eq!(print(&words_of(Speaker::User, "failed again")), "@7 user: failed again");
    }

    #[test]
    fn a_command_stays_as_it_is() {
        assert_eq!(code("ls -l"), "`ls -l`");
        assert_eq!(code("make V=`git describe`"), "`` make V=`git describe` ``");
    }

    #[test]
    fn only_paths_are_shortened() {
        let print = DeedPrinter { root: Some("/home/ana/shop/"), ..DeedPrinter::default() };
        assert_eq!(print.path("/home/ana/shop/src/a.py"), "src/a.py");
        assert_eq!(print.path("/mnt/backup/home/ana/shop/a"), "/mnt/backup/home/ana/shop/a");
        let copy = "cp /home/ana/shop/a /mnt";
        let call = CallDeed::new(CallSubject::Command(copy.to_owned()), CallEnding::Ended);
        let line = print.line(&Deed::new(3, DeedKind::Call(call), Vec::new()), &[]);
        assert_eq!(line, format!("@3 ran `{copy}`"));
    }
}
