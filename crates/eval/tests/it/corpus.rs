//! The measures of `default` on recorded sessions, where the corpus is (`MIDFOLD_CORPUS`, or `../shared/data` beside the
//! project).

use midfold::Policy;

use crate::common::corpus;
use crate::pooled::{coding_sessions, line, mean, replay};

/// The guards of `default` (benches/README.md), with `head-tail` in the same run. What comes first is
/// the reading exam, which is a bench. Names alone are not listed since an index of them is gone, and fewer stay.
#[test]
fn default_keeps_its_guards() {
    let Some(root) = corpus() else {
        println!("skipped: no corpus");
        return;
    };
    let sessions = coding_sessions(&root);
    // The recap of the longest session (195,000 tokens) is full in both windows: old files and, in the smaller one, old
    // rules of it leave for newer words.
    for (window, at_risk, rules) in [(16_000, 0.50, 0.93), (32_000, 0.55, 0.98)] {
        let run = |preset: &str| {
            let policy = Policy::preset(preset).unwrap();
            let (sum, n) = replay(&sessions, &policy, window, |name, found| {
                if let Err(error) = found {
                    println!("  {name}: {error}");
                }
            });
            println!("{}", line(window, preset, n, &sum));
            sum
        };
        let (marker, ours) = (run("head-tail"), run("default"));
        assert!(ours.at_risk.ratio() >= at_risk, "{}", ours.at_risk.ratio());
        assert!(mean(&ours, window) <= 0.62);
        assert!(ours.cost_ratio() <= 1.15 * marker.cost_ratio());
        assert!(ours.rules.ratio() >= rules, "{}", ours.rules.ratio());
        assert!(ours.modified.ratio() >= 0.85, "{}", ours.modified.ratio());
        assert_eq!((ours.over, ours.invalid), (0, 0));
    }
}
