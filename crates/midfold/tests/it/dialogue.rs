//! A plain dialogue keeps what its user said: rules, preferences, facts and their later corrections.

#![expect(clippy::unwrap_used, reason = "generated input, and what the test is about must work")]

use bytes::Bytes;
use midfold::formats::read;
use midfold::{CompactionRequest, Door, ModelNarration, Policy, Setup};
use midfold_testkit::{SAID, dialogue};

const SEEDS: u64 = 10;

/// How many of the statements are left at a share of the dialogue, and the share of the target used.
fn kept(seed: u64, preset: &str, percent: u64) -> (Vec<&'static str>, f64) {
    let input = Bytes::from(dialogue(seed).join("\n"));
    let conversation = read::read(&input, None).unwrap().conversations.remove(0);
    let prepared = Setup::new().window(128_000).prepare(conversation).unwrap();
    let target = prepared.log.tokens() * percent / 100;
    let wish = CompactionRequest {
        target: Some(target),
        ..CompactionRequest::by(Policy::preset(preset).unwrap())
    };
    let done = wish.run(&prepared, &[], &ModelNarration::default(), Door::Command).unwrap();
    let after = done.context.tokens();
    assert!(after <= target, "{preset} seed {seed}: {after} of {target}");
    let text = String::from_utf8(done.context.bytes()).unwrap();
    if percent == 10 {
        let rule = "Always answer in metric units.";
        assert_eq!(text.matches(rule).count(), 1, "{preset} seed {seed}: told once: {text}");
    }
    let lost = SAID.iter().filter(|(_, word)| !text.contains(word));
    (lost.map(|(said, _)| *said).collect(), after as f64 / target as f64)
}

#[test]
fn a_dialogue_keeps_what_its_user_said_and_uses_the_room_it_was_given() {
    for preset in ["default", "generous", "lean"] {
        for percent in [10, 20, 30] {
            let (mut lost, mut room) = (Vec::new(), 0.0);
            for seed in 1..=SEEDS {
                let (gone, used) = kept(seed, preset, percent);
                lost.extend(gone);
                room += used / SEEDS as f64;
            }
            let asked = SAID.len() * SEEDS as usize;
            let found = asked - lost.len();
            lost.sort_unstable();
            lost.dedup();
            println!("{preset} at {percent} %: {found} of {asked}, {room:.2} of the target used");
            assert!(
                found * 100 >= asked * 95,
                "{preset} at {percent} %: {found} of {asked}: {lost:?}"
            );
            assert!(room >= 0.9, "{preset} at {percent} %: {room:.2} of the target used");
        }
    }
}
