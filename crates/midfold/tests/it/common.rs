//! The corpus of recorded transcripts (`MIDFOLD_CORPUS`, or `../shared/data` beside the project),
//! and the replay of its coding sessions.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use midfold::core::prices::PriceTable;
use midfold::core::replay::{
    Recording, ReplayMeasures, ReplayResult, ReplaySettings, ReplayStrategy, replay as drive,
};
use midfold::formats::{profile, read};
use midfold::{EventLog, Policy};

/// The folder of recorded transcripts, where there is one.
pub fn corpus() -> Option<PathBuf> {
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

/// Every conversation of the corpus, with the file it is in.
pub fn conversations(root: &Path) -> Vec<(String, read::Conversation)> {
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

/// The log of a conversation.
pub fn log(
    conversation: &read::Conversation,
    profile: midfold::ProviderProfile,
    counter: &str,
) -> EventLog {
    let counter = midfold::tokens::by_name(counter).unwrap();
    let dialect = conversation.format.dialect().shared();
    let mut log = EventLog::of(dialect, profile, counter, conversation.events.iter().cloned());
    let envelope = &conversation.envelope;
    log.set_envelope([&envelope.system, &envelope.tools].into_iter().flatten().map(|b| &b[..]));
    log
}

/// The coding sessions of the corpus.
pub fn coding_sessions(root: &Path) -> Vec<(String, read::Conversation)> {
    let folders = ["claude-code", "pi-mono", "mini-swe-agent", "SWE-agent"];
    let coding = |name: &str| folders.iter().any(|folder| name.starts_with(folder));
    conversations(root).into_iter().filter(|(name, _)| coding(name)).collect()
}

/// Replays, pooled, those sessions that are longer than 1.2 windows, counted as chars/3.2; says
/// how many there are. `each` is told of every one: its figures, or why it has none.
pub fn replay(
    sessions: &[(String, read::Conversation)],
    policy: &Policy,
    window: u64,
    mut each: impl FnMut(&str, Result<&ReplayResult, String>),
) -> (ReplayMeasures, usize) {
    const COUNTER: &str = "chars:3.2";
    let (mut sum, mut n) = (ReplayMeasures::default(), 0);
    for (name, session) in sessions {
        let kind = session.format.dialect();
        let profile = profile::for_dialect(kind)[0];
        let recording = Recording::new(log(session, profile, COUNTER));
        if recording.log().tokens() * 10 <= window * 12 {
            continue;
        }
        n += 1;
        let rules = profile::rules(&profile);
        let prices = PriceTable::reference();
        let settings = ReplaySettings {
            window,
            rules: &rules,
            search: false,
            prices: &prices,
            clock: None,
            watch: None,
        };
        match drive(&recording, ReplayStrategy::Stateless(policy), &settings) {
            Ok(replayed) => {
                each(name, Ok(&replayed));
                sum.add(&replayed.measures);
            }
            Err(error) => each(name, Err(error.to_string())),
        }
    }
    (sum, n)
}

/// One line of figures.
pub fn line(window: u64, policy: &str, n: usize, sum: &ReplayMeasures) -> String {
    format!(
        "{window:>6} {policy:<12} n {n:>2} recall {:.3} at-risk {:.4} ({}) mean {:.3} over {} \
         invalid {} cost {:.4} breaks {} folds {} rules {:.3} rare {:.4} ({}) modified {:.3} read {:.3} \
         rereads {}",
        sum.recall.ratio(),
        sum.at_risk.ratio(),
        sum.at_risk.need,
        mean(sum, window),
        sum.over,
        sum.invalid,
        sum.cost_ratio(),
        sum.breaks,
        sum.folds,
        sum.rules.ratio(),
        sum.rare.ratio(),
        sum.rare.need,
        sum.modified.ratio(),
        sum.read.ratio(),
        sum.rereads,
    )
}

/// Mean context, as a share of the window.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub fn mean(sum: &ReplayMeasures, window: u64) -> f64 {
    sum.mean_context() / window as f64
}
