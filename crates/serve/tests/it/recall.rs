//! A model that looks up what was folded, through a tool that its client does not know.

use midfold_testkit::upstream::agent::{Agent, Run};
use midfold_testkit::upstream::{Dialect, LookUps, Loop, Script, Settings, task};

use crate::setting::{Setting, rules};

const STEPS: u32 = 36;
const LIMIT: u64 = 16_000;
const TOOL: &str = "midfold_recall";

async fn setting(look_ups: LookUps, recalls: bool) -> Setting {
    let script = Loop { steps: STEPS, look_ups: Some(look_ups), ..Loop::default() };
    let script = Script::ShellLoop(script);
    let settings = Settings { limit: Some(LIMIT), script, ..Settings::default() };
    Setting::with(settings, |config| config.rules = rules().window(LIMIT).recall(recalls)).await
}

/// Plays a loop, and says how often something was looked up.
async fn play(dialect: Dialect, stream: bool, look_ups: LookUps) -> u64 {
    let name = format!("{dialect:?} stream={stream} {look_ups:?}");
    let setting = setting(look_ups, true).await;
    let agent = Agent { stream, task: task(STEPS), ..Agent::new(dialect, &setting.url()) };
    let run = agent.run().await;
    let stats = setting.upstream.stats();
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
    assert!(run.answer().is_some(), "{name}: {:?}", run.end);
    assert_eq!(run.steps, STEPS, "{name}");
    is_unseen(&run, &name);
    // What was looked up was there for the model, in the same answer or in the next one.
    assert_eq!(stats.facts_missing, 0, "{name}");
    // Each prompt goes on from the one before, but for folds: what the client does not know stays where it was.
    let folds = setting.figure("midfold_folds_total");
    assert!((1..=8).contains(&folds), "{name}: {folds} folds");
    if look_ups != LookUps::Endless {
        assert!(stats.rewrites <= folds, "{name}: {} rewrites, {folds} folds", stats.rewrites);
        assert_eq!(stats.respelled, 0, "{name}");
    }
    assert_eq!(setting.figure("midfold_conversations"), 1, "{name}");
    let recalls = setting.figure("midfold_recalls_total");
    setting.proxy.stop().await;
    println!("{name}: {folds} folds, {recalls} recalls");
    recalls
}

/// Nothing of the tool is in what the client sends and gets.
fn is_unseen(run: &Run, name: &str) {
    for exchange in &run.exchanges {
        assert!(!exchange.sent.contains(TOOL), "{name}");
        assert!(!String::from_utf8_lossy(&exchange.body).contains(TOOL), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_folded_is_looked_up_before_a_step() {
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let recalls = play(dialect, stream, LookUps::Before(4)).await;
            assert!(recalls >= 3, "{dialect:?} {stream}: {recalls}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_folded_is_looked_up_beside_a_call_of_the_client() {
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            let recalls = play(dialect, stream, LookUps::Beside(4)).await;
            assert!(recalls >= 3, "{dialect:?} {stream}: {recalls}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_recall_nothing_of_it_is_sent() {
    for dialect in Dialect::ALL {
        let setting = setting(LookUps::Before(4), false).await;
        let agent = Agent { task: task(STEPS), ..Agent::new(dialect, &setting.url()) };
        let run = agent.run().await;
        assert!(run.answer().is_some(), "{dialect:?}: {:?}", run.end);
        assert!(setting.figure("midfold_folds_total") >= 1, "{dialect:?}");
        assert_eq!(setting.figure("midfold_recalls_total"), 0, "{dialect:?}");
        for sent in setting.upstream.requests() {
            assert!(!String::from_utf8_lossy(&sent.body).contains(TOOL), "{dialect:?}");
        }
    }
}
