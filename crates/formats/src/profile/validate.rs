//! The validator: checks a context message by message.

use midfold_core::ProviderRules;
use midfold_core::jsonstr::without_halves;
use midfold_core::{EventView, ProviderProfile, Violation};

use super::content::ContentWalk;
use super::pairing::PairingWalk;
use super::roles::Roles;
use super::server_tools::ServerToolWalk;
use super::violations::{FoundViolations, MessageAt, RuleRank};
use crate::dialect::DialectKind;

/// Checks the messages of a context against a profile. A context that ends on the assistant is an unfinished history
/// and no prefill, and the calls of its newest step may still be open.
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
    profile: &ProviderProfile,
) -> Vec<Violation> {
    let dialect = dialect.dialect();
    let views: Vec<_> = context.iter().map(|message| dialect.view(message.as_ref())).collect();
    let messages: Vec<_> = context.iter().map(AsRef::as_ref).zip(&views).collect();
    validate_views(&messages, profile)
}

/// [`validate`] for messages whose views exist already. Returns the violations in order of index.
#[must_use]
pub fn validate_views(
    context: &[(&[u8], &EventView)],
    profile: &ProviderProfile,
) -> Vec<Violation> {
    let mut validator = Validator::new(profile);
    context.iter().for_each(|(bytes, view)| validator.push(bytes, view));
    validator.violations()
}

/// [`validate`] for a context that grows: a caller that sends the same context again with more messages checks each
/// message once.
///
/// ```
/// use midfold_formats::{DialectKind, profile};
/// let dialect = DialectKind::OpenAiChat.dialect();
/// let mut validator = profile::Validator::new(&profile::OPENAI);
/// for message in [r#"{"role":"user","content":"hi"}"#, r#"{"role":"assistant","content":"ho"}"#] {
///     validator.push(message.as_bytes(), &dialect.view(message.as_bytes()));
///     assert!(validator.violations().is_empty());
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Validator {
    profile: ProviderProfile,
    /// The number of messages so far.
    len: usize,
    pairs: PairingWalk,
    server_tools: ServerToolWalk,
    roles: Roles,
    content: ContentWalk,
    violations: FoundViolations,
}

impl Validator {
    /// A validator for an empty context.
    #[must_use]
    pub fn new(profile: &ProviderProfile) -> Self {
        Self {
            profile: *profile,
            len: 0,
            pairs: PairingWalk::new(profile),
            server_tools: ServerToolWalk::default(),
            roles: Roles::default(),
            content: ContentWalk::default(),
            violations: FoundViolations::default(),
        }
    }

    /// Adds the next message.
    pub fn push(&mut self, bytes: &[u8], view: &EventView) {
        let index = self.len;
        self.len += 1;
        let at = MessageAt { profile: &self.profile, index, bytes, view };
        self.pairs.push(at, &mut self.violations);
        self.server_tools.push(at, &mut self.violations);
        self.roles.push(at, &mut self.violations);
        self.content.push(at, &mut self.violations);
        if without_halves(bytes).is_some() {
            let detail = "a string escapes half a character alone".to_owned();
            self.violations.report(RuleRank::Content, "half-character", index, detail);
        }
    }

    /// The violations of a context that ends here, in order of index.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let end = self.end();
        let mut all: Vec<_> = self.violations.0.iter().chain(&end.0).collect();
        // The sort is stable: violations of one message and rank keep the order in which they were found.
        all.sort_by_key(|(rank, index, ..)| (*index, *rank));
        all.into_iter().map(|entry| violation(&self.profile, entry)).collect()
    }

    /// The violations that exist only if no more messages follow.
    fn end(&self) -> FoundViolations {
        let mut violations = FoundViolations::default();
        self.pairs.finish(&mut violations);
        self.content.finish(&self.profile, self.len, &mut violations);
        violations
    }
}

impl ProviderRules for Validator {
    fn push(&mut self, bytes: &[u8], view: &EventView) {
        self.push(bytes, view);
    }

    fn violations(&self) -> usize {
        self.violations.0.len() + self.end().0.len()
    }

    fn fork(&self) -> Box<dyn ProviderRules> {
        Box::new(self.clone())
    }
}

/// A function that makes empty validators, for a replay.
pub fn rules(profile: &ProviderProfile) -> impl Fn() -> Box<dyn ProviderRules> + use<> {
    let new = Validator::new(profile);
    move || Box::new(new.clone())
}

fn violation(
    profile: &ProviderProfile,
    (_, index, rule, detail): &(RuleRank, usize, &'static str, String),
) -> Violation {
    let provider_text = provider_text(profile, rule);
    Violation { rule, index: *index, detail: detail.clone(), provider_text }
}

/// The provider's own error text for a broken rule. Empty where none is known.
fn provider_text(profile: &ProviderProfile, rule: &str) -> &'static str {
    let own = match profile.name {
        "anthropic" => anthropic_text(rule),
        "responses" => responses_text(rule),
        "strict" => strict_text(rule),
        "deepseek" => deepseek_text(rule),
        "gemini" => gemini_text(rule),
        "bedrock" => bedrock_text(rule),
        // No provider reads `sharegpt`, and Ollama's templates refuse nothing.
        "sharegpt" | "ollama" => Some(""),
        _ => None,
    };
    own.or_else(|| openai_text(rule)).unwrap_or_default()
}

fn anthropic_text(rule: &str) -> Option<&'static str> {
    let text = match rule {
        "orphan-result" | "results-not-adjacent" => {
            "unexpected `tool_use_id` found in `tool_result` blocks. Each `tool_result` block \
             must have a corresponding `tool_use` block in the previous message."
        }
        "unanswered-call" => {
            "`tool_use` ids were found without `tool_result` blocks immediately after. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message."
        }
        "lone-server-result" => {
            "unexpected `tool_use_id` found in `web_search_tool_result` blocks. Each \
             `web_search_tool_result` block must have a corresponding `server_tool_use` block \
             before it."
        }
        "lone-server-call" => {
            "`web_search` tool use was found without a corresponding `web_search_tool_result` block"
        }
        "double-result" => "each tool_use must have a single result",
        "duplicate-id" => "messages: `tool_use` ids must be unique",
        "first-role" => "messages: first message must use the \"user\" role",
        "system-inside" => "messages: Unexpected role \"system\"",
        "half-character" => "The request body is not valid JSON: no low surrogate in string",
        "empty-text" => "messages: text content blocks must be non-empty",
        "no-messages" => "messages: at least one message is required",
        _ => return None,
    };
    Some(text)
}

fn responses_text(rule: &str) -> Option<&'static str> {
    let text = match rule {
        "orphan-result" | "double-result" | "wrong-result" => {
            "No tool call found for function call output with call_id"
        }
        "unanswered-call" => "No tool output found for function call",
        "reasoning-alone" => {
            "Item of type 'reasoning' was provided without its required following item."
        }
        _ => return None,
    };
    Some(text)
}

fn strict_text(rule: &str) -> Option<&'static str> {
    const MISTRAL: &str = "After the optional system message, conversation roles must alternate \
                           user and assistant roles except for tool calls and results";
    let text = match rule {
        "orphan-result" => "Unexpected role 'tool' after role 'user'",
        "user-after-tool" => "Unexpected role 'user' after role 'tool'",
        "alternation" | "first-role" | "system-inside" => MISTRAL,
        _ => return None,
    };
    Some(text)
}

fn deepseek_text(rule: &str) -> Option<&'static str> {
    let text = match rule {
        "orphan-result" | "double-result" | "results-not-adjacent" => {
            "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
        }
        _ => return None,
    };
    Some(text)
}

fn gemini_text(rule: &str) -> Option<&'static str> {
    let text = match rule {
        "orphan-result" | "double-result" | "unanswered-call" | "duplicate-id" => {
            "Please ensure that the number of function response parts is equal to the number of \
             function call parts of the function call turn."
        }
        "results-not-adjacent" => {
            "Please ensure that function response turn comes immediately after a function call turn."
        }
        "alternation" | "first-role" => {
            "Please ensure that multiturn requests alternate between user and model"
        }
        "system-inside" => "Please use a valid role: user, model.",
        "empty-text" => "Unable to submit request because it has an empty text parameter.",
        "no-messages" => "contents is not specified",
        _ => return None,
    };
    Some(text)
}

fn bedrock_text(rule: &str) -> Option<&'static str> {
    let text = match rule {
        "orphan-result" | "double-result" | "results-not-adjacent" => {
            "The number of toolResult blocks exceeds the number of toolUse blocks of previous turn."
        }
        "unanswered-call" | "duplicate-id" => {
            "Expected toolResult blocks for each of the toolUse blocks of the previous turn."
        }
        "alternation" => {
            "A conversation must alternate between user and assistant roles. Make sure the \
             conversation alternates between user and assistant roles and try again."
        }
        "first-role" | "system-inside" => {
            "A conversation must start with a user message. Try again with a conversation that \
             starts with a user message."
        }
        "empty-text" => {
            "The text field in the ContentBlock object is blank. Add text to the text field, and \
             try again."
        }
        "no-messages" => "A conversation must have at least one message.",
        _ => return None,
    };
    Some(text)
}

fn openai_text(rule: &str) -> Option<&'static str> {
    let text = match rule {
        "no-reasoning" => {
            "The `reasoning_content` in the thinking mode must be passed back to the API."
        }
        "orphan-result" | "double-result" | "results-not-adjacent" => {
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
             message with 'tool_calls'."
        }
        "unanswered-call" | "duplicate-id" => {
            "An assistant message with 'tool_calls' must be followed by tool messages responding \
             to each 'tool_call_id'"
        }
        "empty-text" => "Invalid value for 'content': expected a string, got null.",
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
