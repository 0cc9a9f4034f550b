//! Windows that providers reported, and hints that their counts give. Each belongs to the client's key that got the report, and is not used for other
//! keys.

use std::collections::{HashMap, HashSet, VecDeque};

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_formats::DialectKind;

/// The most windows that are remembered; the one that was learned first is dropped first.
pub const MOST: usize = 4_096;

/// Identifies a window: whose request it was, to which model of which server, and what was said of its window. Once
/// the server or the user says another one, what was learned under the old one is not used any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowOwner {
    scope: String,
    upstream: String,
    provider: &'static str,
    model: String,
    stated: Option<u64>,
}

impl WindowOwner {
    /// `scope` is the client, `upstream` the server. The wire format decides the provider. `stated` is the window that
    /// the user, the request or the server states; `None` if it is only assumed.
    #[must_use]
    pub fn new(
        (scope, upstream): (&str, &str),
        kind: DialectKind,
        model: &str,
        stated: Option<u64>,
    ) -> Self {
        let provider = match kind {
            // One server answers both wire formats.
            DialectKind::OpenAiResponses => DialectKind::OpenAiChat.name(),
            other => other.name(),
        };
        let (scope, upstream) = (scope.to_owned(), upstream.to_owned());
        Self { scope, upstream, provider, model: model.to_owned(), stated }
    }

    /// The key of the window in a store: a hash, so that the store does not show the client's key.
    #[must_use]
    pub fn key(&self) -> Hash {
        let parts = [&*self.scope, &*self.upstream, self.provider, &*self.model];
        let hash = parts.iter().fold(Hash::ROOT, |hash, part| hash.chain(part.as_bytes()));
        self.stated.map_or(hash, |window| hash.chain(&window.to_be_bytes()))
    }
}

/// A window that a provider reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowReport {
    /// The window in tokens.
    pub window: u64,
    /// Whether the tokens that a request allows for its answer count against the window, too.
    pub counts_reply: bool,
}

/// A change of a window that is not in the store yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowNews {
    /// A provider reported the window.
    Told,
    /// The window turned out to be larger than the report.
    Raised,
}

/// The learned windows, with those that are not written yet.
#[derive(Default)]
pub struct LearnedWindows {
    windows: HashMap<WindowOwner, WindowReport>,
    order: VecDeque<WindowOwner>,
    /// The largest prompt and answer, in tokens, of models whose assumed window was smaller.
    accepted: HashMap<WindowOwner, u64>,
    /// The most tokens that servers read of a prompt, by their counts. A hint: it is in no store.
    cuts: HashMap<WindowOwner, u64>,
    /// Changes that wait to be written; at most one for each owner.
    news: VecDeque<(WindowOwner, WindowNews)>,
    /// Owners for whom a store was already asked.
    looked_up: HashSet<WindowOwner>,
}

impl LearnedWindows {
    /// The learned window; `None` if no provider reported one.
    #[must_use]
    pub fn of(&self, source: &WindowOwner) -> Option<WindowReport> {
        self.windows.get(source).copied()
    }

    /// Notes the window that a provider reported when it refused a request.
    pub fn note_refused(&mut self, source: &WindowOwner, report: WindowReport) {
        self.insert(source, report);
        self.news.retain(|(other, _)| other != source);
        self.note(source, WindowNews::Told);
    }

    fn insert(&mut self, source: &WindowOwner, report: WindowReport) {
        if self.windows.insert(source.clone(), report).is_some() {
            return;
        }
        self.order.push_back(source.clone());
        while self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.windows.remove(&oldest);
            }
        }
    }

    /// The tokens of the largest accepted request, if they exceed the window that was assumed.
    #[must_use]
    pub fn largest_accepted(&self, source: &WindowOwner) -> Option<u64> {
        self.accepted.get(source).copied()
    }

    /// The most tokens that a server reads of a prompt, if the counts of a conversation showed it.
    #[must_use]
    pub fn cut(&self, source: &WindowOwner) -> Option<u64> {
        self.cuts.get(source).copied()
    }

    /// Notes that a server reads at most `tokens` of a prompt, by its counts.
    pub fn note_cut(&mut self, source: &WindowOwner, tokens: u64) {
        make_room(&mut self.cuts, source);
        self.cuts.insert(source.clone(), tokens);
    }

    /// Notes that a provider accepted a prompt and answered: the window holds both. `guess` is the assumed window;
    /// `None` if the window was set by somebody.
    pub fn note_accepted(&mut self, source: &WindowOwner, usage: Usage, guess: Option<u64>) {
        let took = usage.prompt.saturating_add(usage.output);
        // The server counted more than it was thought to read.
        if self.cut(source).is_some_and(|cut| usage.prompt > cut + cut / 100) {
            self.cuts.remove(source);
        }
        if let Some(report) = self.windows.get_mut(source) {
            let is_raised = took > report.window;
            report.window = report.window.max(took);
            // A change that already waits is written with the value of that later moment, so a second one would say the
            // same.
            if is_raised && self.news.iter().all(|(other, _)| other != source) {
                self.note(source, WindowNews::Raised);
            }
        } else if guess.is_some_and(|guess| took > guess) {
            make_room(&mut self.accepted, source);
            let most = self.accepted.entry(source.clone()).or_default();
            *most = took.max(*most);
        }
    }

    fn note(&mut self, source: &WindowOwner, news: WindowNews) {
        self.news.push_back((source.clone(), news));
        if self.news.len() > MOST {
            self.news.pop_front();
        }
    }

    /// Takes the next change to write, with the window as it is known now.
    pub fn next_news(&mut self) -> Option<(WindowOwner, WindowNews, WindowReport)> {
        loop {
            let (source, news) = self.news.pop_front()?;
            // A window that was dropped meanwhile (`MOST`) has no value to write.
            if let Some(report) = self.of(&source) {
                return Some((source, news, report));
            }
        }
    }

    /// Queues a change again whose write failed, merged with a later change of the same window.
    pub fn put_back(&mut self, source: WindowOwner, news: WindowNews) {
        let later = self.news.iter_mut().find(|(other, _)| *other == source);
        match (later, news) {
            // The store has no window yet that could be raised, so the report has to be written.
            (Some((_, later)), WindowNews::Told) => *later = WindowNews::Told,
            (Some(_), WindowNews::Raised) => {}
            (None, news) => self.news.push_front((source, news)),
        }
    }

    /// Whether the window is unknown here and no store was asked for it.
    #[must_use]
    pub fn is_to_be_looked_up(&self, source: &WindowOwner) -> bool {
        !self.windows.contains_key(source) && !self.looked_up.contains(source)
    }

    /// Takes the answer of a store: a window, or that it has none. A window that was learned meanwhile stays.
    pub fn note_looked_up(&mut self, source: &WindowOwner, report: Option<WindowReport>) {
        if self.looked_up.len() >= MOST {
            self.looked_up.clear();
        }
        self.looked_up.insert(source.clone());
        if let Some(report) = report.filter(|_| !self.windows.contains_key(source)) {
            self.insert(source, report);
        }
    }
}

/// Empties a full map before one more owner comes into it.
fn make_room(map: &mut HashMap<WindowOwner, u64>, source: &WindowOwner) {
    if map.len() >= MOST && !map.contains_key(source) {
        map.clear();
    }
}
