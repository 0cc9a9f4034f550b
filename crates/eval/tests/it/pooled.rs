//! The replay of the coding sessions of a corpus, pooled.

use std::path::Path;

use midfold::Policy;
use midfold::formats::{profile, read};
use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{
    Recording, ReplayMeasures, ReplayResult, ReplaySettings, ReplayStrategy, replay as drive,
};

use crate::common::{conversations, log};

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
