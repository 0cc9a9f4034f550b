//! Chooses the statements for a recap, and the parts of each.
//!
//! Every sentence, changed line and line of a result competes for room by itself. The most valuable ones are taken
//! whole, and no part is cut. So a conclusion stays whole, and details that can be read again make room for it.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::identifiers;
use crate::recap::escape;
use crate::recap::group::GroupedStatement;
use crate::recap::statement::{Statement, StatementKind, StatementSentence};

/// What a statement of each kind is worth. Only the ratios count: the user's words come before the agent's
/// conclusions, those before its remarks, and everything else follows. Tuned on reading exams (benches/README.md).
fn weight_of(kind: StatementKind) -> f64 {
    match kind {
        StatementKind::Asked => 600.0,
        StatementKind::Concluded => 240.0,
        StatementKind::Rejected => 220.0,
        StatementKind::Changed => 150.0,
        StatementKind::Said => 140.0,
        StatementKind::Failed | StatementKind::Stopped => 130.0,
        StatementKind::Found => 40.0,
        StatementKind::Ran => 70.0,
    }
}

/// The newest statement weighs this much more than the oldest, as a fraction.
const FRESH: f64 = 0.3;
/// A request with room for fewer characters than this is left out of the task section.
const LEAST: usize = 40;
/// How much length counts against a part: at 1, twice the length halves its score; at 0, length does not count.
const LENGTH: f64 = 0.25;
/// A part of fewer characters than this is scored as if it had this many.
const SHORTEST: usize = 40;
/// The weight of a statement's lead without any part, in percent: which file was changed, or which command ran.
const BARE: u32 = 50;
/// Characters of `@123 answer: ` with the line break, which each line costs beside its statement.
const FRAME: usize = 10;
/// Characters between two parts of a statement.
const JOINT: usize = 3;
/// The largest share of room for changed lines, in percent. It is small because the file itself shows them.
const CHANGES: usize = 20;
/// The largest share of room for the user's words while other statements compete, in percent.
const ASKED: usize = 80;
/// Each further part of a statement scores this fraction of the one before it, so that other statements get room,
/// too.
const BESIDE: f64 = 0.7;
/// A statement is compared with at most this many newer ones.
const COMPARED: usize = 48;
/// A statement with all words of the focus weighs this much more; one with half of them, a quarter of that.
const FOCUSED: f64 = 3.0;
/// Words that were said this often are a mere phrase.
const PHRASE: u32 = 3;
/// The fraction of its weight that a repeated statement keeps.
const REPEATED: f64 = 0.25;
/// A sentence of the user has its full weight where it holds this many words that no other message has. A word that
/// one other message has, too, counts half.
const NOVEL: f64 = 4.0;
/// A non-ASCII word of more letters than this is taken for several words without spaces.
const LONG_WORD: usize = 12;
/// A later message renews one of the user's where it holds this percentage of its words.
const RENEWED: usize = 60;
/// A newer statement repeats one of the assistant's where it holds this percentage of its words.
const SAME: usize = 70;

/// A statement and its weight.
struct WeighedStatement<'a> {
    statement: &'a Statement,
    weight: f64,
    /// For each part of a user's message, the fraction that no other message says. Empty for other statements.
    new: Vec<f64>,
    /// The later message of the user that replaces this one; `None` where it still holds.
    renewed: Option<RenewedPlace>,
}

/// Where the user renewed a message.
#[derive(Clone, Copy)]
enum RenewedPlace {
    /// In the statement with this index.
    In(usize),
    /// In a message that stays behind the recap.
    Later,
}

/// Weighs statements by kind, age, focus and repetition.
fn weigh<'a>(
    grouped: &'a [GroupedStatement],
    later: &[Statement],
    focus: &[String],
) -> Vec<WeighedStatement<'a>> {
    let statements: Vec<&Statement> = grouped.iter().map(|group| &group.statement).collect();
    let edits: Vec<u32> = grouped.iter().map(|group| group.count).collect();
    let words: Vec<HashedWords> = statements.iter().map(|statement| words_of(statement)).collect();
    let fresh = freshness(&statements, &words, later);
    let mut new = novelty(&statements, later);
    let renewed = renewals(&statements, &words, later);
    // At least 1, because the age is divided by it.
    let count = statements.len().max(2) - 1;
    let mut weigh = |(at, statement): (usize, &'a GroupedStatement)| {
        let statement = &statement.statement;
        // The user's words hold regardless of their age.
        let fresher = if statement.kind == StatementKind::Asked { 0.0 } else { FRESH };
        let age = 1.0 + fresher * (at as f64 / count as f64);
        let asked = 1.0 + FOCUSED * focused(statement, focus).powi(2);
        // A phrase of every turn, such as "Noted and recorded.", says nothing.
        let is_phrase = statement.times >= PHRASE && statement.kind.is_words();
        let again = if renewed[at].is_some() || is_phrase { REPEATED } else { 1.0 };
        let weight = weight_of(statement.kind) * age * fresh[at] * asked * again;
        // A group weighs a little less than its changes one by one, since they share a line.
        let weight = weight * f64::from(edits[at]).powf(0.85);
        WeighedStatement {
            statement,
            weight,
            new: std::mem::take(&mut new[at]),
            renewed: renewed[at],
        }
    };
    grouped.iter().enumerate().map(&mut weigh).collect()
}

/// A part of a statement, or its bare lead, that competes for room.
struct StatementPart {
    /// Roughly its worth for each character: see [`LENGTH`].
    score: f64,
    /// Index of its statement.
    place: usize,
    /// Index of the part; `None` for the bare lead.
    part: Option<usize>,
}

/// Weighed statements, and their parts in the order of their scores, the best first.
pub(super) struct RankedStatements<'a> {
    weighed: Vec<WeighedStatement<'a>>,
    /// The parts of all statements, the best first.
    candidates: Vec<StatementPart>,
}

impl<'a> RankedStatements<'a> {
    /// Ranks statements, which are in order with the oldest first. `later` are statements of messages behind the
    /// recap.
    pub(super) fn of(
        grouped: &'a [GroupedStatement],
        later: &[Statement],
        focus: &[String],
    ) -> Self {
        let weighed = weigh(grouped, later, focus);
        let mut candidates: Vec<StatementPart> =
            weighed.iter().enumerate().flat_map(|(place, one)| candidates(place, one)).collect();
        // Of equal scores the later part comes first.
        candidates.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (b.place, b.part).cmp(&(a.place, a.part)))
        });
        Self { weighed, candidates }
    }

    /// The lines that fit into `room` characters, each with the index of its statement. Parts are taken whole, the
    /// best first.
    pub(super) fn lines(&self, room: usize) -> Vec<(usize, String)> {
        let line = |(place, parts): (usize, Option<Vec<usize>>)| {
            let mut parts = parts?;
            parts.sort_unstable();
            let statement = self.weighed[place].statement;
            Some((place, labelled(statement, &statement.tell(&parts))))
        };
        self.choose(room).into_iter().enumerate().filter_map(line).collect()
    }

    /// The parts of each statement that get room; `None` for a statement that gets no line.
    fn choose(&self, room: usize) -> Vec<Option<Vec<usize>>> {
        let weighed = &self.weighed;
        let mut places = GivenPlaces { weighed, left: room, chosen: vec![None; weighed.len()] };
        let (mut for_changes, mut for_asked) = (room * CHANGES / 100, room * ASKED / 100);
        let mut waiting = Vec::new();
        let mut prose_found_none = false;
        for candidate in &self.candidates {
            if places.is_renewed(candidate.place) {
                continue;
            }
            let kind = weighed[candidate.place].statement.kind;
            // Once a sentence did not fit, the rest of the room is for other sentences, and not for details that can
            // be read again.
            if prose_found_none && !kind.is_words() {
                continue;
            }
            let share = match kind {
                StatementKind::Changed if candidate.part.is_some() => Some(&mut for_changes),
                StatementKind::Asked => Some(&mut for_asked),
                _ => None,
            };
            let cost = places.cost(candidate);
            match share {
                Some(share) if cost > *share => waiting.push(candidate),
                share => {
                    let taken = places.take(candidate, cost);
                    prose_found_none |= !taken && kind.is_words();
                    if let Some(share) = share.filter(|_| taken) {
                        *share -= cost;
                    }
                }
            }
        }
        // Requests that exceeded their share may use any room that is left.
        for candidate in waiting {
            // Changed lines never exceed their share, because the file shows them.
            let is_asked = weighed[candidate.place].statement.kind == StatementKind::Asked;
            if is_asked && !places.is_renewed(candidate.place) {
                let cost = places.cost(candidate);
                places.take(candidate, cost);
            }
        }
        places.chosen
    }
}

/// The parts chosen so far.
struct GivenPlaces<'a> {
    weighed: &'a [WeighedStatement<'a>],
    /// Characters that are left.
    left: usize,
    /// The chosen parts of each statement that has a line.
    chosen: Vec<Option<Vec<usize>>>,
}

impl GivenPlaces<'_> {
    /// The characters that a part costs now. The first part of a statement pays for its line, too.
    fn cost(&self, candidate: &StatementPart) -> usize {
        let statement = self.weighed[candidate.place].statement;
        let part = candidate.part.map(|part| statement.parts[part].text.chars().count() + JOINT);
        let opens = self.chosen[candidate.place].is_none();
        let line = if opens { statement.lead.chars().count() + FRAME } else { 0 };
        part.unwrap_or(0) + line
    }

    /// Whether the recap, or a message behind it, holds the newer message that replaces this one. A decision that was
    /// replaced is written only without that message.
    fn is_renewed(&self, place: usize) -> bool {
        match self.weighed[place].renewed {
            Some(RenewedPlace::In(newer)) => self.chosen[newer].is_some(),
            Some(RenewedPlace::Later) => true,
            None => false,
        }
    }

    /// Takes a part where there is room for it. Returns whether it was taken.
    fn take(&mut self, candidate: &StatementPart, cost: usize) -> bool {
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
            self.chosen[candidate.place].get_or_insert_default().extend(candidate.part);
        }
        fits
    }
}

/// The parts of a statement that may be chosen, and its bare lead, each with its score.
fn candidates<'a>(
    place: usize,
    weighed: &'a WeighedStatement<'_>,
) -> impl Iterator<Item = StatementPart> + 'a {
    let WeighedStatement { statement, weight, new, .. } = weighed;
    let weight = *weight;
    let score = move |part: u32, chars: usize| {
        weight * f64::from(part) / 100.0 / (chars.max(SHORTEST) as f64).powf(LENGTH)
    };
    let lead = statement.lead.chars().count();
    let bare = statement.is_told_bare().then(|| StatementPart {
        score: score(BARE, lead),
        place,
        part: None,
    });
    let told = statement.parts.iter().enumerate().filter(|(_, part)| statement.is_told(part));
    let mut order: Vec<(usize, &StatementSentence)> = told.collect();
    order.sort_by_key(|(at, part)| (std::cmp::Reverse(part.weight), std::cmp::Reverse(*at)));
    // All parts of a user's message matter, so later ones are not scored lower.
    let beside = if statement.kind == StatementKind::Asked { 1.0 } else { BESIDE };
    let parts = order.into_iter().enumerate().map(move |(rank, (at, part))| StatementPart {
        score: score(part.weight, part.text.chars().count() + lead / 2)
            * beside.powi(i32::try_from(rank).unwrap_or(64))
            * new.get(at).unwrap_or(&1.0),
        place,
        part: Some(at),
    });
    parts.chain(bare)
}

/// The line of a statement in about `max` characters; `None` where that is too few to say anything.
pub(super) fn line(statement: &Statement, max: usize) -> Option<String> {
    let whole = statement.chars();
    if max < LEAST.min(whole) {
        return None;
    }
    Some(labelled(statement, &statement.fit(max)?))
}

fn labelled(statement: &Statement, text: &str) -> String {
    format!("@{} {}{}", statement.message, statement.kind.label(), escape::neutralise(text))
}

/// The fraction of the focus's words that a statement holds.
fn focused(statement: &Statement, focus: &[String]) -> f64 {
    if focus.is_empty() {
        return 0.0;
    }
    let texts = statement.parts.iter().map(|part| &*part.text).chain([&*statement.lead]);
    let texts: Vec<String> = texts.map(str::to_lowercase).collect();
    let held = focus.iter().filter(|word| texts.iter().any(|text| text.contains(&**word)));
    held.count() as f64 / focus.len() as f64
}

/// The words of a statement, hashed.
type HashedWords = FxHashSet<u64>;

/// A factor for each statement: lower where a newer statement says the same again, because the last word of repeated
/// reasoning counts.
fn freshness(statements: &[&Statement], words: &[HashedWords], later: &[Statement]) -> Vec<f64> {
    let newer: Vec<HashedWords> = later.iter().rev().take(COMPARED).map(words_of).collect();
    let mut recent: VecDeque<&HashedWords> = newer.iter().rev().collect();
    let mut found = vec![1.0; statements.len()];
    for (at, (statement, words)) in statements.iter().zip(words).enumerate().rev() {
        let own = matches!(statement.kind, StatementKind::Said | StatementKind::Concluded);
        // Fewer than four words are often alike by chance.
        if own && words.len() >= 4 {
            // The same words with other figures are a new finding.
            let figures = figures_of(statement);
            let again = |other: &&HashedWords| match figures.is_subset(other) {
                true => words.iter().filter(|word| other.contains(word)).count(),
                false => 0,
            };
            let most = recent.iter().map(again).max().unwrap_or(0);
            if most * 100 >= words.len() * SAME {
                found[at] = REPEATED;
            }
        }
        recent.push_front(words);
        recent.truncate(COMPARED);
    }
    found
}

/// For each message of the user, the later one that replaces it: it holds most of the message's words, and all its
/// names and figures. "Not Postgres, please, but SQLite" replaces "Postgres, please".
fn renewals(
    statements: &[&Statement],
    words: &[HashedWords],
    later: &[Statement],
) -> Vec<Option<RenewedPlace>> {
    let asked = |statement: &Statement| statement.kind == StatementKind::Asked;
    let newest: Vec<HashedWords> =
        later.iter().filter(|one| asked(one)).take(COMPARED).map(words_of).collect();
    let mut newer: VecDeque<(usize, &HashedWords)> = VecDeque::new();
    let mut found = vec![None; statements.len()];
    for (at, statement) in statements.iter().enumerate().rev().filter(|(_, one)| asked(one)) {
        let (own, telling) = (&words[at], telling_of(statement));
        let says_again = |other: &HashedWords| {
            // A message of one or two words, such as "go on", is in many later ones without being renewed.
            if own.len() < 3 || !telling.is_subset(other) {
                return false;
            }
            let shared = own.iter().filter(|word| other.contains(word)).count();
            shared * 100 >= own.len() * RENEWED
        };
        found[at] = if newest.iter().any(says_again) {
            Some(RenewedPlace::Later)
        } else {
            newer.iter().find(|(_, other)| says_again(other)).map(|(at, _)| RenewedPlace::In(*at))
        };
        newer.push_front((at, own));
        newer.truncate(COMPARED);
    }
    found
}

/// How much each part of the user's messages says that the other messages do not. In a long dialogue, a rule that was
/// mentioned once outweighs the small talk around it, in any language.
fn novelty(statements: &[&Statement], later: &[Statement]) -> Vec<Vec<f64>> {
    let asked = |statement: &&Statement| statement.kind == StatementKind::Asked;
    let all = statements.iter().copied().chain(later).filter(asked);
    let mut uses: FxHashMap<u64, f64> = FxHashMap::default();
    for word in all.flat_map(words_of) {
        *uses.entry(word).or_default() += 1.0;
    }
    let of = |part: &StatementSentence| {
        let own: f64 =
            words(&part.text).iter().map(|word| 1.0 / uses.get(word).unwrap_or(&1.0)).sum();
        (own / NOVEL).clamp(REPEATED, 1.0)
    };
    let of = |statement: &&Statement| match statement.kind {
        StatementKind::Asked => statement.parts.iter().map(of).collect(),
        _ => Vec::new(),
    };
    statements.iter().map(of).collect()
}

fn words_of(statement: &Statement) -> HashedWords {
    let texts = statement.parts.iter().map(|part| &*part.text).chain([&*statement.lead]);
    texts.flat_map(words).collect()
}

/// The words of a text, hashed. In scripts without spaces, each pair of letters counts as a word.
fn words(text: &str) -> HashedWords {
    let mut found = HashedWords::default();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let runs_on = !word.is_ascii() && word.chars().nth(LONG_WORD).is_some();
        if runs_on {
            let ends =
                word.char_indices().map(|(at, _)| at).chain([word.len()]).collect::<Vec<_>>();
            // Three borders enclose two letters.
            found.extend(ends.windows(3).map(|pair| hash_of(&word[pair[0]..pair[2]])));
        } else if word.chars().nth(2).is_some() || has_digit(word) {
            found.insert(hash_of(word));
        }
    }
    found
}

/// The words of a statement that are figures or names, hashed.
fn telling_of(statement: &Statement) -> HashedWords {
    let names = statement.parts.iter().flat_map(|part| {
        let words = part.text.split_whitespace().enumerate();
        let names = words.filter(|(at, word)| {
            // The first word of a text has a capital letter in any case.
            *at > 0 && word.chars().next().is_some_and(char::is_uppercase) || has_digit(word)
        });
        names
            .flat_map(|(_, word)| self::words(word))
            .chain(identifiers(&part.text).flat_map(self::words))
    });
    names.collect()
}

/// The words of a statement with a digit, hashed.
fn figures_of(statement: &Statement) -> HashedWords {
    let texts = statement.parts.iter().map(|part| &*part.text).chain([&*statement.lead]);
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| has_digit(word)).map(hash_of).collect()
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

fn hash_of(word: &str) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(word.to_lowercase())
}
