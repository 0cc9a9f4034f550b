//! What the providers accept: profiles as data, and the validators that apply them.

mod claude;
mod content;
mod pairing;
mod roles;
mod server_tools;
mod templates;
mod validate;
mod violations;

use midfold_core::profile::{
    ArgumentForm, PairingRule, PictureCount, ReasoningBinding, ReasoningText,
};
use midfold_core::{ProviderProfile, Role};

use crate::dialect::DialectKind;

pub use validate::{Validator, rules, validate, validate_views};

/// `OpenAI` Chat Completions.
pub const OPENAI: ProviderProfile = ProviderProfile {
    name: "openai",
    dialect: "openai-chat",
    pairing: PairingRule::Adjacent,
    merges_roles: false,
    has_items: false,
    alternates: false,
    user_after_tool: true,
    user_first: false,
    system_leading: false,
    empty_text: true,
    whole_turns: false,
    empty_ids: false,
    unique_ids: false,
    longest_id: 40,
    pictures: None,
    arguments: ArgumentForm::Text,
    reasoning: ReasoningBinding::Free,
    reasoning_text: ReasoningText::Free,
    recap_role: Role::User,
};

/// `OpenAI` Responses: an output pairs by `call_id`, wherever it is.
pub const RESPONSES: ProviderProfile = ProviderProfile {
    name: "responses",
    dialect: "openai-responses",
    pairing: PairingRule::Anywhere,
    has_items: true,
    longest_id: 64,
    // <https://platform.openai.com/docs/guides/images-vision>: 500, and 1,500 since its larger windows.
    pictures: Some(PictureCount { most: 500, in_large: 1_500 }),
    ..OPENAI
};

/// Anthropic Messages: neighbours of the same role are one turn.
pub const ANTHROPIC: ProviderProfile = ProviderProfile {
    name: "anthropic",
    dialect: "anthropic",
    merges_roles: true,
    user_first: true,
    empty_text: false,
    unique_ids: true,
    longest_id: 64,
    // <https://platform.claude.com/docs/en/build-with-claude/vision>
    pictures: Some(PictureCount { most: 100, in_large: 600 }),
    arguments: ArgumentForm::Object,
    ..OPENAI
};

/// AWS Bedrock Converse: user and assistant alternate, and all results of a step are in one message.
pub const BEDROCK: ProviderProfile = ProviderProfile {
    name: "bedrock",
    dialect: "bedrock",
    alternates: true,
    user_after_tool: false,
    user_first: true,
    whole_turns: true,
    empty_text: false,
    longest_id: 64,
    arguments: ArgumentForm::Object,
    ..OPENAI
};

/// Gemini `generateContent`: the same rules as Bedrock, but calls may lack an id.
pub const GEMINI: ProviderProfile =
    ProviderProfile { name: "gemini", dialect: "gemini", empty_ids: true, ..BEDROCK };

/// Ollama: its templates take any order of roles, and results may name only their tool.
pub const OLLAMA: ProviderProfile = ProviderProfile {
    name: "ollama",
    dialect: "ollama",
    empty_ids: true,
    longest_id: 64,
    arguments: ArgumentForm::Object,
    ..OPENAI
};

/// The chat templates of Mistral and similar models: roles alternate strictly, and no user follows a tool.
pub const STRICT: ProviderProfile = ProviderProfile {
    name: "strict",
    alternates: true,
    user_after_tool: false,
    user_first: true,
    system_leading: true,
    arguments: ArgumentForm::JsonText,
    ..OPENAI
};

/// DeepSeek: results directly follow their call, and a model that thinks wants its reasoning back.
pub const DEEPSEEK: ProviderProfile = ProviderProfile {
    name: "deepseek",
    arguments: ArgumentForm::JsonText,
    reasoning_text: ReasoningText::Kept,
    ..OPENAI
};

/// Training rows: no provider reads them, but calls and responses have to pair.
pub const SHAREGPT: ProviderProfile =
    ProviderProfile { name: "sharegpt", dialect: "sharegpt", empty_ids: true, ..OPENAI };

/// All profiles.
pub const ALL: &[ProviderProfile] =
    &[OPENAI, RESPONSES, ANTHROPIC, GEMINI, BEDROCK, OLLAMA, STRICT, DEEPSEEK, SHAREGPT];

/// The profile of this name. `None` for an unknown name.
///
/// ```
/// use midfold_formats::profile;
/// assert_eq!(profile::by_name("strict"), Some(&profile::STRICT));
/// assert_eq!(profile::by_name("lenient"), None);
/// ```
#[must_use]
pub fn by_name(name: &str) -> Option<&'static ProviderProfile> {
    ALL.iter().find(|profile| profile.name == name)
}

/// The rules of a model that is asked in this dialect: those of its chat template where the name says that it has a
/// strict one, else those of the dialect's own provider. Only Chat Completions reaches such templates as they are
/// (llama.cpp, vLLM, Mistral's own API); Ollama's take any order.
///
/// ```
/// use midfold_formats::{DialectKind, profile};
/// let of = |model| profile::of_model(DialectKind::OpenAiChat, model).name;
/// assert_eq!(of("devstral-small-2-24b"), "strict");
/// assert_eq!(of("gpt-5.1"), "openai");
/// ```
#[must_use]
pub fn of_model(kind: DialectKind, model: &str) -> ProviderProfile {
    let own = for_dialect(kind).first().copied().unwrap_or(OPENAI);
    let is_strict = kind == DialectKind::OpenAiChat && templates::takes_turns(model);
    for_model(if is_strict { STRICT } else { own }, model)
}

/// The profile with the rules of this model: what its arguments have to be, whether it wants its reasoning back as text,
/// and whether it binds signed reasoning to all messages before it. Claude does from version 5.5 on. Families that are younger than Opus, Sonnet and Haiku always do (Anthropic
/// documents it for Fable 5.1, Mythos 5.1, Opus 5.5, Sonnet 5.5 and Haiku 5.5).
///
/// ```
/// use midfold_core::profile::ReasoningBinding::{Free, OpenRound};
/// use midfold_formats::profile::{ANTHROPIC, BEDROCK, for_model};
/// assert_eq!(for_model(ANTHROPIC, "claude-opus-5-5-20260901").reasoning, OpenRound);
/// assert_eq!(for_model(ANTHROPIC, "claude-sonnet-4-5").reasoning, Free);
/// assert_eq!(for_model(BEDROCK, "us.anthropic.claude-opus-6-v1:0").reasoning, OpenRound);
/// ```
#[must_use]
pub fn for_model(profile: ProviderProfile, model: &str) -> ProviderProfile {
    let binding = match profile.dialect {
        _ if !claude::binds_reasoning(model) => ReasoningBinding::Free,
        "anthropic" | "bedrock" => ReasoningBinding::OpenRound,
        // Gateways carry Claude's blocks in Chat Completions and pair them with the calls themselves.
        "openai-chat" => ReasoningBinding::Prefix,
        _ => ReasoningBinding::Free,
    };
    let mut own = ProviderProfile { reasoning: profile.reasoning.max(binding), ..profile };
    if profile.dialect != OPENAI.dialect {
        return own;
    }
    // Servers of open models give the arguments to a chat template as JSON. OpenAI's own take any text.
    if templates::reads_arguments(model) {
        own.arguments = ArgumentForm::JsonText;
    }
    if templates::wants_reasoning(model) {
        own.reasoning_text = own.reasoning_text.max(ReasoningText::Kept);
    }
    own
}

/// The profiles that fit a dialect. The first one is that of the dialect's own provider.
#[must_use]
pub fn for_dialect(kind: DialectKind) -> &'static [ProviderProfile] {
    match kind {
        DialectKind::OpenAiChat => &[OPENAI, STRICT, DEEPSEEK],
        DialectKind::OpenAiResponses => &[RESPONSES],
        DialectKind::Anthropic => &[ANTHROPIC],
        DialectKind::Gemini => &[GEMINI],
        DialectKind::Bedrock => &[BEDROCK],
        DialectKind::Ollama => &[OLLAMA],
        DialectKind::ShareGpt => &[SHAREGPT],
    }
}
