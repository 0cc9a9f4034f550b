//! A search for a better policy on recorded conversations: local, deterministic, within a number
//! of tries. What is measured is a parameter, so nothing here replays. How it works, and what it
//! calls better: docs/MEASURES.md.

mod front;
mod space;

use std::collections::BTreeSet;

use crate::event::Hash;
use crate::policy::Policy;
use crate::replay::Measures;

pub use front::{FLOOR, FLOOR_ALONE, Gain, Part, Point, Prefer, SURE, front, gains};
pub use space::{Change, KNOBS, Knob, changes, overlay, seeds};

/// Policies that are measured at once. Fixed, so that the number of cores changes no result.
const ROUND: usize = 4;
/// Rules, rare words and files: a policy may keep this much less of each than the base.
const SLACK: f64 = 0.01;

/// What a search is asked.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Where it begins, and what it has to beat.
    pub base: &'a Policy,
    /// What is wanted.
    pub prefer: Prefer,
    /// Policies that it may measure, the base among them; at least 1.
    pub tries: usize,
    /// Cost is that by the chosen prices, not by the reference.
    pub priced: bool,
}

/// A policy that was measured.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The policy.
    pub policy: Policy,
    /// The trial it is one step away from, and the knob of that step (by its place in
    /// [`KNOBS`]); none for a seed.
    pub from: Option<(usize, usize)>,
    /// The sums; `None` where a conversation cannot be replayed with it.
    pub total: Option<Measures>,
    /// Each conversation, in the order of the evaluation.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub point: Point,
    /// It may be chosen: nothing over the window, nothing invalid, and rules, rare words and files
    /// kept as the base keeps them.
    pub fit: bool,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// All policies in the order in which they were measured; the base is the first.
    pub trials: Vec<Trial>,
    /// Those that are fit and that nothing fit dominates, from the least cost up.
    pub front: Vec<usize>,
    /// The one to take; 0, the base, where none is better.
    pub chosen: usize,
}

/// What one policy came to, conversation by conversation; `None` where one cannot be replayed.
pub type Evaluated = Option<Vec<Measures>>;

/// Searches from `plan.base`, over a few seeds and then step by step: of the points of the front it
/// takes the one that the wish prefers and that has knobs left to turn, and turns the next.
/// `evaluate` measures some policies and answers in their order.
pub fn search(plan: &Plan<'_>, mut evaluate: impl FnMut(&[Policy]) -> Vec<Evaluated>) -> Found {
    let mut search = Search {
        plan,
        known: BTreeSet::new(),
        found: Found { trials: Vec::new(), front: Vec::new(), chosen: 0 },
        moves: Vec::new(),
    };
    let tries = plan.tries.max(1);
    // The base is measured alone: everything else is held against it.
    let mut next = vec![Step { policy: plan.base.clone(), from: None }];
    search.known.insert(plan.base.fingerprint());
    let mut seeds = seeds(plan.base).into_iter().skip(1);
    while !next.is_empty() {
        next.truncate(tries - search.found.trials.len());
        let policies: Vec<Policy> = next.iter().map(|step| step.policy.clone()).collect();
        for (step, evaluated) in next.into_iter().zip(evaluate(&policies)) {
            search.take(step, evaluated);
        }
        search.rank();
        let left = (tries - search.found.trials.len()).min(ROUND);
        next = Vec::with_capacity(left);
        while next.len() < left {
            let seed = seeds.by_ref().find(|seed| search.known.insert(seed.fingerprint()));
            let seed = seed.map(|policy| Step { policy, from: None });
            let Some(step) = seed.or_else(|| search.step()) else { break };
            next.push(step);
        }
    }
    search.found
}

/// A policy to measure.
struct Step {
    policy: Policy,
    from: Option<(usize, usize)>,
}

struct Search<'a> {
    plan: &'a Plan<'a>,
    known: BTreeSet<Hash>,
    found: Found,
    /// How many of its moves each trial has made.
    moves: Vec<usize>,
}

impl Search<'_> {
    fn take(&mut self, step: Step, evaluated: Evaluated) {
        let each = evaluated.as_deref().unwrap_or_default();
        let parts: Vec<Part> = each.iter().map(|m| Part::of(m, self.plan.priced)).collect();
        let total = evaluated.is_some().then(|| sum(each));
        let base = self.found.trials.first().and_then(|trial| trial.total.as_ref());
        let fit = total.as_ref().is_some_and(|total| is_fit(base.unwrap_or(total), total));
        let point = Point::of(&parts);
        let Step { policy, from } = step;
        self.found.trials.push(Trial { policy, from, total, parts, point, fit });
        self.moves.push(0);
    }

    fn rank(&mut self) {
        let trials = &self.found.trials;
        let fit: Vec<(usize, Point)> = trials
            .iter()
            .enumerate()
            .filter(|(_, trial)| trial.fit)
            .map(|(at, trial)| (at, trial.point))
            .collect();
        self.found.front = front(&fit);
        let base = trials.first().map(|trial| trial.point).unwrap_or_default();
        let prefer = self.plan.prefer;
        let order = |a: &usize, b: &usize| {
            prefer.order(&base, &trials[*a].point, &trials[*b].point).then(a.cmp(b))
        };
        // The base is no worse than what breaks the wish's own limit, and stays where nothing is
        // better.
        let all = self.found.front.iter().copied().chain(std::iter::once(0));
        self.found.chosen = all.min_by(order).unwrap_or(0);
    }

    /// The next policy that is one step from a point of the front.
    fn step(&mut self) -> Option<Step> {
        let base = self.found.trials.first()?.point;
        let prefer = self.plan.prefer;
        let mut points = self.found.front.clone();
        let trials = &self.found.trials;
        points.sort_by(|a, b| prefer.order(&base, &trials[*a].point, &trials[*b].point));
        // Where nothing is fit yet there is the base to start from.
        points.push(0);
        for at in points {
            let trial = &self.found.trials[at];
            // A step that led here is tried again first, then the knobs after it.
            let first = trial.from.map_or(0, |(_, knob)| knob);
            while self.moves[at] < KNOBS.len() * 2 {
                let turn = self.moves[at];
                self.moves[at] += 1;
                let knob = (first + turn / 2) % KNOBS.len();
                let Some(policy) = KNOBS[knob].step(&trial.policy, turn.is_multiple_of(2)) else {
                    continue;
                };
                if self.known.insert(policy.fingerprint()) {
                    return Some(Step { policy, from: Some((at, knob)) });
                }
            }
        }
        None
    }
}

/// Adds up conversations.
#[must_use]
pub fn sum(each: &[Measures]) -> Measures {
    each.iter().fold(Measures::default(), |mut sum, more| {
        sum.add(more);
        sum
    })
}

/// Whether a policy may be chosen in the place of one that came to `base`.
#[must_use]
pub fn is_fit(base: &Measures, other: &Measures) -> bool {
    let kept = [
        (base.rules, other.rules),
        (base.rare, other.rare),
        (base.modified, other.modified),
        (base.read, other.read),
    ];
    other.over == 0
        && other.invalid == 0
        && kept.iter().all(|(base, other)| other.ratio() >= base.ratio() - SLACK)
}

/// Whether a chosen policy is better than the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// On the conversations that were searched, and on those held out where there are any.
    Better {
        /// On the conversations held out, where there are any; else on those that were searched.
        gain: Gain,
    },
    /// Nothing was better where the search looked.
    Nothing,
    /// What was found is within noise where the search looked.
    Noise {
        /// There.
        gain: Gain,
    },
    /// What was found does not show on the conversations held out.
    NotHeld {
        /// There.
        gain: Gain,
    },
}

/// The base and the chosen policy on the same conversations.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The base, conversation by conversation.
    pub base: &'a [Measures],
    /// The chosen policy; `None` where it cannot replay one.
    pub chosen: Option<&'a [Measures]>,
}

/// Judges what a search chose. The gain has to be more than its noise on the conversations that
/// were searched and, by itself, on those held out; there the other axis must not have fallen by
/// more than noise, and the policy must be fit.
#[must_use]
pub fn judge(plan: &Plan<'_>, found: &Found, held: Option<Pair<'_>>) -> Verdict {
    let (Some(base), Some(chosen)) = (found.trials.first(), found.trials.get(found.chosen)) else {
        return Verdict::Nothing;
    };
    if found.chosen == 0 || !chosen.fit {
        return Verdict::Nothing;
    }
    let (gain, _) = gains(plan.prefer, &base.parts, &chosen.parts);
    if !gain.is_real() {
        return Verdict::Noise { gain };
    }
    let Some(pair) = held else { return Verdict::Better { gain } };
    let parts = |each: &[Measures]| -> Vec<Part> {
        each.iter().map(|m| Part::of(m, plan.priced)).collect()
    };
    let other = pair.chosen.unwrap_or_default();
    let (gain, guarded) = gains(plan.prefer, &parts(pair.base), &parts(other));
    let fit = pair.chosen.is_some() && is_fit(&sum(pair.base), &sum(other));
    match fit && gain.is_real() && !guarded.is_loss() {
        true => Verdict::Better { gain },
        false => Verdict::NotHeld { gain },
    }
}

/// Splits conversations into those to search on and those held out, half and half, so that both
/// halves have long and short ones of every kind: in the order of kind and length the sides are
/// dealt as a, b, b, a. `(kind, tokens)` each; `true` is held out. The odd one is searched on, so
/// that of one conversation nothing is held out.
#[must_use]
pub fn hold_out(conversations: &[(&str, u64)]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..conversations.len()).collect();
    order.sort_by(|a, b| {
        let ((kind, tokens), (other, fewer)) = (conversations[*a], conversations[*b]);
        kind.cmp(other).then(fewer.cmp(&tokens)).then(a.cmp(b))
    });
    let mut held = vec![false; conversations.len()];
    for (place, at) in order.into_iter().enumerate() {
        let odd = place + 1 == conversations.len() && place.is_multiple_of(2);
        held[at] = matches!(place % 4, 1 | 2) && !odd;
    }
    held
}

#[cfg(test)]
mod tests;
