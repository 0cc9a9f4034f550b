//! The texts that a conversation itself holds.

use super::leaves::texts;
use crate::exchanges::is_hidden;
use crate::view::{EventView, Role};

/// The texts that the conversation itself holds: whoever writes them again copies no mark.
///
/// All of the user, the tools and the instructions counts, and of the model what it wrote before the fold, when there
/// was nothing to copy. A later call with a mark was refused, or what it wrote is read again as a result.
#[derive(Debug, Default)]
pub struct OriginalTexts {
    texts: Vec<String>,
}

impl OriginalTexts {
    /// Adds a message. `is_before` says whether it came before the fold that printed the marks.
    pub fn add(&mut self, view: &EventView, bytes: &[u8], is_before: bool) {
        if view.role == Role::Assistant && !is_before {
            return;
        }
        for block in view.blocks.iter().filter(|block| !is_hidden(block, bytes)) {
            let text = block.text(bytes);
            if block.is_call() {
                self.texts.extend(texts(&text).into_iter().map(|argument| argument.text));
            } else if !text.starts_with(super::REASON) {
                self.texts.push(text.into_owned());
            }
        }
    }

    /// Whether the conversation holds a text.
    pub(super) fn hold(&self, text: &str) -> bool {
        let finder = memchr::memmem::Finder::new(text);
        self.texts.iter().any(|original| finder.find(original.as_bytes()).is_some())
    }
}
