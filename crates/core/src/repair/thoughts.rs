//! Reasoning as text: some models refuse a history in which one of their messages lacks it. The real reasoning stays
//! where they do; here a message that never had any gets a blank one.

use bytes::Bytes;

use crate::dialect::Dialect;
use crate::profile::{ProviderProfile, ReasoningText};
use crate::view::{EventView, Role};

/// The reasoning of a message that has none, as JSON. DeepSeek V4 refuses an empty text
/// (NousResearch/hermes-agent#18263), and models repeat words that all messages have (Lingtai-AI/lingtai-kernel#9).
const BLANK: &str = r#"" ""#;
/// The reasoning of a message that has an empty one, so that [`without_blank`] knows which it was.
const BLANK_OF_EMPTY: &str = r#""  ""#;
/// What a member without reasoning holds, and what takes its place.
const PLACES: [(&str, &str); 2] = [("null", BLANK), (r#""""#, BLANK_OF_EMPTY)];

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
        let has = view.has_reasoning();
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
    profile.reasoning_text == ReasoningText::Kept && views.into_iter().any(EventView::has_reasoning)
}

/// A message of the model with blank reasoning; `None` in formats without a place for it.
pub(crate) fn with_blank(bytes: &[u8], dialect: &dyn Dialect) -> Option<Bytes> {
    let member = dialect.reasoning_member()?;
    if let Some(at) = value_of(bytes, member) {
        return swapped(bytes, at, PLACES);
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
    swapped(bytes, value_of(bytes, member)?, PLACES.map(|(empty, blank)| (blank, empty)))
}

/// A message whose value at this place is another; `None` where it is not one of the first of these.
fn swapped(bytes: &[u8], at: usize, places: [(&str, &str); 2]) -> Option<Bytes> {
    let (from, to) =
        places.into_iter().find(|(from, _)| bytes[at..].starts_with(from.as_bytes()))?;
    Some([&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat().into())
}

/// The end of a message to which blank reasoning was added.
fn added(member: &str) -> String {
    format!(",\"{member}\":{BLANK}}}")
}

/// The place of the value of a member of the message itself; one of an object in it is another.
fn value_of(bytes: &[u8], member: &str) -> Option<usize> {
    let space = |at: usize| at + bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let from = at;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let is_it = depth == 1 && bytes[from..at] == *member.as_bytes();
                at += 1;
                let colon = space(at);
                if is_it && bytes.get(colon) == Some(&b':') {
                    return Some(space(colon + 1));
                }
            }
            _ => {}
        }
    }
    None
}
