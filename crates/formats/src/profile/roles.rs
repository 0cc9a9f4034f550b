//! Checks the order of roles.

use midfold_core::{BlockKind, EventView, Role};

use super::violations::{FoundViolations, MessageAt, RuleRank};
use crate::dialect::DialectKind;

/// The state of the checks `first-role`, `alternation`, `user-after-tool` and `system-inside`.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    last: Option<Role>,
    /// The last role that has to alternate. A call or a result counts only where turns are whole.
    turn: Option<Role>,
    /// Whether a message other than a system message has come.
    begun: bool,
    /// The last role of any kind, for a provider that takes system messages inside the conversation.
    place: Option<Role>,
}

impl Roles {
    /// Checks the next message.
    pub fn push(&mut self, at: MessageAt<'_>, violations: &mut FoundViolations) {
        let MessageAt { profile, index, bytes, view } = at;
        let role = view.role;
        if role == Role::Other {
            return;
        }
        if profile.dialect == DialectKind::Anthropic.name() {
            self.place_system(index, role, violations);
        }
        if role.is_system() {
            let detail = match profile {
                _ if profile.whole_turns => "among the messages",
                _ if self.begun && profile.system_leading => "after the conversation began",
                _ => return,
            };
            let detail = format!("{} message {detail}", role.name());
            return violations.report(RuleRank::Roles, "system-inside", index, detail);
        }
        if !self.begun && profile.user_first && role != Role::User && !is_compaction(bytes, view) {
            let detail = format!("the conversation begins with {}", role.name());
            violations.report(RuleRank::Roles, "first-role", index, detail);
        }
        self.begun = true;
        if !profile.user_after_tool && role == Role::User && self.last == Some(Role::Tool) {
            let detail = "user message right after a tool result".to_owned();
            violations.report(RuleRank::Roles, "user-after-tool", index, detail);
        }
        let counts = profile.whole_turns
            || role == Role::User
            || (role == Role::Assistant && !view.has_calls());
        if profile.alternates && counts {
            if self.turn == Some(role) {
                let detail = format!("{} follows {}", role.name(), role.name());
                violations.report(RuleRank::Roles, "alternation", index, detail);
            }
            self.turn = Some(role);
        }
        self.last = Some(role);
    }

    /// Checks Anthropic's rule: a system message inside `messages` follows a user turn, and precedes an assistant turn
    /// or the end.
    fn place_system(&mut self, index: usize, role: Role, violations: &mut FoundViolations) {
        let after_system = self.place == Some(Role::System);
        let detail = match role {
            Role::System if self.place.is_none() => "system message at the start of the messages",
            Role::System if self.place == Some(Role::Assistant) => {
                "system message after the assistant"
            }
            Role::User if after_system && index > 0 => "user message right after a system message",
            _ => "",
        };
        if !detail.is_empty() {
            violations.report(RuleRank::Place, "system-inside", index, detail.to_owned());
        }
        self.place = Some(role);
    }
}

/// Whether the message is the vendor's own summary, which may open a conversation in the assistant's role.
fn is_compaction(bytes: &[u8], view: &EventView) -> bool {
    view.blocks.first().is_some_and(|block| {
        block.kind == BlockKind::Opaque
            && memchr::memmem::find(block.outer.of(bytes), b"\"compaction\"").is_some()
    })
}
