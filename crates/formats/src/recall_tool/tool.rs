//! The descriptions and schemas of midfold's own tools, as a model reads them.

use crate::DialectKind;
use crate::own_tools::OwnTool;
use crate::vendor::write::ObjectWriter;

/// The own tools that a request is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ToolOffer {
    /// Whether it is given the tool that reads folded events again.
    pub recall: bool,
    /// Whether it is given the tools by which an agent says what is to happen to its conversation.
    pub agent: bool,
}

/// An argument: its name, the type of its value, its description for the model, and whether a call must have it.
type ToolArgument = (&'static str, &'static str, &'static str, bool);

const RECALL: &str = "Looks up the earlier part of this conversation, which a summary or short lines stand for by now. \
    Use it when you need a detail that these lack: an exact value, a name, an error, a line, a decision. `query` \
    finds the messages that have these words; `messages` gives messages in full by their numbers, as the summary, the \
    short lines and the results of a query print them.";
const RECALL_ARGUMENTS: &[ToolArgument] = &[
    ("query", "string", "words to look for; with `messages`, only among those", false),
    (
        "messages",
        "string",
        "numbers of messages: `@12`, `12-20`, `15,12`; `15:L310-L340`, `15:4000`: a place in a long one",
        false,
    ),
];
const COMPACT: &str = "Has the older part of this conversation replaced by a summary before your next turn, so that \
    there is room again. Call it when a sub-task is finished and checked, when exploration is done and you know what to \
    do, or when long outputs are no longer needed. Do not call it in the middle of an edit, while you debug, or while \
    you still work with details of what you have read: that would be gone. It is refused while there is room enough. \
    Note what has to survive word for word first, with midfold_note or midfold_pin.";
const COMPACT_ARGUMENTS: &[ToolArgument] = &[(
    "keep",
    "string",
    "words that tell what you go on with: what is said of them gets more room in the summary",
    false,
)];
const PIN: &str = "Keeps one message of this conversation whole when older ones are replaced by a summary: a \
    specification, a plan, an exact output that you will need again. Pins take room for good, so pin little; for a \
    fact, a line with midfold_note is better.";
const PIN_ARGUMENTS: &[ToolArgument] = &[
    (
        "text",
        "string",
        "words of the message, copied exactly, from within one line; the newest message that has them is pinned",
        false,
    ),
    ("message", "string", "instead: its number, `@12`, as a summary prints it", false),
];
const NOTE: &str = "Keeps a line of yours in each summary of this conversation, in your words: a decision and its \
    reason, an exact value, what is still to be done. Write it so that it is understood without the messages around \
    it. The oldest notes are dropped when there are too many.";
const NOTE_ARGUMENTS: &[ToolArgument] =
    &[("text", "string", "the line, 500 characters at most", true)];

impl OwnTool {
    /// The description that a model reads.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Recall => RECALL,
            Self::Compact => COMPACT,
            Self::Pin => PIN,
            Self::Note => NOTE,
        }
    }

    fn arguments(self) -> &'static [ToolArgument] {
        match self {
            Self::Recall => RECALL_ARGUMENTS,
            Self::Compact => COMPACT_ARGUMENTS,
            Self::Pin => PIN_ARGUMENTS,
            Self::Note => NOTE_ARGUMENTS,
        }
    }

    /// The JSON schema of its arguments.
    #[must_use]
    pub fn schema(self) -> Vec<u8> {
        let mut properties = ObjectWriter::new();
        for (name, kind, description, _) in self.arguments() {
            let argument = ObjectWriter::of(kind).text("description", description).finish();
            properties = properties.raw(name, &argument);
        }
        let schema = ObjectWriter::of("object").raw("properties", &properties.finish());
        let needed = self.arguments().iter().filter(|(.., needed)| *needed);
        let needed: Vec<String> = needed.map(|(name, ..)| format!("\"{name}\"")).collect();
        match needed.is_empty() {
            true => schema.finish(),
            false => schema.raw("required", format!("[{}]", needed.join(",")).as_bytes()).finish(),
        }
    }

    /// The tool in the form of this dialect; `None` for a dialect whose requests are never given own tools.
    fn written(self, kind: DialectKind) -> Option<Vec<u8>> {
        let schema = self.schema();
        let named = |object: ObjectWriter| {
            object.text("name", self.name()).text("description", self.description())
        };
        Some(match kind {
            DialectKind::OpenAiChat | DialectKind::Ollama => {
                let function = named(ObjectWriter::new()).raw("parameters", &schema).finish();
                ObjectWriter::of("function").raw("function", &function).finish()
            }
            // Responses is strict by default: each argument would then be required.
            DialectKind::OpenAiResponses => {
                let tool = named(ObjectWriter::of("function")).raw("parameters", &schema);
                tool.raw("strict", b"false").finish()
            }
            DialectKind::Gemini => named(ObjectWriter::new()).raw("parameters", &schema).finish(),
            DialectKind::Anthropic => {
                named(ObjectWriter::new()).raw("input_schema", &schema).finish()
            }
            DialectKind::Bedrock | DialectKind::ShareGpt => return None,
        })
    }
}

impl ToolOffer {
    /// Whether no tool is offered.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Whether this tool is offered.
    #[must_use]
    pub fn has(self, tool: OwnTool) -> bool {
        if tool == OwnTool::Recall { self.recall } else { self.agent }
    }
}

/// The offered tools, in the form of this dialect; none for Bedrock and `ShareGPT`, whose requests are never given any.
#[must_use]
pub fn tools(kind: DialectKind, offer: ToolOffer) -> Vec<Vec<u8>> {
    let all = OwnTool::ALL.into_iter().filter(|tool| offer.has(*tool));
    all.filter_map(|tool| tool.written(kind)).collect()
}
