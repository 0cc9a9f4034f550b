//! A real small model, end to end: the wire works, every reply gets a verdict, and the server's own
//! count of cached tokens shows that a fold is the only cache break.
//!
//! Runs when `MIDFOLD_REAL_MODEL` names a server (see `tools/real-model`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests; says what it measured"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use midfold::core::narrate::{FinishReason, SummaryRequest};
use midfold::core::{Hash, Usage};
use midfold::model::{ModelClient, ModelConfig};
use midfold::store::worker::JobWorker;
use midfold::store::{MemoryStore, NewSession, SessionMeta, Store, StoredSession};
use midfold::{Budget, Policy, RawEvent, tokens};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const COUNTER: &str = "chars:3.2";
const WINDOW: u64 = 1_200;
const TURNS: usize = 34;
/// Prompts of the summariser stay below this, in the model's own tokens.
const LONGEST_PROMPT: u64 = 700;
/// Between turns, in milliseconds: a model that is of no use is asked less and less.
const STEP: u64 = 100_000;
/// Tokens by which the cached part may differ: the template's start of a reply, and the last token
/// of a prompt, which is always computed.
const TOLERANCE: u64 = 12;

/// One call of the agent, as the server counted it.
struct Row {
    messages: usize,
    prompt: u64,
    cached: u64,
    computed: u64,
    fold: Option<Hash>,
}

#[tokio::test]
async fn between_folds_the_whole_prompt_is_reused_and_after_one_the_head() {
    let Ok(url) = std::env::var("MIDFOLD_REAL_MODEL") else {
        println!("skipped: MIDFOLD_REAL_MODEL is not set (see tools/real-model)");
        return;
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut stored = StoredSession::create(store.clone(), new_session()).await.unwrap();
    let time = Arc::new(AtomicU64::new(1_795_305_600_000));
    let read = time.clone();
    let worker = JobWorker::new(store, "w", Arc::new(move || read.load(Ordering::SeqCst)));
    let client = Arc::new(client(&url));
    let replies = Arc::new(Mutex::new(Vec::new()));
    let mut codes = Vec::new();
    let mut rows = Vec::new();

    stored.append(vec![system(), message("user", TASK)], None, 1).await.unwrap();
    for turn in 0..TURNS {
        let now = time.fetch_add(STEP, Ordering::SeqCst) + STEP;
        let sent = stored.context(true, now).await.unwrap();
        let row = ask(&url, &sent.context.bytes(), stored.row().active).await;
        let usage = Usage { prompt: row.prompt, output: 1, cache_read: row.cached, cache_write: 0 };
        stored.observe(usage, sent.call, now).await.unwrap();
        rows.push(row);
        let summarise = |request: SummaryRequest| {
            let (client, replies) = (client.clone(), replies.clone());
            async move {
                let outcome = client.summarise(&request).await;
                replies.lock().unwrap().push(outcome.clone());
                outcome
            }
        };
        if let Some(report) = worker.step(summarise).await.unwrap() {
            println!("turn {turn}: narration: {} ({})", report.code, report.detail);
            codes.push(report.code);
        }
        let more = vec![message("assistant", &did(turn)), message("user", &wish(turn))];
        stored.append(more, None, now).await.unwrap();
    }
    print(&rows);
    check(&rows);

    // The wire: each reply came over a stream, with a reason to end and with its usage.
    let replies = std::mem::take(&mut *replies.lock().unwrap());
    assert!(!replies.is_empty(), "nothing was asked");
    for outcome in &replies {
        let reply = outcome.as_ref().unwrap();
        let usage = reply.usage.unwrap();
        println!(
            "reply: {:?}, {} calls, {} prompt tokens, {} cached, {} written, of {}",
            reply.finish, reply.calls, usage.prompt, usage.cache_read, usage.output, reply.model
        );
        assert!(usage.prompt > 0 && usage.output > 0);
        assert!(usage.prompt / u64::from(reply.calls) < LONGEST_PROMPT);
        assert_ne!(reply.finish, FinishReason::Other, "the server says why it stops");
    }
    assert_eq!(codes.len(), replies.len(), "a verdict for every reply");
    // Whatever they were, the record of the folds has them, and the recap stands.
    let folds = stored.folds().await.unwrap();
    let known: Vec<&str> =
        folds.iter().flat_map(|fold| &fold.verdicts).map(|verdict| verdict.code.as_str()).collect();
    println!("verdicts: {codes:?}; in the records of the folds: {known:?}");
    assert!(known.iter().all(|code| codes.iter().any(|seen| seen.as_str() == *code)));
    assert!(!known.is_empty());
}

fn check(rows: &[Row]) {
    let head = rows[0].prompt;
    let mut folds = 0;
    for (number, pair) in rows.windows(2).enumerate() {
        let (before, after) = (&pair[0], &pair[1]);
        if before.fold == after.fold {
            assert!(
                after.cached + TOLERANCE >= before.prompt,
                "call {}: {} of {} reused",
                number + 2,
                after.cached,
                before.prompt
            );
        } else {
            folds += 1;
            assert!(after.cached + TOLERANCE >= head, "call {}: the head stays", number + 2);
            assert!(after.cached <= head + TOLERANCE, "call {}: and no more", number + 2);
            assert!(after.prompt < before.prompt, "call {}: a fold is smaller", number + 2);
        }
    }
    assert!(folds >= 2, "the test has to fold more than once: {folds}");
}

fn print(rows: &[Row]) {
    println!("call  messages  prompt  cached  computed  folded");
    let mut fold = None;
    for (number, row) in rows.iter().enumerate() {
        let folded = if row.fold == fold { "" } else { "yes" };
        fold = row.fold;
        println!(
            "{:>4}  {:>8}  {:>6}  {:>6}  {:>8}  {folded}",
            number + 1,
            row.messages,
            row.prompt,
            row.cached,
            row.computed
        );
    }
    let sum = |of: fn(&Row) -> u64| rows.iter().map(of).sum::<u64>();
    println!(
        " sum            {:>6}  {:>6}  {:>8}",
        sum(|r| r.prompt),
        sum(|r| r.cached),
        sum(|r| r.computed)
    );
}

/// Sends a context as the agent would, and reads what the server says that it cost.
async fn ask(url: &str, context: &[u8], fold: Option<Hash>) -> Row {
    let messages: Value = serde_json::from_slice(context).unwrap();
    let count = messages.as_array().unwrap().len();
    let body = json!({"messages": messages, "max_tokens": 1, "temperature": 0, "id_slot": 0});
    let answer = post(url, "/v1/chat/completions", &body).await;
    let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64).unwrap();
    Row {
        messages: count,
        prompt: number("/usage/prompt_tokens"),
        cached: number("/usage/prompt_tokens_details/cached_tokens"),
        computed: number("/timings/prompt_n"),
        fold,
    }
}

async fn post(url: &str, path: &str, body: &Value) -> Value {
    let host = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(host).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    serde_json::from_str(body).unwrap()
}

fn client(url: &str) -> ModelClient {
    let mut config = ModelConfig::new(url, "smollm2", tokens::by_name(COUNTER).unwrap());
    // Small enough that it takes several chunks, each below the longest prompt.
    config.window_tokens = Some(1_000);
    config.timeout = Some(Duration::from_secs(120));
    ModelClient::new(config).unwrap()
}

fn new_session() -> NewSession {
    let mut policy = Policy::preset("default").unwrap();
    policy.narration.on = true;
    policy.narration.words = Some(30);
    policy.narration.max_tokens = Some(200);
    let meta = SessionMeta {
        budget: Budget::new(WINDOW),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    NewSession {
        id: "s".into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: COUNTER.into(),
        policy: policy.to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: 1,
    }
}

const TASK: &str = "Find out why refunds are booked twice since the deploy, and write down what \
                    you looked at. Work in src/settle and leave migrations alone.";

fn system() -> RawEvent {
    message("system", "You are a careful coding agent. Answer in one short sentence.")
}

fn message(role: &str, text: &str) -> RawEvent {
    RawEvent::new(json!({"role": role, "content": text}).to_string().into())
}

fn did(turn: usize) -> String {
    format!(
        "I read src/settle/part_{turn}.rs: line {} takes the lock after the window is checked, and \
         test_window_{turn} passes {} times of ten.",
        17 * turn + 40,
        turn % 7 + 2
    )
}

fn wish(turn: usize) -> String {
    format!("Good. Go on with module {} and tell me what its callers expect.", turn + 1)
}
