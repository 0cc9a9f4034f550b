//! What a long session costs turn by turn: bytes written to the disk for each byte of a message, the size of the file,
//! and the time of the processor.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use midfold::core::RawEvent;
use midfold::core::budget::Budget;
use midfold::core::event::Usage;
use midfold::core::policy::Policy;
use midfold_store::{NewSession, SessionMeta, SqliteStore, Store, StoredSession};
use midfold_testkit::Rng;

use crate::text::Vocabulary;

/// The window of the session, in tokens.
const WINDOW: u64 = 128_000;
/// Turns between two lines of the report.
const EVERY: usize = 1_000;

/// Runs a session of `turns` turns on a file that does not exist yet: each turn appends an answer with a call and its
/// result, makes a context, records it, and takes in the provider's count.
pub async fn turns(path: &Path, turns: usize) -> Result<()> {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path).await?);
    let mut stored = StoredSession::create(Arc::clone(&store), new()?).await?;
    let words = Vocabulary::new();
    let mut rng = Rng::new(11);
    let (mut said, mut folds, start) = (0u64, 0, written()?);
    println!("turns   messages MB   file   written a byte   folds   ms of processor a turn");
    let mut before = processor();
    for turn in 1..=turns {
        let events = events(turn, &words, &mut rng);
        said += events.iter().map(|event| event.bytes.len() as u64).sum::<u64>();
        let now = turn as u64 * 20_000;
        stored.append(events, None, now).await?;
        let sent = stored.context(true, now).await?;
        folds += usize::from(sent.folded.is_some());
        let usage = Usage { prompt: sent.context.tokens(), output: 300, ..Usage::default() };
        stored.observe(usage, sent.call, now).await?;
        if turn % EVERY == 0 || turn == turns {
            let size = std::fs::metadata(path)?.len();
            let spent = processor() - before;
            before = processor();
            println!(
                "{turn:>5} {:>13.1} {:>6.2} {:>16.1} {folds:>7} {:>24.2}",
                said as f64 / 1e6,
                size as f64 / said as f64,
                (written()? - start) as f64 / said as f64,
                spent * 1e3 / EVERY as f64,
            );
        }
    }
    Ok(())
}

fn new() -> Result<NewSession> {
    let meta = SessionMeta {
        budget: Budget::new(WINDOW),
        envelope: Vec::new(),
        parent: None,
        source: None,
        model: None,
        client: None,
        owner: None,
        cache_lifetime: None,
    };
    Ok(NewSession {
        id: "long".to_owned(),
        dialect: "openai-chat".to_owned(),
        profile: "openai".to_owned(),
        counter: "chars:4".to_owned(),
        policy: Policy::preset("default").context("no preset")?.to_toml(),
        meta: serde_json::to_string(&meta)?,
        created: 0,
    })
}

/// The messages of a turn: a question at times, an answer with a call, and a result of about 5 KB.
fn events(turn: usize, words: &Vocabulary, rng: &mut Rng) -> Vec<RawEvent> {
    let mut texts = Vec::new();
    if turn % 40 == 1 {
        texts.push(words.message(rng, true, None));
    }
    let call = serde_json::json!({"id": format!("c{turn}"), "type": "function", "function":
        {"name": "bash", "arguments": format!("{{\"command\":\"cat src/part_{}.rs\"}}", turn % 97)}});
    let answer = serde_json::json!(
        {"role": "assistant", "content": format!("I look at part {turn}."), "tool_calls": [call]});
    texts.push(answer.to_string());
    let lines: String = (0..2).map(|_| words.message(rng, false, None) + "\n").collect();
    let result =
        serde_json::json!({"role": "tool", "tool_call_id": format!("c{turn}"), "content": lines});
    texts.push(result.to_string());
    texts.into_iter().map(|text| RawEvent::new(Bytes::from(text))).collect()
}

/// The bytes that this process has handed to the system for writing.
fn written() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/io")?;
    let line = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    let number = line.context("the system does not count writes")?.trim().parse()?;
    ensure!(number > 0, "the system does not count writes");
    Ok(number)
}

/// Seconds of the processor that this process has used.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // Ticks of user and system time, a hundred a second.
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}
