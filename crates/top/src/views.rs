//! The answers of a source: the parts of `midfold::view` that are shown, read from JSON.

use midfold::core::fabric::FabricCell;
use midfold::core::fill::FillSource;
use midfold::core::spending::PromptCost;
use midfold::{number, plural};
use serde::Deserialize;

use crate::clean::{Clean, CleanText};
use midfold::weave;

/// The id of a session: unchanged for questions, and cleaned for the screen.
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
    /// The id for questions.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The id for the screen.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.shown.as_str()
    }
}

/// An answer of a source.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceAnswer {
    /// The sessions, the newest change first.
    Sessions(SessionsPage),
    /// One session's detail.
    Detail(Box<SessionView>),
    /// The fabric of a session: the fate of each message, fold by fold.
    Fabric(Box<FabricColumns>),
    /// One fold.
    Fold(Box<FoldPage>),
    /// The places of a text in a session.
    Explained(Box<ExplainedText>),
}

/// The newest sessions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct SessionsPage {
    pub sessions: Vec<SessionRow>,
    /// The position of the next page; `None` if there are no older sessions.
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
    /// The time of the last change, in milliseconds since 1970.
    pub changed: u64,
    /// A counter of the store's changes: a larger one is later.
    pub tick: u64,
    pub events: u64,
    /// The model's window, in tokens.
    pub window: u64,
    /// The tokens of the context.
    pub fill: u64,
    /// The source of `fill`; `None` for a server that does not report it.
    #[serde(default)]
    pub fill_source: Option<FillSource>,
    /// The tokens at which the next fold is due.
    pub threshold: u64,
    pub folds: u64,
    pub calls: u64,
    pub cost: Option<PromptCost>,
    pub cache_share: Option<f64>,
    /// Empty for a server that does not report faults.
    #[serde(default)]
    pub faults: Vec<FaultLine>,
}

/// How many requests were sent unchanged although they did not fit, for one cause.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FaultLine {
    pub reason: Clean,
    pub requests: u64,
}

impl FaultLine {
    /// The fault in words.
    pub fn text(&self) -> String {
        format!("{} sent as it came: {}", plural(self.requests, "request"), self.reason)
    }
}

impl SessionRow {
    /// The title, else the id.
    pub fn name(&self) -> &str {
        self.title.as_ref().map_or(self.id.shown(), Clean::as_str)
    }

    /// How full it is, in words, with the source of the figure.
    pub fn fill_words(&self) -> String {
        let of = format!("{} of {}", number(self.fill), number(self.window));
        self.fill_source.map_or_else(|| format!("{of} tokens"), |source| source.said_of(&of))
    }

    /// The share of the window that the context takes.
    pub fn filled(&self) -> f64 {
        share(self.fill, self.window)
    }
}

/// A part as a share of the whole; 0 if the whole is 0.
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

/// The fabric of a session: the fate of each message, fold by fold.
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
    /// Runs of a fate's letter and a number of messages. Missing in lists.
    #[serde(default)]
    pub fates: Vec<(char, u32)>,
    pub recap_tokens: u64,
    pub policy: Clean,
    pub cause: Clean,
    pub stand_in: Clean,
    pub active: bool,
    pub undone: bool,
    /// Missing in answers of older servers.
    #[serde(default)]
    pub standing: Option<Clean>,
}

impl FoldLine {
    /// Why the active context does not build on this fold; `None` if it does.
    pub fn aside(&self) -> Option<&'static str> {
        match self.standing.as_ref().map(Clean::as_str) {
            Some("prepared") => Some("prepared, never in force"),
            Some("superseded") => Some("replaced before it was sent"),
            _ => self.undone.then_some("taken back"),
        }
    }

    /// The fate of every message that there was. At most `events`, because numbers of a server must not decide how much
    /// memory is taken.
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

/// The lost statements of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LostGroup {
    pub title: Clean,
    pub count: u64,
    pub first: Vec<LostEntry>,
}

/// A statement or a name that left the context.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LostEntry {
    pub text: Clean,
    pub seq: Option<u64>,
}

/// The recap that the agent reads.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RecapText {
    pub text: CleanText,
    pub tokens: u64,
}

/// An edit that a reducer made in a message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EditLine {
    pub seq: u64,
    pub kind: Clean,
    pub reducer: Clean,
    pub reason: Clean,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// Where a text is in what the model sees.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ExplainedText {
    pub text: Clean,
    pub events: u64,
    pub fold: Option<FoldRef>,
    pub answer: SightWord,
    pub verdict: Clean,
    pub lost_with: Option<FoldRef>,
    #[serde(default)]
    pub asked_again: Vec<AskedAgain>,
    pub occurrences: Vec<OccurrenceLine>,
    #[serde(default)]
    pub near: Vec<NearLine>,
}

/// A message that has words of the text, where no message has the text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct NearLine {
    pub seq: u64,
    pub role: Clean,
    pub snippet: Clean,
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

/// A message that contains the text.
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
    Transcript,
    Verbatim { place: Clean },
    Edited { named: bool },
    Repaired { named: bool },
    Cut { named: bool },
    Recap { named: bool },
    Marker,
}

/// The fold with which a message stopped showing the text, and the rule.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LeftLine {
    pub fold: FoldRef,
    pub rule: Clean,
    pub reason: Clean,
}

/// A later message that uses the text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct UseLine {
    pub seq: u64,
    pub by: Clean,
    pub after_left: bool,
}
