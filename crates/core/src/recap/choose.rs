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
use crate::recap::bound::DeedBound;
use crate::recap::deed::{CallEnding, Deed, DeedKind, DeedPart, PartKind, Speaker};
use crate::recap::elsewhere::ListedElsewhere;
use crate::recap::interest::ReaderInterest;
use crate::recap::print::{DeedPrinter, text};
use crate::recap::words::{WordNumbers, WordSet, WordTable, key, words};
use crate::recap::worth::{
    AGAIN, DONE, FOUND, LINE, SHORT, USED, about_tokens, least_tokens, part_worth, title_worth,
};

/// The newest deed weighs half as much again as the oldest.
const NEWEST: u64 = 2;

/// What became of a part.
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

/// A deed whose parts are in the queue.
struct RankedDeed {
    /// The line's label, what was called or changed, and how often.
    title: String,
    title_words: WordNumbers,
    /// Its worth is multiplied by this: twice for the newest, once for the oldest.
    newness: u64,
    /// Whether the recap's other sections tell what the title says.
    is_listed: bool,
    /// Whether it is about files that the agent made for itself alone.
    is_aside: bool,
    /// Whether the deed has a line.
    is_open: bool,
    /// For each part, whether it was chosen, or left out because the recap says the same.
    fates: Vec<PartFate>,
}

/// Chooses the parts of deeds, and counts what they cost.
pub(super) struct DeedChoice<'a> {
    deeds: &'a [Cow<'a, Deed>],
    /// The deeds that were looked at; `None` for the others, whose parts are not in the queue yet.
    ranked: Vec<Option<RankedDeed>>,
    /// The others, each with the most that one of its parts can be worth. Of a long session most stay here.
    unread: BinaryHeap<(u64, usize)>,
    queue: BinaryHeap<QueuedPart>,
    table: &'a WordTable,
    interest: &'a ReaderInterest,
    listed: ListedElsewhere<'a>,
    printer: DeedPrinter<'a>,
    counter: &'a dyn Counter,
    /// The most tokens between two parts.
    joint: u64,
    /// No line takes fewer tokens than this.
    least_line: u64,
    /// The words that the chosen parts hold.
    words: WordSet,
    /// The texts that the chosen parts hold.
    texts: FxHashSet<&'a str>,
    /// The chosen parts, in this order: the index of the deed and of the part.
    chosen: Vec<(usize, usize)>,
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
        printer: DeedPrinter<'a>,
        counter: &'a dyn Counter,
    ) -> Self {
        let count = |text: &str| u64::from(counter.count(text, TextKind::Prose));
        let mut choice = Self {
            deeds,
            ranked: deeds.iter().map(|_| None).collect(),
            unread: BinaryHeap::new(),
            queue: BinaryHeap::new(),
            table,
            interest,
            texts: listed.texts.clone(),
            listed,
            printer,
            counter,
            joint: count(" … "),
            least_line: 2 + count("@1 \n"),
            words: WordSet::default(),
            chosen: Vec::new(),
        };
        let all = (0..deeds.len()).map(|at| (choice.bound(at), at));
        choice.unread = all.collect::<Vec<_>>().into();
        choice
    }

    /// The most that a part of a deed can be worth for each of its tokens.
    fn bound(&self, at: usize) -> u64 {
        let bound = self.deed_bound(at);
        bound.now(self.table, self.newness(at), 2 * self.interest.most(bound.marks()))
    }

    fn deed_bound(&self, at: usize) -> Cow<'a, DeedBound> {
        let deed = &self.deeds[at];
        match &deed.bound {
            Some(bound) => Cow::Borrowed(bound),
            None => Cow::Owned(DeedBound::of(deed, self.table)),
        }
    }

    /// The least tokens for a line of a deed.
    fn least(&self, at: usize) -> u64 {
        let [title, part] = self.deed_bound(at).least_tokens();
        let is_words = matches!(self.deeds[at].kind, DeedKind::Words(_));
        self.least_line + title + if is_words { self.joint + 1 + part } else { 0 }
    }

    /// The newest deed weighs half as much again as the oldest, and the task more than all.
    fn newness(&self, at: usize) -> u64 {
        let last = self.deeds.len().max(2) as u64 - 1;
        let task = if self.listed.task.contains(&at) { TASK } else { 1 };
        (64 * NEWEST + 64 * at as u64 / last) * task
    }

    /// Puts the parts of each deed into the queue that may be worth more than the best part there. Deeds without a line
    /// that fits are put off.
    fn read_on(&mut self, room: u64, put_off: &mut Vec<(u64, usize)>) {
        while let Some((bound, at)) = self.unread.peek().copied()
            && self.queue.peek().is_none_or(|best| best.density <= bound)
        {
            self.unread.pop();
            if self.least(at) > room {
                put_off.push((bound, at));
                continue;
            }
            let deed = &self.deeds[at];
            let title = self.printer.full_title(deed);
            self.ranked[at] = Some(RankedDeed {
                title_words: words(&title),
                newness: self.newness(at),
                is_listed: self.listed.lists(deed),
                is_aside: self.listed.is_aside(deed),
                title,
                is_open: false,
                fates: vec![PartFate::Waiting; deed.parts.len()],
            });
            if !self.queue_parts(at, room) {
                put_off.push((bound, at));
            }
        }
    }

    /// Puts the title and the parts of a deed that have no place yet into the queue, with their present densities, but
    /// for those that surely take more than `room` tokens. Returns whether no part was put off.
    fn queue_parts(&mut self, at: usize, room: u64) -> bool {
        let Some(ranked) = &self.ranked[at] else { return true };
        let has_title = !matches!(self.deeds[at].kind, DeedKind::Words(_)) && !ranked.is_listed;
        let title = (has_title && !ranked.is_open).then_some(TITLE);
        let waiting = (0..).zip(&ranked.fates).filter(|(_, fate)| **fate == PartFate::Waiting);
        let parts = title.into_iter().chain(waiting.map(|(part, _)| part));
        let mut is_all = true;
        let parts = parts.filter(|part| {
            let fits = self.least_of(ranked, self.deeds[at].parts.get(*part as usize)) <= room;
            is_all &= fits;
            fits
        });
        let parts: Vec<QueuedPart> = parts.map(|part| self.queued(ranked, at, part)).collect();
        self.queue.extend(parts);
        is_all
    }

    fn queued(&self, ranked: &RankedDeed, deed: usize, part: u32) -> QueuedPart {
        let density = self.density(ranked, deed, part);
        QueuedPart { density, deed: u32::try_from(deed).unwrap_or(u32::MAX), part }
    }

    /// The worth of a part for each of its tokens, as the recap is now. The first part of a deed brings its title.
    fn density(&self, ranked: &RankedDeed, at: usize, part: u32) -> u64 {
        let deed = &self.deeds[at];
        let own = deed.parts.get(part as usize);
        let (mut worth, mut cost) = (0, 0);
        if !ranked.is_open {
            let is_words = matches!(deed.kind, DeedKind::Words(_));
            if !is_words && !ranked.is_listed {
                let weight = DONE * AGAIN + self.told_by(&ranked.title_words);
                worth += title_worth(deed) * weight * self.interest_in(&ranked.title_words) / 2;
            }
            cost += LINE + about_tokens(&ranked.title);
        }
        if let Some(own) = own {
            let factor = self.use_of(deed.message, own, &ranked.title_words);
            let is_found = own.kind.is_shown() && !self.interest.is_focus(&own.words);
            let most = if is_found { FOUND } else { u64::MAX };
            worth += (part_worth(deed, own) * factor).min(most) * self.told_by(&own.words);
            cost += about_tokens(&own.text);
        }
        let aside = if ranked.is_aside { 8 } else { 1 };
        // The rest of a message comes next.
        let worth = if ranked.is_open && is_whole(deed) { worth * TASK } else { worth };
        worth * ranked.newness / (SHORT + cost) / aside
    }

    /// How much words tell that the recap does not hold yet.
    fn told_by(&self, words: &[u32]) -> u64 {
        let tells = |word: &u32| {
            let rarity = self.table.rarity(*word);
            if self.words.contains(&key(*word)) { rarity } else { rarity * AGAIN }
        };
        words.iter().map(tells).sum::<u64>()
    }

    /// The factor for what the reader asks for. A line of output also gains where the assistant used its names.
    fn use_of(&self, message: u32, part: &DeedPart, title: &[u32]) -> u64 {
        let is_output = part.kind == PartKind::Output;
        // An agent that wants a line of a file reads the file again, and finds what it says by then.
        if part.kind == PartKind::FileLine && !self.interest.is_focus(&part.words) {
            return 1;
        }
        let own = self.interest.factor(&part.words, is_output, self.table);
        let factor = own + self.interest_in(title) - 2;
        let is_used =
            |word: &u32| self.table.is_rare_name(*word) && self.table.is_used_after(*word, message);
        if is_output && part.words.iter().any(is_used) { factor * USED } else { factor }
    }

    /// The factor for what the reader asks for, of words that are no output.
    fn interest_in(&self, words: &[u32]) -> u64 {
        self.interest.factor(words, false, self.table)
    }

    /// Whether `texts` has a part already, or the assistant said a line of output in words of its own.
    fn is_repeated(&self, deed: &Deed, part: &DeedPart, texts: &FxHashSet<&str>) -> bool {
        match part.kind {
            // The state tells how a check ended.
            PartKind::Verdict => self.listed.lists(deed),
            PartKind::Sentence | PartKind::Answered => texts.contains(&*part.text),
            PartKind::Output | PartKind::FileLine => {
                texts.contains(&*part.text)
                    || part.words.len() > 1 && self.table.are_said_after(&part.words, deed.message)
            }
            _ => false,
        }
    }

    /// Takes parts, the best first, until `room` tokens are used or nothing is left.
    pub fn take(&mut self, mut room: u64) {
        let (mut passed_over, mut put_off) = (Vec::new(), Vec::new());
        // No part takes fewer tokens than its joint, and a new line takes more.
        while room > self.joint {
            if room >= self.least_line {
                self.read_on(room, &mut put_off);
            }
            let Some(next) = self.queue.pop() else { break };
            let (at, index) = (next.deed as usize, next.part as usize);
            let deed = &self.deeds[at];
            let own = deed.parts.get(index);
            let Some(ranked) = &self.ranked[at] else { continue };
            let is_waiting = ranked.fates.get(index).is_none_or(|fate| *fate == PartFate::Waiting);
            if own.is_none() && ranked.is_open || !is_waiting {
                continue;
            }
            // What a look-up was is worth no more than what it showed.
            let is_output =
                own.map_or(deed.ending() == Some(CallEnding::Shown), |own| own.kind.is_shown());
            let free = room.saturating_sub(if is_output { self.listed.for_read } else { 0 });
            if self.least_of(ranked, own) > free {
                passed_over.push(next);
                continue;
            }
            if own.is_some_and(|own| self.is_repeated(deed, own, &self.texts)) {
                self.set(at, index, PartFate::Repeated);
                continue;
            }
            // The parts that were taken since may have made this one worth less.
            let now = self.queued(ranked, at, next.part);
            if now.density < next.density && self.queue.peek().is_some_and(|other| other > &now) {
                self.queue.push(now);
                continue;
            }
            let cost = self.cost(ranked, deed, index);
            if cost > free {
                passed_over.push(now);
                continue;
            }
            room -= cost;
            self.take_part(at, index);
        }
        self.queue.extend(passed_over);
        // With more room, all parts of these deeds are looked at again.
        for (bound, at) in put_off {
            if self.ranked[at].as_ref().is_none_or(|ranked| !ranked.is_open) {
                self.ranked[at] = None;
                self.unread.push((bound, at));
            }
        }
    }

    /// The least tokens of a part, which need no count.
    fn least_of(&self, ranked: &RankedDeed, part: Option<&DeedPart>) -> u64 {
        let line = self.least_line + least_tokens(ranked.title.len());
        let line = if ranked.is_open { 0 } else { line };
        line + part.map_or(0, |part| self.joint + 1 + least_tokens(part.text.len()))
    }

    fn set(&mut self, at: usize, part: usize, to: PartFate) {
        let slot = self.ranked[at].as_mut().and_then(|ranked| ranked.fates.get_mut(part));
        slot.into_iter().for_each(|fate| *fate = to);
    }

    /// The tokens of a part, with its title where the deed has no line yet.
    fn cost(&self, ranked: &RankedDeed, deed: &Deed, part: usize) -> u64 {
        let count = |text: &str| u64::from(self.counter.count(text, TextKind::Prose));
        let title = if ranked.is_open {
            0
        } else {
            2 + count(&format!("@{} \n", deed.message)) + count(&ranked.title)
        };
        let leads = waiting_leads(ranked, deed, part);
        let parts = leads.iter().chain([&part]).filter_map(|at| deed.parts.get(*at));
        parts.fold(title, |cost, part| cost + self.joint + 1 + count(&text(part)))
    }

    /// Takes a part, and those that introduce it.
    fn take_part(&mut self, at: usize, part: usize) {
        let leads = self.ranked[at].as_ref().map(|own| waiting_leads(own, &self.deeds[at], part));
        leads.into_iter().flatten().for_each(|lead| self.tell(at, lead));
        self.tell(at, part);
    }

    /// Takes a part.
    fn tell(&mut self, at: usize, part: usize) {
        let Some(ranked) = &mut self.ranked[at] else { return };
        let opens = !std::mem::replace(&mut ranked.is_open, true);
        if opens {
            self.words.extend(ranked.title_words.iter().map(|word| key(*word)));
        }
        if let Some(own) = self.deeds[at].parts.get(part) {
            self.words.extend(own.words.iter().map(|word| key(*word)));
            self.texts.insert(&own.text);
        }
        self.set(at, part, PartFate::Told);
        self.chosen.push((at, part));
        // The other parts cost less now, because the title is paid for.
        if opens {
            self.queue_parts(at, u64::MAX);
        }
    }

    /// How many parts were chosen so far.
    pub fn count(&self) -> usize {
        self.chosen.len()
    }

    /// The indices of the chosen parts of each deed that has a line, with the index of the deed.
    pub fn lines(&self) -> Vec<(usize, Vec<usize>)> {
        let mut chosen = self.chosen.clone();
        chosen.sort_unstable();
        let mut lines: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, part) in chosen {
            if lines.last().is_none_or(|(last, _)| *last != at) {
                lines.push((at, Vec::new()));
            }
            let is_title = part == TITLE as usize;
            lines.last_mut().filter(|_| !is_title).into_iter().for_each(|(_, own)| own.push(part));
        }
        lines
    }

    /// Counts what is left out beside the first `chosen` parts. Repetitions do not count.
    pub fn left_out(&self, chosen: usize) -> LeftOutCounts {
        let picked: FxHashSet<(usize, usize)> = self.chosen.iter().take(chosen).copied().collect();
        let open: FxHashSet<usize> = picked.iter().map(|(at, _)| *at).collect();
        let mut known = self.listed.texts.clone();
        let texts = picked.iter().filter_map(|(at, part)| self.deeds[*at].parts.get(*part));
        known.extend(texts.map(|part| &*part.text));
        let mut counts = LeftOutCounts::default();
        for (at, deed) in self.deeds.iter().enumerate() {
            let is_open = open.contains(&at);
            let parts = deed.parts.iter().enumerate();
            let parts = parts.filter(|(part, _)| !is_open || !picked.contains(&(at, *part)));
            let waiting = parts.filter(|(_, part)| !self.is_repeated(deed, part, &known)).count();
            let bare = usize::from(!is_open && !self.listed.lists(deed));
            match &deed.kind {
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

/// The indices of the parts that introduce a part and wait for room: a heading, what comes before a list. Of several with
/// the same text the nearest one before it counts.
fn waiting_leads(ranked: &RankedDeed, deed: &Deed, part: usize) -> Vec<usize> {
    let lead_of = |at: &usize| {
        let lead = deed.parts.get(*at)?.lead.as_deref()?;
        deed.parts[..*at].iter().rposition(|other| other.text == lead)
    };
    let leads = std::iter::successors(lead_of(&part), lead_of);
    leads.filter(|at| ranked.fates.get(*at) == Some(&PartFate::Waiting)).collect()
}

/// Whether a deed is a message of the user that is short enough to stay whole.
fn is_whole(deed: &Deed) -> bool {
    let mut room = WHOLE;
    // Stops early, because this is asked for each part of a message that may have thousands.
    let mut fits = |part: &DeedPart| {
        let rest = room.checked_sub(part.text.len());
        room = rest.unwrap_or(room);
        rest.is_some()
    };
    deed.is_users() && deed.parts.iter().all(&mut fits)
}
