//! The validator: a pure function over a context.

use midfold_core::{Block, BlockKind, Profile, Role, View, Violation};

use super::pairing;
use crate::dialect::{DialectKind, inside};

/// A message with its view.
pub(super) type Message<'a> = (&'a [u8], &'a View);

/// Checks the messages of a context against a profile. A context that ends on the assistant is a
/// history that goes on, not a prefill, and calls in its newest step may still be open.
///
/// ```
/// use midfold_formats::{DialectKind, profile};
/// let context = [
///     r#"{"role":"user","content":"hi"}"#,
///     r#"{"role":"tool","tool_call_id":"call_1","content":"ok"}"#,
/// ];
/// let found = profile::validate(&context, DialectKind::OpenAiChat, &profile::OPENAI);
/// assert_eq!((found[0].rule, found[0].index), ("orphan-result", 1));
/// ```
#[must_use]
pub fn validate(
    context: &[impl AsRef<[u8]>],
    dialect: DialectKind,
    profile: &Profile,
) -> Vec<Violation> {
    let dialect = dialect.dialect();
    let views: Vec<_> = context.iter().map(|message| dialect.view(message.as_ref())).collect();
    let messages: Vec<_> = context.iter().map(AsRef::as_ref).zip(&views).collect();
    validate_views(&messages, profile)
}

/// [`validate`] over views that are made already. Violations in order of index.
#[must_use]
pub fn validate_views(context: &[(&[u8], &View)], profile: &Profile) -> Vec<Violation> {
    let mut found = pairing::check(context, profile);
    check_roles(context, profile, &mut found);
    match DialectKind::from_name(profile.dialect) {
        Some(DialectKind::Anthropic) => check_anthropic_system(context, profile, &mut found),
        Some(DialectKind::OpenAiResponses) => check_reasoning(context, profile, &mut found),
        _ => {}
    }
    check_empty(context, profile, &mut found);
    found.sort_by_key(|violation| violation.index);
    found
}

pub(super) fn violation(
    profile: &Profile,
    rule: &'static str,
    index: usize,
    detail: String,
) -> Violation {
    Violation { rule, index, detail, provider_text: provider_text(profile, rule) }
}

/// The provider's words for a broken rule.
fn provider_text(profile: &Profile, rule: &str) -> &'static str {
    const MISTRAL: &str = "After the optional system message, conversation roles must alternate \
                           user and assistant roles except for tool calls and results";
    match (profile.name, rule) {
        ("anthropic", "orphan-result" | "results-not-adjacent") => {
            "unexpected `tool_use_id` found in `tool_result` blocks. Each `tool_result` block \
             must have a corresponding `tool_use` block in the previous message."
        }
        ("anthropic", "unanswered-call") => {
            "`tool_use` ids were found without `tool_result` blocks immediately after. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message."
        }
        ("anthropic", "double-result") => "each tool_use must have a single result",
        ("anthropic", "first-role") => "messages: first message must use the \"user\" role",
        ("anthropic", "system-inside") => "messages: Unexpected role \"system\"",
        ("anthropic", "empty-text") => "messages: text content blocks must be non-empty",
        ("anthropic", "no-messages") => "messages: at least one message is required",
        ("responses", "orphan-result" | "double-result") => {
            "No tool call found for function call output with call_id"
        }
        ("responses", "unanswered-call") => "No tool output found for function call",
        ("responses", "reasoning-alone") => {
            "Item of type 'reasoning' was provided without its required following item."
        }
        ("strict", "orphan-result") => "Unexpected role 'tool' after role 'user'",
        ("strict", "user-after-tool") => "Unexpected role 'user' after role 'tool'",
        ("strict", "alternation" | "first-role" | "system-inside") => MISTRAL,
        ("deepseek", "orphan-result" | "double-result" | "results-not-adjacent") => {
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
        }
        ("sharegpt", _) => "",
        (_, "orphan-result" | "double-result" | "results-not-adjacent") => {
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
             message with 'tool_calls'."
        }
        (_, "unanswered-call") => {
            "An assistant message with 'tool_calls' must be followed by tool messages responding \
             to each 'tool_call_id'"
        }
        (_, "empty-text") => "Invalid value for 'content': expected a string, got null.",
        _ => "",
    }
}

/// Who may speak when: `first-role`, `alternation`, `user-after-tool`, `system-inside`.
fn check_roles(context: &[Message<'_>], profile: &Profile, found: &mut Vec<Violation>) {
    let mut last: Option<Role> = None;
    // The last one of those that have to alternate: a message with calls does not count.
    let mut turn: Option<Role> = None;
    let mut begun = false;
    for (index, (bytes, view)) in context.iter().enumerate() {
        let role = view.role;
        if role == Role::Other {
            continue;
        }
        if role.is_system() {
            if begun && profile.system_leading {
                let detail = format!("{} message after the conversation began", role.name());
                found.push(violation(profile, "system-inside", index, detail));
            }
            continue;
        }
        if !begun && profile.user_first && role != Role::User && !is_compaction(bytes, view) {
            let detail = format!("the conversation begins with {}", role.name());
            found.push(violation(profile, "first-role", index, detail));
        }
        begun = true;
        if !profile.user_after_tool && role == Role::User && last == Some(Role::Tool) {
            let detail = "user message right after a tool result".to_owned();
            found.push(violation(profile, "user-after-tool", index, detail));
        }
        let counts = role == Role::User || (role == Role::Assistant && !view.has_calls());
        if profile.alternates && counts {
            if turn == Some(role) {
                let detail = format!("{} follows {}", role.name(), role.name());
                found.push(violation(profile, "alternation", index, detail));
            }
            turn = Some(role);
        }
        last = Some(role);
    }
}

/// The vendor's own summary may open a conversation in the assistant's role.
fn is_compaction(bytes: &[u8], view: &View) -> bool {
    view.blocks.first().is_some_and(|block| {
        block.kind == BlockKind::Opaque
            && memchr::memmem::find(block.outer.of(bytes), b"\"compaction\"").is_some()
    })
}

/// Anthropic: a system message inside `messages` follows a user turn, and precedes an assistant
/// turn or the end.
fn check_anthropic_system(context: &[Message<'_>], profile: &Profile, found: &mut Vec<Violation>) {
    let mut last = None;
    for (index, (_, view)) in context.iter().enumerate() {
        let after_system = last == Some(Role::System);
        let detail = match view.role {
            Role::Other => continue,
            Role::System if last.is_none() => "system message at the start of the messages",
            Role::System if last == Some(Role::Assistant) => "system message after the assistant",
            Role::User if after_system && index > 0 => "user message right after a system message",
            _ => "",
        };
        if !detail.is_empty() {
            found.push(violation(profile, "system-inside", index, detail.to_owned()));
        }
        last = Some(view.role);
    }
}

/// Responses: reasoning belongs to the item that follows it. At the end of the context it is
/// still open, as an unanswered call of the newest step is.
fn check_reasoning(context: &[Message<'_>], profile: &Profile, found: &mut Vec<Violation>) {
    let is_reasoning =
        |view: &View| view.blocks.iter().any(|b| matches!(b.kind, BlockKind::Reasoning { .. }));
    // From the end: whether what follows is the model's own.
    let mut followed = true;
    for (index, (_, view)) in context.iter().enumerate().rev() {
        if !is_reasoning(view) {
            followed = matches!(view.role, Role::Assistant | Role::Other);
        } else if !followed {
            let detail = "reasoning item without the item that it led to".to_owned();
            found.push(violation(profile, "reasoning-alone", index, detail));
        }
    }
}

fn check_empty(context: &[Message<'_>], profile: &Profile, found: &mut Vec<Violation>) {
    if context.is_empty() && !profile.empty_text {
        found.push(violation(profile, "no-messages", 0, "the context is empty".to_owned()));
    }
    let is_chat = profile.dialect == DialectKind::OpenAiChat.name();
    for (index, (bytes, view)) in context.iter().enumerate() {
        let says_something = |block: &Block| !matches!(block.kind, BlockKind::Reasoning { .. });
        let detail = if !profile.empty_text {
            let is_last = index + 1 == context.len();
            let may_be_empty = match view.role {
                Role::Assistant => is_last,
                Role::User => false,
                _ => true,
            };
            if view.blocks.is_empty() && !may_be_empty {
                "message without content"
            } else if view.blocks.iter().any(|block| is_blank(bytes, block)) {
                "empty text block"
            } else {
                continue;
            }
        } else if is_chat && view.role == Role::Assistant && !view.blocks.iter().any(says_something)
        {
            "assistant message with neither content nor calls"
        } else {
            continue;
        };
        found.push(violation(profile, "empty-text", index, detail.to_owned()));
    }
}

/// A text block of white space alone. Decodes only what could be that.
fn is_blank(bytes: &[u8], block: &Block) -> bool {
    block.kind == BlockKind::Text
        && block.texts.iter().all(|text| {
            let token = inside(text.token.of(bytes));
            token.iter().all(|byte| b" \\nrt".contains(byte))
                && text.decode(bytes).trim().is_empty()
        })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
