//! A process that appends, folds and completes jobs is killed at random moments. Whatever it said
//! was done is there afterwards, once, and fsck finds nothing. `MIDFOLD_CRASHES` says how often.
#![cfg(any(feature = "sqlite", feature = "postgres"))]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test, and a driver that talks")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::meter::Meter;
use midfold_core::plan::Outcome;
use midfold_core::policy::Policy;
use midfold_core::{Hash, RawEvent};
use midfold_formats::{DialectKind, profile};
use midfold_store::{Append, Claim, Done, NewEvent, NewFold, NewJob, NewSession, Store, fsck};
use midfold_testkit::Rng;

const URL: &str = "MIDFOLD_CRASH_URL";

/// The process that is killed; does nothing when it is run as a test.
#[tokio::test]
async fn driver() {
    let Ok(url) = std::env::var(URL) else { return };
    let store = midfold_store::open(&url).await.unwrap();
    let counter = midfold_tokens::by_name("chars:4").unwrap();
    let (policy, dialect) = (Policy::preset("default").unwrap(), DialectKind::OpenAiChat.shared());
    let meter = Meter::chars_over_four();
    let mut session = Session::new("s", policy, dialect, profile::OPENAI, counter, meter);
    for row in store.events("s", 0..u64::MAX).await.unwrap() {
        session.append(RawEvent::new(row.event.bytes));
    }
    loop {
        step(&*store, &mut session).await;
    }
}

/// One event with its job, the job's fold now and then, and word of it once it is durable.
async fn step(store: &dyn Store, session: &mut Session) {
    let at = session.log().len() as u64;
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    let text = format!(r#"{{"role":"{role}","content":"{at} {}"}}"#, "word ".repeat(60));
    session.append(RawEvent::new(Bytes::from(text)));
    let last = session.log().events().last().unwrap();
    let event = NewEvent {
        bytes: last.bytes.clone(),
        hash: last.hash,
        turn: last.turn,
        tokens: last.tokens.total,
        usage: None,
    };
    let job = NewJob {
        key: format!("job {at}"),
        session: "s".to_owned(),
        start: 0,
        end: at,
        through: Hash::ROOT,
        body: "{}".to_owned(),
        run_at: 0,
    };
    let append = Append {
        expected: at,
        key: Some(format!("event {at}")),
        events: vec![event],
        job: (at % 8 == 7).then_some(job),
        now: at,
    };
    store.append("s", append).await.unwrap();
    println!("ack event {at}");
    let claim = Claim { worker: "w".to_owned(), now: at * 10, until: at * 10 + 5, limit: 1 };
    for job in store.claim(&claim).await.unwrap() {
        let budget = Budget::new(session.log().tokens() / 2);
        let made = session.preview(&budget, None).unwrap();
        let fold = match made {
            Outcome::Folded(fold) => Some(NewFold::of(&fold, at).unwrap()),
            Outcome::Nothing(_) => None,
        };
        let done = Done { verdict: "accepted".to_owned(), fold };
        if store.finish(&job.lease(), &done).await.unwrap() {
            println!("ack job {}", job.job.key);
        }
    }
}

/// Runs the driver until it is killed; returns what it acknowledged.
fn run_and_kill(url: &str, after: Duration) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "driver", "--nocapture", "--test-threads", "1"])
        .env(URL, url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || {
        // A killed process may leave half a line: only whole ones were said, and `ack` may stand
        // behind what the test harness printed.
        lines
            .map_while(Result::ok)
            .filter_map(|line| line.split_once("ack ").map(|(_, said)| said.to_owned()))
            .collect::<Vec<_>>()
    });
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

async fn survive(url: &str, seed: u64) {
    let store = midfold_store::open(url).await.unwrap();
    let new = NewSession {
        id: "s".to_owned(),
        dialect: "openai-chat".to_owned(),
        profile: profile::OPENAI.name.to_owned(),
        counter: "chars:4".to_owned(),
        ..NewSession::default()
    };
    store.create(new).await.unwrap();
    let crashes = std::env::var("MIDFOLD_CRASHES").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    let (mut rng, mut events, mut jobs) = (Rng::new(seed), 0u64, Vec::new());
    for crash in 0..crashes {
        let after = Duration::from_millis(rng.between(60, 260) as u64);
        for said in run_and_kill(url, after) {
            match said.split_once(' ') {
                Some(("event", at)) => events = events.max(at.parse::<u64>().unwrap() + 1),
                Some(("job", key)) => jobs.push(key.to_owned()),
                _ => {}
            }
        }
        let rows = store.events("s", 0..u64::MAX).await.unwrap();
        assert!(rows.len() as u64 >= events, "crash {crash}: {} of {events}", rows.len());
        for (row, at) in rows.iter().zip(0..) {
            let text = String::from_utf8_lossy(&row.event.bytes).into_owned();
            assert!(text.contains(&format!("\"{at} ")), "crash {crash}: event {at} is {text}");
        }
        let known = store.jobs(Some("s"), u32::MAX).await.unwrap();
        for key in &jobs {
            let job = known.iter().find(|job| job.job.key == *key).unwrap();
            assert_eq!(job.outcome.as_deref(), Some("accepted"), "crash {crash}: {key}");
        }
        let report = fsck(&*store).await.unwrap();
        assert!(report.is_clean(), "crash {crash}: {:?}", report.findings);
    }
    assert!(events > 0 && !jobs.is_empty(), "the driver did {events} events, {} jobs", jobs.len());
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_survives_kills() {
    let folder = tempfile::tempdir().unwrap();
    survive(&format!("sqlite:{}", folder.path().join("crash.db").display()), 11).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn postgres_survives_kills() {
    let cluster = match midfold_testkit::postgres::Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return println!("skipped: {why}"),
    };
    let url = cluster.schema().unwrap();
    survive(&url, 12).await;
    cluster.drop_schema(&url);
}
