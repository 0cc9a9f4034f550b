//! Recognises a client that compacts its own history and asks the model for a summary. Folding such a request would
//! have the model summarise a summary.

use super::Request;

/// Phrases that clients write into the request for a summary (measured with the clients named).
const PHRASES: &[&str] = &[
    // Codex
    "CONTEXT CHECKPOINT COMPACTION",
    // Claude Code
    "Your task is to create a detailed summary of the conversation so far",
    // Qwen Code, Gemini CLI
    "component that summarizes",
    // opencode, pi
    "context summarization",
    // Hermes Agent
    "summarization agent creating a context checkpoint",
    // LangChain, deepagents
    "Context Extraction Assistant",
];

/// The bytes at the end of a message in which a phrase is searched. Clients put it after the results that the message
/// also holds.
const NEAR_END: usize = 64 << 10;

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
    let last = request.message(request.len().saturating_sub(1));
    let end = &last[last.len().saturating_sub(NEAR_END)..];
    let first = request.message(0);
    let system = request.system.as_deref().unwrap_or_default();
    // A first message that is no system prompt belongs to the conversation.
    let first = if request.len() > 1 && is_system(request, &first) { &first[..] } else { b"" };
    [end, first, system].into_iter().any(says)
}

fn is_system(request: &Request, message: &[u8]) -> bool {
    use midfold_core::Role;
    let role = request.kind().dialect().view(message).role;
    matches!(role, Role::System | Role::Developer)
}

fn says(text: &[u8]) -> bool {
    PHRASES.iter().any(|phrase| memchr::memmem::find(text, phrase.as_bytes()).is_some())
}
