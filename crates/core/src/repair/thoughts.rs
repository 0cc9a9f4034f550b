//! Reasoning as text: some models refuse a history in which one of their messages lacks it. The real reasoning stays
//! where they do; here a message that never had any gets a blank one.

use bytes::Bytes;

use crate::dialect::Dialect;
use crate::profile::{ProviderProfile, ReasoningText};
use crate::view::{BlockView, EventView, Role};

/// The reasoning of a message that has none, as JSON. DeepSeek V4 refuses an empty text
/// (NousResearch/hermes-agent#18263), and models repeat words that all messages have (Lingtai-AI/lingtai-kernel#9).
const BLANK: &str = r#"" ""#;

/// Which messages of a context lack reasoning. A state machine.
#[derive(Clone, Debug)]
pub(super) struct ThoughtWalk {
    rule: ReasoningText,
    /// Whether a message of the model had reasoning.
    thinks: bool,
}

impl ThoughtWalk {
    pub fn new(rule: ReasoningText) -> Self {
        Self { rule, thinks: false }
    }

    /// Takes in whether messages that are not in the context had reasoning.
    pub fn note(&mut self, had_reasoning: bool) {
        self.thinks |= had_reasoning;
    }

    /// Takes in the next message. True where it needs reasoning and has none.
    pub fn push(&mut self, view: &EventView) -> bool {
        let has = has_reasoning(view);
        self.thinks |= has;
        let wants = match self.rule {
            ReasoningText::Free => false,
            ReasoningText::Kept => self.thinks,
            ReasoningText::Demanded => true,
        };
        wants && !has && view.role == Role::Assistant
    }
}

/// Whether the model wants reasoning in each message that follows these.
pub(crate) fn asks_for_reasoning<'a>(
    views: impl IntoIterator<Item = &'a EventView>,
    profile: &ProviderProfile,
) -> bool {
    profile.reasoning_text == ReasoningText::Kept && views.into_iter().any(has_reasoning)
}

fn has_reasoning(view: &EventView) -> bool {
    view.blocks.iter().any(BlockView::is_reasoning)
}

/// A message of the model with blank reasoning; `None` in formats without a place for it.
pub(crate) fn with_blank(bytes: &[u8], dialect: &dyn Dialect) -> Option<Bytes> {
    let member = dialect.reasoning_member()?;
    if let Some(at) = value_of(bytes, member, "null") {
        return Some([&bytes[..at], BLANK.as_bytes(), &bytes[at + 4..]].concat().into());
    }
    let open = bytes.trim_ascii_end().strip_suffix(b"}")?;
    Some([open, added(member).as_bytes()].concat().into())
}

/// The message as it was before it got blank reasoning; `None` where it has none.
pub(crate) fn without_blank(bytes: &[u8], dialect: &dyn Dialect) -> Option<Bytes> {
    let member = dialect.reasoning_member()?;
    if let Some(open) = bytes.strip_suffix(added(member).as_bytes()) {
        return Some([open, b"}"].concat().into());
    }
    let at = value_of(bytes, member, BLANK)?;
    Some([&bytes[..at], b"null", &bytes[at + BLANK.len()..]].concat().into())
}

/// The end of a message to which blank reasoning was added.
fn added(member: &str) -> String {
    format!(",\"{member}\":{BLANK}}}")
}

/// The place of a member's value where it is this one. Inside a string the quotes of the name would be escaped, so what
/// is found is the member itself.
fn value_of(bytes: &[u8], member: &str, value: &str) -> Option<usize> {
    let name = format!("\"{member}\":");
    let at = memchr::memmem::find(bytes, name.as_bytes())? + name.len();
    let space = bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    bytes[at + space..].starts_with(value.as_bytes()).then_some(at + space)
}
