//! The walls between conversations: what the model and the proxy exchange in one of them is never in another, and what a
//! client sends leaves as it sent it. Conversations begin alike, ids repeat or are missing, answers are dropped,
//! histories are edited, processes die.

mod talk;
mod world;

use midfold::DialectKind;

use world::{Counts, World};

const KINDS: [DialectKind; 5] = [
    DialectKind::OpenAiChat,
    DialectKind::OpenAiResponses,
    DialectKind::Anthropic,
    DialectKind::Gemini,
    DialectKind::Ollama,
];

/// Runs worlds of one format, and says what happened in them.
fn run(kind: DialectKind, window: u64, seeds: u32, steps: u32) -> Counts {
    let mut sum = Counts::default();
    for seed in 0..seeds {
        let mut world = World::new(kind, window, seed.into());
        (0..steps).for_each(|_| world.step());
        world.end();
        sum.add(world.counts);
    }
    sum
}

/// How many worlds of each format: more in `./test --all`.
fn seeds(usual: u32) -> u32 {
    if std::env::var_os("MIDFOLD_THOROUGH").is_some() { 5 * usual } else { usual }
}

/// Nothing is folded, so that all that was sent can be compared with what the client sent.
#[test]
fn exchanges_stay_in_their_conversation_and_own_messages_leave_as_they_came() {
    for kind in KINDS {
        let seeds = seeds(5);
        let counts = run(kind, 200_000, seeds, 160);
        println!("{kind}: {counts:?}");
        assert!(counts.exchanges > 15 * seeds && counts.seen > 15 * seeds, "{kind}: {counts:?}");
        assert!(
            counts.dropped > 3 * seeds && counts.edited > seeds && counts.crashes > 2,
            "{kind}"
        );
        assert_eq!(counts.folds, 0, "{kind}");
    }
}

/// Most is folded, so that recalled text is in the exchanges.
#[test]
fn what_one_conversation_recalled_is_in_no_other() {
    for kind in KINDS {
        let seeds = seeds(3);
        let counts = run(kind, 4_000, seeds, 160);
        println!("{kind}: {counts:?}");
        assert!(counts.folds > 3 * seeds && counts.recalled > 3 * seeds, "{kind}: {counts:?}");
    }
}
