//! Which statements a recap has room for, and how much of each.
//!
//! Every sentence, line of a change and line of a result asks for a place by itself, and those that are
//! worth most get one, as they are: nothing is cut inside. So a conclusion stays whole while something
//! that can be read again has a place.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::identifiers;
use crate::recap::escape;
use crate::recap::group::GroupedStatement;
use crate::recap::statement::{Statement, StatementKind, StatementSentence};

/// What a statement of each kind is worth. Relations are what counts: the user's words before the agent's conclusions, those before its remarks, and the rest
/// below. Varied on reading exams (benches/README.md).
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

/// The newest weigh this much more than the oldest.
const FRESH: f64 = 0.3;
/// Least characters of a line of the task: a request that may have fewer is left out.
const LEAST: usize = 40;
/// How much its length counts against a part: at 1 twice the length is worth half, at 0 none counts.
const LENGTH: f64 = 0.25;
/// Below this a part is no cheaper, in characters.
const SHORTEST: usize = 40;
/// What a statement says without any of its parts weighs this much of 100: which file was changed, which
/// command ran.
const BARE: u32 = 50;
/// Characters of `@123 answer: ` and the end of the line, and of what is between two parts.
const FRAME: usize = 10;
const JOINT: usize = 3;
/// The most that lines of changes take, in parts per 100: how a file was changed can be read in it.
const CHANGES: usize = 20;
/// The most that the user's words take while others ask for a place, in parts per 100.
const ASKED: usize = 80;
/// Each further part of a statement is worth so much of the one before it: others say something yet.
const BESIDE: f64 = 0.7;
/// Newer statements that a part is compared with.
const COMPARED: usize = 48;
/// What holds all words of the focus weighs this much more; of half of them, a quarter of that.
const FOCUSED: f64 = 3.0;
/// What was said so often is a phrase.
const PHRASE: u32 = 3;
/// What is said again later weighs this much of what it did.
const REPEATED: f64 = 0.25;
/// A sentence of the user weighs in full where it has so many words of its own; a word that another message
/// has, too, counts by half.
const NOVEL: f64 = 4.0;
/// Letters of a word beyond ASCII from which on it is several.
const LONG_WORD: usize = 12;
/// So many of the words of a user's message, in hundredths, have to be in a later one that takes it up again.
const RENEWED: usize = 60;
/// So many of its words, in hundredths, have to be said again by one newer statement.
const SAME: usize = 70;

/// A statement with what it weighs.
struct WeighedStatement<'a> {
    statement: &'a Statement,
    weight: f64,
    /// How much each part says that others do not, for what the user wrote.
    new: Vec<f64>,
    /// A later message of the user that says it again, with what holds now.
    renewed: Option<RenewedPlace>,
}

/// Where the user took a message up again.
#[derive(Clone, Copy)]
enum RenewedPlace {
    /// In this statement.
    In(usize),
    /// In what stays behind the recap.
    Later,
}

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
    let count = statements.len().max(2) - 1;
    let mut weigh = |(at, statement): (usize, &'a GroupedStatement)| {
        let statement = &statement.statement;
        // What the user said holds however long ago it was said.
        let fresher = if statement.kind == StatementKind::Asked { 0.0 } else { FRESH };
        let age = 1.0 + fresher * (at as f64 / count as f64);
        let asked = 1.0 + FOCUSED * focused(statement, focus).powi(2);
        // What is said at every turn ("Noted and recorded.") tells nothing.
        let is_phrase = statement.times >= PHRASE && statement.kind.is_words();
        let again = if renewed[at].is_some() || is_phrase { REPEATED } else { 1.0 };
        let weight = weight_of(statement.kind) * age * fresh[at] * asked * again;
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

/// A part of a statement, or its bare lead, that asks for a place.
struct StatementPart {
    /// What it is worth for each character, roughly: see [`LENGTH`].
    score: f64,
    /// The place of its statement.
    place: usize,
    /// Which of its parts; the bare lead has none.
    part: Option<usize>,
}

/// Statements, and what of them asks for a place, best first.
pub(super) struct RankedStatements<'a> {
    weighed: Vec<WeighedStatement<'a>>,
    candidates: Vec<StatementPart>,
}

impl<'a> RankedStatements<'a> {
    /// Ranks statements, oldest first. `later` are those that stay in the context behind them.
    pub(super) fn of(
        grouped: &'a [GroupedStatement],
        later: &[Statement],
        focus: &[String],
    ) -> Self {
        let weighed = weigh(grouped, later, focus);
        let mut candidates: Vec<StatementPart> =
            weighed.iter().enumerate().flat_map(|(place, one)| candidates(place, one)).collect();
        // Of equal ones the later.
        candidates.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (b.place, b.part).cmp(&(a.place, a.part)))
        });
        Self { weighed, candidates }
    }

    /// The lines that fit into `room` characters, each with the place of its statement. What is worth
    /// most comes first, whole; what finds no room is left out, and nothing is cut.
    pub(super) fn lines(&self, room: usize) -> Vec<(usize, String)> {
        let line = |(place, parts): (usize, Option<Vec<usize>>)| {
            let mut parts = parts?;
            parts.sort_unstable();
            let statement = self.weighed[place].statement;
            Some((place, labelled(statement, &statement.tell(&parts))))
        };
        self.choose(room).into_iter().enumerate().filter_map(line).collect()
    }

    /// The parts of each statement that have a place.
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
            // What can be read again does not fill the gap that a sentence did not fit into.
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
        // What the user said comes into whatever is left.
        for candidate in waiting {
            let is_asked = weighed[candidate.place].statement.kind == StatementKind::Asked;
            if is_asked && !places.is_renewed(candidate.place) {
                let cost = places.cost(candidate);
                places.take(candidate, cost);
            }
        }
        places.chosen
    }
}

/// The places that were given.
struct GivenPlaces<'a> {
    weighed: &'a [WeighedStatement<'a>],
    /// Characters.
    left: usize,
    /// The parts of each statement that has a line.
    chosen: Vec<Option<Vec<usize>>>,
}

impl GivenPlaces<'_> {
    /// What it costs now: the first of a statement pays for its line.
    fn cost(&self, candidate: &StatementPart) -> usize {
        let statement = self.weighed[candidate.place].statement;
        let part = candidate.part.map(|part| statement.parts[part].text.chars().count() + JOINT);
        let opens = self.chosen[candidate.place].is_none();
        let line = if opens { statement.lead.chars().count() + FRAME } else { 0 };
        part.unwrap_or(0) + line
    }

    /// Whether the recap, or what is behind it, tells a newer message of the user that says the same again: a decision is
    /// told with what replaced it, or not at all.
    fn is_renewed(&self, place: usize) -> bool {
        match self.weighed[place].renewed {
            Some(RenewedPlace::In(newer)) => self.chosen[newer].is_some(),
            Some(RenewedPlace::Later) => true,
            None => false,
        }
    }

    /// Whether there is room.
    fn take(&mut self, candidate: &StatementPart, cost: usize) -> bool {
        let fits = cost <= self.left;
        if fits {
            self.left -= cost;
            self.chosen[candidate.place].get_or_insert_default().extend(candidate.part);
        }
        fits
    }
}

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
    // All that the user said is to be kept.
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

/// The line of a statement, of about `max` characters.
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

/// The share of the focus's words that a statement holds.
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

/// How much of each statement no newer one says again: of repeated reasoning the last word counts.
fn freshness(statements: &[&Statement], words: &[HashedWords], later: &[Statement]) -> Vec<f64> {
    let newer: Vec<HashedWords> = later.iter().rev().take(COMPARED).map(words_of).collect();
    let mut recent: VecDeque<&HashedWords> = newer.iter().rev().collect();
    let mut found = vec![1.0; statements.len()];
    for (at, (statement, words)) in statements.iter().zip(words).enumerate().rev() {
        let own = matches!(statement.kind, StatementKind::Said | StatementKind::Concluded);
        if own && words.len() >= 4 {
            // The same words with other figures are another finding.
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

/// Where each message of the user is taken up again by a later one: that has most of its words, and each name and
/// figure of it. "Postgres, please" is, where somebody says later: "Not Postgres, please, but SQLite".
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

/// How much each part of the user's messages says that the other messages do not: in a dialogue of many
/// turns a rule or a fact that was mentioned once outweighs the small talk around it, in any language.
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

/// The words of a text. Where a script puts nothing between words, two letters are one.
fn words(text: &str) -> HashedWords {
    let mut found = HashedWords::default();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let runs_on = !word.is_ascii() && word.chars().nth(LONG_WORD).is_some();
        if runs_on {
            let ends =
                word.char_indices().map(|(at, _)| at).chain([word.len()]).collect::<Vec<_>>();
            found.extend(ends.windows(3).map(|pair| hash_of(&word[pair[0]..pair[2]])));
        } else if word.chars().nth(2).is_some() || has_digit(word) {
            found.insert(hash_of(word));
        }
    }
    found
}

/// Those of the words that are figures or names.
fn telling_of(statement: &Statement) -> HashedWords {
    let names = statement.parts.iter().flat_map(|part| {
        let words = part.text.split_whitespace().enumerate();
        let names = words.filter(|(at, word)| {
            *at > 0 && word.chars().next().is_some_and(char::is_uppercase) || has_digit(word)
        });
        names
            .flat_map(|(_, word)| self::words(word))
            .chain(identifiers(&part.text).flat_map(self::words))
    });
    names.collect()
}

/// Those of the words that are or hold figures.
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
