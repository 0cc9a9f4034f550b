//! The room of a fold: what the recap keeps, and how many steps lie between two folds.

#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::sync::Arc;

use midfold_core::RawEvent;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::fold::Fold;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::{FoldCause, PlanOutcome, PlanRequest, plan};
use midfold_core::policy::{CoverExtent, Policy};
use midfold_formats::{DialectKind, profile};
use midfold_testkit::Rng;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::quarter::Quarter;

/// The presets of midfold's own, each with the part of the budget, in thousandths, that lies between two folds: a third,
/// and three eighths of the line of `lean`, where a third would leave the recap less than a tenth.
const OWN: [(&str, u64); 3] = [("default", 333), ("generous", 333), ("lean", 180)];

fn policy(name: &str) -> Policy {
    Policy::preset(name).unwrap()
}

fn log() -> EventLog {
    let kind = DialectKind::OpenAiChat;
    EventLog::new(kind.shared(), profile::for_dialect(kind)[0], Arc::new(Quarter))
}

fn log_of(messages: &[Value]) -> EventLog {
    let mut log = log();
    messages.iter().for_each(|message| {
        log.append(raw(message));
    });
    log
}

fn raw(message: &Value) -> RawEvent {
    RawEvent::new(message.to_string().into())
}

const WORDS: [&str; 24] = [
    "ledger", "invoice", "batch", "retry", "queue", "cursor", "shard", "index", "packet", "schema",
    "parser", "filter", "router", "worker", "lease", "commit", "branch", "record", "column",
    "table", "cache", "limit", "signal", "stream",
];

fn sentence(rng: &mut Rng, words: usize) -> String {
    let said: Vec<&str> = (0..words).map(|_| *rng.pick(&WORDS)).collect();
    format!("The {} has {}.", said.join(" "), rng.between(100, 9_999))
}

fn sentences(rng: &mut Rng, tokens: usize) -> String {
    let mut text = String::new();
    while text.len() < tokens * 4 {
        text.push_str(&sentence(rng, 8));
        text.push(' ');
    }
    text
}

/// A step of about `tokens` tokens: the agent says what it found, and looks at the next file or changes it.
fn step(rng: &mut Rng, at: usize, tokens: usize) -> [Value; 2] {
    let (name, arguments) = match at % 3 {
        0 => ("read_file", json!({"path": format!("src/part_{at}.rs")})),
        1 => ("bash", json!({"command": format!("cat logs/part_{at}.log")})),
        _ => (
            "edit",
            json!({"path": format!("src/part_{at}.rs"), "old": sentence(rng, 6), "new": sentence(rng, 6)}),
        ),
    };
    let id = format!("call_{at}");
    let said = sentence(rng, 9);
    [
        json!({"role": "assistant", "content": said, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()}}]}),
        json!({"role": "tool", "tool_call_id": id, "content": sentences(rng, tokens)}),
    ]
}

fn says(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

/// A conversation: a system prompt, a task, `steps` steps, and a request after every 12th.
fn talk(rng: &mut Rng, system: usize, steps: usize, tokens: usize) -> Vec<Value> {
    let mut messages = vec![
        says("system", &sentences(rng, system)),
        says("user", &format!("Move each part to the new client. {}", sentence(rng, 8))),
    ];
    for at in 0..steps {
        if at % 12 == 11 {
            messages.push(says("assistant", &format!("That is done. {}", sentence(rng, 9))));
            messages.push(says("user", &format!("Then the next one. {}", sentence(rng, 9))));
        }
        messages.extend(step(rng, at, tokens));
    }
    messages
}

/// A recap that fills each room, so that its size is the cap to a tenth.
fn endless() -> String {
    "All of it is told. ".repeat(40_000)
}

/// The fold of these messages with a recap that fills its room.
fn folded(
    messages: &[Value],
    preset: &str,
    window: u64,
    target: Option<u64>,
    cause: FoldCause,
    pins: &[u32],
) -> Option<Fold> {
    let (log, policy, budget, recap) =
        (log_of(messages), policy(preset), Budget::new(window), endless());
    let request = PlanRequest {
        recap: Some(&recap),
        target,
        cause,
        pins,
        ..PlanRequest::new(&log, &policy, &budget, Meter::exact())
    };
    match plan(&request) {
        Ok(PlanOutcome::Folded(fold)) => Some(*fold),
        _ => None,
    }
}

fn recap_of(fold: &Fold) -> u64 {
    fold.recap.as_ref().map_or(0, |recap| recap.tokens)
}

/// A session to which one step after another is added: after each fold, the number of steps and the size.
fn relay(preset: &str, window: u64, steps: usize, tokens: usize, seed: u64) -> Vec<(usize, u64)> {
    let rng = &mut Rng::new(seed);
    let budget = Budget::new(window);
    let mut session = Session::over("s", log(), policy(preset), Meter::exact());
    let mut folds = Vec::new();
    for message in
        [says("system", &sentences(rng, 300)), says("user", "Move each part to the new client.")]
    {
        session.append(raw(&message));
    }
    for at in 0..steps {
        if at % 25 == 24 {
            session.append(raw(&says("assistant", &format!("That is done. {}", sentence(rng, 9)))));
            session.append(raw(&says("user", &format!("Then the next one. {}", sentence(rng, 9)))));
        }
        step(rng, at, tokens).iter().for_each(|message| {
            session.append(raw(message));
        });
        session.context(&budget, 0).unwrap();
        if session.folds().len() > folds.len() {
            folds.push((at, session.active().unwrap().tokens_after));
        }
    }
    folds
}

#[test]
fn as_many_steps_lie_between_the_last_folds_as_between_the_first() {
    for (preset, _) in OWN {
        for (window, tokens) in [(10_000, 250), (32_000, 500)] {
            let folds = relay(preset, window, 200, tokens, window);
            let legs: Vec<usize> = folds.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
            assert!(legs.len() >= 3, "{preset} {window}: {folds:?}");
            // Elsewhere the recap has room for more than two legs, and grows until it is full.
            let full = folds.iter().map(|(_, after)| after).max().unwrap() * 95 / 100;
            let grown = folds.iter().position(|(_, after)| *after >= full).unwrap();
            let from = if preset == "default" { 2 } else { grown };
            let legs = &legs[from.min(legs.len() - 1)..];
            let (least, most) = (legs.iter().min().unwrap(), legs.iter().max().unwrap());
            assert!(least * 10 >= most * 8, "{preset} {window}: {legs:?} {folds:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Wherever head, pins and the newest step leave room for it, a part of the budget lies between two folds.
    #[test]
    fn room_to_work_is_left_where_the_ends_allow_it(
        seed in any::<u64>(), window in 6_000u64..60_000, system in 20u64..90, step in 8u64..45,
    ) {
        for (preset, part) in OWN {
            let rng = &mut Rng::new(seed);
            let (system, tokens) = (window * system / 1_000, (window * step / 1_000) as usize);
            let mut messages = Vec::new();
            let mut count = 4;
            while log_of(&messages).tokens() < window * 2 {
                messages = talk(&mut Rng::new(rng.bits()), system as usize, count, tokens);
                count *= 2;
            }
            let fold = folded(&messages, preset, window, None, FoldCause::Threshold, &[]).unwrap();
            let line = policy(preset).trigger.line(window).tokens;
            let least = window * part / 1_000;
            prop_assert!(fold.tokens_after + least <= line, "{preset} {window}: {} of {line}, least {least}", fold.tokens_after);
            prop_assert!(recap_of(&fold) >= window * 8 / 100, "{preset}: {}", recap_of(&fold));
        }
    }

    /// A large newest request, pins or a big system prompt never push the recap below its floor.
    #[test]
    fn the_recap_keeps_its_floor_whatever_stays(
        seed in any::<u64>(), window in 6_000u64..40_000, part in 30u64..82, kind in 0..3usize, by_hand in any::<bool>(),
    ) {
        for preset in Policy::preset_names() {
            let rng = &mut Rng::new(seed);
            let large = (window * part / 100) as usize;
            let mut messages = talk(rng, if kind == 0 { large } else { 50 }, 60, window as usize / 40);
            let mut pins = Vec::new();
            match kind {
                1 => messages.push(says("user", &sentences(rng, large))),
                2 => {
                    messages.insert(40, says("user", &sentences(rng, large)));
                    pins.push(40);
                    // It stands between two steps.
                    prop_assume!(messages[39]["role"] == "tool");
                }
                _ => {}
            }
            if kind == 1 {
                messages.extend((0..2).flat_map(|at| step(rng, 500 + at, 20)));
            }
            let policy = policy(preset);
            // The others imitate tools that let the tail take what it takes.
            let is_own = policy.recap.cover == CoverExtent::Middle;
            if !is_own || policy.recap.fallback != midfold_core::policy::RecapFallback::Computed {
                continue;
            }
            let cause = if by_hand { FoldCause::Manual } else { FoldCause::Threshold };
            let Some(fold) = folded(&messages, preset, window, None, cause, &pins) else { continue };
            let budget = window - policy.trigger.injection_reserve;
            let limit = Meter::exact().with_margin(policy.trigger.margin).most(budget);
            let (least, rest) = (window * 8 / 100, fold.tokens_after - recap_of(&fold));
            // A host's recap is cut in tenths.
            let has_room = rest + least * 10 / 9 + 20 <= limit;
            prop_assert!(!has_room || recap_of(&fold) >= least, "{preset} {kind}: {} of {window}, {} {:?}", recap_of(&fold), fold.tokens_after, fold.layout);
        }
    }

    /// A larger target keeps as much in the tail and in the recap, or more.
    #[test]
    fn a_larger_target_keeps_no_less(
        seed in any::<u64>(), steps in 20usize..60, tokens in 20usize..400, from in 400u64..9_000, more in 1u64..3_000,
    ) {
        let messages = talk(&mut Rng::new(seed), 40, steps, tokens);
        let whole = log_of(&messages).tokens();
        // A recap of the overflow covers what is over the size, and a larger size leaves more as messages.
        let covers_middle = |name: &&str| policy(name).recap.cover == CoverExtent::Middle;
        for preset in Policy::preset_names().into_iter().filter(covers_middle) {
            let fold = |target| folded(&messages, preset, 100_000, Some(target), FoldCause::Manual, &[]);
            let (Some(less), Some(larger)) = (fold(from.min(whole)), fold((from + more).min(whole))) else { continue };
            let case = format!("{preset} {from} + {more}");
            prop_assert!(larger.layout.tail.tokens >= less.layout.tail.tokens, "{case}");
            prop_assert!(recap_of(&larger) >= recap_of(&less), "{case}: {} and {}", recap_of(&less), recap_of(&larger));
        }
    }

    /// A fold before the line frees its part of the context, also where the recap has something for any room.
    #[test]
    fn an_early_fold_leaves_the_part_that_a_fold_at_the_line_leaves(seed in any::<u64>(), tokens in 40usize..200) {
        let messages = talk(&mut Rng::new(seed), 40, 60, tokens);
        let whole = log_of(&messages).tokens();
        for (preset, _) in OWN {
            let policy = policy(preset);
            let (target, line) = (policy.fold.target, policy.trigger.threshold);
            for window in [whole * 3 / 2, whole * 3] {
                let most = whole.min(line.of(window)) * u64::from(target.0) / u64::from(line.0);
                for cause in [FoldCause::Tier, FoldCause::Cold, FoldCause::Seam, FoldCause::Agent] {
                    let fold = folded(&messages, preset, window, None, cause, &[]).unwrap();
                    prop_assert!(fold.tokens_after <= most + 1, "{preset} {window} {cause:?}: {} of {most}", fold.tokens_after);
                }
            }
        }
    }

    /// By hand, a conversation that is larger than the window gets the policy's target, and a smaller one half of its
    /// size.
    #[test]
    fn by_hand_the_target_is_the_policys_or_half_of_the_size(seed in any::<u64>(), tokens in 40usize..200) {
        let messages = talk(&mut Rng::new(seed), 40, 60, tokens);
        let whole = log_of(&messages).tokens();
        for (preset, fills) in [("default", true), ("generous", true), ("lean", false)] {
            for window in [whole / 3, whole * 2] {
                let fold = folded(&messages, preset, window, None, FoldCause::Manual, &[]).unwrap();
                let goal = policy(preset).fold.target;
                let target = goal.of(window).min(goal.of(whole).max(whole / 2));
                prop_assert!(fold.tokens_after <= target, "{preset} {window}");
                // A host's recap is cut in tenths, and the tail by whole steps.
                prop_assert!(!fills || fold.tokens_after * 10 >= target * 9 - 60, "{preset} {window}: {} of {target}", fold.tokens_after);
            }
        }
    }
}
