//! What the providers accept: profiles as data, and the validators that apply them.

mod content;
mod found;
mod pairing;
mod roles;
mod validate;

use midfold_core::profile::Pairing;
use midfold_core::{Profile, Role};

use crate::dialect::DialectKind;

pub use validate::{Validator, rules, validate, validate_views};

/// `OpenAI` Chat Completions.
pub const OPENAI: Profile = Profile {
    name: "openai",
    dialect: "openai-chat",
    pairing: Pairing::Adjacent,
    merges_roles: false,
    has_items: false,
    alternates: false,
    user_after_tool: true,
    user_first: false,
    system_leading: false,
    empty_text: true,
    whole_turns: false,
    reasoning_bound: false,
    recap_role: Role::User,
};

/// `OpenAI` Responses: outputs pair by `call_id`, wherever they stand.
pub const RESPONSES: Profile = Profile {
    name: "responses",
    dialect: "openai-responses",
    pairing: Pairing::Anywhere,
    has_items: true,
    ..OPENAI
};

/// Anthropic Messages: one role in a row is one turn.
pub const ANTHROPIC: Profile = Profile {
    name: "anthropic",
    dialect: "anthropic",
    merges_roles: true,
    user_first: true,
    empty_text: false,
    ..OPENAI
};

/// AWS Bedrock Converse: user and assistant take turns, and all results of a step are in one message.
pub const BEDROCK: Profile = Profile {
    name: "bedrock",
    dialect: "bedrock",
    alternates: true,
    user_after_tool: false,
    user_first: true,
    whole_turns: true,
    empty_text: false,
    ..OPENAI
};

/// Gemini `generateContent`: the same turns.
pub const GEMINI: Profile = Profile { name: "gemini", dialect: "gemini", ..BEDROCK };

/// The chat templates of Mistral and its kin: strict alternation, no user after a tool.
pub const STRICT: Profile = Profile {
    name: "strict",
    alternates: true,
    user_after_tool: false,
    user_first: true,
    system_leading: true,
    ..OPENAI
};

/// DeepSeek: results right after their call.
pub const DEEPSEEK: Profile = Profile { name: "deepseek", ..OPENAI };

/// Training rows: no provider reads them, but calls and responses have to pair.
pub const SHAREGPT: Profile = Profile { name: "sharegpt", dialect: "sharegpt", ..OPENAI };

/// All profiles.
pub const ALL: &[Profile] =
    &[OPENAI, RESPONSES, ANTHROPIC, GEMINI, BEDROCK, STRICT, DEEPSEEK, SHAREGPT];

/// The profile of this name.
///
/// ```
/// use midfold_formats::profile;
/// assert_eq!(profile::by_name("strict"), Some(&profile::STRICT));
/// assert_eq!(profile::by_name("lenient"), None);
/// ```
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Profile> {
    ALL.iter().find(|profile| profile.name == name)
}

/// Models that bind every thinking block to the exact bytes before it (Anthropic documents it):
/// once something before it was folded, such a block is void and has to go.
const BINDS_THINKING: &[&str] = &[
    "claude-fable-5",
    "claude-mythos-5",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
];

/// The profile as this model asks for it.
///
/// ```
/// use midfold_formats::profile::{ANTHROPIC, BEDROCK, for_model};
/// assert!(for_model(ANTHROPIC, "claude-opus-5-5-20260901").reasoning_bound);
/// assert!(!for_model(ANTHROPIC, "claude-sonnet-4-5").reasoning_bound);
/// assert!(for_model(BEDROCK, "us.anthropic.claude-opus-5-5-20260901-v1:0").reasoning_bound);
/// ```
#[must_use]
pub fn for_model(profile: Profile, model: &str) -> Profile {
    let model = model.to_ascii_lowercase().replace('.', "-");
    let reaches_claude = matches!(profile.dialect, "anthropic" | "bedrock");
    let binds = reaches_claude && BINDS_THINKING.iter().any(|m| model.contains(m));
    Profile { reasoning_bound: profile.reasoning_bound || binds, ..profile }
}

/// The profiles that fit a dialect, its own provider's first.
#[must_use]
pub fn for_dialect(kind: DialectKind) -> &'static [Profile] {
    match kind {
        DialectKind::OpenAiChat => &[OPENAI, STRICT, DEEPSEEK],
        DialectKind::OpenAiResponses => &[RESPONSES],
        DialectKind::Anthropic => &[ANTHROPIC],
        DialectKind::Gemini => &[GEMINI],
        DialectKind::Bedrock => &[BEDROCK],
        DialectKind::ShareGpt => &[SHAREGPT],
    }
}
