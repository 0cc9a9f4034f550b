//! The answer to the question whether the model saw a text.

use serde::Serialize;

use crate::event::Hash;
use crate::piece::RepairReason;
use crate::references::NameReference;
use crate::view::Role;

/// A reference to a fold in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldRef {
    /// The number of the fold in the session, from 1.
    pub number: u32,
    /// The id of the fold.
    pub id: Hash,
    /// The number of events in the log when the fold was made.
    pub events: u32,
}

/// The region of the context that holds a verbatim event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum VerbatimPlace {
    /// The head: before the fold's span.
    Head,
    /// In the span, pinned or carried as the user's last request.
    Pinned,
    /// In the span, but not covered by the fold.
    Kept,
    /// The tail; also for every event where there is no fold.
    Tail,
}

/// The form in which the model saw one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sight {
    /// The event came later.
    NotYet,
    /// The event is in a transcript whose client decides what is sent.
    Transcript,
    /// The event was in the context, unchanged.
    Verbatim {
        /// The region of the context that held it.
        place: VerbatimPlace,
    },
    /// A reducer had edited the event.
    Edited {
        /// Whether the edited form still has the text.
        named: bool,
        /// The reducer that edited it.
        reducer: String,
        /// The reason code of the edit.
        reason: String,
    },
    /// The event was sent in another form, because the provider would have refused the original.
    Repaired {
        /// Whether that form still has the text.
        named: bool,
        /// The reason of the repair.
        why: RepairReason,
    },
    /// The event was one of the newest, and a proxy had cut it because whole it did not fit.
    Cut {
        /// Whether the part that was sent has the text.
        named: bool,
    },
    /// A recap replaced the event.
    Recap {
        /// Whether the recap has the text.
        named: bool,
    },
    /// A marker replaced the event.
    Marker,
}

impl Sight {
    /// Whether the model could read the text in this form of the event.
    #[must_use]
    pub fn named(&self) -> bool {
        match self {
            Self::Verbatim { .. } | Self::Transcript => true,
            Self::Edited { named, .. }
            | Self::Repaired { named, .. }
            | Self::Cut { named }
            | Self::Recap { named } => *named,
            Self::NotYet | Self::Marker => false,
        }
    }
}

/// The fold since which an event has not shown the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhenLeft {
    /// The fold.
    pub fold: FoldRef,
    /// The rule: `recap`, `marker`, or the name of a reducer.
    pub rule: String,
    /// The reason: the reducer's code, or what the recap was made of.
    pub reason: String,
}

/// A later event that used the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextUse {
    /// The number of the event.
    pub seq: u32,
    /// Who used the text.
    pub by: Role,
    /// Whether the original event no longer showed the text by then.
    pub after_left: bool,
}

/// A name in the text that a fold lost and that was used again later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedAgain {
    /// The fold that lost the name.
    pub fold: FoldRef,
    /// The name, and the first event that used it again.
    #[serde(flatten)]
    pub reference: NameReference,
}

/// One event that has the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Occurrence {
    /// The number of the event, as recall takes it.
    pub seq: u32,
    /// Who wrote the event; `tool` for results, whatever role the dialect gives them.
    pub role: Role,
    /// The text with some words around it.
    pub snippet: String,
    /// The form in which the model saw the event.
    pub sight: Sight,
    /// The fold since which the event has not shown the text; null while it shows it.
    pub left: Option<WhenLeft>,
    /// Whether recall can bring the event back. True for every event that the log had at that moment.
    pub recall: bool,
    /// The first later message of the user or the model that has the text; null if there is none.
    pub used: Option<TextUse>,
}

/// The answer in one word: the best form in which the model saw the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SightAnswer {
    /// No event of the log has the text.
    NeverSaid,
    /// Only later events have the text.
    NotYet,
    /// The text had left the context: neither an event nor the recap had it.
    Gone,
    /// Only the recap had the text.
    InRecap,
    /// Only an edited, repaired or cut event had the text.
    Edited,
    /// An unchanged event had the text.
    Verbatim,
}

/// Who decides what the model reads of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ContextReader {
    /// The model reads the contexts that midfold hands out.
    #[default]
    Midfold,
    /// As before, and the newest messages are not in the log: a client sends its own history through a proxy, and what is
    /// behind its newest answer is stored with the next request.
    Proxied,
    /// As before, but the present context does not fit, so it is folded before it is sent.
    Overfull {
        /// Tokens of the context.
        tokens: u64,
        /// The model's window in tokens.
        window: u64,
    },
    /// A client sends its own messages, of which midfold has a copy.
    Client,
}

/// A message that has words of the text, where no message has the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearMessage {
    /// The number of the event.
    pub seq: u32,
    /// Who wrote the event; `tool` for results.
    pub role: Role,
    /// The line with most of the words.
    pub snippet: String,
}

/// The answer to the question whether the model saw a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The text that was looked for.
    pub text: String,
    /// The number of the call that was asked about; null for the present state of the session.
    pub call: Option<u64>,
    /// The number of events in the log at that moment.
    pub events: u32,
    /// The fold that was active at that moment; null if there was none.
    pub fold: Option<FoldRef>,
    /// The answer.
    pub answer: SightAnswer,
    /// Who decides what the model reads.
    pub reader: ContextReader,
    /// The answer in a sentence, for people.
    pub verdict: String,
    /// The fold since which neither an event nor the recap has the text; null unless the answer is `gone`.
    pub lost_with: Option<FoldRef>,
    /// Whether the recap has the text.
    pub in_recap: bool,
    /// The names in the text that a fold lost and that the user or the model used again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked_again: Vec<AskedAgain>,
    /// Every event that has the text, in the order of the log.
    pub occurrences: Vec<Occurrence>,
    /// Where no event has the text: the newest events with most of its words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<NearMessage>,
}

impl Explanation {
    /// The answer for a session with this reader.
    #[must_use]
    pub fn read_by(mut self, reader: ContextReader) -> Self {
        self.reader = reader;
        if reader == ContextReader::Client {
            for occurrence in &mut self.occurrences {
                if matches!(occurrence.sight, Sight::Verbatim { .. }) {
                    occurrence.sight = Sight::Transcript;
                }
            }
        }
        self.verdict = self.sentence();
        self
    }
}
