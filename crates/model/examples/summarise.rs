//! Has a small conversation narrated by a real server and says what became of the reply.
//!
//! `cargo run -p midfold-model --example summarise -- http://127.0.0.1:8080 MODEL`

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::error::Error;
use std::sync::Arc;

use midfold_core::budget::Ratio;
use midfold_core::fold::Span;
use midfold_core::log::EventLog;
use midfold_core::narrate::SummaryRequest;
use midfold_core::policy::NarrationStyle;
use midfold_core::recap::ground::judge;
use midfold_core::recap::sources::{SourceLimits, sources};
use midfold_core::{Hash, RawEvent};
use midfold_formats::{DialectKind, profile};
use midfold_model::{ModelClient, ModelConfig};
use midfold_tokens::CharsCounter;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(model)) = (arguments.next(), arguments.next()) else {
        return Err("usage: summarise URL MODEL".into());
    };
    let counter = Arc::new(CharsCounter::new("3")?);
    let messages = midfold_testkit::coding_session(1, 1);
    let events = messages.into_iter().map(|line| RawEvent::new(line.into_bytes().into()));
    let dialect = DialectKind::OpenAiChat.shared();
    let log = EventLog::of(dialect, profile::OPENAI, counter.clone(), events);
    let end = log.len();

    let request = SummaryRequest {
        // An engine hashes what it asks for; one request needs no name.
        id: Hash::ROOT,
        session: "example".to_owned(),
        span: Span {
            start: 1,
            end: u32::try_from(end)?,
            before: log.hash_before(1),
            through: log.hash_before(end),
        },
        header: "## Conversation Summary".to_owned(),
        sections: ["Decisions", "Entities", "Facts", "Open Items"].map(str::to_owned).to_vec(),
        style: NarrationStyle::Bullets,
        words: Some(200),
        max_tokens: 512,
        temperature: Ratio(2_000),
        timeout_seconds: 25,
        previous: None,
        sources: sources(&log, 1..end, &SourceLimits::default()),
        focus: None,
        today: None,
        replaces: log.tokens_in(1..end),
    };
    let mut config = ModelConfig::new(&url, &model, counter.clone());
    config.window_tokens = Some(8_192);
    let reply = ModelClient::new(config)?.summarise(&request).await?;
    println!("{} calls, {:?}\n{}\n", reply.calls, reply.usage, reply.text);
    match judge(&log, &request, &reply, &*counter) {
        Ok(judged) => println!("accepted; dropped: {:?}", judged.dropped),
        Err(refused) => println!("{}: {}", refused.verdict.as_str(), refused.detail),
    }
    Ok(())
}
