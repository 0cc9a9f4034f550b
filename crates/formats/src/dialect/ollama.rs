//! Ollama's `/api/chat`: the messages of Chat Completions, but arguments are objects, images are beside the text, and
//! results name their tool. A call has an id only where the server is new and the client keeps the id.

use bytes::Bytes;
use midfold_core::{BlockKind, BlockView, ClientWords, Dialect, EventView, Role};

use super::OpenAiChat;
use crate::client_words::KnownClients;
use crate::render::{Json, result_text};

/// The dialect `ollama`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ollama;

impl Dialect for Ollama {
    fn client_words(&self) -> &dyn ClientWords {
        &KnownClients
    }

    fn name(&self) -> &'static str {
        "ollama"
    }

    /// Reads a message as one of Chat Completions. Members that Ollama lacks are read too, because gateways pass them
    /// on.
    fn view(&self, bytes: &[u8]) -> EventView {
        OpenAiChat.view(bytes)
    }

    fn made_message(&self, role: Role, text: &str) -> Bytes {
        let role = match role {
            Role::System | Role::Developer => Role::System,
            Role::Assistant => Role::Assistant,
            Role::User | Role::Tool | Role::Other => Role::User,
        };
        message(role.name(), text).raw("}").finish()
    }

    fn made_result(&self, _like: &[u8], id: &str, name: &str, text: &str) -> Bytes {
        result(id, name, text).raw("}").finish()
    }

    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes {
        let has_parts =
            |at: &usize| view.blocks.get(*at).is_some_and(|block| !block.media.is_empty());
        if blocks.iter().any(has_parts) {
            return OpenAiChat.results_as_text(bytes, view, blocks);
        }
        let texts: Vec<_> = blocks.iter().map(|&index| result_text(bytes, view, index)).collect();
        let json = message(Role::User.name(), &texts.join("\n"));
        let is_pictures = |block: &&BlockView| block.kind == BlockKind::Media;
        match view.blocks.iter().find(is_pictures) {
            Some(pictures) => json.raw(",").raw(pictures.outer.of(bytes)),
            None => json,
        }
        .raw("}")
        .finish()
    }
}

/// A message with this content, without its closing brace.
pub(crate) fn message(role: &str, content: &str) -> Json {
    Json::default().raw(r#"{"role":""#).raw(role).raw(r#"","content":"#).text(content)
}

/// A tool message with this content, without its closing brace.
pub(crate) fn result(id: &str, name: &str, content: &str) -> Json {
    let json = Json::default().raw(r#"{"role":"tool""#);
    let json = if name.is_empty() { json } else { json.raw(r#","tool_name":"#).text(name) };
    let json = if id.is_empty() { json } else { json.raw(r#","tool_call_id":"#).text(id) };
    json.raw(r#","content":"#).text(content)
}
