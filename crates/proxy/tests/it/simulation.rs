//! Clients, two nodes over one store and a provider in one thread, where everything that happens is drawn from a seed:
//! nodes that die between the writing of a fold and its use, stores that are away, writes whose answers are lost, clocks
//! that jump, answers that come late or never, edits, branches, and other processes that fold, undo and pin.
//!
//! After each step the step's session is read from the store and audited, and what was sent is held against what the
//! provider and the client know. `MIDFOLD_SIMULATION` says how many steps; a failure names its seed and step, and
//! `MIDFOLD_SEED` runs one world again.

mod check;
mod client;
mod deeds;
mod forward;
mod node;
mod tally;
mod world;

pub(crate) use midfold::store::run_in_memory as now;

use tally::Tally;
use world::World;

/// Steps in which one request may be refused, and sent once more, because of thinking that nothing was lost of. Seen once
/// in other worlds than those of today: two nodes folded a session whose client went back by one step in between.
const RARELY: u64 = 50_000;

/// Steps of one world: then its conversations are long enough, and its store is not too large to be checked often.
const STEPS: u64 = 2_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn seeds() -> std::ops::Range<u64> {
    if let Some(seed) = number("MIDFOLD_SEED") {
        return seed..seed + 1;
    }
    let steps = number("MIDFOLD_SIMULATION").unwrap_or(3 * STEPS);
    0..steps.div_ceil(STEPS)
}

#[test]
fn whatever_happens_in_which_order_nobody_is_stuck_and_records_are_true() {
    let mut sum = Tally::default();
    for seed in seeds() {
        let mut world = World::new(seed);
        (0..STEPS).for_each(|_| world.step());
        world.end();
        sum.add(world.tally());
    }
    println!("{sum:#?}");
    assert!(sum.unexpected * RARELY <= sum.steps, "{sum:#?}");
    let is_one = number("MIDFOLD_SEED").is_some();
    assert!(is_one || sum.folds > 0 && sum.crashes > 0 && sum.voided > 0, "{sum:#?}");
}

#[test]
fn the_same_seed_leaves_the_same_trace() {
    let trace = |seed| {
        let mut world = World::new(seed);
        (0..400).for_each(|_| world.step());
        world.trace()
    };
    assert_eq!(trace(11), trace(11));
    assert_ne!(trace(11), trace(12));
}
