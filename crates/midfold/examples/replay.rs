//! Replays the coding transcripts of the corpus: `replay WINDOW[,WINDOW] PRESET|POLICY.toml …`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use bytes::Bytes;
use midfold::core::replay::{Measures, Replay, stateless};
use midfold::formats::{profile, read};
use midfold::{Log, Policy};

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

fn main() {
    let root = corpus().unwrap();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let coding = |name: &str| {
        ["claude-code", "pi-mono", "mini-swe-agent", "SWE-agent"]
            .iter()
            .any(|f| name.starts_with(f))
    };
    let all: Vec<_> = conversations(&root).into_iter().filter(|(name, _)| coding(name)).collect();
    for window in args[0].split(',').map(|w| w.parse::<u64>().unwrap()) {
        for which in &args[1..] {
            let policy = if which.ends_with(".toml") {
                Policy::from_toml(&std::fs::read_to_string(which).unwrap()).unwrap()
            } else {
                Policy::preset(which).unwrap()
            };
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
                    Ok(m) => {
                        if std::env::var_os("V").is_some() {
                            println!(
                                "  {:<60.60}: at-risk {:.3} ({}) mean {:.0} cost {:.3} folds {}",
                                name,
                                m.risk_recall(),
                                m.risk_need,
                                m.mean_context(),
                                m.cost_ratio(),
                                m.folds
                            );
                        }
                        sum.add(&m);
                    }
                    Err(error) => println!("  {name}: {error}"),
                }
            }
            println!(
                "{window:>6} {which:<24} n {n} recall {:.3} at-risk {:.4} ({}) mean {:.3} over {} invalid {} cost {:.4} folds {} rules {:.3}",
                sum.recall(),
                sum.risk_recall(),
                sum.risk_need,
                sum.mean_context() / window as f64,
                sum.over,
                sum.invalid,
                sum.cost_ratio(),
                sum.folds,
                sum.rule_survival()
            );
            if std::env::var_os("L").is_some() {
                let mut losses: Vec<_> = sum.losses.iter().collect();
                losses.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
                println!("{:?}", &losses[..losses.len().min(150)]);
            }
        }
    }
}
