//! What deeds and their parts are worth, and a bound of it that is made once, when a deed enters. By the bound, a recap
//! need not look at the parts of each deed that there ever was.

use crate::recap::bound::{DeedBound, WordMarks};
use crate::recap::deed::{CallEnding, CallSubject, Deed, DeedKind, DeedPart, PartKind, Speaker};
use crate::recap::print::DeedPrinter;
use crate::recap::words::{WordTable, key, words};

/// What a part is worth, by whose words or what deed it is. Only the ratios count.
mod values {
    /// The user's words: nobody can look them up elsewhere, and they hold until the user says otherwise.
    pub const USER: u64 = 240;
    /// The assistant's words: its conclusions carry the story.
    pub const ASSISTANT: u64 = 120;
    /// What a change or a run was, and how it ended.
    pub const DEED: u64 = 96;
    /// What a file says now, and code that somebody quotes. A file can be read again.
    pub const CODE: u64 = 20;
    /// Output, and what a change took away.
    pub const OUTPUT: u64 = 1;
}

/// A word that the recap holds already counts a fourth of a new one.
pub(super) const AGAIN: u64 = 4;
/// What a title tells beside its words: that something was done. As much as a word that half of the deeds hold.
pub(super) const DONE: u64 = 4;
/// A part is weighed as if it had this many tokens more, because two words tell little, whatever they are.
pub(super) const SHORT: u64 = 20;
/// A line of output whose names the assistant used later weighs this much more.
pub(super) const USED: u64 = 6;
/// The most that output is worth, in halves: however well it answers the request, it is a finding like any other deed.
pub(super) const FOUND: u64 = 2 * values::DEED;
/// What the number and the joints of a line cost beside its texts, in tokens.
pub(super) const LINE: u64 = 5;

/// What a deed's title is worth.
pub(super) fn title_worth(deed: &Deed) -> u64 {
    match &deed.kind {
        DeedKind::Words(_) => 0,
        DeedKind::Change(_) => values::DEED,
        DeedKind::Call(call) => match call.ending {
            CallEnding::Rejected | CallEnding::Stopped => values::USER,
            CallEnding::Ended | CallEnding::Failed | CallEnding::Settled(_) => values::DEED,
            CallEnding::Shown => values::OUTPUT,
        },
    }
}

/// What a part of a deed is worth.
pub(super) fn part_worth(deed: &Deed, part: &DeedPart) -> u64 {
    let by = |speaker: &Speaker| match speaker {
        Speaker::User | Speaker::Application => values::USER,
        Speaker::Assistant | Speaker::Answer | Speaker::Note => values::ASSISTANT,
    };
    match &part.kind {
        PartKind::Answered => values::USER,
        PartKind::Sentence => deed.speaker().map_or(values::ASSISTANT, by),
        PartKind::Verdict => title_worth(deed),
        PartKind::Code | PartKind::NewLine(_) => values::CODE,
        // A change that only removes something is what it removed.
        PartKind::OldLine if only_removes(deed) => values::CODE,
        PartKind::OldLine | PartKind::Output | PartKind::FileLine => values::OUTPUT,
    }
}

/// Whether a change writes no line, as far as its first and its last line show.
fn only_removes(deed: &Deed) -> bool {
    let is_old = |part: &DeedPart| part.kind == PartKind::OldLine;
    deed.parts.first().is_some_and(is_old) && deed.parts.last().is_some_and(is_old)
}

/// About how many tokens a text has: ranking needs no count.
pub(super) fn about_tokens(text: &str) -> u64 {
    let plain = text.bytes().filter(u8::is_ascii).count() as u64;
    // A letter of another script has two or three bytes, and takes a token or less.
    1 + plain / 4 + (text.len() as u64 - plain) / 3
}

/// Fractions of a bound are kept in parts of this.
const UNIT: u64 = 256;
impl DeedBound {
    /// The bound of a deed whose words are in the table.
    pub fn of(deed: &Deed, table: &WordTable) -> Self {
        let deeds = table.deeds_log();
        let mut bound = Self { deeds, ..Self::default() };
        bound.set_title(deed, table);
        bound.least[1] = deed.parts.iter().map(|part| part.text.len()).min().unwrap_or(0);
        for part in &deed.parts {
            part.words.iter().for_each(|word| bound.marks.add(key(*word)));
            let may_be_used = part.kind == PartKind::Output
                && part.words.iter().any(|word| table.is_rare_name(*word));
            let worth = AGAIN * part_worth(deed, part) * if may_be_used { USED } else { 1 };
            let cost = about_tokens(&part.text);
            bound.base = bound.base.max(per_token(worth * rarity(&part.words, table), cost));
            bound.slope = bound.slope.max(per_token(worth * weight(&part.words), cost));
        }
        bound
    }

    /// Renews what the title adds, with the words of now.
    fn set_title(&mut self, deed: &Deed, table: &WordTable) {
        let title = title_worth(deed);
        if title == 0 {
            return;
        }
        let text = DeedPrinter::default().full_title(deed);
        let own = words(&text);
        own.iter().for_each(|word| self.marks.add(key(*word)));
        // A path is printed shorter where most files are in one folder.
        let is_whole = match &deed.kind {
            DeedKind::Call(call) => !matches!(call.subject, CallSubject::File(..)),
            _ => false,
        };
        let cost = LINE + if is_whole { about_tokens(&text) } else { 0 };
        self.least[0] = if is_whole { text.len() } else { 0 };
        let worth = AGAIN * title;
        self.title = per_token(worth * (DONE + rarity(&own, table)), cost);
        self.title_slope = per_token(worth * weight(&own), cost);
    }

    /// The bound of a deed that has the parts of both. Its title is another one by now.
    pub fn joined(&self, other: &Self, deed: &Deed, table: &WordTable) -> Self {
        let deeds = table.deeds_log();
        let base = |bound: &Self| bound.base + bound.slope * deeds.saturating_sub(bound.deeds);
        let mut joined = Self {
            base: base(self).max(base(other)),
            deeds,
            slope: self.slope.max(other.slope),
            marks: self.marks,
            least: [0, self.least[1].min(other.least[1])],
            ..Self::default()
        };
        joined.marks.0.iter_mut().zip(&other.marks.0).for_each(|(own, other)| *own |= other);
        joined.set_title(deed, table);
        joined
    }

    /// The bound with the words of now, for a deed of this newness. `factor` is the most that a part gains by what the
    /// reader asks for.
    pub fn now(&self, table: &WordTable, newness: u64, factor: u64) -> u64 {
        let grown = table.deeds_log().saturating_sub(self.deeds);
        // What the title is about counts for itself, and for its parts.
        let title = (self.title + self.title_slope * grown) * factor / 2;
        let part = (self.base + self.slope * grown) * factor;
        (part + title) * newness / UNIT + 1
    }

    /// Marks for the words of the deed.
    pub fn marks(&self) -> &WordMarks {
        &self.marks
    }

    /// The least tokens of the title and of a part.
    pub fn least_tokens(&self) -> [u64; 2] {
        self.least.map(least_tokens)
    }
}

/// The least tokens of a text with so many bytes.
pub(super) fn least_tokens(bytes: usize) -> u64 {
    bytes as u64 / 12
}

/// A worth for each token, rounded up.
fn per_token(worth: u64, cost: u64) -> u64 {
    (worth * UNIT).div_ceil(SHORT + cost)
}

/// How many words there are, with a name for several.
fn weight(words: &[u32]) -> u64 {
    words.iter().map(|word| WordTable::weight(*word)).sum()
}

/// How much these words tell.
fn rarity(words: &[u32], table: &WordTable) -> u64 {
    words.iter().map(|word| table.rarity(*word)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recap::deed::CallDeed;

    #[test]
    fn no_part_is_worth_more_than_the_bound() {
        let mut table = WordTable::default();
        let deed = |at: u32| {
            let call =
                CallDeed::new(CallSubject::Command(format!("make x{at}")), CallEnding::Ended);
            let line = format!("the load_{at} of {} is {at} now", at % 3);
            let parts =
                [PartKind::Verdict, PartKind::Output].map(|kind| DeedPart::new(&line, kind));
            Deed::new(at, DeedKind::Call(call), parts.into())
        };
        let mut deeds: Vec<Deed> = (0..40).map(deed).collect();
        for deed in &mut deeds {
            table.add(deed.parts.iter().map(|part| &part.words), None);
            deed.bound_by(&table);
        }
        for deed in &deeds {
            let title = DeedPrinter::default().title(deed);
            for part in &deed.parts {
                let worth = title_worth(deed) * AGAIN * (DONE + rarity(&words(&title), &table))
                    + part_worth(deed, part) * AGAIN * rarity(&part.words, &table) * 2;
                let cost = SHORT + LINE + about_tokens(&title) + about_tokens(&part.text);
                let bound = deed.bound.as_ref().map_or(0, |bound| bound.now(&table, 64, 2));
                assert!(worth * 64 / cost <= bound, "{} {bound}", worth * 64 / cost);
            }
        }
    }
}
