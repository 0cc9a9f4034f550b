//! Deeds: what one message said or did, as data. Grouping, settling, ranking and shortening read these fields; only
//! `print.rs` writes them as text.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::recap::bound::DeedBound;
use crate::recap::words::{WordNumbers, WordTable, words};
use crate::salient::shorten;
use crate::tools::command::CommandRun;

/// What one message said or did: one line of a recap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Number of the message, by which recall finds it.
    pub message: u32,
    /// The kind, with its data.
    pub kind: DeedKind,
    /// The sentences, lines of code or lines of output, in the order of the original.
    pub parts: Vec<DeedPart>,
    /// How many times the same was said or done.
    pub times: u32,
    /// The most that its parts can be worth; `None` where a change may have made it more.
    pub(super) bound: Option<Arc<DeedBound>>,
}

/// The kinds of deeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeedKind {
    /// Words.
    Words(Speaker),
    /// A change of files.
    Change(FileEdit),
    /// Any other call.
    Call(CallDeed),
}

/// Who said something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The user.
    User,
    /// The assistant, before a call.
    Assistant,
    /// The assistant at the end of a turn: its answer.
    Answer,
    /// The application, by an instruction that does not stay as a message.
    Application,
    /// The author of an earlier summary, or the agent in a note.
    Note,
}

/// A change of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileEdit {
    /// The files, as calls name them.
    pub files: Vec<String>,
    /// The number of lines, where a whole file was written.
    pub written: Option<usize>,
    /// Whether the files were removed.
    pub removed: bool,
    /// How many edits it joins.
    pub edits: u32,
    /// Number of the message with the last of these edits.
    pub last: u32,
    /// The command that changed the files, where it shows no changed lines.
    pub command: Option<String>,
}

/// A call that changed no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDeed {
    /// The command or tool that was called.
    pub subject: CallSubject,
    /// How it ended.
    pub ending: CallEnding,
    /// The commands that the call is about, in a form that can be compared.
    pub(super) runs: SmallVec<[CommandRun; 1]>,
}

/// The command or tool that was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallSubject {
    /// A command.
    Command(String),
    /// A tool with a file: its name and the path.
    File(String, String),
    /// A tool with what it looked for, or with its arguments: a text that is not a command.
    Other(String),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnding {
    /// It showed something.
    Shown,
    /// It ended. The parts say how, as far as that is known.
    Ended,
    /// It failed.
    Failed,
    /// It failed, and a later message shows that this is over: the number of that message.
    Settled(u32),
    /// The user rejected it.
    Rejected,
    /// It was interrupted.
    Stopped,
}

/// A sentence, a line of code or a line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeedPart {
    /// The text on one line.
    pub text: String,
    /// What it is.
    pub kind: PartKind,
    /// Whether it begins a line of the original text, as a list item or a paragraph does.
    pub begins_line: bool,
    /// The text of the part that introduces it: a heading, or what comes before a list. It may change the meaning
    /// (`Next:`), so this part never comes without it.
    pub(super) lead: Option<Arc<str>>,
    /// The numbers of its words.
    pub(super) words: WordNumbers,
}

/// What a part of a deed is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A sentence or a list item.
    Sentence,
    /// What the user answered: a question, or an item of a list from which the user chose.
    Answered,
    /// Code that somebody quotes.
    Code,
    /// A line that a change wrote, and the part of the former line that it replaced (empty: none).
    NewLine(String),
    /// A line that a change removed.
    OldLine,
    /// The verdict of a run, the line that says how it ended, or the cause of a failure.
    Verdict,
    /// A line of output.
    Output,
    /// A line of a file or of a list of files. The same call shows it again.
    FileLine,
}

impl PartKind {
    /// Whether it is a line that a call showed.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        matches!(self, Self::Output | Self::FileLine)
    }
}

/// Longest part, in characters.
pub(super) const PART_CHARS: usize = 480;

impl DeedPart {
    /// A part from a text, which is put on one line and cut at `PART_CHARS` characters.
    #[must_use]
    pub fn new(text: &str, kind: PartKind) -> Self {
        let text = shorten(text, PART_CHARS);
        Self { words: words(&text), text, kind, begins_line: false, lead: None }
    }
}

impl Deed {
    /// A deed that happened once.
    #[must_use]
    pub fn new(message: u32, kind: DeedKind, parts: Vec<DeedPart>) -> Self {
        Self { message, kind, parts, times: 1, bound: None }
    }

    /// Words of somebody.
    #[must_use]
    pub fn words(message: u32, by: Speaker, parts: Vec<DeedPart>) -> Self {
        Self::new(message, DeedKind::Words(by), parts)
    }

    /// Whose words it holds; `None` for a deed.
    #[must_use]
    pub fn speaker(&self) -> Option<&Speaker> {
        match &self.kind {
            DeedKind::Words(by) => Some(by),
            _ => None,
        }
    }

    /// Whether the user said it.
    #[must_use]
    pub fn is_users(&self) -> bool {
        self.kind == DeedKind::Words(Speaker::User)
    }

    /// Whether the assistant said it.
    #[must_use]
    pub fn is_assistants(&self) -> bool {
        matches!(self.kind, DeedKind::Words(Speaker::Assistant | Speaker::Answer))
    }

    /// How the call ended; `None` for words and changes.
    #[must_use]
    pub fn ending(&self) -> Option<CallEnding> {
        match &self.kind {
            DeedKind::Call(call) => Some(call.ending),
            _ => None,
        }
    }

    /// Whether it is a failure that may still be open, a rejection or an interruption.
    #[must_use]
    pub fn went_wrong(&self) -> bool {
        let wrong = [CallEnding::Failed, CallEnding::Rejected, CallEnding::Stopped];
        self.ending().is_some_and(|ending| wrong.contains(&ending))
    }

    /// Makes the bound anew, with the words of now.
    pub(super) fn bound_by(&mut self, table: &WordTable) {
        self.bound = Some(Arc::new(DeedBound::of(self, table)));
    }

    /// The parts, for a change of them.
    pub(super) fn parts_mut(&mut self) -> &mut Vec<DeedPart> {
        self.bound = None;
        &mut self.parts
    }

    /// Says how the call ended otherwise than it seemed.
    pub(super) fn end(&mut self, ending: CallEnding) {
        self.bound = None;
        if let Some(call) = self.call_mut() {
            call.ending = ending;
        }
    }

    /// The call of the deed, for a change that makes it worth no more.
    pub(super) fn call_mut(&mut self) -> Option<&mut CallDeed> {
        match &mut self.kind {
            DeedKind::Call(call) => Some(call),
            _ => None,
        }
    }
}

impl CallSubject {
    /// The call as plain text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Command(text) | Self::Other(text) => text.clone(),
            Self::File(tool, path) => format!("{tool} {path}"),
        }
    }
}

impl CallDeed {
    /// A call with this ending.
    #[must_use]
    pub fn new(subject: CallSubject, ending: CallEnding) -> Self {
        Self { subject, ending, runs: SmallVec::new() }
    }
}
