//! Every real conversation, every window, every preset, every profile that fits.
//! Runs where the corpus is (`MIDFOLD_CORPUS`, or `../shared/data` beside the project).
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

mod common;

use bytes::Bytes;
use common::{conversations, corpus, log};
use midfold::core::replay::Measures;
use midfold::core::verify::{Case, verify};
use midfold::formats::profile;
use midfold::formats::read::{Format, read};
use midfold::formats::verify::validator;
use midfold::{Budget, Fate, Meter, Outcome, PlanError, Policy, Session};

#[test]
fn every_context_is_valid_and_within_budget() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let (mut checked, mut floors, mut folded, mut verified) = (0, 0, 0, 0);
    let mut failures = Vec::new();
    for (name, conversation) in conversations(&root) {
        let kind = conversation.format.dialect();
        for profile in profile::for_dialect(kind) {
            let log = log(&conversation, *profile, "estimate:openai");
            let before: Vec<Bytes> = log.events().iter().map(|event| event.bytes.clone()).collect();
            for preset in Policy::preset_names() {
                let policy = Policy::preset(preset).unwrap();
                for window in [8_000, 16_000, 32_000, 64_000] {
                    let case = format!("{name} {preset} {} {window}", profile.name);
                    let mut session =
                        Session::over("s", log.clone(), policy.clone(), Meter::exact());
                    let budget = Budget::new(window);
                    match session.compact(&budget, None) {
                        Err(PlanError::Floor(_)) => floors += 1,
                        Err(error) => failures.push(format!("{case}: {error}")),
                        Ok(outcome) => {
                            checked += 1;
                            let context = session.view();
                            let limit = budget.tokens() - policy.trigger.injection_reserve;
                            if context.tokens() > limit {
                                failures.push(format!("{case}: {} tokens", context.tokens()));
                            }
                            let pieces: Vec<_> =
                                context.pieces().map(|p| p.bytes.clone()).collect();
                            for v in profile::validate(&pieces, kind, profile).into_iter().take(2) {
                                failures.push(format!("{case}: {v}"));
                            }
                            if let Outcome::Folded(fold) = outcome {
                                folded += 1;
                                let validate = validator(kind, *profile);
                                let envelope = &conversation.envelope;
                                let envelope: Vec<&[u8]> = [&envelope.system, &envelope.tools]
                                    .into_iter()
                                    .flatten()
                                    .map(|part| &part[..])
                                    .collect();
                                let what = Case {
                                    before: &before,
                                    after: &pieces,
                                    envelope: &envelope,
                                    dialect: kind.dialect(),
                                    counter: &**log.counter(),
                                    validate: &validate,
                                    budget: Some(limit),
                                    fold: Some(&fold),
                                };
                                for what in [what, Case { fold: None, ..what }] {
                                    verified += 1;
                                    let record = what.fold.map_or("", |_| "with record, ");
                                    for found in verify(&what).findings.into_iter().take(3) {
                                        failures.push(format!("{case}: {record}{found}"));
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    println!(
        "contexts checked: {checked}, folded: {folded}, verified: {verified}, typed floor errors: {floors}"
    );
    for failure in failures.iter().take(40) {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} failures", failures.len());
}

/// What `default` has to reach (docs/PRESETS.md), against `head-tail` in the same run.
#[test]
fn default_keeps_what_the_agent_needs_next() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let sessions = common::coding_sessions(&root);
    for (window, at_risk) in [(16_000, 0.965), (32_000, 0.985)] {
        let run = |preset: &str| {
            let policy = Policy::preset(preset).unwrap();
            let (sum, n) = common::replay(&sessions, &policy, window, |name, found| {
                if let Err(error) = found {
                    println!("  {name}: {error}");
                }
            });
            println!("{}", common::line(window, preset, n, &sum));
            sum
        };
        let (marker, ours) = (run("head-tail"), run("default"));
        assert!(ours.at_risk.ratio() >= at_risk, "{}", ours.at_risk.ratio());
        assert!(common::mean(&ours, window) <= 0.55);
        assert!(ours.cost_ratio() <= 0.95 * marker.cost_ratio());
        assert!(ours.rules.ratio() >= 0.98, "{}", ours.rules.ratio());
        assert_eq!((ours.over, ours.invalid), (0, 0));
    }
}

/// The second ruler counts words, so it follows how much is sent. At the same cost it tells the same
/// order as the first (docs/PRESETS.md): whatever another strategy spends, one of ours that spends no
/// more keeps more by both; what costs even less than all of ours keeps less by both.
#[test]
fn both_rulers_tell_the_same_order_at_the_same_cost() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let sessions = common::coding_sessions(&root);
    let ours = [
        Policy::preset("default"),
        Policy::from_toml(include_str!("../../../examples/policies/generous-thrifty.toml")),
        Policy::from_toml(include_str!("../../../examples/policies/generous-deep.toml")),
        Policy::preset("generous"),
    ];
    let ours = ours.map(Result::unwrap);
    for window in [8_000, 12_000, 16_000, 20_000, 24_000, 32_000, 40_000, 48_000, 60_000] {
        let run = |policy: &Policy| {
            let (sum, n) = common::replay(&sessions, policy, window, |_, _| {});
            println!("{}", common::line(window, &policy.name, n, &sum));
            sum
        };
        let sums: Vec<_> = ours.iter().map(run).collect();
        for sum in &sums {
            assert_eq!((sum.over, sum.invalid), (0, 0));
        }
        let others = Policy::preset_names().into_iter().chain(Policy::baseline_names());
        for name in others.filter(|name| ours.iter().all(|policy| policy.name != *name)) {
            let other = run(&Policy::preset(name).unwrap());
            let more = |sum: &Measures| {
                sum.at_risk.ratio() > other.at_risk.ratio() && sum.rare.ratio() > other.rare.ratio()
            };
            let spends = |sum: &&Measures| sum.cost_ratio() <= other.cost_ratio();
            // What is cheaper than all of ours keeps less by both.
            let cheapest = !sums.iter().any(|sum| spends(&sum));
            assert!(
                sums.iter().filter(spends).any(more) || cheapest && sums.iter().any(more),
                "{name} at {window}"
            );
        }
    }
}

/// Reading and rendering change no message: what is rendered without a fold is the recorded bytes,
/// repairs apart, and reads back as what was rendered.
#[test]
fn every_message_leaves_as_it_came() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let (mut verbatim, mut repaired) = (0, 0);
    for (name, conversation) in conversations(&root) {
        let kind = conversation.format.dialect();
        let log = log(&conversation, profile::for_dialect(kind)[0], "chars:4");
        let context = midfold::core::project::project(&log, None);
        let mut seen = Vec::new();
        for piece in context.pieces() {
            match piece.fate {
                Fate::Verbatim(seq) => {
                    assert_eq!(
                        piece.bytes, conversation.events[seq as usize].bytes,
                        "{name} {seq}"
                    );
                    seen.push(seq as usize);
                    verbatim += 1;
                }
                Fate::Repaired(seq, _) => {
                    seen.push(seq as usize);
                    repaired += 1;
                }
                _ => {}
            }
        }
        assert!(
            seen.into_iter().eq(0..conversation.events.len()),
            "{name}: order, and nothing lost"
        );
        let format = Format::from_name(kind.name()).unwrap();
        let rendered = Bytes::from(context.bytes());
        let again = read(&rendered, Some(format)).unwrap().conversations;
        let again = again.iter().flat_map(|c| &c.events).map(|event| &event.bytes);
        assert!(again.eq(context.pieces().map(|piece| &piece.bytes)), "{name}: reads back");
    }
    println!("messages as they came: {verbatim}, repaired: {repaired}");
    assert!(verbatim > 0);
}
