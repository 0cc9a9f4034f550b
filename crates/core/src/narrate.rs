//! Requests for narrations and their answers, as values. The engine never calls a model: a driver runs a
//! [`SummaryRequest`] wherever it likes and hands the answer back.

use serde::{Deserialize, Serialize};

use crate::budget::Ratio;
use crate::event::{Hash, Usage};
use crate::policy::NarrationStyle;
use crate::span::Span;
use crate::view::Role;

/// One original event as a summariser reads it: without secrets, media replaced by a note, and cut in the middle where
/// it is long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEvent {
    /// The event.
    pub seq: u32,
    /// Who wrote it.
    pub role: Role,
    /// Its text without fences; the prompt adds those.
    pub text: String,
}

/// A request for a narration: the text that the engine wants, and the events to write it from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRequest {
    /// Identifies the work: a hash over session, span, policy fingerprint and previous narration. Two nodes that want
    /// the same narration ask for the same id.
    pub id: Hash,
    /// The session.
    pub session: String,
    /// The events that the narration will cover.
    pub span: Span,
    /// The first line that the reply must have (Summarizing Evicted Turns: `## Conversation
    /// Summary`).
    pub header: String,
    /// The sections that the reply must have, in order.
    pub sections: Vec<String>,
    /// How a section is written.
    pub style: NarrationStyle,
    /// Words asked for, where the policy sets a number (Summarizing Evicted Turns: 200).
    pub words: Option<u32>,
    /// Hard cap of the reply, in tokens (Summarizing Evicted Turns: 512).
    pub max_tokens: u32,
    /// Sampling temperature (Summarizing Evicted Turns: 0.2).
    pub temperature: Ratio,
    /// Time limit of one answer up to its last byte, in seconds (Summarizing Evicted Turns: 25).
    pub timeout_seconds: u32,
    /// The narration before, which the new one updates. It covers the span up to the first source; `None` for the first
    /// narration.
    pub previous: Option<String>,
    /// The events that the previous narration does not cover, in order.
    pub sources: Vec<SourceEvent>,
    /// Text that a person or a client wants kept.
    pub focus: Option<String>,
    /// Today's date (`2026-11-22`), so that the model can write "yesterday" as a date. The driver sets it from its
    /// clock.
    pub today: Option<String>,
    /// Tokens of the covered events; a narration that is not smaller is refused.
    pub replaces: u64,
}

/// The two messages of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryPrompt {
    /// The system message: rules and schema, nothing from the log.
    pub system: String,
    /// The user message: the fenced originals.
    pub user: String,
}

/// Why a model stopped writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model had finished.
    Stop,
    /// The cap was reached, so the text is cut off.
    Length,
    /// Anything else: a filter, a tool call, or the stream ended without a reason.
    Other,
}

/// A model's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryReply {
    /// The text.
    pub text: String,
    /// Why it stopped.
    pub finish: FinishReason,
    /// The model that answered, as it names itself.
    pub model: String,
    /// Tokens of all calls together; `None` where the provider did not report them.
    pub usage: Option<Usage>,
    /// How many calls were needed, with chunks and retries.
    pub calls: u32,
}

/// The failure of a request: no text came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{class}: {detail}")]
pub struct SummaryFailure {
    /// The kind of failure.
    pub class: FailureClass,
    /// For people; holds no key and no text of the log.
    pub detail: String,
    /// How many calls failed, with chunks and retries.
    #[serde(default = "one")]
    pub calls: u32,
}

impl SummaryFailure {
    /// The failure of a single call.
    #[must_use]
    pub fn new(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, detail: detail.into(), calls: one() }
    }
}

fn one() -> u32 {
    1
}

/// The kinds of failure of a summariser, by what can be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// An answer, or all calls together, took too long.
    Timeout,
    /// Status 401 or 403: a retry cannot help.
    Auth,
    /// Status 429.
    RateLimited,
    /// Status 5xx.
    Server,
    /// The connection failed, or broke before the end.
    Network,
    /// The prompt was too long for the model even in the smallest chunk.
    Overflow,
    /// The answer does not follow the protocol.
    Garbage,
    /// The provider refused the request for another reason.
    Rejected,
}

impl FailureClass {
    /// All classes.
    pub const ALL: [Self; 8] = [
        Self::Timeout,
        Self::Auth,
        Self::RateLimited,
        Self::Server,
        Self::Network,
        Self::Overflow,
        Self::Garbage,
        Self::Rejected,
    ];

    /// The code word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Auth => "auth",
            Self::RateLimited => "rate-limited",
            Self::Server => "server",
            Self::Network => "network",
            Self::Overflow => "overflow",
            Self::Garbage => "garbage",
            Self::Rejected => "rejected",
        }
    }

    /// The class of a code word; `None` for an unknown word.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == code)
    }
}

impl std::fmt::Display for FailureClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The judgement of a reply. Every reply gets one; only [`ReplyVerdict::Accepted`] lets it be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyVerdict {
    /// The reply passed all checks.
    Accepted,
    /// The reply has no text.
    Empty,
    /// The first line is not the header that was asked for.
    NoHeader,
    /// No section is there, or all of them are empty.
    MissingSections,
    /// The reply was cut off by its cap before it said anything, or by a broken stream.
    Truncated,
    /// The reply is longer than the cap, and no section of it fits.
    OverCap,
    /// The reply is not smaller than the events it would replace.
    NotSmaller,
    /// Most of its lines were dropped, mainly for names that no source has.
    Ungrounded,
    /// Most of its lines were dropped, mainly for quotations that the user never wrote.
    FalseQuote,
    /// Most of its lines were dropped, mainly for markers, fences, roles or orders in them.
    Injected,
}

impl ReplyVerdict {
    /// All verdicts.
    pub const ALL: [Self; 10] = [
        Self::Accepted,
        Self::Empty,
        Self::NoHeader,
        Self::MissingSections,
        Self::Truncated,
        Self::OverCap,
        Self::NotSmaller,
        Self::Ungrounded,
        Self::FalseQuote,
        Self::Injected,
    ];

    /// The code word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Empty => "empty",
            Self::NoHeader => "no-header",
            Self::MissingSections => "missing-sections",
            Self::Truncated => "truncated",
            Self::OverCap => "over-cap",
            Self::NotSmaller => "not-smaller",
            Self::Ungrounded => "ungrounded",
            Self::FalseQuote => "false-quote",
            Self::Injected => "injected",
        }
    }
}

/// A model's reply that passed all checks, ready for the next fold that covers its span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceptedNarration {
    /// The id of the request that it answers.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub request: Hash,
    /// The events that it covers.
    pub span: Span,
    /// The name and the lines of each section. The lines cannot forge the structure of a recap.
    pub sections: Vec<(String, String)>,
    /// The model that wrote it.
    pub model: String,
    /// The number of its lines that are in no section, because they failed a check or exceeded the cap.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// The names for which lines were left out: no message before them has these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invented: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl AcceptedNarration {
    /// The narration as one section of a computed recap, with its own sections as list entries. Empty sections are left
    /// out, and a last entry counts the lines that are missing. There is one fixed heading, which says that a model
    /// wrote this; so no section name of a policy can pass for a computed section (`### Task`).
    #[must_use]
    pub fn recap_sections(&self) -> String {
        let mut out = String::new();
        for (name, body) in self.sections.iter().filter(|(_, body)| !is_nothing(body)) {
            if out.is_empty() {
                out.push_str(NARRATED);
            }
            entry(&mut out, name, body);
        }
        if self.left_out > 0 && !out.is_empty() {
            let s = if self.left_out == 1 { "" } else { "s" };
            out.push_str(&format!("- Left out of it: {} line{s}.\n", self.left_out));
        }
        out
    }

    /// As [`AcceptedNarration::recap_sections`], for a recap that also covers later messages. It says that the
    /// narration ends with message `through`, because later messages may have settled what it calls open.
    #[must_use]
    pub fn recap_sections_through(&self, through: Option<u32>) -> String {
        let all = self.recap_sections();
        let Some(sections) = all.strip_prefix(NARRATED) else { return all };
        let end =
            through.map_or("before the last of them".to_owned(), |last| format!("with @{last}"));
        format!(
            "{NARRATED}- It ends {end}: what came after stands below, and may have settled what is \
             open here.\n{sections}"
        )
    }

    /// The narration as one text, as the next request receives it.
    #[must_use]
    pub fn text(&self, style: NarrationStyle) -> String {
        let mut out = String::new();
        for (name, body) in &self.sections {
            match style {
                NarrationStyle::Bullets => entry(&mut out, name, body),
                NarrationStyle::Headings => out.push_str(&format!("## {name}\n{body}\n")),
            }
        }
        out
    }
}

/// Whether a line is what models write where there is nothing to report ("none", "n/a").
pub(crate) fn is_nothing(line: &str) -> bool {
    let text = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(
        text.as_str(),
        "" | "none"
            | "n/a"
            | "na"
            | "nothing"
            | "keine"
            | "keiner"
            | "aucun"
            | "aucune"
            | "ninguno"
            | "ninguna"
            | "无"
            | "無"
            | "なし"
            | "нет"
            | "none yet"
            | "not applicable"
    )
}

/// The heading of the narrated part of a computed recap.
const NARRATED: &str = "### Narrated by a model\n";

/// Writes a section as a list entry. A body of one line follows the name; a longer body is indented below it.
fn entry(out: &mut String, name: &str, body: &str) {
    let body = body.trim_end();
    if !body.contains('\n') {
        let text = body.trim_start();
        out.push_str(&format!("- **{name}:** {}\n", text.strip_prefix("- ").unwrap_or(text)));
        return;
    }
    out.push_str(&format!("- **{name}:**\n"));
    for line in body.lines() {
        out.push_str(if line.starts_with(' ') { "" } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
}
