//! The agent of `examples/agent.rs`, against a model with a limit.

#[path = "../../examples/agent.rs"]
#[expect(dead_code, reason = "its main function is the example's")]
mod example;

use midfold_testkit::upstream::{
    ScriptedUpstream, StepLoop, UpstreamScript, UpstreamSettings, task,
};

const STEPS: u32 = 14;

/// Results of about 2,000 tokens each in a window of 16,000.
async fn upstream() -> std::io::Result<ScriptedUpstream> {
    let shape = StepLoop { steps: STEPS, result_tokens: 2_000, ..StepLoop::default() };
    let script = UpstreamScript::ShellLoop(shape);
    ScriptedUpstream::start(UpstreamSettings {
        limit: Some(16_000),
        script,
        ..UpstreamSettings::default()
    })
    .await
}

/// Knowing the window it never sends too much; believing in a larger one it is refused, and recovers.
#[tokio::test]
async fn the_agent_finishes_under_a_limit() -> Result<(), Box<dyn std::error::Error>> {
    for (window, refusals) in [(16_000, 0..1), (200_000, 1..4)] {
        let upstream = upstream().await?;
        let model = example::Model { url: upstream.url(), name: "scripted", window };
        let done = example::run(&model, &task(STEPS)).await?;
        let stats = upstream.stats();
        assert!(done.answer.starts_with("All 14 steps are done."), "{}", done.answer);
        assert!(done.folds > 0 && stats.refused.is_empty(), "{} folds, {stats:?}", done.folds);
        assert!(refusals.contains(&stats.overflows), "{window}: {} overflows", stats.overflows);
    }
    Ok(())
}
