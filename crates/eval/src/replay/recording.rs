//! A recorded conversation, which is read once for all strategies and windows: the names that each message mentions,
//! and those that each request needed.

use std::collections::VecDeque;
use std::sync::Arc;

use midfold_core::calendar::Millis;
use midfold_core::calls::CallSite;
use midfold_core::ids::identifiers;
use midfold_core::log::EventLog;
use midfold_core::names::NameTable;
use midfold_core::passage::{self, Voice};
use midfold_core::recap::vocabulary::NameVocabulary;
use midfold_core::texts::{ArgumentTexts, message_text};
use midfold_core::tools::{CallFacts, ToolTable};
use midfold_core::view::{BlockKind, EventView, Role, TextOrigin};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::replay::counts::NumberCounts;
use crate::replay::texts::{quoted, stated_rules, words};

/// The characters of the newest messages of the history that are not at risk.
const RECENT_CHARS: usize = 12_000;
/// A word that occurs fewer times than this in the history is rare (the second extractor).
const RARE: u32 = 5;

/// A recorded conversation, ready to be replayed.
pub struct Recording {
    pub(super) log: EventLog,
    pub(super) ids: Arc<NameVocabulary>,
    pub(super) words: NameTable,
    pub(super) quotes: NameTable,
    pub(super) rules: NameTable,
    pub(super) paths: NameTable,
    /// The names that each event mentions.
    pub(super) mentions: Vec<MentionedNames>,
    pub(super) requests: Vec<RecordedRequest>,
    /// The rules in the order in which users stated them, with repetitions.
    pub(super) stated: Vec<u32>,
    /// The files that calls used, in order.
    pub(super) uses: Vec<FileUse>,
}

/// The names that the text of one message mentions, each once, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct MentionedNames {
    pub ids: Box<[u32]>,
    pub words: Box<[u32]>,
    pub quotes: Box<[u32]>,
    pub rules: Box<[u32]>,
    /// The paths that its calls read.
    pub reads: Box<[u32]>,
    /// The paths that its calls changed.
    pub writes: Box<[u32]>,
}

/// A request, and the names that the message which answered it needed.
#[derive(Clone, Debug)]
pub(super) struct RecordedRequest {
    /// The index of the message that answered it. The history is everything before.
    pub at: usize,
    /// The time when it was sent: when the newest message of its history was recorded. `None` where the recording has
    /// no time.
    pub when: Option<Millis>,
    /// The identifiers of the history that the message uses.
    pub need: Vec<NeededName>,
    /// The rare words at risk, by number.
    pub rare: Box<[u32]>,
    /// The quoted strings at risk, by number.
    pub quotes: Box<[u32]>,
    /// The number of entries of [`Recording::stated`] that are before it.
    pub stated: usize,
}

/// An identifier that was needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeededName {
    pub id: u32,
    /// Whether it is not in the newest messages.
    pub at_risk: bool,
    /// The event that mentioned it last.
    pub seen: u32,
}

/// A file that a call used.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileUse {
    /// The index of the event that calls.
    pub event: usize,
    /// The number of the path.
    pub path: u32,
    /// Whether the call changed the file.
    pub modified: bool,
    /// The event with the call's result, which is what a reader of the file got. `None` where there is no result.
    pub answer: Option<usize>,
    /// The index in [`Recording::uses`] of the last read of the same file before this use.
    pub before: Option<usize>,
}

impl Recording {
    /// Reads a log. This takes time once, in proportion to the log.
    #[must_use]
    pub fn new(log: EventLog) -> Self {
        let mut reader = RecordingReader::default();
        for (at, event) in log.events().iter().enumerate() {
            let view = &event.view;
            let text = message_text(&event.bytes, view, ArgumentTexts::Meant);
            if view.role == Role::Assistant && at > 0 && !view.has_results() {
                // The names of the answer are added below, so here they do not count as history.
                reader.request(at, log.events()[at - 1].at, &text);
            }
            reader.answer(at, &event.bytes, view);
            let mut mentions = reader.mention(&text);
            if view.is_real_user() {
                let spoken = passage::passages(event, &**log.dialect());
                let written = passage::joined(&spoken, |part| part.voice == Voice::User);
                mentions.rules = reader.rules(&written);
            }
            for block in &view.blocks {
                if let BlockKind::Call { id, .. } = &block.kind {
                    let id = id.map(|id| id.decode(&event.bytes).into_owned()).unwrap_or_default();
                    let from = reader.uses.len();
                    let facts = CallSite { event, block }.facts(ToolTable::builtin());
                    reader.call(at, &facts, &mut mentions);
                    if reader.uses.len() > from {
                        reader.open.insert(id, from..reader.uses.len());
                    }
                }
            }
            reader.take_in(at, text.chars().count(), mentions);
        }
        let RecordingReader {
            ids,
            words,
            quotes,
            rules,
            paths,
            mentions,
            requests,
            stated,
            uses,
            ..
        } = reader;
        let ids = Arc::new(ids);
        Self { log, ids, words, quotes, rules, paths, mentions, requests, stated, uses }
    }

    /// The text of a message, as the measures of this recording read it.
    pub(super) fn text(&self, bytes: &[u8], view: &EventView) -> String {
        message_text(bytes, view, ArgumentTexts::Meant)
    }

    /// The log of the recording.
    #[must_use]
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// The number of requests.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests.len()
    }
}

/// Reads a log event by event.
#[derive(Default)]
struct RecordingReader {
    ids: NameVocabulary,
    words: NameTable,
    quotes: NameTable,
    rules: NameTable,
    paths: NameTable,
    mentions: Vec<MentionedNames>,
    requests: Vec<RecordedRequest>,
    uses: Vec<FileUse>,
    /// The file uses of calls without a result so far, by the id of the call, or by "" for calls without one.
    open: FxHashMap<String, std::ops::Range<usize>>,
    /// The index in `uses` of the newest read of each path.
    last_read: FxHashMap<u32, usize>,
    /// The event that mentioned each identifier last.
    seen: Vec<u32>,
    /// The number of times that each word occurred.
    times: Vec<u32>,
    stated: Vec<u32>,
    recent: RecentMessages,
}

/// The newest messages of the history. The names that they mention are not at risk.
#[derive(Default)]
struct RecentMessages {
    /// The events and their characters, oldest first.
    messages: VecDeque<(usize, usize)>,
    /// The characters of these messages.
    chars: usize,
    ids: NumberCounts,
    words: NumberCounts,
    quotes: NumberCounts,
}

impl RecentMessages {
    fn add(&mut self, mentions: &MentionedNames) {
        self.ids.add(&mentions.ids);
        self.words.add(&mentions.words);
        self.quotes.add(&mentions.quotes);
    }

    fn take(&mut self, mentions: &MentionedNames) {
        self.ids.take(&mentions.ids);
        self.words.take(&mentions.words);
        self.quotes.take(&mentions.quotes);
    }
}

impl RecordingReader {
    fn request(&mut self, at: usize, when: Option<Millis>, text: &str) {
        // `get` adds nothing: a name that the history does not have cannot be needed from it.
        let need = numbers(identifiers(text).filter_map(|id| self.ids.get(id)));
        let need = need.iter().map(|id| NeededName {
            id: *id,
            at_risk: !self.recent.ids.has(*id),
            seen: self.seen[*id as usize],
        });
        let need: Vec<_> = need.collect();
        let rare = words(text).filter_map(|word| self.words.get(word));
        let rare = numbers(
            rare.filter(|word| self.times[*word as usize] < RARE && !self.recent.words.has(*word)),
        );
        let used = quoted(text).filter_map(|quote| self.quotes.get(quote));
        let used = numbers(used.filter(|quote| !self.recent.quotes.has(*quote)));
        let stated = self.stated.len();
        self.requests.push(RecordedRequest { at, when, need, rare, quotes: used, stated });
    }

    fn mention(&mut self, text: &str) -> MentionedNames {
        let ids = numbers(identifiers(text).map(|id| self.ids.number(id)));
        let mut all = Vec::new();
        for word in words(text) {
            let number = self.words.number(word);
            // Numbers are given in order, so one more place is always enough.
            if self.times.len() <= number as usize {
                self.times.push(0);
            }
            self.times[number as usize] += 1;
            all.push(number);
        }
        let words = numbers(all);
        let quotes = numbers(quoted(text).map(|quote| self.quotes.number(quote)));
        MentionedNames { ids, words, quotes, ..MentionedNames::default() }
    }

    fn rules(&mut self, text: &str) -> Box<[u32]> {
        let stated = stated_rules(text);
        let stated: Vec<u32> = stated.iter().map(|rule| self.rules.number(rule)).collect();
        self.stated.extend(&stated);
        numbers(stated)
    }

    fn call(&mut self, at: usize, facts: &CallFacts, mentions: &mut MentionedNames) {
        let mut used = |paths: &[String], modified: bool| {
            let numbers = numbers(paths.iter().map(|path| self.paths.number(path)));
            for path in numbers.iter().copied() {
                let place = self.uses.len();
                let before = match modified {
                    true => None,
                    false => self.last_read.insert(path, place),
                };
                self.uses.push(FileUse { event: at, path, modified, answer: None, before });
            }
            numbers
        };
        let (reads, writes) = (used(&facts.reads, false), used(&facts.writes, true));
        mentions.reads = join(&mentions.reads, &reads);
        mentions.writes = join(&mentions.writes, &writes);
    }

    /// Notes the calls that an event answers. Results without an id, and results that were flattened to text, answer
    /// the newest call without an id.
    fn answer(&mut self, at: usize, bytes: &[u8], view: &EventView) {
        let flat = view.origin == TextOrigin::Observation;
        let results = view.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Result { id, .. } => {
                Some(id.map(|id| id.decode(bytes).into_owned()).unwrap_or_default())
            }
            _ if flat => Some(String::new()),
            _ => None,
        });
        for id in results {
            for place in self.open.remove(&id).into_iter().flatten() {
                self.uses[place].answer = Some(at);
            }
        }
    }

    fn take_in(&mut self, at: usize, chars: usize, mentions: MentionedNames) {
        self.seen.resize(self.ids.len(), 0);
        for id in &mentions.ids {
            self.seen[*id as usize] = u32::try_from(at).unwrap_or(u32::MAX);
        }
        let recent = &mut self.recent;
        recent.add(&mentions);
        self.mentions.push(mentions);
        recent.messages.push_back((at, chars));
        recent.chars += chars;
        // The oldest message goes only where the others alone have enough characters.
        while let Some((oldest, its)) = recent.messages.front().copied()
            && recent.messages.len() > 1
            && recent.chars - its >= RECENT_CHARS
        {
            recent.chars -= its;
            recent.messages.pop_front();
            recent.take(&self.mentions[oldest]);
        }
    }
}

/// Each number once, in the order of its first occurrence.
fn numbers(all: impl IntoIterator<Item = u32>) -> Box<[u32]> {
    let mut seen = FxHashSet::default();
    all.into_iter().filter(|number| seen.insert(*number)).collect()
}

fn join(a: &[u32], b: &[u32]) -> Box<[u32]> {
    numbers(a.iter().chain(b).copied())
}
