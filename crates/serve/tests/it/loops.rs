//! An agent that works for sixty steps, in every wire format, streamed and not.

use midfold_testkit::upstream::agent::{AgentRun, ClientAgent, Habits, RunEnd};
use midfold_testkit::upstream::{
    ScriptedUpstream, StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::setting::Setting;

const STEPS: u32 = 60;

/// Plays a loop with and without a proxy, and says what it costs of sending everything, in percent, as the
/// provider counts it: what is cached costs a tenth, replies five times a prompt.
async fn play(dialect: WireDialect, stream: bool, limit: u64, script: UpstreamScript) -> u64 {
    let free = UpstreamSettings { script: script.clone(), ..UpstreamSettings::default() };
    let direct = ScriptedUpstream::start(free).await.unwrap();
    let agent =
        |url: &str| ClientAgent { stream, task: task(STEPS), ..ClientAgent::new(dialect, url) };
    assert!(agent(direct.url()).run().await.answer().is_some());
    let all = direct.stats();
    assert!(all.peak_tokens > limit, "{dialect:?}: {} fit {limit}", all.peak_tokens);

    let setting = Setting::new(UpstreamSettings {
        limit: Some(limit),
        script,
        ..UpstreamSettings::default()
    })
    .await;
    let name = format!("{dialect:?} stream={stream} limit={limit}");
    let run = agent(&setting.url()).run().await;
    let stats = setting.upstream.stats();
    assert!(matches!(run.end, Some(RunEnd::Finished(_))), "{name}: {:?}", run.end);
    assert_eq!(run.steps, STEPS, "{name}");
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
    let folds = transparent(&setting, &run, &name);
    assert!(stats.rewrites <= folds, "{name}: {} rewrites, {folds} folds", stats.rewrites);
    assert_eq!(setting.figure("midfold_folds_total"), folds, "{name}");
    assert!((1..=6).contains(&folds), "{name}: {folds} folds");
    // What was found early is there when it is needed late.
    assert!(stats.facts_used > 0, "{name}");
    assert_eq!(stats.facts_missing, 0, "{name}");
    setting.proxy.stop().await;
    let cost = stats.cost_tenths * 100 / all.cost_tenths;
    println!("{name}: {folds} folds, {} of {} extend, cost {cost} %", stats.appends, stats.turns);
    cost
}

/// Below the trigger the provider gets the client's own bytes. Returns the number of folds.
fn transparent(setting: &Setting, run: &AgentRun, name: &str) -> u64 {
    let sent = setting.upstream.requests();
    assert_eq!(sent.len(), run.exchanges.len(), "{name}");
    let mut folds = 0;
    let mut last = None;
    for (sent, exchange) in sent.iter().zip(&run.exchanges) {
        let fold = exchange.header("midfold-fold").map(str::to_owned);
        if fold.is_none() {
            assert_eq!(sent.body, exchange.sent.as_bytes(), "{name}");
        }
        folds += u64::from(fold.is_some() && fold != last);
        last = fold;
    }
    folds
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_steps_in_a_small_window() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let cost = play(dialect, stream, 16_000, UpstreamScript::shell_loop(STEPS)).await;
            assert!(cost < 90, "{dialect:?}: {cost} %");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_steps_in_a_large_window() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let script = StepLoop { steps: STEPS, result_tokens: 2_000, ..StepLoop::default() };
            let cost = play(dialect, stream, 64_000, UpstreamScript::ShellLoop(script)).await;
            assert!(cost < 90, "{dialect:?}: {cost} %");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn habits_of_real_clients_break_no_conversation() {
    let habits = [
        ("ephemeral", Habits { ephemeral: true, ..Habits::default() }),
        ("plain ids", Habits { plain_ids: true, ..Habits::default() }),
        ("bare items", Habits { bare_items: true, ..Habits::default() }),
        ("part lists", Habits { part_lists: true, ..Habits::default() }),
        ("unmarked", Habits { unmarked: true, ..Habits::default() }),
        ("injected", Habits { injected: true, ..Habits::default() }),
    ];
    for dialect in WireDialect::ALL {
        for (habit, habits) in habits {
            let limit = Some(16_000);
            let setting = Setting::new(UpstreamSettings {
                limit,
                script: UpstreamScript::shell_loop(30),
                ..UpstreamSettings::default()
            })
            .await;
            let agent =
                ClientAgent { habits, task: task(30), ..ClientAgent::new(dialect, &setting.url()) };
            let run = agent.run().await;
            let stats = setting.upstream.stats();
            assert!(run.answer().is_some(), "{dialect:?} {habit}: {:?}", run.end);
            assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{dialect:?} {habit}");
            assert_eq!(setting.figure("midfold_conversations"), 1, "{dialect:?} {habit}");
            assert!(setting.figure("midfold_folds_total") <= 3, "{dialect:?} {habit}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thinking_that_is_bound_to_its_prefix_is_no_fault() {
    for dialect in [WireDialect::Messages, WireDialect::Responses, WireDialect::Gemini] {
        for stream in [false, true] {
            let setting = Setting::new(UpstreamSettings {
                limit: Some(16_000),
                script: UpstreamScript::shell_loop(STEPS),
                reasoning: true,
                bind_thinking: true,
                ..UpstreamSettings::default()
            })
            .await;
            let agent = ClientAgent::new(dialect, &setting.url());
            let agent = ClientAgent {
                thinking: true,
                stream,
                task: task(STEPS),
                model: "claude-opus-5-5".into(),
                ..agent
            };
            let run = agent.run().await;
            let stats = setting.upstream.stats();
            assert!(run.answer().is_some(), "{dialect:?}: {:?}", run.end);
            assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{dialect:?}");
            assert!(setting.figure("midfold_folds_total") >= 1, "{dialect:?}");
        }
    }
}
