//! The checks of a message's content: `arguments`, `empty-text`, `no-messages`, `no-reasoning`,
//! `reasoning-alone`.

use midfold_core::arguments::in_form;
use midfold_core::profile::ReasoningText;
use midfold_core::{BlockKind, BlockView, Dialect as _, EventView, ProviderProfile, Role};

use super::violations::{FoundViolations, MessageAt, RuleRank};
use crate::dialect::{DialectKind, OpenAiChat};
use crate::scan::inside;

/// The state of these checks. Some of them are decided only when the next message is known.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentWalk {
    /// The indices of reasoning items that wait for the item that they led to.
    reasoning: Vec<usize>,
    /// The newest message, where it has no content. Only the last message of a context may be so.
    bare: Option<usize>,
    /// Whether a message of the model had reasoning.
    thinks: bool,
}

impl ContentWalk {
    /// Checks the next message.
    pub fn push(&mut self, at: MessageAt<'_>, violations: &mut FoundViolations) {
        let MessageAt { profile, index, bytes, view } = at;
        if profile.dialect == DialectKind::OpenAiResponses.name() {
            self.push_reasoning(index, view, violations);
        }
        let mut calls = view.blocks.iter().filter(|_| view.role == Role::Assistant);
        if calls.any(|call| in_form(bytes, call, profile.arguments).is_some()) {
            let detail = "the arguments of a call are cut, or no object".to_owned();
            violations.report(RuleRank::Content, "arguments", index, detail);
        }
        let has_reasoning = view.has_reasoning();
        self.thinks |= has_reasoning || profile.reasoning_text == ReasoningText::Demanded;
        let wants = profile.reasoning_text > ReasoningText::Free && self.thinks;
        if wants && !has_reasoning && view.role == Role::Assistant {
            let detail = "a message of the model without its reasoning".to_owned();
            violations.report(RuleRank::Content, "no-reasoning", index, detail);
        }
        // Another message follows, so the one without content was not the last.
        if let Some(bare) = self.bare.take() {
            report_empty("message without content", bare, violations);
        }
        if profile.empty_text {
            let is_chat = profile.dialect == DialectKind::OpenAiChat.name();
            let says_something =
                |block: &BlockView| !matches!(block.kind, BlockKind::Reasoning { .. });
            if is_chat && view.role == Role::Assistant && !view.blocks.iter().any(says_something) {
                report_empty("assistant message with neither content nor calls", index, violations);
            } else if is_chat && OpenAiChat.filled_result(bytes, view, "").is_some() {
                report_empty("result without content", index, violations);
            } else if view.blocks.is_empty() && (view.role == Role::User || view.role.is_system()) {
                report_empty("message without content", index, violations);
            }
        } else if view.blocks.is_empty() {
            match view.role {
                Role::Assistant => self.bare = Some(index),
                Role::User => report_empty("message without content", index, violations),
                _ => {}
            }
        } else if view.blocks.iter().any(|block| is_blank(bytes, block)) {
            report_empty("empty text block", index, violations);
        }
    }

    /// Checks reasoning of Responses, which has to be followed by an item of the model. At the end of the context that
    /// item may still be missing, as may the result of an open call.
    fn push_reasoning(&mut self, index: usize, view: &EventView, violations: &mut FoundViolations) {
        if view.blocks.iter().any(|b| matches!(b.kind, BlockKind::Reasoning { .. })) {
            self.reasoning.push(index);
        } else if matches!(view.role, Role::Assistant | Role::Other) {
            // An item of an unknown kind may be the one that the reasoning led to.
            self.reasoning.clear();
        } else {
            for alone in self.reasoning.drain(..) {
                let detail = "reasoning item without the item that it led to".to_owned();
                violations.report(RuleRank::Place, "reasoning-alone", alone, detail);
            }
        }
    }

    pub fn finish(&self, profile: &ProviderProfile, len: usize, violations: &mut FoundViolations) {
        if len == 0 && !profile.empty_text {
            violations.report(
                RuleRank::Content,
                "no-messages",
                0,
                "the context is empty".to_owned(),
            );
        }
    }
}

fn report_empty(detail: &str, index: usize, violations: &mut FoundViolations) {
    violations.report(RuleRank::Content, "empty-text", index, detail.to_owned());
}

/// Whether a block is text of nothing but white space. Only a text that may be blank is decoded.
fn is_blank(bytes: &[u8], block: &BlockView) -> bool {
    block.kind == BlockKind::Text
        && block.texts.iter().all(|text| {
            let token = inside(text.token.of(bytes));
            // These bytes are a space and the escapes `\n`, `\r` and `\t`. They may spell letters, so the decoded text
            // decides.
            token.iter().all(|byte| b" \\nrt".contains(byte))
                && text.decode(bytes).trim().is_empty()
        })
}
