//! Windows that providers reported, and hints that their counts give. Each belongs to the client's key that got the
//! report, and is not used for other keys.

use std::collections::VecDeque;

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_formats::DialectKind;

use super::bounded_map::BoundedMap;

/// Of at most this many owners something is known; who came first is forgotten first.
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

    /// The key of the window, here and in a store: a hash, so that neither shows the client's key.
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

/// The known facts of one owner's window.
#[derive(Default)]
struct KnownWindow {
    report: Option<WindowReport>,
    /// The tokens of the largest prompt, where the assumed window was smaller.
    accepted: Option<u64>,
    /// The most tokens that the server read of a prompt, by its counts. A hint: it is in no store.
    cut: Option<u64>,
    /// The change of the report that waits to be written.
    news: Option<WindowNews>,
    /// Whether a store was already asked.
    is_looked_up: bool,
}

/// The learned windows, with those that are not written yet. Keys are those of [`WindowOwner::key`].
#[derive(Default)]
pub struct LearnedWindows {
    known: BoundedMap<KnownWindow, MOST>,
    /// The owners whose changes wait to be written, each once.
    waiting: VecDeque<Hash>,
}

impl LearnedWindows {
    /// The learned window; `None` if no provider reported one.
    #[must_use]
    pub fn of(&self, owner: &WindowOwner) -> Option<WindowReport> {
        self.known.get(&owner.key())?.report
    }

    /// Notes the window that a provider reported when it refused a request.
    pub fn note_refused(&mut self, owner: &WindowOwner, report: WindowReport) {
        let key = owner.key();
        self.known.get_or_default(key).report = Some(report);
        self.note(key, WindowNews::Told);
    }

    /// The tokens of the largest accepted prompt, if they exceed the window that was assumed.
    #[must_use]
    pub fn largest_accepted(&self, owner: &WindowOwner) -> Option<u64> {
        self.known.get(&owner.key())?.accepted
    }

    /// The most tokens that a server reads of a prompt, if the counts of a conversation showed it.
    #[must_use]
    pub fn cut(&self, owner: &WindowOwner) -> Option<u64> {
        self.known.get(&owner.key())?.cut
    }

    /// Notes that a server reads at most `tokens` of a prompt, by its counts.
    pub fn note_cut(&mut self, owner: &WindowOwner, tokens: u64) {
        self.known.get_or_default(owner.key()).cut = Some(tokens);
    }

    /// Notes that a provider accepted a prompt and answered. `guess` is the assumed window; `None` if the window was set
    /// by somebody.
    pub fn note_accepted(&mut self, owner: &WindowOwner, usage: Usage, guess: Option<u64>) {
        let key = owner.key();
        let is_above_guess = guess.is_some_and(|guess| usage.prompt > guess);
        let Some(known) = self.known.get_mut(&key) else {
            if is_above_guess {
                self.known.get_or_default(key).accepted = Some(usage.prompt);
            }
            return;
        };
        // The server counted more than it was thought to read.
        if known.cut.is_some_and(|cut| usage.prompt > cut + cut / 100) {
            known.cut = None;
        }
        // A window that the answer is not in does not rise by an answer, and of a guess nobody knows that.
        match &mut known.report {
            Some(report) => {
                let output = if report.counts_reply { usage.output } else { 0 };
                let took = usage.prompt.saturating_add(output);
                if took > report.window {
                    report.window = took;
                    self.note(key, WindowNews::Raised);
                }
            }
            None if is_above_guess => {
                known.accepted = known.accepted.max(Some(usage.prompt));
            }
            None => {}
        }
    }

    /// Has a change written. One that waits already is written with the value of that later moment, and a report says
    /// more than a rise: without it the store has no window that could be raised.
    fn note(&mut self, key: Hash, news: WindowNews) {
        let Some(known) = self.known.get_mut(&key) else { return };
        if known.news.is_none() {
            self.waiting.push_back(key);
        }
        if known.news != Some(WindowNews::Told) {
            known.news = Some(news);
        }
        if self.waiting.len() > 2 * MOST {
            // Most of them are of owners that were forgotten.
            self.waiting
                .retain(|key| self.known.get(key).is_some_and(|known| known.news.is_some()));
        }
    }

    /// Takes the next change to write, with the key and the window as it is known now.
    pub fn next_news(&mut self) -> Option<(Hash, WindowNews, WindowReport)> {
        loop {
            let key = self.waiting.pop_front()?;
            // An owner that was forgotten meanwhile has no value to write.
            let Some(known) = self.known.get_mut(&key) else { continue };
            if let (Some(news), Some(report)) = (known.news.take(), known.report) {
                return Some((key, news, report));
            }
        }
    }

    /// Has a change written again whose write failed.
    pub fn put_back(&mut self, key: Hash, news: WindowNews) {
        self.note(key, news);
    }

    /// Whether the window is unknown here and no store was asked for it.
    #[must_use]
    pub fn is_to_be_looked_up(&self, owner: &WindowOwner) -> bool {
        let known = self.known.get(&owner.key());
        known.is_none_or(|known| known.report.is_none() && !known.is_looked_up)
    }

    /// Takes the answer of a store: a window, or that it has none. A window that was learned meanwhile stays.
    pub fn note_looked_up(&mut self, owner: &WindowOwner, report: Option<WindowReport>) {
        let known = self.known.get_or_default(owner.key());
        known.is_looked_up = true;
        known.report = known.report.or(report);
    }
}
