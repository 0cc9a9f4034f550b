//! Limits beside the window: a reply that has to fit too, and servers that cut prompts in silence.

use midfold::DialectKind;
use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::agent::{AgentExchange, ClientAgent};
use midfold_testkit::upstream::{UpstreamSettings, WireDialect};
use serde_json::{Value, json};

use crate::setting::{Setting, rules};
use crate::stub::{Asked, Stub, history};

const STEPS: usize = 60;

async fn before(stub: &Stub, window: Option<u64>) -> Setting {
    Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&stub.url).unwrap();
        config.upstreams = upstreams;
        if let Some(window) = window {
            config.rules = rules().window(window);
        }
    })
    .await
}

/// Tokens of a prompt, as servers here count them: about what an estimate finds.
pub fn tokens(asked: &Asked) -> u64 {
    let body: Value = serde_json::from_slice(&asked.body).unwrap();
    let words = |message: &Value| message["content"].as_str().map_or(0, |it| it.split(' ').count());
    let all = body["messages"].as_array().unwrap();
    all.iter().map(|message| words(message) as u64 + 4).sum()
}

fn member(asked: &Asked, name: &str) -> Option<u64> {
    serde_json::from_slice::<Value>(&asked.body).unwrap()[name].as_u64()
}

/// A reply to a prompt of so many tokens.
pub fn reply(prompt: u64) -> (u16, String) {
    let usage = json!({"prompt_tokens": prompt, "completion_tokens": 10});
    let choice =
        json!({"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"});
    (200, json!({"choices": [choice], "usage": usage}).to_string())
}

/// A history that grows, each time sent whole.
async fn steps(setting: &Setting, change: impl Fn(&str) -> String) -> Vec<AgentExchange> {
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    let mut all = Vec::new();
    for step in 0..STEPS {
        let body = change(&history(DialectKind::OpenAiChat, "m", step));
        all.push(agent.post("/v1/chat/completions", &body).await);
    }
    all
}

/// vLLM, SGLang and Anthropic take prompt and reply together; clients ask for 32,000 in every request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_does_not_fit_beside_its_prompt_is_no_error_for_the_client() {
    const WINDOW: u64 = 8_000;
    for asked_for in [3_000_u64, 32_000] {
        let stub = Stub::start(|asked| {
            if asked.path != "/v1/chat/completions" {
                return (404, "{}".to_owned());
            }
            let (prompt, reserved) = (tokens(asked), member(asked, "max_tokens").unwrap());
            if prompt + reserved <= WINDOW {
                return reply(prompt);
            }
            let text = format!(
                "This model's maximum context length is {WINDOW} tokens. However, you requested {} tokens \
                 ({prompt} in the messages, {reserved} in the completion). Please reduce the length of the \
                 messages or completion.",
                prompt + reserved
            );
            (400, json!({"error": {"message": text, "type": "BadRequestError", "code": 400}}).to_string())
        })
        .await;
        let setting = before(&stub, None).await;
        let larger =
            |body: &str| body.replace("\"max_tokens\":500", &format!("\"max_tokens\":{asked_for}"));
        let all = steps(&setting, larger).await;
        assert!(
            all.iter().all(|it| it.status == 200),
            "{asked_for}: {:?}",
            all.iter().find(|it| it.status != 200)
        );
        let refused = stub.asked().len() - all.len();
        // The questions about the window, and few refusals: what was learned holds.
        assert!(refused <= 6 + 3, "{asked_for}: {refused}");
        if asked_for > WINDOW {
            assert!(all.iter().skip(1).all(|it| it.header("midfold-max-tokens").is_some()));
        }
    }
}

/// Servers that keep the newest of what they are sent, and count what they kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_is_cut_in_silence_teaches_the_window() {
    const WINDOW: u64 = 3_000;
    // At the limit; half of it, as a server does that shifts its context.
    for left in [WINDOW, WINDOW / 2] {
        let stub = Stub::start(move |asked| {
            if asked.path != "/v1/chat/completions" {
                return (404, "{}".to_owned());
            }
            let prompt = tokens(asked);
            reply(if prompt > WINDOW { left } else { prompt })
        })
        .await;
        let setting = before(&stub, Some(32_000)).await;
        let all = steps(&setting, str::to_owned).await;
        assert!(all.iter().all(|it| it.status == 200));
        let cut = stub.asked().iter().filter(|asked| tokens(asked) > WINDOW).count();
        assert!(cut <= 3, "{left}: {cut} prompts were cut");
        assert_eq!(setting.figure("midfold_truncations_total"), 1, "{left}");
        assert!(all.last().unwrap().header("midfold-fold").is_some());
        let window = all.last().unwrap().header("midfold-window").unwrap();
        let tokens: u64 = window.strip_suffix("; from=learned").unwrap().parse().unwrap();
        assert!((WINDOW * 9 / 10..=WINDOW).contains(&tokens), "{left}: {window}");
    }
}

/// Counts that are none: nothing, the sum of several, what the cache did not have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_that_are_none_teach_nothing() {
    type Count = fn(u64) -> u64;
    let counts: [(&str, Count); 3] = [("zero", |_| 0), ("sum", |it| it * 5), ("new", |_| 210)];
    for (name, count) in counts {
        let stub = Stub::start(move |asked| reply(count(tokens(asked)))).await;
        let setting = before(&stub, Some(9_000)).await;
        let all = steps(&setting, str::to_owned).await;
        let folds = setting.figure("midfold_folds_total");
        let first = all.iter().position(|it| it.header("midfold-fold").is_some());
        assert!(first.is_some_and(|first| first > 20), "{name}: {first:?} of {folds}");
        assert!(folds <= 3, "{name}: {folds}");
        assert_eq!(setting.figure("midfold_truncations_total"), 0, "{name}");
    }
}

/// A client whose own prompt is nearly all of the window is told that, instead of a fold with each request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixed_part_that_fills_the_window_is_said() {
    let stub = Stub::start(|asked| reply(tokens(asked))).await;
    let setting = before(&stub, Some(4_000)).await;
    let system = json!({"role": "system", "content": "rule ".repeat(3_800)}).to_string();
    let with_rules =
        |body: &str| body.replace("\"messages\":[", &format!("\"messages\":[{system},"));
    let all = steps(&setting, with_rules).await;
    assert_eq!(setting.figure("midfold_folds_total"), 0);
    assert_eq!(all.last().unwrap().header("midfold-fault"), Some("fixed"));
}

/// What a provider takes is no more than its window.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_passes_above_a_guessed_window_teaches_a_larger_one() {
    let stub = Stub::start(|asked| {
        if asked.path == "/v1/chat/completions" {
            reply(tokens(asked))
        } else {
            (404, "{}".to_owned())
        }
    })
    .await;
    let setting = before(&stub, None).await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    // Nobody knows the model: 128,000 is a guess. Of a client's newest message nothing is folded.
    let long = json!({"model": "m", "messages": [
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
        {"role": "user", "content": "word ".repeat(150_000)},
    ]});
    let path = "/v1/chat/completions";
    let first = agent.post(path, &long.to_string()).await;
    assert_eq!(first.header("midfold-window"), Some("128000; from=default"));
    let second = agent.post(path, &history(DialectKind::OpenAiChat, "m", 2)).await;
    let window = second.header("midfold-window").unwrap();
    assert!(window.starts_with("150") && window.ends_with("from=learned"), "{window}");
}

/// Screenshots pile up far below the window, and then each request is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_pictures_are_no_error_for_the_client() {
    const MOST: usize = 20;
    // A picture of one pixel.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let stub = Stub::start(|asked| {
        let text = String::from_utf8_lossy(&asked.body).into_owned();
        let pictures = text.matches("image/png").count();
        if pictures <= MOST {
            let usage = json!({"input_tokens": text.len() / 4, "output_tokens": 5});
            let content = json!([{"type": "text", "text": "ok"}]);
            return (200, json!({"type": "message", "role": "assistant", "content": content, "usage": usage}).to_string());
        }
        let text = format!("request contains {pictures} images, exceeding the maximum of {MOST} allowed per request");
        (400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}}).to_string())
    })
    .await;
    let setting = before(&stub, Some(200_000)).await;
    let agent = ClientAgent::new(WireDialect::Messages, &setting.url());
    let mut messages = vec![json!({"role": "user", "content": "look at each page"})];
    let mut refused = 0;
    for step in 0..STEPS {
        let id = format!("toolu_{step}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": format!("Page {step}.")},
            {"type": "tool_use", "id": id, "name": "shoot", "input": {"page": step}},
        ]}));
        let source = json!({"type": "base64", "media_type": "image/png", "data": PNG});
        let result = json!([{"type": "image", "source": source}]);
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": result},
        ]}));
        let tools = json!([{"name": "shoot", "input_schema": {"type": "object"}}]);
        let body = json!({"model": "claude-opus-4-7", "max_tokens": 500, "tools": tools, "messages": messages});
        let answer = agent.post("/v1/messages", &body.to_string()).await;
        refused += usize::from(answer.status != 200);
    }
    let said = stub.asked().len() - STEPS;
    assert_eq!(refused, 0, "of {STEPS} requests; the provider refused {said}");
    assert!(said < 8, "{said}");
}
