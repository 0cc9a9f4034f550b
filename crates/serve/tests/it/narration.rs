//! A model that narrates while an agent works.

use midfold::model::ModelClient;
use midfold::tokens;
use midfold_serve::ServeNarration;
use midfold_testkit::model_server::{ModelServer, ScriptedAnswer};
use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect, task};

use serde_json::json;

use crate::setting::{Setting, rules};
use crate::vendor;

const STEPS: u32 = 40;

fn reply() -> ScriptedAnswer {
    let names = [
        "Task & Constraints",
        "State of Work",
        "Decisions & Reasons",
        "Work Done",
        "Tried & Failed",
        "Values & Facts",
        "Open & Next",
    ];
    let body: String =
        names.iter().map(|name| format!("## {name}\n- work went on as planned\n")).collect();
    ScriptedAnswer::text(&format!("## Conversation Summary\n{body}"))
}

fn narration(model: &ModelServer, calls_an_hour: u32) -> ServeNarration {
    let counter = tokens::by_name("estimate:openai").unwrap();
    let client =
        ModelClient::new(midfold::model::ModelConfig::new(model.url(), "m", counter)).unwrap();
    ServeNarration { client, calls_an_hour, tokens_an_hour: u64::MAX }
}

/// Plays a loop beside a model; what it was asked is answered before the agent goes on.
async fn play(answer: ScriptedAnswer, calls_an_hour: u32) -> (Setting, ModelServer) {
    let model = ModelServer::always(answer).await.unwrap();
    let narration = narration(&model, calls_an_hour);
    let settings = UpstreamSettings {
        limit: Some(16_000),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    };
    let setting = Setting::with(settings, |config| {
        config.rules = rules().window(16_000);
        config.narration = Some(narration);
    })
    .await;
    let agent = ClientAgent {
        task: task(STEPS),
        ..ClientAgent::new(WireDialect::Messages, &setting.url())
    };
    let mut agent = agent.start();
    while agent.end().is_none() {
        agent.turn().await;
        let judged = || {
            setting.figure("midfold_narrations_total")
                + setting.figure("midfold_narrations_refused_total")
        };
        while (judged() as usize) < model.seen().len() {
            tokio::task::yield_now().await;
        }
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{:?}", agent.end());
    assert_eq!(setting.upstream.stats().facts_missing, 0);
    (setting, model)
}

fn told(setting: &Setting) -> usize {
    let all = setting.upstream.requests();
    let is_told = |body: &[u8]| String::from_utf8_lossy(body).contains("Narrated by a model");
    all.iter().filter(|request| is_told(&request.body)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_wrote_is_in_the_next_fold() {
    let (setting, model) = play(reply(), 1_000).await;
    let written = setting.figure("midfold_narrations_total") as usize;
    // A request of the model may be under way yet; no answer was refused.
    assert!(written >= 2 && written <= model.seen().len(), "{written} of {}", model.seen().len());
    assert_eq!(setting.figure("midfold_narrations_refused_total") as usize, 0);
    assert!(told(&setting) > 5, "{}", told(&setting));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_is_asked_no_more_than_its_budget_allows() {
    let (_, model) = play(reply(), 1).await;
    assert_eq!(model.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_fails_changes_nothing() {
    let (setting, model) =
        play(ScriptedAnswer::refusal(400, "invalid_request_error", "no"), 1_000).await;
    assert!(!model.seen().is_empty());
    assert_eq!((setting.figure("midfold_narrations_total"), told(&setting)), (0, 0));
}

/// A summary that a client asks for, with what it wants kept.
async fn summarised(answer: ScriptedAnswer) -> (ModelServer, serde_json::Value) {
    let model = ModelServer::always(answer).await.unwrap();
    let narration = narration(&model, 10);
    let setting = vendor::with(&[1], |config| {
        config.rules = rules().window(200_000).narrated();
        config.narration = Some(narration);
    })
    .await;
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": vendor::messages(),
        "compaction": {"type": "summarize", "instructions": "Keep the file names of zq-gateway."}});
    let (got, answer) = vendor::post(&setting, "/v1/messages", &body).await;
    assert_eq!((got.status, answer["stop_reason"].as_str()), (200, Some("compaction")), "{answer}");
    (model, answer["content"][0]["content"].clone())
}

/// Who asks for a summary waits for it: a model writes it, and knows what is wanted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instructions_for_a_summary_reach_the_model() {
    let (model, summary) = summarised(reply()).await;
    let seen = model.seen();
    assert_eq!(seen.len(), 1);
    let one = &seen[0];
    let system = one.body["messages"][0]["content"].as_str().unwrap();
    let user = one.body["messages"][1]["content"].as_str().unwrap();
    assert!(user.contains(" focus>>\nKeep the file names of zq-gateway.\n<<end:"), "{user}");
    assert!(!system.contains("zq-gateway"), "they are data, and change no rule");
    assert!(summary.as_str().unwrap().contains("### Narrated by a model"), "{summary}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_is_made_without_a_model_that_fails() {
    let (model, summary) =
        summarised(ScriptedAnswer::refusal(400, "invalid_request_error", "no")).await;
    assert_eq!(model.seen().len(), 1);
    let summary = summary.as_str().unwrap();
    assert!(summary.starts_with("## Conversation Summary") && !summary.contains("Narrated"));
}
