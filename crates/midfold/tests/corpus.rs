//! Every real conversation, every window, every preset, every profile that fits.
//! Runs where the corpus is (`MIDFOLD_CORPUS`, or `../shared/data` beside the project).
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

mod common;

use std::collections::BTreeMap;

use bytes::Bytes;
use common::{conversations, corpus, log};
use midfold::core::policy::Fallback;
use midfold::core::replay::Measures;
use midfold::core::verify::{Case, verify};
use midfold::formats::profile;
use midfold::formats::read::{Conversation, Format, read};
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
                        Err(PlanError::Floor(floor)) => {
                            floors += 1;
                            if floor.needed <= floor.limit {
                                failures.push(format!("{case}: refused what fits: {floor}"));
                            }
                        }
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

/// What a policy kept of each conversation that it got through.
struct Kept {
    policy: String,
    /// All of it, in figures.
    line: String,
    /// By its number among those that are long enough.
    by: BTreeMap<usize, Measures>,
}

impl Kept {
    fn of(sessions: &[(String, Conversation)], policy: &Policy, window: u64) -> Self {
        let (mut by, mut number) = (BTreeMap::new(), 0);
        let (sum, n) = common::replay(sessions, policy, window, |name, found| {
            number += 1;
            let Ok(replayed) = found else { return };
            assert_eq!((replayed.measures.over, replayed.measures.invalid), (0, 0), "{name}");
            by.insert(number, replayed.measures.clone());
        });
        Self { policy: policy.name.clone(), line: common::line(window, &policy.name, n, &sum), by }
    }

    /// Both, over the conversations that both got through: one that keeps less in the head gets
    /// through smaller windows.
    fn beside(&self, other: &Self) -> (Measures, Measures) {
        let mut sums = (Measures::default(), Measures::default());
        for (number, measures) in &self.by {
            if let Some(others) = other.by.get(number) {
                sums.0.add(measures);
                sums.1.add(others);
            }
        }
        sums
    }
}

/// Resamples of the conversations that a pair got through.
const RESAMPLES: usize = 2_000;

/// How a pair stands by a ruler.
struct Standing {
    /// What the first holds more.
    lead: f64,
    /// In how many resamples the first is ahead, and behind.
    ahead: usize,
    behind: usize,
}

impl Standing {
    fn of(pairs: &[(&Measures, &Measures)], ruler: fn(&Measures) -> f64) -> Self {
        let lead = |drawn: &mut dyn FnMut() -> usize| {
            let (mut one, mut other) = (Measures::default(), Measures::default());
            for _ in 0..pairs.len() {
                let (a, b) = pairs[drawn()];
                one.add(a);
                other.add(b);
            }
            ruler(&one) - ruler(&other)
        };
        let mut each = 0..pairs.len();
        let mut standing = Self { lead: lead(&mut || each.next().unwrap()), ahead: 0, behind: 0 };
        // A linear congruential generator: the same resamples at every run.
        let mut state = 1_u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % pairs.len()
        };
        for _ in 0..RESAMPLES {
            let lead = lead(&mut draw);
            standing.ahead += usize::from(lead > 0.0);
            standing.behind += usize::from(lead < 0.0);
        }
        standing
    }

    /// 1 and -1 where it is ahead or behind in 99.5 % of the resamples: so many pairs are looked at
    /// that at 97.5 % some would be so by chance.
    fn sure(&self) -> i8 {
        let sure = |count: usize| count * 200 >= RESAMPLES * 199;
        i8::from(sure(self.ahead)) - i8::from(sure(self.behind))
    }
}

/// The second ruler tells the order of the first (docs/PRESETS.md): no two strategies stand one way
/// by the one and the other way by the other, each in 99.5 % of resamples of the conversations.
#[test]
fn both_rulers_tell_the_same_order() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let sessions = common::coding_sessions(&root);
    for window in [16_000, 20_000, 24_000, 32_000, 40_000, 48_000, 60_000] {
        let names = Policy::preset_names().into_iter().chain(Policy::baseline_names());
        let names = names.filter(|name| *name != "raw");
        let kept: Vec<_> =
            names.map(|name| Kept::of(&sessions, &Policy::preset(name).unwrap(), window)).collect();
        kept.iter().for_each(|kept| println!("{}", kept.line));
        let (mut pairs, mut agree) = (0, 0);
        for (at, one) in kept.iter().enumerate() {
            for other in &kept[..at] {
                let common = one.by.iter().filter_map(|(at, kept)| Some((kept, other.by.get(at)?)));
                let common: Vec<_> = common.collect();
                let first = Standing::of(&common, |kept| kept.at_risk.ratio());
                let second = Standing::of(&common, |kept| kept.rare.ratio());
                pairs += 1;
                if first.lead * second.lead >= 0.0 {
                    agree += 1;
                    continue;
                }
                let (one, other) = (&one.policy, &other.policy);
                for (ruler, Standing { lead, ahead, behind }) in
                    [("at risk", &first), ("rare", &second)]
                {
                    println!(
                        "  {one}, {other}, {ruler}: {lead:+.3}, {ahead} ahead, {behind} behind"
                    );
                }
                assert!(first.sure() * second.sure() >= 0, "{one}, {other} at {window}");
            }
        }
        println!("{window}: {agree} of {pairs} pairs in the same order");
    }
}

/// Whatever another rule spends, `default` spends less and keeps more by both rulers.
#[test]
fn default_keeps_more_by_both_rulers_and_costs_less() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let sessions = common::coding_sessions(&root);
    let names = Policy::preset_names().into_iter().chain(Policy::baseline_names());
    let others: Vec<_> = names.map(|name| Policy::preset(name).unwrap()).collect();
    for window in [12_000, 16_000, 20_000, 24_000, 32_000, 40_000, 48_000, 60_000] {
        let kept = Kept::of(&sessions, &Policy::preset("default").unwrap(), window);
        // Whose recap is that of `default` keeps what it does.
        for other in others.iter().filter(|other| other.recap.fallback != Fallback::Computed) {
            if other.name == "raw" {
                continue;
            }
            let (ours, others) = kept.beside(&Kept::of(&sessions, other, window));
            let case = format!("{} at {window}", other.name);
            assert!(ours.at_risk.ratio() > others.at_risk.ratio(), "{case}");
            assert!(ours.rare.ratio() > others.rare.ratio(), "{case}");
            assert!(ours.cost_ratio() < others.cost_ratio(), "{case}");
        }
    }
}

/// On conversations with customers, which no constant was chosen on, the second ruler tells the
/// order of the first without a look at the cost: who keeps more identifiers keeps no fewer words.
#[test]
fn both_rulers_tell_the_same_order_where_nothing_was_chosen() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let mut sessions = conversations(&root);
    sessions.retain(|(name, _)| name.starts_with("tau-bench") || name.starts_with("tau2-bench"));
    for window in [4_000, 5_000, 6_000, 7_000, 8_000] {
        let names = Policy::preset_names().into_iter().chain(Policy::baseline_names());
        let kept: Vec<_> =
            names.map(|name| Kept::of(&sessions, &Policy::preset(name).unwrap(), window)).collect();
        kept.iter().for_each(|kept| println!("{}", kept.line));
        let mut compared = 0;
        for (at, one) in kept.iter().enumerate() {
            for other in &kept[..at] {
                let (a, b) = one.beside(other);
                // With a handful of names one of them decides.
                if a.at_risk.need < 10 {
                    continue;
                }
                let first = a.at_risk.ratio().total_cmp(&b.at_risk.ratio());
                let second = a.rare.ratio().total_cmp(&b.rare.ratio());
                let (one, other) = (&one.policy, &other.policy);
                assert!(first != second.reverse() || first.is_eq(), "{one}, {other} at {window}");
                compared += usize::from(first.is_ne());
            }
        }
        println!("{window}: {compared} pairs that differ by the first ruler");
        assert!(compared > 0, "{window}");
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
