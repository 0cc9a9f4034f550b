//! Which statements a recap has room for, and how much of each.
//!
//! One figure decides: every statement may be as long as its weight times that figure, which is the
//! largest for which all of them fit. So everything shrinks together, what weighs little first, and
//! nothing is left out whole while something of the same weight is told at length.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::recap::escape;
use crate::recap::group::Grouped;
use crate::recap::statement::{Kind, Statement};

/// Characters that a statement of each kind may have where the figure is 1. Relations are what
/// counts: the user's words before the agent's conclusions, those before its remarks, and the rest
/// below. Varied on reading exams (docs/RESULTS.md).
fn weight_of(kind: Kind) -> f64 {
    match kind {
        Kind::Asked => 300.0,
        Kind::Concluded => 240.0,
        Kind::Rejected => 220.0,
        Kind::Changed => 150.0,
        Kind::Said => 140.0,
        Kind::Failed | Kind::Stopped => 130.0,
        Kind::Found => 90.0,
        Kind::Ran => 70.0,
    }
}

/// The newest weigh this much more than the oldest.
const FRESH: f64 = 0.6;
/// Least characters of a line: a statement that may have fewer is left out.
const LEAST: usize = 40;
/// Steps of the search for the figure.
const STEPS: usize = 16;
/// Newer statements that a part is compared with.
const COMPARED: usize = 48;
/// What holds all words of the focus weighs this much more; of half of them, a quarter of that.
const FOCUSED: f64 = 3.0;
/// What is said again later weighs this much of what it did.
const REPEATED: f64 = 0.25;
/// A message of the user weighs in full from the reciprocal of this share of words of its own on.
const NOVEL: f64 = 2.0;
/// So many of its words, in hundredths, have to be said again by one newer statement.
const SAME: usize = 70;

/// A statement with what it weighs.
pub(super) struct Weighed<'a> {
    statement: &'a Statement,
    weight: f64,
}

/// Weighs statements, oldest first. `later` are those that stay in the context behind them.
pub(super) fn weigh<'a>(
    grouped: &'a [Grouped],
    later: &[Statement],
    focus: &[String],
) -> Vec<Weighed<'a>> {
    let statements: Vec<&Statement> = grouped.iter().map(|group| &group.statement).collect();
    let edits: Vec<u32> = grouped.iter().map(|group| group.count).collect();
    let words: Vec<Words> = statements.iter().map(|statement| words_of(statement)).collect();
    let fresh = freshness(&statements, &words, later);
    let new = novelty(&statements, &words, later);
    let count = statements.len().max(2) - 1;
    let weigh = |(at, statement): (usize, &'a Grouped)| {
        let statement = &statement.statement;
        let best = statement.parts.iter().map(|part| part.weight).max().unwrap_or(60);
        let telling = f64::from(best.clamp(8, 200)) / 100.0;
        let age = 1.0 + FRESH * (at as f64 / count as f64);
        let asked = 1.0 + FOCUSED * focused(statement, focus).powi(2);
        let weight = weight_of(statement.kind) * telling * age * fresh[at] * new[at] * asked;
        let weight = weight * f64::from(edits[at]).powf(0.85);
        Weighed { statement, weight }
    };
    grouped.iter().enumerate().map(weigh).collect()
}

/// The lines that fit into `room` characters, each with the place of its statement.
pub(super) fn lines(weighed: &[Weighed<'_>], room: usize) -> Vec<(usize, String)> {
    let at = |figure: f64| -> (usize, Vec<(usize, String)>) {
        let line = |(place, weighed): (usize, &Weighed<'_>)| {
            let max = (weighed.weight * figure) as usize;
            line(weighed.statement, max).map(|line| (place, line))
        };
        let lines: Vec<_> = weighed.iter().enumerate().filter_map(line).collect();
        (lines.iter().map(|(_, line)| line.chars().count() + 1).sum(), lines)
    };
    let (mut low, mut high) = (0.0, 16.0);
    let (size, all) = at(high);
    if size <= room {
        return all;
    }
    let mut best = Vec::new();
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        let (size, lines) = at(middle);
        if size <= room {
            (low, best) = (middle, lines);
        } else {
            high = middle;
        }
    }
    best
}

/// The line of a statement, of about `max` characters.
pub(super) fn line(statement: &Statement, max: usize) -> Option<String> {
    let whole = statement.chars();
    if max < LEAST.min(whole) {
        return None;
    }
    let text = statement.fit(max)?;
    Some(format!("@{} {}{}", statement.message, statement.kind.label(), escape::neutralise(&text)))
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
type Words = FxHashSet<u64>;

/// How much of each statement no newer one says again: of repeated reasoning the last word counts.
fn freshness(statements: &[&Statement], words: &[Words], later: &[Statement]) -> Vec<f64> {
    let newer: Vec<Words> = later.iter().rev().take(COMPARED).map(words_of).collect();
    let mut recent: VecDeque<&Words> = newer.iter().rev().collect();
    let mut found = vec![1.0; statements.len()];
    for (at, (statement, words)) in statements.iter().zip(words).enumerate().rev() {
        let own = matches!(statement.kind, Kind::Said | Kind::Concluded);
        if own && words.len() >= 4 {
            let again = |other: &&Words| words.iter().filter(|w| other.contains(w)).count();
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

/// How much each of the user's messages says that the others do not: in a dialogue of many turns a
/// fact that was mentioned once outweighs the small talk around it, in any language.
fn novelty(statements: &[&Statement], words: &[Words], later: &[Statement]) -> Vec<f64> {
    let asked = |statement: &Statement| statement.kind == Kind::Asked;
    let newer: Vec<Words> = later.iter().filter(|one| asked(one)).map(words_of).collect();
    let own = statements.iter().zip(words).filter(|(one, _)| asked(one)).map(|(_, words)| words);
    let mut uses: FxHashMap<u64, f64> = FxHashMap::default();
    for word in own.chain(&newer).flatten() {
        *uses.entry(*word).or_default() += 1.0;
    }
    let of = |(statement, words): (&&Statement, &Words)| {
        if !asked(statement) || words.is_empty() {
            return 1.0;
        }
        let own: f64 = words.iter().map(|word| 1.0 / uses[word]).sum();
        (own / words.len() as f64 * NOVEL).clamp(REPEATED, 1.0)
    };
    statements.iter().zip(words).map(of).collect()
}

fn words_of(statement: &Statement) -> Words {
    use std::hash::BuildHasher;
    let hash = |word: &str| rustc_hash::FxBuildHasher.hash_one(word.to_lowercase());
    let texts = statement.parts.iter().map(|part| &*part.text).chain([&*statement.lead]);
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| word.chars().nth(2).is_some()).map(hash).collect()
}
