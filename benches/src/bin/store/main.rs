//! What the store costs beside a bare insert and a bare select, in one run on one database:
//!
//! ```text
//! cargo run --release -p midfold-benches --bin store -- [--events N] [--sessions N] [--rounds N] [--index-all]
//!     (sqlite:PATH | postgres://… | --postgres)
//! cargo run --release -p midfold-benches --bin store -- --turns N sqlite:PATH
//! ```
//!
//! Fills a store round-robin (the worst locality), and a plain table with the same rows; then lets
//! both take turns, one by one, so that a busy moment of the machine falls on both. Ratios are
//! medians over the rounds. `--postgres` starts a server of its own and removes it afterwards. The
//! SQLite file must not be there yet, and is removed afterwards.

#![expect(clippy::print_stdout, reason = "a program that prints")]

mod bare;
mod text;
mod turns;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bare::Bare;
use bytes::Bytes;
use midfold::core::Hash;
use midfold_store::single::SingleChange as _;
use midfold_store::{AppendRequest, LogSearch, NewEvent, NewFold, NewSession, Store};
use midfold_testkit::Rng;
use midfold_testkit::postgres::Cluster;
use text::{Fact, Vocabulary};

/// Events before the fold of each session, and after it.
const HEAD: u64 = 2;
const TAIL: u64 = 20;
/// Events of one append while the store is filled.
const LOAD: usize = 20;
/// Sessions that have facts, at most, and facts of each.
const ASKED: usize = 200;
const FACTS: usize = 4;

struct Options {
    events: usize,
    sessions: usize,
    rounds: usize,
    index: bool,
    turns: usize,
    url: Option<String>,
}

fn options() -> Result<Options> {
    let mut options = Options {
        events: 1_000_000,
        sessions: 10_000,
        rounds: 5,
        index: false,
        turns: 0,
        url: None,
    };
    let mut arguments = std::env::args().skip(1);
    let mut postgres = false;
    while let Some(argument) = arguments.next() {
        let mut number = || -> Result<usize> {
            Ok(arguments.next().with_context(|| format!("{argument} needs a number"))?.parse()?)
        };
        match argument.as_str() {
            "--events" => options.events = number()?,
            "--sessions" => options.sessions = number()?,
            "--rounds" => options.rounds = number()?.max(1),
            "--turns" => options.turns = number()?,
            "--index-all" => options.index = true,
            "--postgres" => postgres = true,
            url => options.url = Some(url.to_owned()),
        }
    }
    ensure!(postgres != options.url.is_some(), "one of: sqlite:PATH, postgres://…, --postgres");
    let least = options.sessions * (LOAD * 3);
    ensure!(options.sessions > 0 && options.events >= least, "at least {least} events, please");
    Ok(options)
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = options()?;
    let cluster = match &options.url {
        Some(_) => None,
        None => Some(Cluster::start_own().map_err(anyhow::Error::msg)?),
    };
    let url = match (&options.url, &cluster) {
        (Some(url), _) => url.clone(),
        (None, Some(cluster)) => cluster.admin_url().to_owned(),
        (None, None) => bail!("no store"),
    };
    let file = url.strip_prefix("sqlite:").map(str::to_owned);
    if let Some(path) = &file {
        ensure!(!std::fs::exists(path)?, "{path} is there already: name another file");
    }
    let outcome = match (&file, options.turns) {
        (_, 0) => measure(&url, &options).await,
        (Some(path), turns) => turns::turns(Path::new(path), turns).await,
        (None, _) => Err(anyhow::anyhow!("--turns needs sqlite:PATH")),
    };
    for end in ["", "-wal", "-shm", ".bare", ".bare-wal", ".bare-shm"] {
        if let Some(path) = &file {
            let _ = std::fs::remove_file(format!("{path}{end}"));
        }
    }
    outcome
}

async fn measure(url: &str, options: &Options) -> Result<()> {
    let store = midfold_store::open(url).await?;
    let bare = Bare::open(url).await?;
    println!("{}, load {}", store.place(), load());
    let mut bench = Bench::new(store, bare, options);
    let questions = bench.fill(options.events).await?;
    bench.fold().await?;
    println!("{} events in {} sessions, load {}", options.events, options.sessions, load());
    let names = ["", "p50 µs", "p99 µs", "a second", "bare p50", "bare p99", "a second"];
    let [name, columns @ ..] = names;
    let columns: String = columns.iter().map(|name| format!(" {name:>9}")).collect();
    println!("{name:<14}{columns}   p50 by p50, median of rounds");
    bench.loads(options.rounds).await?;
    for batch in [1, 20, 100] {
        bench.appends(batch, options.rounds).await?;
    }
    if options.index {
        bench.index_all().await?;
    }
    bench.questions(&questions).await?;
    println!("load {}", load());
    Ok(())
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// A session of the store, and as much of it as an append has to know.
struct Place {
    id: String,
    head: u64,
    hash: Hash,
}

struct Question {
    session: usize,
    seq: u64,
    text: String,
}

/// An append that is made twice: once by the store, once by the bare insert.
struct Work {
    session: usize,
    first: u64,
    events: Vec<NewEvent>,
}

struct Bench {
    store: Arc<dyn Store>,
    bare: Bare,
    vocabulary: Vocabulary,
    rng: Rng,
    places: Vec<Place>,
}

impl Bench {
    fn new(store: Arc<dyn Store>, bare: Bare, options: &Options) -> Self {
        let place = |at| Place { id: format!("session-{at}"), head: 0, hash: Hash::ROOT };
        let places = (0..options.sessions).map(place).collect();
        Self { store, bare, vocabulary: Vocabulary::new(), rng: Rng::new(1), places }
    }

    /// The next events of a session, with a fact in the first of them.
    fn work(&mut self, session: usize, count: usize, fact: Option<&str>) -> Work {
        let first = self.places[session].head;
        let mut events = Vec::with_capacity(count);
        for at in 0..count {
            let user = (first + at as u64).is_multiple_of(2);
            let fact = fact.filter(|_| at == 0);
            let bytes = Bytes::from(self.vocabulary.message(&mut self.rng, user, fact));
            let place = &mut self.places[session];
            place.hash = place.hash.chain(&bytes);
            place.head += 1;
            let turn = u32::try_from(place.head / 2).unwrap_or(u32::MAX);
            events.push(NewEvent {
                bytes,
                hash: place.hash,
                turn,
                tokens: 500,
                usage: None,
                origin: None,
            });
        }
        Work { session, first, events }
    }

    async fn ours(&self, work: &Work) -> Result<Duration> {
        let append = AppendRequest {
            expected: work.first,
            events: work.events.clone(),
            ..AppendRequest::default()
        };
        let start = Instant::now();
        self.store.append(&self.places[work.session].id, append).await?;
        Ok(start.elapsed())
    }

    async fn theirs(&mut self, work: &Work) -> Result<Duration> {
        let (session, first) = (i64::try_from(work.session)?, i64::try_from(work.first)?);
        let start = Instant::now();
        self.bare.insert(session, first, &work.events).await?;
        Ok(start.elapsed())
    }

    /// Both fill up, side by side; returns what can be asked afterwards.
    async fn fill(&mut self, events: usize) -> Result<Vec<Question>> {
        for place in &self.places {
            let new = NewSession {
                id: place.id.clone(),
                dialect: "openai-chat".into(),
                profile: "openai".into(),
                counter: "chars:4".into(),
                ..NewSession::default()
            };
            self.store.create(new).await?;
        }
        let (each, mut questions) = (events / self.places.len(), Vec::new());
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut done = 0;
        while done < each {
            let count = LOAD.min(each - done);
            for session in 0..self.places.len() {
                // Facts are where the fold will cover them.
                let (first, end) = (done as u64, each as u64 - TAIL);
                let asked = session < ASKED && first > HEAD && first < end;
                let fact = (asked && done / LOAD <= FACTS).then(|| Fact::new(&mut self.rng));
                if let Some(fact) = &fact {
                    let text = fact.question.clone();
                    questions.push(Question { session, seq: first, text });
                }
                let said = fact.map(|fact| fact.said);
                let work = self.work(session, count, said.as_deref());
                ours.push(self.ours(&work).await?);
                theirs.push(self.theirs(&work).await?);
            }
            done += count;
        }
        let rate = |all: &[Duration]| {
            LOAD as f64 / all.iter().sum::<Duration>().as_secs_f64() * all.len() as f64
        };
        println!("filled by {LOAD}: {:.0} events/s, bare {:.0}/s", rate(&ours), rate(&theirs));
        Ok(questions)
    }

    /// Every session gets a fold over all but its ends.
    async fn fold(&self) -> Result<()> {
        for place in &self.places {
            let hash = |what: &str| Hash::ROOT.chain(what.as_bytes());
            let fold = NewFold {
                id: hash(&place.id),
                start: HEAD,
                end: place.head - TAIL,
                before: hash("before"),
                through: hash("through"),
                policy: hash("policy"),
                recap: hash("recap"),
                kept: Vec::new(),
                body: "x".repeat(4_000),
                now: 0,
            };
            self.store.put_fold(&place.id, &fold).await?;
            self.store.activate(&place.id, None, Some(fold.id)).await?;
        }
        Ok(())
    }

    /// Contexts are read, beside a select of the same events.
    async fn loads(&mut self, rounds: usize) -> Result<()> {
        let mut pairs = Pairs::new("context load", 1);
        // The tail may have grown; both read it as it was.
        for _ in 0..rounds {
            for block in 0..20 {
                let some: Vec<usize> = (0..25).map(|_| self.rng.below(self.places.len())).collect();
                for turn in 0..2 {
                    for session in &some {
                        let place = &self.places[*session];
                        let start = Instant::now();
                        if turn == block % 2 {
                            let loaded = self.store.load(&place.id).await?;
                            pairs.ours(start.elapsed());
                            let rows = (loaded.head.len() + loaded.tail.len()) as u64;
                            ensure!(rows == HEAD + TAIL, "{rows} rows loaded");
                        } else {
                            let tail = i64::try_from(place.head - TAIL)?;
                            let session = i64::try_from(*session)?;
                            let bytes = self.bare.select(session, HEAD as i64, tail).await?;
                            pairs.theirs(start.elapsed());
                            ensure!(bytes > 20_000, "{bytes} bytes selected");
                        }
                    }
                }
            }
            pairs.round();
        }
        pairs.print("p99 under 2 ms");
        Ok(())
    }

    async fn appends(&mut self, batch: usize, rounds: usize) -> Result<()> {
        let name = format!("append {batch}");
        let mut pairs = Pairs::new(&name, batch);
        let each = if batch == 1 { 400 } else { 80 };
        for _ in 0..rounds {
            for at in 0..each {
                let session = self.rng.below(self.places.len());
                let work = self.work(session, batch, None);
                // One by one, and each of them first every other time.
                for turn in 0..2 {
                    if turn == at % 2 {
                        pairs.ours(self.ours(&work).await?);
                    } else {
                        pairs.theirs(self.theirs(&work).await?);
                    }
                }
            }
            pairs.round();
        }
        pairs.print(match batch {
            1 => "at most 1.3",
            _ => "SQLite at most 1.15; PostgreSQL at least 0.7 of its rows a second: 1.43",
        });
        Ok(())
    }

    /// One search in every session, so that all events are in the full-text index.
    async fn index_all(&self) -> Result<()> {
        let start = Instant::now();
        for place in &self.places {
            let search =
                LogSearch { query: "settlement".to_owned(), limit: 1, ..LogSearch::default() };
            self.store.search(&place.id, &search).await?;
        }
        println!("all sessions indexed in {:.0} s", start.elapsed().as_secs_f64());
        Ok(())
    }

    /// Facts are asked for that the folds cover: found among the first five?
    async fn questions(&self, questions: &[Question]) -> Result<()> {
        let (mut first, mut warm, mut found) = (Vec::new(), Vec::new(), 0usize);
        let mut indexed = std::collections::HashSet::new();
        for question in questions {
            let place = &self.places[question.session];
            let search =
                LogSearch { query: question.text.clone(), limit: 5, ..LogSearch::default() };
            let start = Instant::now();
            let hits = self.store.search(&place.id, &search).await?;
            let took = start.elapsed();
            // The first search of a session takes its events into the index.
            if indexed.insert(question.session) { &mut first } else { &mut warm }.push(took);
            found += usize::from(hits.iter().any(|hit| hit.seq == question.seq));
        }
        let (p50, p99) = (percentile(&mut warm, 50), percentile(&mut warm, 99));
        println!(
            "grep {p50:.0} µs p50, {p99:.0} µs p99; first of a session {:.0} µs p50, {:.0} µs p99",
            percentile(&mut first, 50),
            percentile(&mut first, 99)
        );
        let recall = found as f64 / questions.len().max(1) as f64;
        println!("grep recall@5: {recall:.3} of {} questions (aim: at least 0.9)", questions.len());
        Ok(())
    }
}

/// Times of the store and of the bare table, round by round.
struct Pairs<'a> {
    name: &'a str,
    /// Events of each.
    count: usize,
    now: [Vec<Duration>; 2],
    all: [Vec<Duration>; 2],
    ratios: Vec<f64>,
}

impl<'a> Pairs<'a> {
    fn new(name: &'a str, count: usize) -> Self {
        Self { name, count, now: Default::default(), all: Default::default(), ratios: Vec::new() }
    }

    fn ours(&mut self, took: Duration) {
        self.now[0].push(took);
    }

    fn theirs(&mut self, took: Duration) {
        self.now[1].push(took);
    }

    fn round(&mut self) {
        let [ours, theirs] = &mut self.now;
        self.ratios.push(percentile(ours, 50) / percentile(theirs, 50));
        for (all, now) in self.all.iter_mut().zip(&mut self.now) {
            all.append(now);
        }
    }

    fn print(mut self, aim: &str) {
        self.ratios.sort_unstable_by(f64::total_cmp);
        let ratio = self.ratios[self.ratios.len() / 2];
        let [ours, theirs] = &mut self.all;
        let count = self.count;
        let rate = |all: &[Duration]| {
            (all.len() * count) as f64 / all.iter().sum::<Duration>().as_secs_f64()
        };
        let (rate, bare_rate) = (rate(ours), rate(theirs));
        let (p50, p99) = (percentile(ours, 50), percentile(ours, 99));
        let (bare50, bare99) = (percentile(theirs, 50), percentile(theirs, 99));
        let name = self.name;
        println!(
            "{name:<14} {p50:>9.0} {p99:>9.0} {rate:>9.0} {bare50:>9.0} {bare99:>9.0} \
             {bare_rate:>9.0}   {ratio:.2} ({aim})"
        );
    }
}

/// In microseconds.
fn percentile(all: &mut [Duration], percent: usize) -> f64 {
    all.sort_unstable();
    let at = (all.len() * percent / 100).min(all.len().saturating_sub(1));
    all.get(at).map_or(0.0, |took| took.as_secs_f64() * 1e6)
}
