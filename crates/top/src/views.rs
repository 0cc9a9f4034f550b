//! What a source answers: the parts of `midfold::view` that are shown, read from their JSON forms.

use midfold::core::fabric::FabricCell;
use midfold::core::spending::PromptCost;
use midfold::plural;
use serde::Deserialize;

use crate::clean::{Clean, CleanText};
use midfold::weave;

/// The id of a session: as it is for questions, cleaned for the screen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct SessionId {
    raw: String,
    shown: Clean,
}

impl From<String> for SessionId {
    fn from(raw: String) -> Self {
        Self { shown: Clean::new(&raw), raw }
    }
}

impl SessionId {
    /// For questions.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// For the screen.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.shown.as_str()
    }
}

/// What a source answers.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceAnswer {
    /// The sessions, newest change first.
    Sessions(SessionsPage),
    /// One session.
    Detail(Box<SessionView>),
    /// What each fold made of each message.
    Fabric(Box<FabricColumns>),
    /// One fold.
    Fold(Box<FoldPage>),
    /// What became of a text.
    Explained(Box<ExplainedText>),
}

/// The newest sessions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct SessionsPage {
    pub sessions: Vec<SessionRow>,
    /// Where older ones go on.
    pub next: Option<u64>,
}

/// A session in one line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: Option<Clean>,
    pub client: Option<Clean>,
    pub model: Clean,
    pub policy: Clean,
    pub changed: u64,
    pub tick: u64,
    pub events: u64,
    pub window: u64,
    pub fill: u64,
    pub threshold: u64,
    pub folds: u64,
    pub calls: u64,
    pub cost: Option<PromptCost>,
    pub cache_share: Option<f64>,
    /// None of a server that does not say it.
    #[serde(default)]
    pub faults: Vec<FaultLine>,
}

/// Requests that went on as they came although they did not fit, for one cause.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FaultLine {
    pub reason: Clean,
    pub requests: u64,
}

impl FaultLine {
    /// It in words.
    pub fn told(&self) -> String {
        format!("{} sent as it came: {}", plural(self.requests, "request"), self.reason)
    }
}

impl SessionRow {
    /// The title, else the id.
    pub fn name(&self) -> &str {
        self.title.as_ref().map_or(self.id.shown(), Clean::as_str)
    }

    /// The share of the window that is taken.
    pub fn filled(&self) -> f64 {
        share(self.fill, self.window)
    }
}

/// A part of a whole; of nothing, nothing.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A session, and when it folds next.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SessionView {
    #[serde(flatten)]
    pub row: SessionRow,
    pub line: Clean,
}

/// Each message, and what each fold made of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FabricColumns {
    pub session: SessionId,
    pub events: u64,
    pub folds: Vec<FoldLine>,
}

/// A fold in one line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FoldLine {
    pub number: Option<u64>,
    pub made: Option<u64>,
    pub before: u64,
    pub after: u64,
    pub freed: u64,
    /// Left out where nobody asked for it.
    #[serde(default)]
    pub fates: Vec<(char, u32)>,
    pub recap_tokens: u64,
    pub policy: Clean,
    pub cause: Clean,
    pub stand_in: Clean,
    pub active: bool,
    pub undone: bool,
    /// Older servers do not say it.
    #[serde(default)]
    pub standing: Option<Clean>,
}

impl FoldLine {
    /// What it is where it is not read now, nor anything that is read was built on it.
    pub fn aside(&self) -> Option<&'static str> {
        match self.standing.as_ref().map(Clean::as_str) {
            Some("prepared") => Some("prepared, never in force"),
            Some("superseded") => Some("replaced before it was sent"),
            _ => self.undone.then_some("taken back"),
        }
    }

    /// The fate of every message that there was. At most `events`: a server's figures are not trusted with memory.
    pub fn cells(&self, events: u64) -> Vec<FabricCell> {
        let most = usize::try_from(events).unwrap_or(usize::MAX);
        let runs = self.fates.iter().filter_map(|(letter, count)| {
            Some(std::iter::repeat_n(weave::cell(*letter)?, *count as usize))
        });
        runs.flatten().take(most).collect()
    }
}

/// One fold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FoldPage {
    pub fold: FoldLine,
    pub recap: Option<RecapText>,
    pub edits: Vec<EditLine>,
    pub lost: Vec<LostGroup>,
    pub lost_names: u64,
    pub kept_names: u64,
    pub gone: u64,
}

/// What is lost of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LostGroup {
    pub title: Clean,
    pub count: u64,
    pub first: Vec<LostEntry>,
}

/// Something that the context does not have any more.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LostEntry {
    pub text: Clean,
    pub seq: Option<u64>,
}

/// What the agent reads in the place of messages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RecapText {
    pub text: CleanText,
    pub tokens: u64,
}

/// What a reducer did to a part of a message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EditLine {
    pub seq: u64,
    pub kind: Clean,
    pub reducer: Clean,
    pub reason: Clean,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ExplainedText {
    pub text: Clean,
    pub events: u64,
    pub fold: Option<FoldRef>,
    pub answer: SightWord,
    pub lost_with: Option<FoldRef>,
    #[serde(default)]
    pub asked_again: Vec<AskedAgain>,
    pub occurrences: Vec<OccurrenceLine>,
}

/// A fold, as answers name it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FoldRef {
    pub number: u64,
    pub events: u64,
}

/// What the model sees of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SightWord {
    NeverSaid,
    NotYet,
    Verbatim,
    Edited,
    InRecap,
    Gone,
}

/// A name that a fold lost, and that came up again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AskedAgain {
    pub fold: FoldRef,
    pub name: Clean,
    pub seq: u64,
}

/// A message that holds the text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct OccurrenceLine {
    pub seq: u64,
    pub role: Clean,
    pub snippet: Clean,
    pub sight: SightLine,
    pub left: Option<LeftLine>,
    pub recall: bool,
    pub used: Option<UseLine>,
}

/// What the model sees of a message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum SightLine {
    NotYet,
    Verbatim { place: Clean },
    Edited { named: bool },
    Repaired { named: bool },
    Recap { named: bool },
    Marker,
}

/// When a message stopped carrying the text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LeftLine {
    pub fold: FoldRef,
    pub rule: Clean,
    pub reason: Clean,
}

/// A later message that used the text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct UseLine {
    pub seq: u64,
    pub by: Clean,
    pub after_left: bool,
}
