//! What providers said of their windows, by whoever was told: one key's error is no other key's window.

use std::collections::{HashMap, VecDeque};

use midfold_core::event::Usage;
use midfold_formats::DialectKind;

/// Windows that are remembered at most; the one that was learned first goes first.
pub const MOST: usize = 4_096;

/// Whose window, of which model where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    scope: String,
    upstream: String,
    provider: &'static str,
    model: String,
}

impl Source {
    /// Of whoever asked, of a model at this place, in this wire format.
    #[must_use]
    pub fn new((scope, upstream): (&str, &str), kind: DialectKind, model: &str) -> Self {
        let provider = match kind {
            // One server answers both.
            DialectKind::OpenAiResponses => DialectKind::OpenAiChat.name(),
            other => other.name(),
        };
        let (scope, upstream) = (scope.to_owned(), upstream.to_owned());
        Self { scope, upstream, provider, model: model.to_owned() }
    }
}

/// What a provider said of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Tokens.
    pub window: u64,
    /// What a request allows for its reply counts, too.
    pub counts_reply: bool,
}

/// The windows that were learned.
#[derive(Default)]
pub struct Learned {
    windows: HashMap<Source, Told>,
    order: VecDeque<Source>,
    /// Tokens that were taken of a model whose window was thought to be smaller.
    taken: HashMap<Source, u64>,
}

impl Learned {
    /// What is known.
    #[must_use]
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

    /// What was taken of a model, where that was more than its window was thought to be.
    #[must_use]
    pub fn taken(&self, source: &Source) -> Option<u64> {
        self.taken.get(source).copied()
    }

    /// A provider took a prompt and answered: its window is no smaller than both. `guess` is what it was thought
    /// to be, where nobody said it who has to know.
    pub fn accepted(&mut self, source: &Source, usage: Usage, guess: Option<u64>) {
        let took = usage.prompt.saturating_add(usage.output);
        if let Some(told) = self.windows.get_mut(source) {
            told.window = told.window.max(took);
        } else if guess.is_some_and(|guess| took > guess) {
            if self.taken.len() >= MOST && !self.taken.contains_key(source) {
                self.taken.clear();
            }
            let most = self.taken.entry(source.clone()).or_default();
            *most = took.max(*most);
        }
    }
}
