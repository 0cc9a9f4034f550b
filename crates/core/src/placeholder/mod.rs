//! Placeholders: texts that midfold printed in the place of what a fold left out, and that a model copies into a new
//! call as if they were content. A file that is written from such a call holds `… [300 more characters]`.
//!
//! The marks are data: the very texts that the fold in force printed ([`PrintedMarks`]). So another number, a pattern
//! in a search or a word about a mark is no placeholder, and neither is a text that the conversation itself holds
//! ([`OriginalTexts`]).

mod leaves;
mod marks;
mod originals;

use serde::Serialize;

pub use marks::PrintedMarks;
pub use originals::OriginalTexts;

/// The kind of text that a mark takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// The rest of an argument that was cut.
    CutArgument,
    /// The middle of a result that was cut.
    CutResult,
    /// A whole result or message, in whose place a line is.
    Line,
    /// Messages that a recap tells of.
    Recap,
}

/// An argument of a call that holds a mark as content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArgumentPlaceholder {
    /// The mark.
    pub mark: String,
    /// The kind of text that it takes the place of.
    pub kind: MarkKind,
    /// The argument: `content`, `edits[0].new_text`. Empty where the arguments are one text.
    pub argument: String,
    /// The numbers of the messages that the mark may stand for, as recall takes them. Empty where they are not known.
    pub messages: Vec<u32>,
}

/// A call of the model with placeholders among its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceholderCall {
    /// The id of the call; null where it has none.
    pub id: Option<String>,
    /// The name of the tool; empty where the call has none.
    pub tool: String,
    /// The placeholders.
    pub placeholders: Vec<ArgumentPlaceholder>,
    /// A result for the call that says to the model why it was not run.
    pub reason: String,
}

/// The first words of every reason. A result that begins with them is midfold's, and no content of the conversation.
const REASON: &str = "[Not run: the argument";

/// The longest mark that a reason quotes, in characters.
const QUOTED: usize = 160;

impl ArgumentPlaceholder {
    /// Says to the model why its call was not run.
    #[must_use]
    pub fn reason(&self) -> String {
        let mark = crate::salient::shorten(&self.mark, QUOTED);
        let argument = match self.argument.as_str() {
            "" => String::new(),
            argument => format!(" `{argument}`"),
        };
        let of = match &self.messages[..] {
            [] => String::new(),
            all => format!(
                " of {}",
                all.iter().map(|at| format!("@{at}")).collect::<Vec<_>>().join(", ")
            ),
        };
        format!(
            "{REASON}{argument} holds a placeholder, and nothing was changed. \"{mark}\" is in the place of text{of} \
             that was left out of your context; it is no content. Call again with the text itself, or read the source \
             anew.]"
        )
    }
}
