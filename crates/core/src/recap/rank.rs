//! Ranks the identifiers of a span: how likely each is used again, against the room that it takes.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::fold::IdList;
use crate::ids::identifiers;
use crate::recap::frame::RecapFrame;
use crate::recap::gather::GatheredFacts;
use crate::recap::idtable::IdUse;
use crate::recap::parse::CARRIED_WEIGHT;

/// Identifiers, ranked by their worth.
pub(super) struct IdRanking<'a> {
    /// The identifiers that need a place in the recap, the best first.
    pub best: Vec<&'a str>,
    /// How many more identifiers were left out of `best`.
    pub rest: usize,
    /// Identifiers that the context already names, as many as a record lists, the best first.
    pub said: Vec<&'a str>,
}

/// The identifier itself, followed by its parts where it is a compound of identifiers.
pub(crate) fn with_parts(id: &str) -> impl Iterator<Item = &str> {
    let parts = id.split(':').filter(move |part| part.len() < id.len());
    std::iter::once(id).chain(parts.filter(|part| identifiers(part).next() == Some(*part)))
}

/// Ranks the identifiers. Each costs at least one token, so at most `room` of them can be named, and only that many
/// are sorted.
pub(super) fn rank<'a>(
    gathered: &'a GatheredFacts,
    frame: &RecapFrame<'_>,
    said: &FxHashSet<&str>,
    room: usize,
) -> IdRanking<'a> {
    // Ties go to the earlier name, then by its letters, so that the order never depends on the hash table.
    let placed = |id: &'a str, used: &IdUse, hope| {
        (Reverse(worth(id, hope) + aged(used, gathered)), used.first, id, hope)
    };
    // Known names are looked up in the table, and not the other way round: a context has far fewer names than a
    // history.
    let known =
        frame.elsewhere.iter().chain(said.iter().filter(|id| !frame.elsewhere.contains(*id)));
    let known = known.filter_map(|id| gathered.ids.get(id));
    let mut already: Vec<_> =
        known.map(|(id, used)| placed(id, used, hope(id, used, frame.focus))).collect();
    let most = room.saturating_add(IdList::SHOWN);
    // Known names are ranked with the others and dropped below, so they must not take the place of any.
    let mut best = BestOf::of(most.saturating_add(already.len()), gathered.ids.len());
    for (id, used) in gathered.ids.iter() {
        let hope = hope(id, used, frame.focus);
        if hope >= LEAST_HOPE {
            best.add(placed(id, used, hope));
        }
    }
    let mut ranked = best.finish();
    ranked.retain(|(_, _, id, _)| !frame.elsewhere.contains(id) && !said.contains(id));
    sort_best(&mut ranked, most);
    ranked.truncate(most);
    sort_best(&mut already, IdList::SHOWN);
    IdRanking {
        rest: gathered.ids.len() - already.len() - ranked.len(),
        best: ranked.into_iter().map(|(_, _, id, _)| id).collect(),
        said: already.into_iter().map(|(_, _, id, _)| id).collect(),
    }
}

/// Keeps the `keep` smallest of the added values, without storing all of them.
pub(super) struct BestOf<T> {
    /// How many values are wanted.
    keep: usize,
    /// The wanted values, and others that were added since the last cut.
    held: Vec<T>,
    /// The largest wanted value at the last cut; `None` before the first cut.
    bound: Option<T>,
}

/// The buffer grows to this many times `keep` before it is cut down to `keep`, because a cut costs a selection while
/// adding is cheap.
const SPARE: usize = 4;

impl<T: Ord + Copy> BestOf<T> {
    /// An empty collection, to which at most `all` values will be added.
    pub(super) fn of(keep: usize, all: usize) -> Self {
        let held = Vec::with_capacity(all.min(keep.saturating_mul(SPARE)));
        Self { keep, held, bound: None }
    }

    /// Adds a value, unless it is larger than the bound.
    pub(super) fn add(&mut self, one: T) {
        if self.bound.is_some_and(|bound| one > bound) {
            return;
        }
        self.held.push(one);
        if self.held.len() >= self.keep.saturating_mul(SPARE) {
            self.cut();
        }
    }

    /// The largest value that may still be among the smallest, as of the last cut. `None` before the first cut.
    pub(super) fn bound(&self) -> Option<&T> {
        self.bound.as_ref()
    }

    /// Drops all but the `keep` smallest values. The largest of them is the new bound: larger values need not be added.
    fn cut(&mut self) {
        if let Some(last) = self.keep.checked_sub(1).filter(|_| self.held.len() > self.keep) {
            let (_, bound, _) = self.held.select_nth_unstable(last);
            self.bound = Some(*bound);
        }
        self.held.truncate(self.keep);
    }

    /// The kept values, in no order.
    fn finish(mut self) -> Vec<T> {
        self.cut();
        self.held
    }

    pub(super) fn in_order(self) -> Vec<T> {
        let mut held = self.finish();
        held.sort_unstable();
        held
    }
}

/// Sorts only the first `keep` values to the front, because most of a span cannot be named.
pub(super) fn sort_best<T: Ord>(list: &mut [T], keep: usize) {
    let keep = keep.min(list.len());
    if keep < list.len() {
        list.select_nth_unstable(keep);
    }
    list[..keep].sort_unstable();
}

/// Weights for how likely an identifier is used again. They began as a logistic regression over replayed sessions,
/// and were then tuned in replay, with cross-validation between two sets of sessions (benches/README.md). Only their
/// ratios matter. Where a weight is for each doubling, it is added four times, because `log2` counts quarters.
mod weight {
    /// The assistant used it at all: names that it used once, it often uses again.
    pub const SAID: i64 = 160;
    /// For each doubling of the number of the assistant's texts that hold it, four times.
    pub const OFTEN_SAID: i64 = 14;
    /// For each doubling of the number of the user's texts that hold it, four times.
    pub const OFTEN_USER: i64 = 20;
    /// For each doubling of the number of results that hold it, four times. Results say less about later use.
    pub const OFTEN_RESULT: i64 = 10;
    /// An earlier recap named it first. For later names of that recap, this falls to nothing.
    pub const CARRIED_FIRST: i64 = 150;
    /// A number that the assistant never used, such as a line number, a size or a measurement.
    pub const NUMBER: i64 = -60;
    /// A compound with a colon: its parts occur alone more often.
    pub const COMPOUND: i64 = -40;
    /// A line number with the start of the line, seen in results only: the hit of a search.
    pub const HIT: i64 = -100;
    /// For each doubling of its age in texts, four times, beyond the newest …
    pub const AGE: i64 = -10;
    /// … of this many texts.
    pub const FRESH: u32 = 31;
    /// A word of a manual compaction's focus is in it.
    pub const FOCUS: i64 = 1_000;
    /// For each doubling of the length, four times. That is less than proportional, because the odds of short names
    /// are no better known than those of long ones.
    pub const LENGTH: i64 = -22;
}

/// An identifier with less hope than this gets no place even where there is room. An example is a search hit that one
/// result showed: such hits are endless, and almost none is used again.
const LEAST_HOPE: i64 = -60;

/// How likely an identifier is used again: a sum of the weights above.
pub(super) fn hope(id: &str, used: &IdUse, focus: &[String]) -> i64 {
    let mut hope = weight::OFTEN_SAID * log2(used.said)
        + weight::OFTEN_USER * log2(used.user)
        + weight::OFTEN_RESULT * log2(used.result);
    if used.said > 0 {
        hope += weight::SAID;
    } else if !id.bytes().any(|c| c.is_ascii_alphabetic() || c == b'_') {
        hope += weight::NUMBER;
    } else if is_hit(id) {
        hope += weight::HIT;
    }
    hope += weight::CARRIED_FIRST * i64::from(used.carried) / i64::from(CARRIED_WEIGHT);
    if id.contains(':') && !id.contains("://") {
        hope += weight::COMPOUND;
    }
    if !focus.is_empty() && focus.iter().any(|word| id.to_lowercase().contains(word)) {
        hope += weight::FOCUS;
    }
    hope
}

/// Whether an identifier looks like a search hit, such as `12:def`.
fn is_hit(id: &str) -> bool {
    let rest = id.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < id.len() && rest.starts_with(':')
}

/// How likely an identifier is used again, less what its place costs.
pub(super) fn worth(id: &str, hope: i64) -> i64 {
    hope + weight::LENGTH * size(id)
}

/// What a place costs: four for each doubling of the identifier's length in bytes.
pub(super) fn size(id: &str) -> i64 {
    /// Keeps the shortest names from always winning.
    const SHORTEST: usize = 8;
    log2(u32::try_from(id.len() + SHORTEST).unwrap_or(u32::MAX))
}

/// The change in worth by age: names older than most of a window are used less. Where an earlier recap handed
/// identifiers on, their carried weights include age, so this is 0.
fn aged(used: &IdUse, gathered: &GatheredFacts) -> i64 {
    if gathered.carries {
        return 0;
    }
    weight::AGE * (log2(gathered.newest().saturating_sub(used.last)) - log2(weight::FRESH)).max(0)
}

/// `4 × log2(1 + n)`, interpolated linearly between powers of two. The factor keeps quarters in whole numbers.
pub(super) fn log2(n: u32) -> i64 {
    let n = i64::from(n) + 1;
    let whole = i64::from(n.ilog2());
    let base = 1i64 << whole;
    4 * whole + 4 * (n - base) / base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(uses: &[(&'static str, IdUse)]) -> Vec<&'static str> {
        let mut ids: Vec<_> = uses.iter().collect();
        ids.sort_by_key(|(id, used)| Reverse(worth(id, hope(id, used, &[]))));
        ids.into_iter().map(|(id, _)| *id).collect()
    }

    #[test]
    fn what_the_assistant_used_comes_before_what_it_was_shown() {
        let said = IdUse { said: 1, ..IdUse::default() };
        let shown = IdUse { result: 1, ..IdUse::default() };
        let often = IdUse { result: 3, ..IdUse::default() };
        let uses = [("shown_1", shown), ("often_1", often), ("said_a1", said)];
        assert_eq!(order(&uses), ["said_a1", "often_1", "shown_1"]);
    }

    #[test]
    fn the_least_are_those_of_all() {
        let all: Vec<u32> = (0..500).map(|n| n * 7_919 % 503).collect();
        for keep in [0, 1, 2, 40, 499, 500, 900] {
            let mut best = BestOf::of(keep, 300);
            all.iter().for_each(|n| best.add(*n));
            let mut found = best.finish();
            found.sort_unstable();
            let mut wanted = all.clone();
            wanted.sort_unstable();
            wanted.truncate(keep);
            assert_eq!(found, wanted, "{keep}");
        }
    }

    #[test]
    fn age_counts_where_no_index_hands_an_order_on() {
        let mut gathered = GatheredFacts::default();
        (0..1_000).for_each(|_| {
            gathered.next_order();
        });
        let used = |age| IdUse { said: 1, last: 1_000 - age, ..IdUse::default() };
        assert_eq!((aged(&used(0), &gathered), aged(&used(weight::FRESH), &gathered)), (0, 0));
        assert!(aged(&used(900), &gathered) < aged(&used(100), &gathered));
        assert!(aged(&used(100), &gathered) < 0);
        gathered.carries = true;
        assert_eq!(aged(&used(900), &gathered), 0);
    }

    #[test]
    fn an_earlier_index_hands_on_its_order() {
        let carried = |carried| IdUse { carried, ..IdUse::default() };
        let uses =
            [("last_id", carried(1)), ("middle_", carried(500)), ("first_1", carried(1_000))];
        assert_eq!(order(&uses), ["first_1", "middle_", "last_id"]);
    }

    #[test]
    fn hits_of_a_search_run_out_of_hope() {
        let shown = IdUse { result: 1, ..IdUse::default() };
        assert!(hope("12:def", &shown, &[]) < LEAST_HOPE);
        assert!(hope("75.92555", &shown, &[]) >= LEAST_HOPE);
        assert!(hope("75.92555", &shown, &[]) < hope("term3_err", &shown, &[]));
        let said = IdUse { said: 1, ..IdUse::default() };
        assert!(hope("12:def", &said, &[]) > hope("term3_err", &shown, &[]));
    }

    #[test]
    fn a_hit_of_a_search_is_known_by_its_line_number() {
        for (id, hit) in [("12:def", true), ("24-bit", false), ("00ff00", false), ("v1.2-3", false)]
        {
            assert_eq!(is_hit(id), hit, "{id}");
        }
    }
}
