//! Chooses the parts of deeds for a recap. While there is room, a recap holds everything. Where room is short, one
//! ranking decides: the worth of a part for each of its tokens. The worth is made of
//!
//! - whose words or what kind of deed it is ([`super::worth`]),
//! - how rare its words are; words that the recap holds already count little,
//! - what the open request and the newest messages are about, and
//! - how new it is.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::counter::{Counter, TextKind};
use crate::recap::deed::{CallEnding, Deed, DeedKind, DeedPart, PartKind, Speaker};
use crate::recap::gather::GatheredFacts;
use crate::recap::print::{DeedPrinter, text};
use crate::recap::words::{WordNumbers, WordSet, WordTable, key, words};
use crate::recap::worth::{part_worth, title_worth};

/// A word that the recap holds already counts a fourth of a new one.
const AGAIN: u64 = 4;
/// What a title tells beside its words: that something was done. As much as a word that half of the deeds hold.
const DONE: u64 = 4;
/// A part is weighed as if it had this many tokens more, because two words tell little, whatever they are.
const SHORT: u64 = 20;
/// A line of output whose names the assistant used later weighs this much more.
const USED: u64 = 12;
/// The newest deed weighs half as much again as the oldest.
const NEWEST: u64 = 2;
/// A part that holds the whole request weighs this much more, in halves. One that holds a share of its words gains that
/// share, so a long request names no particular part.
const ASKED: u64 = 48;
/// The most that words gain by what the request asks for, in halves.
const ASKED_WORDS: u64 = 2;

/// What the reader is about to do.
#[derive(Debug, Default)]
pub(super) struct ReaderInterest {
    /// The words of the open request.
    asked: WordSet,
    /// The words of a focus, which somebody asked to keep.
    focus: WordSet,
    /// The words of the newest messages.
    newest: WordSet,
}

impl ReaderInterest {
    /// The interest of a reader with this request and focus, who sees the messages of `later`.
    pub fn of(request: &str, focus: &[String], later: Option<&GatheredFacts>) -> Self {
        let tells = |word: &&str| !crate::recap::ordinary::is_ordinary(word) && word.len() > 2;
        let telling = |text: &str| -> WordSet {
            let mut all = WordSet::default();
            let plain = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            plain
                .filter(tells)
                .for_each(|word| all.extend(words(word).iter().map(|word| key(*word))));
            all
        };
        let parts = later.into_iter().flat_map(|later| &later.deeds).flat_map(|deed| &deed.parts);
        Self {
            asked: telling(request),
            focus: telling(&focus.join(" ")),
            newest: parts.flat_map(|part| part.words.iter().map(|word| key(*word))).collect(),
        }
    }

    /// The factor for a part with these words, in halves.
    fn factor(&self, own: &[u32], is_output: bool, table: &WordTable) -> u64 {
        let count =
            |set: &WordSet| own.iter().filter(|word| set.contains(&key(**word))).count() as u64;
        let newest =
            own.iter().any(|word| table.is_rare_name(*word) && self.newest.contains(&key(*word)));
        let asked = ASKED * count(&self.asked) / self.asked.len().max(1) as u64;
        // Words that repeat the request tell nothing new, but output that holds what it names may answer it.
        let asked = if is_output { asked } else { asked.min(ASKED_WORDS) };
        2 + asked + u64::from(newest) + 12 * count(&self.focus)
    }
}

/// The parts of a deed that were chosen, and its title.
#[derive(Clone, Debug, Default)]
struct ChosenParts {
    /// Whether the deed has a line.
    is_open: bool,
    /// For each part, whether it was chosen, or left out because the recap says the same.
    done: Vec<PartFate>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PartFate {
    #[default]
    Waiting,
    Told,
    /// The recap says the same elsewhere.
    Repeated,
}

/// A part of a deed in the queue. A part of [`TITLE`] is the title alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QueuedPart {
    density: u64,
    deed: u32,
    part: u32,
}

/// The index that means the title.
const TITLE: u32 = u32::MAX;

impl Ord for QueuedPart {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equal parts, the newer deed and the later part come first.
        (self.density, self.deed, self.part).cmp(&(other.density, other.deed, other.part))
    }
}

impl PartialOrd for QueuedPart {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A deed, as the ranking sees it.
struct RankedDeed<'a> {
    deed: &'a Deed,
    /// The line's label, what was called or changed, and how often.
    title: String,
    title_words: WordNumbers,
    /// Its worth is multiplied by this: twice for the newest, once for the oldest.
    newness: u64,
    /// Whether the recap's other sections tell what the title says.
    is_listed: bool,
    /// Whether it is about files that the agent made for itself alone.
    is_aside: bool,
    /// Whether it is a message of the user that the recap holds whole, or not at all.
    is_whole: bool,
}

/// Chooses the parts of deeds, and counts what they cost.
pub(super) struct DeedChoice<'a> {
    deeds: Vec<RankedDeed<'a>>,
    chosen: Vec<ChosenParts>,
    queue: BinaryHeap<QueuedPart>,
    table: &'a WordTable,
    interest: &'a ReaderInterest,
    counter: &'a dyn Counter,
    /// The most tokens between two parts.
    joint: u64,
    /// The words that the chosen parts hold.
    held: WordSet,
    /// The texts that the chosen parts hold.
    said: FxHashSet<&'a str>,
}

/// What a recap left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOutCounts {
    pub of_user: usize,
    pub of_assistant: usize,
    pub of_application: usize,
    pub of_notes: usize,
    pub changes: usize,
    pub commands: usize,
    pub output: usize,
}

/// What the other sections of the recap tell already.
#[derive(Clone)]
pub(super) struct ListedElsewhere<'a> {
    /// The messages of checks that the state lists.
    pub checks: &'a FxHashSet<u32>,
    /// The files that the agent made for itself alone.
    pub asides: &'a FxHashSet<&'a str>,
    /// Texts that messages behind the recap say.
    pub said: FxHashSet<&'a str>,
    /// The indices of the deeds that say what the task is, which the context shows nowhere else.
    pub task: &'a [usize],
}

/// The task, and the rest of a user's message of which the recap holds a part, weigh this much more than other words of
/// the user.
const TASK: u64 = 64;
/// A recap may hold a part of a user's message with more bytes than this.
const WHOLE: usize = 1_000;

impl<'a> DeedChoice<'a> {
    /// Ranks the deeds, which are in order with the oldest first.
    pub fn of(
        deeds: &'a [Cow<'a, Deed>],
        table: &'a WordTable,
        interest: &'a ReaderInterest,
        listed: ListedElsewhere<'a>,
        printer: DeedPrinter<'_>,
        counter: &'a dyn Counter,
    ) -> Self {
        let last = deeds.len().max(2) as u64 - 1;
        let rank = |(at, deed): (usize, &'a Cow<'a, Deed>)| {
            let mut title = printer.title(deed);
            if deed.times > 1 {
                title.push_str(&format!(" ({} times)", deed.times));
            }
            RankedDeed {
                deed,
                title_words: words(&title),
                newness: (64 * NEWEST + 64 * at as u64 / last)
                    * if listed.task.contains(&at) { TASK } else { 1 },
                is_listed: is_listed(deed, &listed),
                is_aside: is_aside(deed, &listed),
                is_whole: is_whole(deed),
                title,
            }
        };
        let deeds: Vec<RankedDeed<'a>> = deeds.iter().enumerate().map(rank).collect();
        let fates = |one: &RankedDeed<'_>| ChosenParts {
            is_open: false,
            done: vec![PartFate::Waiting; one.deed.parts.len()],
        };
        let mut choice = Self {
            chosen: deeds.iter().map(fates).collect(),
            deeds,
            queue: BinaryHeap::new(),
            table,
            interest,
            counter,
            joint: u64::from(counter.count(" … ", TextKind::Prose)),
            held: WordSet::default(),
            said: listed.said,
        };
        let all = (0..choice.deeds.len()).flat_map(|at| choice.parts_of(at)).collect::<Vec<_>>();
        choice.queue = all.into();
        choice
    }

    /// The title and the parts of a deed that have no place yet, with their present densities.
    fn parts_of(&self, at: usize) -> Vec<QueuedPart> {
        let ranked = &self.deeds[at];
        let has_title = !matches!(ranked.deed.kind, DeedKind::Words(_)) && !ranked.is_listed;
        let title = (has_title && !self.chosen[at].is_open).then_some(TITLE);
        let waiting = self.chosen[at].done.iter().enumerate();
        let waiting = waiting.filter(|(_, fate)| **fate == PartFate::Waiting);
        title
            .into_iter()
            .chain(waiting.map(|(part, _)| u32::try_from(part).unwrap_or(TITLE)))
            .map(|part| self.queued(at, part))
            .collect()
    }

    fn queued(&self, deed: usize, part: u32) -> QueuedPart {
        let density = self.density(deed, part);
        QueuedPart { density, deed: u32::try_from(deed).unwrap_or(u32::MAX), part }
    }

    /// The worth of a part for each of its tokens, as the recap is now. The first part of a deed brings its title.
    fn density(&self, at: usize, part: u32) -> u64 {
        let ranked = &self.deeds[at];
        let own = ranked.deed.parts.get(part as usize);
        let (mut worth, mut cost) = (0, 0);
        if !self.chosen[at].is_open {
            let is_words = matches!(ranked.deed.kind, DeedKind::Words(_));
            if !is_words && !ranked.is_listed {
                let told = DONE * AGAIN + self.told_by(&ranked.title_words);
                worth += title_worth(ranked.deed) * told * self.asked(&ranked.title_words) / 2;
            }
            cost += 5 + about_tokens(&ranked.title);
        }
        if let Some(own) = own {
            worth += part_worth(ranked.deed, own) * self.told_by(&own.words) * self.use_of(at, own);
            cost += about_tokens(&own.text);
        }
        let aside = if ranked.is_aside { 8 } else { 1 };
        // The rest of a message comes next.
        let worth = if ranked.is_whole && self.chosen[at].is_open { worth * TASK } else { worth };
        worth * ranked.newness / (SHORT + cost) / aside
    }

    /// How much words tell that the recap does not hold yet.
    fn told_by(&self, words: &[u32]) -> u64 {
        let tells = |word: &u32| {
            let rarity = self.table.rarity(*word);
            if self.held.contains(&key(*word)) { rarity } else { rarity * AGAIN }
        };
        words.iter().map(tells).sum::<u64>()
    }

    fn asked(&self, words: &[u32]) -> u64 {
        self.interest.factor(words, false, self.table)
    }

    /// The factor for what the reader asks for. A line of output also gains where the assistant used its names.
    fn use_of(&self, at: usize, part: &DeedPart) -> u64 {
        let is_output = part.kind == PartKind::Output;
        let factor = self.interest.factor(&part.words, is_output, self.table)
            + self.asked(&self.deeds[at].title_words)
            - 2;
        let message = self.deeds[at].deed.message;
        let is_used =
            |word: &u32| self.table.is_rare_name(*word) && self.table.is_used_after(*word, message);
        if is_output && part.words.iter().any(is_used) { factor * USED } else { factor }
    }

    /// Whether the recap says a part already, or the assistant said a line of output in words of its own.
    fn is_repeated(&self, at: usize, part: &DeedPart) -> bool {
        match part.kind {
            // The state tells how a check ended.
            PartKind::Verdict => self.deeds[at].is_listed,
            PartKind::Sentence | PartKind::Answered => self.said.contains(&*part.text),
            PartKind::Output => {
                let message = self.deeds[at].deed.message;
                self.said.contains(&*part.text)
                    || part.words.len() > 1 && self.table.are_said_after(&part.words, message)
            }
            _ => false,
        }
    }

    /// Takes parts, the best first, until `room` tokens are used or nothing is left. Returns the tokens that are left.
    pub fn take(&mut self, mut room: u64) -> u64 {
        let mut passed_over = Vec::new();
        while let Some(next) = self.queue.pop() {
            let (at, index) = (next.deed as usize, next.part as usize);
            let own = self.deeds[at].deed.parts.get(index);
            if own.is_none() && self.chosen[at].is_open
                || own.is_some() && self.chosen[at].done[index] != PartFate::Waiting
            {
                continue;
            }
            if let Some(own) = own
                && self.is_repeated(at, own)
            {
                self.chosen[at].done[index] = PartFate::Repeated;
                continue;
            }
            // The parts that were taken since may have made this one worth less.
            let now = self.queued(at, next.part);
            if now.density < next.density && self.queue.peek().is_some_and(|other| other > &now) {
                self.queue.push(now);
                continue;
            }
            let cost = self.cost(at, own, room);
            if cost > room {
                passed_over.push(now);
                continue;
            }
            room -= cost;
            self.tell(at, next.part);
        }
        self.queue.extend(passed_over);
        room
    }

    /// The tokens of a part, with its title where the deed has no line yet. A part that is far too long is not counted.
    fn cost(&self, at: usize, part: Option<&DeedPart>, room: u64) -> u64 {
        let ranked = &self.deeds[at];
        let count = |text: &str| u64::from(self.counter.count(text, TextKind::Prose));
        let about = part.map_or(0, |part| part.text.len() as u64 / 12);
        if about > room {
            return about;
        }
        let title = if self.chosen[at].is_open {
            0
        } else {
            2 + count(&format!("@{} \n", ranked.deed.message)) + count(&ranked.title)
        };
        title + part.map_or(0, |part| self.joint + 1 + count(&text(part)))
    }

    /// Takes a part.
    fn tell(&mut self, at: usize, part: u32) {
        let deed = self.deeds[at].deed;
        let opens = !std::mem::replace(&mut self.chosen[at].is_open, true);
        if opens {
            self.held.extend(self.deeds[at].title_words.iter().map(|word| key(*word)));
        }
        if let Some(own) = deed.parts.get(part as usize) {
            self.chosen[at].done[part as usize] = PartFate::Told;
            self.held.extend(own.words.iter().map(|word| key(*word)));
            self.said.insert(&own.text);
        }
        // The other parts cost less now, because the title is paid for.
        if opens {
            let rest = self.parts_of(at);
            self.queue.extend(rest);
        }
    }

    /// The indices of the chosen parts of each deed that has a line, with the index of the deed.
    pub fn lines(&self) -> impl Iterator<Item = (usize, Vec<usize>)> + '_ {
        let of = |(at, chosen): (usize, &ChosenParts)| {
            let told = chosen.done.iter().enumerate();
            let told = told.filter(|(_, fate)| **fate == PartFate::Told).map(|(part, _)| part);
            chosen.is_open.then(|| (at, told.collect()))
        };
        self.chosen.iter().enumerate().filter_map(of)
    }

    /// Counts what is left out. Repetitions do not count.
    pub fn left_out(&self) -> LeftOutCounts {
        let mut counts = LeftOutCounts::default();
        for (ranked, chosen) in self.deeds.iter().zip(&self.chosen) {
            let waiting = chosen.done.iter().filter(|fate| **fate == PartFate::Waiting).count();
            let bare = usize::from(!chosen.is_open && !ranked.is_listed);
            match &ranked.deed.kind {
                DeedKind::Words(Speaker::User) => counts.of_user += waiting,
                DeedKind::Words(Speaker::Assistant | Speaker::Answer) => {
                    counts.of_assistant += waiting;
                }
                DeedKind::Words(Speaker::Application) => counts.of_application += waiting,
                DeedKind::Words(Speaker::Note) => counts.of_notes += waiting,
                DeedKind::Change(_) => counts.changes += waiting.max(bare),
                DeedKind::Call(_) => {
                    counts.commands += bare;
                    counts.output += waiting;
                }
            }
        }
        counts
    }
}

/// Whether other sections tell what a deed's title says: a check that the state lists, a file that was read.
fn is_listed(deed: &Deed, listed: &ListedElsewhere<'_>) -> bool {
    use crate::recap::deed::CallSubject;
    match &deed.kind {
        DeedKind::Call(call) if call.ending == CallEnding::Shown => {
            matches!(call.subject, CallSubject::File(..))
        }
        DeedKind::Call(_) => listed.checks.contains(&deed.message),
        _ => false,
    }
}

/// Whether a deed is a message of the user that is short enough to stay whole.
fn is_whole(deed: &Deed) -> bool {
    let chars: usize = deed.parts.iter().map(|part| part.text.len()).sum();
    deed.is_users() && chars <= WHOLE
}

fn is_aside(deed: &Deed, listed: &ListedElsewhere<'_>) -> bool {
    match &deed.kind {
        DeedKind::Change(edit) => {
            edit.files.iter().all(|path| listed.asides.contains(path.as_str()))
        }
        _ => false,
    }
}

/// About how many tokens a text has: ranking needs no count.
fn about_tokens(text: &str) -> u64 {
    let plain = text.bytes().filter(u8::is_ascii).count() as u64;
    // A letter of another script has two or three bytes, and takes a token or less.
    1 + plain / 4 + (text.len() as u64 - plain) / 3
}
