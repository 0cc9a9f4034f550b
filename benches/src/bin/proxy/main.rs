//! What `midfold serve` adds to a request, beside the same provider direct and beside nginx as a plain
//! proxy, in turns in one run:
//!
//! ```text
//! cargo build --release -p midfold-cli
//! cargo run --release -p midfold-benches --no-default-features --features proxy --bin proxy -- \
//!     [--midfold target/release/midfold] [--rounds N] [--streams N] [--messages N] [--bytes N]
//! ```
//!
//! Each request goes on with one of ten conversations: two messages more than its last request. The
//! first requests of all are not measured (`first` says what they cost). The provider is a few lines: it reads
//! the body and answers at once. nginx is left out where it is not installed.

#![expect(clippy::print_stdout, reason = "a program that prints")]

mod client;
mod nginx;
mod process;
mod provider;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use client::Client;
use midfold_testkit::big_messages;
use nginx::Nginx;
use process::Midfold;

/// Conversations that take turns.
const CONVERSATIONS: usize = 10;
/// Events of a stream, and the pause between two.
const EVENTS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Clone)]
struct Options {
    midfold: String,
    rounds: usize,
    streams: usize,
    messages: usize,
    bytes: usize,
}

fn options() -> Result<Options> {
    let mut options = Options {
        midfold: "target/release/midfold".to_owned(),
        rounds: 500,
        streams: 200,
        messages: 600,
        bytes: 1_000_000,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--midfold" => options.midfold = value,
            "--rounds" => options.rounds = value.parse()?,
            "--streams" => options.streams = value.parse()?,
            "--messages" => options.messages = value.parse()?,
            "--bytes" => options.bytes = value.parse()?,
            _ => anyhow::bail!("there is no option {name}"),
        }
    }
    ensure!(options.rounds > 0, "at least one round, please");
    Ok(options)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let options = options()?;
    let provider = provider::start(EVENTS, PAUSE).await?;
    let nginx = Nginx::start(provider)?;
    let whole = Midfold::start(&options.midfold, provider, "10m")?;
    let folding = Midfold::start(&options.midfold, provider, "64k")?;
    println!("load {}; idle {} MB", process::load(), whole.resident()? / 1_000);
    let mut ways = vec![("direct", provider)];
    ways.extend(nginx.as_ref().map(|nginx| ("nginx", nginx.address)));
    ways.extend([("midfold, all fits", whole.address), ("midfold, folded", folding.address)]);
    latency(&options, &ways).await?;
    println!(
        "resident after that: {} MB, {} MB with folds",
        whole.peak()? / 1_000,
        folding.peak()? / 1_000
    );
    for (name, sizes) in [
        ("one conversation", Streams::Same),
        ("a conversation each, a tenth of the bytes", Streams::Each),
    ] {
        let server = Midfold::start(&options.midfold, provider, "64k")?;
        streams(&options, name, &sizes, &server).await?;
    }
    println!("load {}", process::load());
    Ok(())
}

/// A request of a conversation that has grown by `grown` pairs of messages.
struct Conversation {
    messages: Vec<String>,
    start: usize,
}

impl Conversation {
    fn new(nth: usize, options: &Options, more: usize) -> Self {
        let all = options.messages + 2 * more;
        let bytes = options.bytes * all / options.messages;
        let mut messages = big_messages(all, bytes);
        // Another task: conversations that differ in their system prompts alone are one for the proxy.
        messages[1] =
            format!(r#"{{"role":"user","content":"LED-{nth}: go on with the next file."}}"#);
        Self { messages, start: options.messages }
    }

    fn body(&self, grown: usize, stream: bool) -> Bytes {
        let end = (self.start + 2 * grown).min(self.messages.len());
        let messages = self.messages[..end].join(",");
        format!(r#"{{"model":"gpt-5","stream":{stream},"messages":[{messages}]}}"#).into()
    }
}

async fn latency(options: &Options, ways: &[(&str, SocketAddr)]) -> Result<()> {
    let turns = options.rounds.div_ceil(CONVERSATIONS);
    let conversations: Vec<_> =
        (0..CONVERSATIONS).map(|nth| Conversation::new(nth, options, turns + 1)).collect();
    let clients: Vec<_> = ways.iter().map(|_| Client::new()).collect();
    let mut first = vec![Vec::new(); ways.len()];
    let mut times = vec![Vec::new(); ways.len()];
    for turn in 0..=turns {
        for conversation in &conversations {
            let body = conversation.body(turn, false);
            for (way, (client, (_, address))) in clients.iter().zip(ways).enumerate() {
                let took = client.ask(*address, body.clone()).await?.took;
                let into = if turn == 0 { &mut first } else { &mut times };
                into[way].push(took);
            }
        }
    }
    println!(
        "{} messages, {} KB, {} requests each; milliseconds",
        options.messages,
        conversations[0].body(0, false).len() / 1_000,
        times[0].len()
    );
    println!(
        "{:<20}{:>9}{:>9}{:>12}{:>12}{:>9}",
        "", "p50", "p99", "added p50", "added p99", "first"
    );
    let base = (percentile(&mut times[0].clone(), 50), percentile(&mut times[0].clone(), 99));
    for (way, (name, _)) in ways.iter().enumerate() {
        let (p50, p99) = (percentile(&mut times[way], 50), percentile(&mut times[way], 99));
        let first = percentile(&mut first[way], 50);
        let (added50, added99) = (p50 - base.0, p99 - base.1);
        println!("{name:<20}{p50:>9.2}{p99:>9.2}{added50:>12.2}{added99:>12.2}{first:>9.1}");
    }
    Ok(())
}

fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
}

/// Whose conversations are streamed at once.
enum Streams {
    Same,
    Each,
}

async fn streams(options: &Options, name: &str, kind: &Streams, server: &Midfold) -> Result<()> {
    let small =
        Options { bytes: options.bytes / 10, messages: options.messages / 10, ..options.clone() };
    let bodies: Vec<Bytes> = match kind {
        Streams::Same => {
            let one = Conversation::new(0, options, 1).body(0, true);
            Client::new().ask(server.address, one.clone()).await?;
            vec![one; options.streams]
        }
        Streams::Each => {
            let of = |nth| Conversation::new(nth, &small, 1).body(0, true);
            (0..options.streams).map(of).collect()
        }
    };
    let asked = bodies.into_iter().map(|body| {
        let address = server.address;
        tokio::spawn(async move { Client::new().ask(address, body).await })
    });
    let asked: Vec<_> = asked.collect();
    let (mut errors, mut whole) = (0, 0);
    for answer in asked {
        match answer.await? {
            Ok(answer) if answer.bytes == provider::stream_bytes(EVENTS) => whole += 1,
            Ok(_) => errors += 1,
            Err(error) => {
                errors += 1;
                println!("  {error:#}");
            }
        }
    }
    println!(
        "{} streams at once ({name}): {whole} whole, {errors} errors, resident at most {} MB",
        options.streams,
        server.peak()? / 1_000
    );
    Ok(())
}
