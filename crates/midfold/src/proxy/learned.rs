//! What providers said of their windows, by whoever was told: one key's error is no other key's window.

use std::collections::{HashMap, VecDeque};

use midfold_core::event::Usage;
use midfold_formats::DialectKind;

/// Windows that are remembered at most; the one that was learned first goes first.
const MOST: usize = 4_096;

/// Whose window, of which provider's model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Source {
    scope: String,
    provider: &'static str,
    model: String,
}

impl Source {
    pub fn new(scope: &str, kind: DialectKind, model: &str) -> Self {
        let provider = match kind {
            // One server answers both.
            DialectKind::OpenAiResponses => DialectKind::OpenAiChat.name(),
            other => other.name(),
        };
        Self { scope: scope.to_owned(), provider, model: model.to_owned() }
    }
}

/// What a provider said of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Tokens.
    pub window: u64,
    /// What a request allows for its reply counts, too.
    pub counts_reply: bool,
}

/// The windows that were learned.
#[derive(Default)]
pub(super) struct Learned {
    windows: HashMap<Source, Told>,
    order: VecDeque<Source>,
}

impl Learned {
    pub fn of(&self, source: &Source) -> Option<Told> {
        self.windows.get(source).copied()
    }

    /// A provider refused a request and said so.
    pub fn refused(&mut self, source: &Source, told: Told) {
        if self.windows.insert(source.clone(), told).is_some() {
            return;
        }
        self.order.push_back(source.clone());
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.windows.remove(&oldest);
            }
        }
    }

    /// A provider took a prompt and answered: its window is no smaller than both.
    pub fn accepted(&mut self, source: &Source, usage: Usage) {
        if let Some(told) = self.windows.get_mut(source) {
            told.window = told.window.max(usage.prompt.saturating_add(usage.output));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(scope: &str, kind: DialectKind) -> Source {
        Source::new(scope, kind, "m")
    }

    #[test]
    fn a_window_is_of_whoever_was_told_and_rises_with_what_is_taken() {
        let mut learned = Learned::default();
        let (mine, told) =
            (source("a", DialectKind::OpenAiChat), Told { window: 8_000, counts_reply: false });
        learned.refused(&mine, told);
        assert_eq!(learned.of(&source("b", DialectKind::OpenAiChat)), None);
        assert_eq!(learned.of(&source("a", DialectKind::Anthropic)), None);
        assert_eq!(learned.of(&source("a", DialectKind::OpenAiResponses)), Some(told));
        learned.accepted(&mine, Usage { prompt: 7_000, output: 100, ..Usage::default() });
        assert_eq!(learned.of(&mine), Some(told));
        learned.accepted(&mine, Usage { prompt: 9_000, output: 100, ..Usage::default() });
        assert_eq!(learned.of(&mine).unwrap().window, 9_100);
    }

    #[test]
    fn no_more_windows_are_remembered_than_there_is_room_for() {
        let mut learned = Learned::default();
        let told = Told { window: 8_000, counts_reply: false };
        let of = |n: usize| Source::new("", DialectKind::OpenAiChat, &n.to_string());
        (0..MOST + 10).for_each(|n| learned.refused(&of(n), told));
        assert_eq!(learned.windows.len(), MOST);
        assert_eq!((learned.of(&of(9)), learned.of(&of(10))), (None, Some(told)));
    }
}
