//! A client with a large prompt of its own, in a window that leaves room for some steps.

use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    RequestOutcome, ScriptedUpstream, StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::setting::Setting;

const STEPS: u32 = 14;
const ROOM: u64 = 12_000;

fn script() -> UpstreamScript {
    UpstreamScript::ShellLoop(StepLoop {
        steps: STEPS,
        result_tokens: 2_000,
        ..StepLoop::default()
    })
}

/// Its own prompt is about as large as the room is, or twice.
fn agent(dialect: WireDialect, url: &str, own: usize) -> ClientAgent {
    let system = "Work step by step, and say what you do before you do it. ".repeat(own / 19);
    ClientAgent { system, task: task(STEPS), max_tokens: 32_000, ..ClientAgent::new(dialect, url) }
}

/// Of each prompt behind the first one, whether it begins with all of the one before.
async fn kept(dialect: WireDialect, model: &str, own: usize) -> Vec<bool> {
    let free = ScriptedUpstream::start(UpstreamSettings {
        script: script(),
        ..UpstreamSettings::default()
    })
    .await
    .unwrap();
    let agent = |url: &str| ClientAgent { model: model.to_owned(), ..agent(dialect, url, own) };
    assert!(agent(free.url()).run().await.answer().is_some());
    let limit = free.stats().requests[0].prompt_tokens + ROOM;
    let settings =
        UpstreamSettings { limit: Some(limit), script: script(), ..UpstreamSettings::default() };
    let setting = Setting::new(settings).await;
    let run = agent(&setting.url()).run().await;
    let stats = setting.upstream.stats();
    let name = format!("{dialect:?} {model} {own}");
    assert!(matches!(run.end, Some(RunEnd::Finished(_))), "{name}: {:?}", run.end);
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
    let answered = stats.requests.iter().filter(|it| it.outcome == RequestOutcome::Answered);
    answered.filter_map(|it| it.append_only).collect()
}

/// The line is of what the provider counts, and of what a fold can touch: what the client sends each time takes no
/// part in it, nor does a newest result that is a fifth of the room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fold_makes_room_for_more_than_one_step() {
    for dialect in WireDialect::ALL {
        // Counters that count less than the provider does, more, and about as much.
        for model in ["gemini-2.5-pro", "claude-opus-4-5", "gpt-5", "scripted"] {
            for own in [10, 12_000, 24_000] {
                let kept = kept(dialect, model, own).await;
                let name = format!("{dialect:?} {model} {own}: {kept:?}");
                assert!(kept.iter().filter(|it| **it).count() >= 8, "{name}");
                assert!(kept.windows(2).all(|two| two[0] || two[1]), "{name}");
            }
        }
    }
}
