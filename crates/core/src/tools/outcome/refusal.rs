//! Recognises calls that did not run, or not to their end, and who refused or stopped them. Clients write fixed
//! texts then.

use serde::Deserialize;

use super::glob::LineGlob;
use super::lines::{self, ResultWindows};
use super::verdict::CallVerdict;

/// The texts for one kind of refusal, as `data/outcomes.toml` has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefusalTexts {
    verdict: RefusalWord,
    /// Beginnings of the first line.
    starts: Vec<String>,
    /// Whole lines at the start or the end of a result.
    lines: Vec<String>,
    /// Patterns for the first line.
    #[serde(default)]
    globs: Vec<String>,
    /// Texts that come before the words of the user.
    #[serde(default)]
    after: Vec<String>,
}

/// The kinds of refusal in the file.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum RefusalWord {
    /// The user said no.
    Rejected,
    /// The client did not let it run, without an answer of the user.
    Blocked,
    /// Another call of the same batch was rejected or failed.
    Cancelled,
    /// It was stopped.
    Interrupted,
}

/// All refusal texts, each with its compiled patterns.
pub(super) struct RefusalTable {
    all: Vec<(RefusalTexts, Vec<LineGlob>)>,
}

/// A call that did not run, or was stopped before its end.
pub(super) struct RefusedCall {
    pub verdict: CallVerdict,
    /// The reason that the user gave; `None` where there is none.
    pub reason: Option<String>,
    /// Whether it was cancelled with another call of its batch.
    pub cancelled: bool,
}

/// Patterns are tried on at most this many bytes of a line, because refusal texts are short.
const LINE: usize = 320;

impl RefusalTable {
    pub(super) fn new(all: Vec<RefusalTexts>) -> Self {
        let with_globs = |refusal: RefusalTexts| {
            let globs = refusal.globs.iter().map(|glob| LineGlob::new(glob)).collect();
            (refusal, globs)
        };
        Self { all: all.into_iter().map(with_globs).collect() }
    }

    /// Whether clients write this line at the end of a call that was stopped.
    pub(super) fn ends(&self, line: &str) -> bool {
        self.all.iter().any(|(refusal, _)| refusal.lines.iter().any(|own| own == line))
    }

    /// Whether the text holds words after which clients quote the user's reason.
    pub(super) fn may_hold_reason(&self, text: &str) -> bool {
        self.all.iter().flat_map(|(one, _)| &one.after).any(|lead| text.contains(&**lead))
    }

    /// The refusal or interruption of a call, with the user's reason. `None` where the call ran to its end.
    pub(super) fn of(
        &self,
        windows: &ResultWindows<'_>,
        flagged: Option<bool>,
        is_noise: impl Fn(&str) -> bool,
    ) -> Option<RefusedCall> {
        let mut own = lines::lines(windows.head).filter(|line| !line.is_empty());
        let mut first = own.next().unwrap_or_default();
        // Cline puts its own refusals below such a line.
        if first.starts_with(WRAPPED) {
            first = own.next().unwrap_or_default();
        }
        for prefix in ["Error: ", "error: ", "Error:", "⚠️ "] {
            if let Some(rest) = first.strip_prefix(prefix) {
                first = rest.trim_start().to_owned().into();
            }
        }
        let last = lines::lines(windows.tail).rev().find(|line| !line.is_empty());
        let last = last.unwrap_or_default();
        let is_first_noise = is_noise(&first);
        let second = if is_first_noise { own.find(|line| !is_noise(line)) } else { None };
        let second = second.unwrap_or_default();
        for (refusal, globs) in &self.all {
            let short = &first[..first.floor_char_boundary(LINE)];
            let starts = refusal.starts.iter().any(|start| first.starts_with(&**start))
                || globs.iter().any(|glob| glob.matches(short));
            let says = |line: &str| refusal.lines.iter().any(|l| l == line);
            // Where the flag says that the call succeeded, a text at the start or end is mere output. Only a line that
            // is exactly a refusal counts then.
            if starts && flagged != Some(false)
                || says(&first)
                || is_first_noise && says(&second)
                || says(&last) && flagged != Some(false)
            {
                let verdict = match refusal.verdict {
                    RefusalWord::Rejected => CallVerdict::Rejected,
                    RefusalWord::Blocked => CallVerdict::Blocked,
                    RefusalWord::Interrupted | RefusalWord::Cancelled => CallVerdict::Interrupted,
                };
                let cancelled = refusal.verdict == RefusalWord::Cancelled;
                let reason = || reason(windows, &refusal.after);
                let reason = (verdict == CallVerdict::Rejected).then(reason).flatten();
                return Some(RefusedCall { verdict, reason, cancelled });
            }
        }
        None
    }
}

/// The first line of a result where a tool of Cline did not run.
const WRAPPED: &str = "The tool execution failed with the following error:";

/// The user's reason: the text behind one of the leads.
fn reason(windows: &ResultWindows<'_>, leads: &[String]) -> Option<String> {
    let text = windows.head;
    let words = leads.iter().find_map(|lead| text.split_once(&**lead).map(|(_, rest)| rest))?;
    let words = words.split("\n\nNote: ").next().unwrap_or(words).trim();
    let words = words.strip_prefix("<feedback>").unwrap_or(words);
    let words = words.split("</feedback>").next().unwrap_or(words);
    Some(words.trim().to_owned())
}
