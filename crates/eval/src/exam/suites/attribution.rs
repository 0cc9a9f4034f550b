//! Whose words a text says something is.

use fancy_regex::Regex;
use serde_json::Value;

use crate::exam::error::{ErrorPlace as _, ExamResult};
use crate::exam::passages::passages;
use crate::exam::score::Probe;

/// In the front of the line: whose words it says they are.
const SPEAKER: &str = r"(?i)^.{0,24}\b(user|human|customer)('s)?\b";
/// The heading above says whose they are.
const HEADING: &str =
    r"(?i)^#+\W*(task|user|rules?|requests?|constraints?|preferences?|instructions?|decisions?)\b";

/// Reads what an engine wrote.
pub struct OutputEyes {
    speaker: Regex,
    heading: Regex,
}

impl OutputEyes {
    /// Ready to read.
    ///
    /// # Errors
    /// When a pattern is none.
    pub fn new() -> ExamResult<Self> {
        Ok(Self {
            speaker: Regex::new(SPEAKER).at(SPEAKER)?,
            heading: Regex::new(HEADING).at(HEADING)?,
        })
    }

    /// The line of a message that tells a claim as the user's words: it begins with the user, or stands below a heading
    /// of what the user wants. What stands between backticks is shown and not said, and results are a tool's.
    #[must_use]
    pub fn told(&self, claim: &Probe, message: &[u8]) -> Option<String> {
        let value: Value = serde_json::from_slice(message).unwrap_or_default();
        if value["role"] == "tool" {
            return None;
        }
        let mut heading = String::new();
        for passage in passages(std::iter::once(message)) {
            if passage.starts_with('#') {
                heading.clone_from(&passage);
            }
            let of_user = |pattern: &Regex, text: &str| pattern.is_match(text).unwrap_or(false);
            let is_theirs = of_user(&self.speaker, &passage) || of_user(&self.heading, &heading);
            if is_theirs && !is_saw(&passage) && claim.holds(&unquoted(&passage)) {
                return Some(format!("{heading} | {passage}"));
            }
        }
        None
    }
}

/// Whether a line below a heading says itself that a call showed this.
fn is_saw(line: &str) -> bool {
    line.starts_with('@') && line.split(' ').nth(1) == Some("saw")
}

/// A line without what it quotes.
fn unquoted(line: &str) -> String {
    match (line.find('`'), line.rfind('`')) {
        (Some(from), Some(to)) if from < to => format!("{}{}", &line[..from], &line[to..]),
        _ => line.to_owned(),
    }
}
