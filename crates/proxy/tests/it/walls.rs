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
fn run(kind: DialectKind, window: u64, seeds: u64, steps: u32) -> Counts {
    let mut sum = Counts::default();
    for seed in 0..seeds {
        let mut world = World::new(kind, window, seed);
        (0..steps).for_each(|_| world.step());
        world.end();
        sum.add(world.counts);
    }
    sum
}

/// Nothing is folded, so that all that was sent can be compared with what the client sent.
#[test]
fn exchanges_stay_in_their_conversation_and_own_messages_leave_as_they_came() {
    for kind in KINDS {
        let counts = run(kind, 200_000, 12, 160);
        println!("{kind}: {counts:?}");
        assert!(counts.exchanges > 200 && counts.seen > 200, "{kind}: {counts:?}");
        assert!(counts.dropped > 50 && counts.edited > 20 && counts.crashes > 10, "{kind}");
        assert_eq!(counts.folds, 0, "{kind}");
    }
}

/// Most is folded, so that recalled text is in the exchanges.
#[test]
fn what_one_conversation_recalled_is_in_no_other() {
    for kind in KINDS {
        let counts = run(kind, 4_000, 6, 160);
        println!("{kind}: {counts:?}");
        assert!(counts.folds > 20 && counts.recalled > 20, "{kind}: {counts:?}");
    }
}
