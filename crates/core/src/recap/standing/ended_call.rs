//! A call that ended, as the facts that hold on read it, and how these read texts.

use crate::tools::command::CommandDeeds;
use crate::tools::{CallFacts, CallResult, CallVerdict, is_of_server, texts_of};

/// The tool by which an agent brings its plan to the user, as [`EndedCall::is_named`] wants it.
pub(super) const EXIT_PLAN_MODE: &str = "exitplanmode";
/// The heading over a plan in the result of a call that brought it, where it was approved.
pub(super) const APPROVED_PLAN: &str = "## Approved Plan:";

/// A call with its result, as the standing facts see it.
pub(in crate::recap) struct EndedCall<'a> {
    /// Number of the message with the call.
    pub message: u32,
    /// The name of the tool.
    pub tool: &'a str,
    /// The arguments, decoded.
    pub arguments: &'a str,
    pub facts: &'a CallFacts,
    pub command: &'a CommandDeeds<'a>,
    /// The call on one line.
    pub label: &'a str,
    pub outcome: &'a CallResult,
    /// The text of the result.
    pub text: &'a str,
    /// Whether the call only asks for the output of a command that an earlier call started.
    pub polls: bool,
}

impl EndedCall<'_> {
    /// Whether nothing says that the call failed or was refused.
    pub(super) fn went_well(&self) -> bool {
        matches!(self.outcome.verdict, None | Some(CallVerdict::Ok))
    }

    /// Whether the call brought the user a plan, and the client says in the result that the user approved it. A result
    /// without these words may be a person's answer, and that may be a no.
    pub(super) fn approved_plan(&self) -> bool {
        // What Claude Code and Qwen Code say, what OpenCode says, and what Gemini CLI and Copilot say.
        const APPROVED: [&str; 3] = ["User has approved", "User approved", "Plan approved"];
        let first = self.text.trim_start().lines().next().unwrap_or_default();
        self.went_well()
            && self.is_named(&[EXIT_PLAN_MODE])
            && !is_of_server(self.tool)
            && (APPROVED.iter().any(|words| first.contains(words))
                || self.text.contains(APPROVED_PLAN))
    }

    /// The texts of the arguments with these names, in the order of the names.
    pub(super) fn arguments(&self, names: &[&str]) -> Vec<String> {
        texts_of(self.arguments, names)
    }

    /// Whether the tool's name holds one of these words, in lower case.
    pub(super) fn is_named(&self, words: &[&str]) -> bool {
        let name: String = self.tool.chars().filter(|c| c.is_alphanumeric()).collect();
        let name = name.to_ascii_lowercase();
        words.iter().any(|word| name.contains(word))
    }
}

/// The words inside the first `<name>…</name>` of a text.
pub(super) fn inside<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let from = text.find(&format!("<{name}>"))? + name.len() + 2;
    let end = text[from..].find(&format!("</{name}>"))?;
    Some(text[from..from + end].trim())
}

/// The parts of an entry `what @12`.
pub(super) fn numbered(text: &str) -> Option<(&str, u32)> {
    let (label, message) = text.rsplit_once(" @")?;
    Some((label, message.parse().ok()?))
}
