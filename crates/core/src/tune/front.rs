//! Points, the front they make, and which of them to take.

use std::cmp::Ordering;

use crate::replay::Measures;

/// What is wanted of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefer {
    /// The best at-risk retention at no more than the base's cost.
    #[default]
    Recall,
    /// The least cost at no less than the base's at-risk retention.
    Cost,
    /// The most at-risk retention less cost ratio: a point of the one is worth a point of the other.
    Balance,
}

/// What one conversation adds to a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// Identifiers at risk that were needed.
    pub need: f64,
    /// Of them, in the context.
    pub have: f64,
    /// What the requests cost.
    pub cost: f64,
    /// What the raw history would have cost.
    pub raw: f64,
}

impl Part {
    /// Of one conversation; with `priced` the cost is that by the chosen prices, else by the
    /// reference.
    #[must_use]
    pub fn of(measures: &Measures, priced: bool) -> Self {
        let (cost, raw) = match priced {
            true => (measures.price, measures.raw_price),
            false => (measures.cost as f64, measures.raw_cost as f64),
        };
        let at_risk = measures.at_risk;
        Self { need: at_risk.need as f64, have: at_risk.have as f64, cost, raw }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            need: self.need + other.need,
            have: self.have + other.have,
            cost: self.cost + other.cost,
            raw: self.raw + other.raw,
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            need: self.need - other.need,
            have: self.have - other.have,
            cost: self.cost - other.cost,
            raw: self.raw - other.raw,
        }
    }
}

/// At-risk retention and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// At-risk retention, 0 to 1.
    pub recall: f64,
    /// Cost; 1 is the raw history.
    pub cost: f64,
}

impl Point {
    /// Of several conversations, pooled.
    #[must_use]
    pub fn of(parts: &[Part]) -> Self {
        Self::pooled(parts.iter().copied().fold(Part::default(), Part::plus))
    }

    fn pooled(sum: Part) -> Self {
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 1.0 };
        Self { recall: ratio(sum.have, sum.need), cost: ratio(sum.cost, sum.raw) }
    }

    /// No worse on both axes, and better on one.
    #[must_use]
    pub fn dominates(&self, other: &Self) -> bool {
        self.recall >= other.recall
            && self.cost <= other.cost
            && (self.recall > other.recall || self.cost < other.cost)
    }
}

impl Prefer {
    /// Which of two points is to be taken: `Less` for the first.
    #[must_use]
    pub fn order(self, base: &Point, a: &Point, b: &Point) -> Ordering {
        let dear = |point: &Point| point.cost > base.cost;
        let poor = |point: &Point| point.recall < base.recall;
        let recall = b.recall.total_cmp(&a.recall);
        let cost = a.cost.total_cmp(&b.cost);
        match self {
            Self::Recall if dear(a) || dear(b) => dear(a).cmp(&dear(b)).then(cost).then(recall),
            Self::Recall => recall.then(cost),
            Self::Cost if poor(a) || poor(b) => poor(a).cmp(&poor(b)).then(recall).then(cost),
            Self::Cost => cost.then(recall),
            Self::Balance => self.worth(b).total_cmp(&self.worth(a)).then(recall),
        }
    }

    /// What is to be large.
    fn worth(self, point: &Point) -> f64 {
        match self {
            Self::Recall => point.recall,
            Self::Cost => -point.cost,
            Self::Balance => point.recall - point.cost,
        }
    }

    /// What is not to fall, where that is something else.
    fn guarded(self, point: &Point) -> f64 {
        match self {
            Self::Recall => -point.cost,
            Self::Cost => point.recall,
            Self::Balance => self.worth(point),
        }
    }
}

/// The points that no other dominates, from the least cost up. Of equal ones the first.
#[must_use]
pub fn front(points: &[(usize, Point)]) -> Vec<usize> {
    let mut sorted: Vec<&(usize, Point)> = points.iter().collect();
    sorted.sort_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost).then(b.recall.total_cmp(&a.recall)));
    let mut best = f64::NEG_INFINITY;
    let better = |(_, point): &&&(usize, Point)| {
        let better = point.recall > best;
        best = best.max(point.recall);
        better
    };
    sorted.iter().filter(better).map(|(at, _)| *at).collect()
}

/// A difference, and how much of one chance alone would give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Larger is better.
    pub by: f64,
    /// What chance reaches once in twenty times: [`SURE`] standard errors over conversations, and
    /// at least [`FLOOR`].
    pub noise: f64,
}

/// Smaller differences are never called one: 2 identifiers in 1,000.
pub const FLOOR: f64 = 0.002;
/// The same where there is one conversation, and no error can be told.
pub const FLOOR_ALONE: f64 = 0.01;
/// Standard errors that a gain has to be: 95 % of a normal distribution lie below. A gain that one
/// conversation alone has made is one standard error.
pub const SURE: f64 = 1.645;

impl Gain {
    /// More than noise.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.by > self.noise
    }

    /// Worse by more than noise.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        -self.by > self.noise
    }
}

/// How two policies differ over the same conversations: the pooled difference, and its standard
/// error by leaving out one conversation after the other (the jackknife).
fn gain(base: &[Part], other: &[Part], worth: impl Fn(&Point) -> f64) -> Gain {
    let sum = |parts: &[Part]| parts.iter().copied().fold(Part::default(), Part::plus);
    let (all_base, all_other) = (sum(base), sum(other));
    let differ = |base, other| worth(&Point::pooled(other)) - worth(&Point::pooled(base));
    let by = differ(all_base, all_other);
    let without: Vec<f64> = base
        .iter()
        .zip(other)
        .map(|(one, same)| differ(all_base.less(*one), all_other.less(*same)))
        .collect();
    if without.len() < 2 {
        return Gain { by, noise: FLOOR_ALONE };
    }
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let spread: f64 = without.iter().map(|d| (d - mean) * (d - mean)).sum();
    Gain { by, noise: (SURE * ((n - 1.0) / n * spread).sqrt()).max(FLOOR) }
}

/// What a policy gains over the base on the axis that is wanted, and on the one that is guarded.
#[must_use]
pub fn gains(prefer: Prefer, base: &[Part], other: &[Part]) -> (Gain, Gain) {
    (
        gain(base, other, |point| prefer.worth(point)),
        gain(base, other, |point| prefer.guarded(point)),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(recall: f64, cost: f64) -> Point {
        Point { recall, cost }
    }

    proptest! {
        #[test]
        fn the_front_is_what_nothing_dominates(
            raw in proptest::collection::vec((0u8..12, 0u8..12), 0..40)
        ) {
            let points: Vec<(usize, Point)> = raw
                .iter()
                .map(|(r, c)| point(f64::from(*r), f64::from(*c)))
                .enumerate()
                .collect();
            let found = front(&points);
            for (at, here) in &points {
                let beaten = points.iter().any(|(_, other)| other.dominates(here));
                let twin = found.iter().any(|known| points[*known].1 == *here);
                prop_assert_eq!(twin, !beaten);
                prop_assert!(!(beaten && found.contains(at)));
            }
            let costs: Vec<f64> = found.iter().map(|at| points[*at].1.cost).collect();
            prop_assert!(costs.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn an_order_is_one_and_never_prefers_what_is_dominated(
            raw in proptest::collection::vec((0u8..6, 0u8..6), 3)
        ) {
            let points: Vec<Point> =
                raw.iter().map(|(r, c)| point(f64::from(*r), f64::from(*c))).collect();
            let base = point(3.0, 3.0);
            for prefer in [Prefer::Recall, Prefer::Cost, Prefer::Balance] {
                let order = |a: usize, b: usize| prefer.order(&base, &points[a], &points[b]);
                prop_assert_eq!(order(0, 1), order(1, 0).reverse());
                if order(0, 1).is_lt() && order(1, 2).is_lt() {
                    prop_assert!(order(0, 2).is_lt());
                }
                if points[0].dominates(&points[1]) {
                    prop_assert!(order(0, 1).is_lt());
                }
            }
        }
    }

    #[test]
    fn a_gain_of_one_conversation_among_many_is_noise() {
        let part = |have: f64| Part { need: 100.0, have, cost: 1.0, raw: 2.0 };
        let base = [part(90.0); 8];
        let mut lucky = base;
        lucky[3] = part(99.0);
        let (recall, cost) = gains(Prefer::Recall, &base, &lucky);
        assert!(recall.by > 0.01 && !recall.is_real(), "{recall:?}");
        assert_eq!((cost.by, cost.noise), (0.0, FLOOR));
        let steady = [part(92.0); 8];
        let (recall, _) = gains(Prefer::Recall, &base, &steady);
        assert!(recall.is_real() && (recall.by - 0.02).abs() < 1e-9, "{recall:?}");
        let (alone, _) = gains(Prefer::Recall, &base[..1], &steady[..1]);
        assert_eq!(alone.noise, FLOOR_ALONE);
    }
}
