//! An agent that works for sixty steps, in every wire format, streamed and not.

use midfold_testkit::upstream::agent::{Agent, End};
use midfold_testkit::upstream::{Dialect, Script, Settings, task};

use crate::setting::Setting;

const STEPS: u32 = 60;

/// Plays a loop, and says what it cost beside sending everything.
async fn play(dialect: Dialect, stream: bool, limit: u64) {
    let settings =
        Settings { limit: Some(limit), script: Script::shell_loop(STEPS), ..Settings::default() };
    let setting = Setting::new(settings).await;
    let name = format!("{dialect:?} stream={stream} limit={limit}");
    let agent = Agent { stream, task: task(STEPS), ..Agent::new(dialect, &setting.url()) };
    let run = agent.run().await;
    let stats = setting.upstream.stats();
    assert!(matches!(run.end, Some(End::Finished(_))), "{name}: {:?}\n{stats:?}", run.end);
    assert_eq!(run.steps, STEPS, "{name}");
    assert_eq!((stats.refused, stats.overflows), (0, 0), "{name}");
    // Below the trigger the provider gets the client's own bytes, and between folds each prompt extends
    // the one before.
    let sent = setting.upstream.requests();
    assert_eq!(sent.len(), run.exchanges.len(), "{name}");
    let mut folds = 0;
    let mut last = None;
    for (sent, exchange) in sent.iter().zip(&run.exchanges) {
        let fold = exchange.header("midfold-fold").map(str::to_owned);
        if fold.is_none() {
            assert_eq!(sent.body, exchange.sent.as_bytes(), "{name}");
        }
        folds += usize::from(fold.is_some() && fold != last);
        last = fold;
    }
    assert!(folds >= 1, "{name}: {folds} folds");
    assert_eq!(setting.figure("midfold_folds_total"), folds as u64, "{name}");
    let broken = stats.entries.iter().skip(1).filter(|entry| !entry.append_only).count();
    assert!(broken <= folds, "{name}: {broken} prompts do not extend the one before, {folds} folds");
    eprintln!("{name}: folds {folds}, broken {broken}, {stats:?}");
    setting.proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_steps_in_a_small_window() {
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            play(dialect, stream, 16_000).await;
        }
    }
}
