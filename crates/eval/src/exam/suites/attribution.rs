//! Finds out to whom an output attributes a text.

use fancy_regex::Regex;
use serde_json::Value;

use crate::exam::error::{ErrorPlace as _, ExamResult};
use crate::exam::passages::passages;
use crate::exam::score::Probe;

/// The pattern for the start of a line that names the user as the speaker.
const SPEAKER: &str = r"(?i)^.{0,24}\b(user|human|customer)('s)?\b";
/// The pattern for a heading that says that its lines are the user's.
const HEADING: &str =
    r"(?i)^#+\W*(task|user|rules?|requests?|constraints?|preferences?|instructions?|decisions?)\b";

/// Reads the output of an engine.
pub struct OutputEyes {
    speaker: Regex,
    heading: Regex,
}

impl OutputEyes {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// A pattern is not valid.
    pub fn new() -> ExamResult<Self> {
        Ok(Self {
            speaker: Regex::new(SPEAKER).at(SPEAKER)?,
            heading: Regex::new(HEADING).at(HEADING)?,
        })
    }

    /// The line of a message that attributes a claim to the user: it begins with the user, or is below a heading for
    /// what the user wants. Text between backticks is quoted and does not count, and neither do results, which are a
    /// tool's. `None` where no line does so.
    #[must_use]
    pub fn attribution(&self, claim: &Probe, message: &[u8]) -> Option<String> {
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

/// Whether a line says itself that a call showed this.
fn is_saw(line: &str) -> bool {
    line.starts_with('@') && line.split(' ').nth(1) == Some("saw")
}

/// A line without the part between its first and last backtick.
fn unquoted(line: &str) -> String {
    match (line.find('`'), line.rfind('`')) {
        (Some(from), Some(to)) if from < to => format!("{}{}", &line[..from], &line[to..]),
        _ => line.to_owned(),
    }
}
