//! Every real conversation, every window, every preset, every profile that fits.
//! Runs where the corpus is (`MIDFOLD_CORPUS`, or `../shared/data` beside the project).
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use midfold::core::replay::{Measures, Replay, stateless};
use midfold::core::verify::{Case, verify};
use midfold::formats::verify::validator;
use midfold::formats::{profile, read};
use midfold::{Budget, Log, Meter, Outcome, PlanError, Policy, Session};

fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("MIDFOLD_CORPUS").map_or(beside, PathBuf::from);
    root.is_dir().then_some(root)
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "jsonl" || e == "json" || e == "traj") {
            out.push(path);
        }
    }
}

fn conversations(root: &Path) -> Vec<(String, read::Conversation)> {
    let mut paths = Vec::new();
    files(root, &mut paths);
    let mut all = Vec::new();
    for path in paths {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if let Ok(found) = read::read(&bytes, None) {
            all.extend(found.conversations.into_iter().map(|c| (name.clone(), c)));
        }
    }
    all
}

fn log(conversation: &read::Conversation, profile: midfold::Profile, counter: &str) -> Log {
    let counter = midfold::tokens::by_name(counter).unwrap();
    let dialect = conversation.format.dialect().shared();
    let mut log = Log::of(dialect, profile, counter, conversation.events.iter().cloned());
    let envelope = &conversation.envelope;
    log.set_envelope([&envelope.system, &envelope.tools].into_iter().flatten().map(|b| &b[..]));
    log
}

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

#[test]
fn replay_of_coding_transcripts() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let coding = |name: &str| {
        ["claude-code", "pi-mono", "mini-swe-agent", "SWE-agent"]
            .iter()
            .any(|f| name.starts_with(f))
    };
    let all: Vec<_> = conversations(&root).into_iter().filter(|(name, _)| coding(name)).collect();
    for window in [16_000u64, 32_000, 60_000] {
        for preset in ["head-tail", "default"] {
            let policy = Policy::preset(preset).unwrap();
            let (mut sum, mut n) = (Measures::default(), 0);
            for (name, conversation) in &all {
                let kind = conversation.format.dialect();
                let profile = profile::for_dialect(kind)[0];
                let raw = log(conversation, profile, "chars:3.2");
                if raw.tokens() * 10 <= window * 12 {
                    continue;
                }
                n += 1;
                let empty = || {
                    log(
                        &read::Conversation { events: Vec::new(), ..conversation.clone() },
                        profile,
                        "chars:3.2",
                    )
                };
                let violations = |context: &midfold::Context| {
                    let pieces: Vec<_> = context.pieces().map(|p| p.bytes.clone()).collect();
                    profile::validate(&pieces, kind, &profile).len()
                };
                let replay = Replay {
                    empty: &empty,
                    policy: Some(&policy),
                    window,
                    violations: &violations,
                };
                match stateless(&replay, &conversation.events) {
                    Ok(measures) => {
                        if std::env::var_os("MIDFOLD_VERBOSE").is_some() {
                            println!(
                                "  {name}: at-risk {:.3} ({}) mean {:.0} cost {:.3} folds {}",
                                measures.risk_recall(),
                                measures.risk_need,
                                measures.mean_context(),
                                measures.cost_ratio(),
                                measures.folds
                            );
                        }
                        sum.add(&measures);
                    }
                    Err(error) => println!("  {name}: {error}"),
                }
            }
            println!(
                "{window:>6} {preset:<10} n {n} recall {:.3} at-risk {:.3} ({}) mean {:.0} ({:.3}) peak {} over {} invalid {} cost {:.3} breaks {} folds {} rules {:.3}",
                sum.recall(),
                sum.risk_recall(),
                sum.risk_need,
                sum.mean_context(),
                sum.mean_context() / window as f64,
                sum.peak,
                sum.over,
                sum.invalid,
                sum.cost_ratio(),
                sum.breaks,
                sum.folds,
                sum.rule_survival(),
            );
            let mut losses: Vec<_> = sum.losses.iter().collect();
            losses.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            if std::env::var_os("MIDFOLD_VERBOSE").is_some() {
                println!("  {:?}", &losses[..losses.len().min(60)]);
            }
        }
    }
}
