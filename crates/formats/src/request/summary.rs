//! Recognises a client that compacts its own history and asks the model for a summary. Folding such a request would
//! have the model summarise a summary.
//!
//! The words of such a request also occur in files that an agent reads and in what users say about their software. So
//! they count only near the start of a text, and only where clients write them.

use bytes::Bytes;
use midfold_core::{BlockKind, BlockView, EventView, Role, Voice};

use super::Request;
use crate::DialectKind;
use crate::convert::system_message;

/// A place where clients write that they want a summary.
struct SummaryPlace {
    /// The phrases there (measured with the clients named).
    phrases: &'static [&'static str],
    /// The bytes of each text in which a phrase starts.
    opening: usize,
}

/// The system prompt, which is then the summariser's own.
const SYSTEM: SummaryPlace = SummaryPlace {
    phrases: &[
        // Qwen Code, Gemini CLI
        "component that summarizes",
        // opencode, pi
        "context summarization",
        "summarization agent creating a context checkpoint",
        "Context Extraction Assistant",
    ],
    opening: 256,
};

/// The last message. Claude Code writes some rules for the answer before the phrase.
const END: SummaryPlace = SummaryPlace {
    phrases: &[
        // Codex
        "CONTEXT CHECKPOINT COMPACTION",
        // Claude Code
        "Your task is to create a detailed summary of the conversation so far",
        // Qwen Code
        "component that summarizes",
        // Hermes Agent
        "summarization agent creating a context checkpoint",
        // LangChain, deepagents
        "Context Extraction Assistant",
    ],
    opening: 1 << 10,
};

/// The most messages that a client's system prompt takes (opencode: two).
const MOST_SYSTEM: usize = 4;

/// Whether the client asks for a summary of its own, in its last message or in the system prompt.
///
/// ```
/// use midfold_formats::{DialectKind, request::{Request, is_summary_request}};
/// let body = r#"{"messages":[{"role":"user","content":"Your task is to create a detailed summary of the conversation so far, …"}]}"#;
/// let request = Request::read(DialectKind::Anthropic, body.into())?;
/// assert!(is_summary_request(&request));
/// # Ok::<(), midfold_formats::request::RequestError>(())
/// ```
#[must_use]
pub fn is_summary_request(request: &Request) -> bool {
    let (kind, last) = (request.kind(), request.len().saturating_sub(1));
    let ends = SpokenMessage::read(kind, request.message(last));
    if ends.is_from(&[Role::User]) && ends.opens(&END) {
        return true;
    }
    let beside = request.system.as_ref().map(|system| match kind {
        // It has the form of a message.
        DialectKind::Gemini => SpokenMessage::read(kind, system.clone()),
        _ => SpokenMessage::read(kind, system_message(system)),
    });
    let among =
        request.messages().take(MOST_SYSTEM).map(|message| SpokenMessage::read(kind, message));
    let among = among.take_while(|message| message.is_from(&[Role::System, Role::Developer]));
    beside.into_iter().chain(among).any(|message| message.opens(&SYSTEM))
}

/// A message with its view.
struct SpokenMessage {
    kind: DialectKind,
    bytes: Bytes,
    view: EventView,
}

impl SpokenMessage {
    fn read(kind: DialectKind, bytes: Bytes) -> Self {
        let view = kind.dialect().view(&bytes);
        Self { kind, bytes, view }
    }

    fn is_from(&self, roles: &[Role]) -> bool {
        roles.contains(&self.view.role)
    }

    /// Whether one of the texts opens with a phrase of this place.
    fn opens(&self, place: &SummaryPlace) -> bool {
        let texts = self.view.blocks.iter().filter(|block| block.kind == BlockKind::Text);
        texts.into_iter().any(|block| self.holds(block, place) && !self.is_passed_on(block))
    }

    fn holds(&self, block: &BlockView, place: &SummaryPlace) -> bool {
        block.texts.iter().any(|text| {
            let token = text.token.of(&self.bytes);
            let near = &token[..token.len().min(place.opening)];
            place
                .phrases
                .iter()
                .any(|phrase| memchr::memmem::find(near, phrase.as_bytes()).is_some())
        })
    }

    /// Whether a text begins with what a client passes on to the model: context, or the result of a tool.
    fn is_passed_on(&self, block: &BlockView) -> bool {
        let text = block.text(&self.bytes);
        let first = self.kind.dialect().client_words().passages(&[&text]).into_iter().next();
        first.is_some_and(|first| matches!(first.voice, Voice::Client | Voice::Tool))
    }
}
