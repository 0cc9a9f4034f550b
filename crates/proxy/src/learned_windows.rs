//! Windows that providers reported, by the key that got the report: one key's error is no other key's window.

use std::collections::{HashMap, HashSet, VecDeque};

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_formats::DialectKind;

/// Windows that are remembered at most; the one that was learned first goes first.
pub const MOST: usize = 4_096;

/// Whose window, of which model where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowOwner {
    scope: String,
    upstream: String,
    provider: &'static str,
    model: String,
}

impl WindowOwner {
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

    /// By what a store finds it: who asked is not to be read there.
    #[must_use]
    pub fn key(&self) -> Hash {
        let parts = [&*self.scope, &*self.upstream, self.provider, &*self.model];
        parts.iter().fold(Hash::ROOT, |hash, part| hash.chain(part.as_bytes()))
    }
}

/// What a provider said of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowReport {
    /// Tokens.
    pub window: u64,
    /// What a request allows for its reply counts, too.
    pub counts_reply: bool,
}

/// What a store does not know of a window yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowNews {
    /// A provider reported it.
    Told,
    /// It is larger than the provider reported.
    Raised,
}

/// The windows that were learned.
#[derive(Default)]
pub struct LearnedWindows {
    windows: HashMap<WindowOwner, WindowReport>,
    order: VecDeque<WindowOwner>,
    /// Tokens that were taken of a model whose window was thought to be smaller.
    taken: HashMap<WindowOwner, u64>,
    /// What waits to be written, each source once.
    news: VecDeque<(WindowOwner, WindowNews)>,
    /// Sources that a store was asked for.
    looked_up: HashSet<WindowOwner>,
}

impl LearnedWindows {
    /// The window that was learned.
    #[must_use]
    pub fn of(&self, source: &WindowOwner) -> Option<WindowReport> {
        self.windows.get(source).copied()
    }

    /// A provider refused a request and said so.
    pub fn refused(&mut self, source: &WindowOwner, told: WindowReport) {
        self.insert(source, told);
        self.news.retain(|(other, _)| other != source);
        self.note(source, WindowNews::Told);
    }

    fn insert(&mut self, source: &WindowOwner, told: WindowReport) {
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

    /// Tokens that a model took, where they were more than its window was thought to be.
    #[must_use]
    pub fn taken(&self, source: &WindowOwner) -> Option<u64> {
        self.taken.get(source).copied()
    }

    /// A provider took a prompt and answered: its window is no smaller than both. `guess` is what it was thought
    /// to be, where nobody said it who has to know.
    pub fn accepted(&mut self, source: &WindowOwner, usage: Usage, guess: Option<u64>) {
        let took = usage.prompt.saturating_add(usage.output);
        if let Some(told) = self.windows.get_mut(source) {
            let is_raised = took > told.window;
            told.window = told.window.max(took);
            if is_raised && self.news.iter().all(|(other, _)| other != source) {
                self.note(source, WindowNews::Raised);
            }
        } else if guess.is_some_and(|guess| took > guess) {
            if self.taken.len() >= MOST && !self.taken.contains_key(source) {
                self.taken.clear();
            }
            let most = self.taken.entry(source.clone()).or_default();
            *most = took.max(*most);
        }
    }

    fn note(&mut self, source: &WindowOwner, news: WindowNews) {
        self.news.push_back((source.clone(), news));
        if self.news.len() > MOST {
            self.news.pop_front();
        }
    }

    /// The next news to write, with the window that is known by now.
    pub fn next_news(&mut self) -> Option<(WindowOwner, WindowNews, WindowReport)> {
        loop {
            let (source, news) = self.news.pop_front()?;
            if let Some(told) = self.of(&source) {
                return Some((source, news, told));
            }
        }
    }

    /// It could not be written: it waits again, but for what was learned meanwhile.
    pub fn again(&mut self, source: WindowOwner, news: WindowNews) {
        let later = self.news.iter_mut().find(|(other, _)| *other == source);
        match (later, news) {
            // A raise alone would find nothing there.
            (Some((_, later)), WindowNews::Told) => *later = WindowNews::Told,
            (Some(_), WindowNews::Raised) => {}
            (None, news) => self.news.push_front((source, news)),
        }
    }

    /// Whether a store may know a window that is not known here.
    #[must_use]
    pub fn is_to_be_looked_up(&self, source: &WindowOwner) -> bool {
        !self.windows.contains_key(source) && !self.looked_up.contains(source)
    }

    /// Takes the window that a store had, or that it had no window. A window that was learned meanwhile holds.
    pub fn looked_up(&mut self, source: &WindowOwner, found: Option<WindowReport>) {
        if self.looked_up.len() >= MOST {
            self.looked_up.clear();
        }
        self.looked_up.insert(source.clone());
        if let Some(told) = found.filter(|_| !self.windows.contains_key(source)) {
            self.insert(source, told);
        }
    }
}
