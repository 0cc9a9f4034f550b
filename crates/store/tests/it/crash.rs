//! A process that appends, completes jobs and renders contexts is killed at random moments.
//! Whatever it said was done is there afterwards, once; nothing is there by half; and the next
//! context is that of a run that nobody disturbed. `MIDFOLD_CRASHES` says how often.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that talks")]

mod faults;
mod script;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use midfold_core::project::project;
use midfold_store::single::SingleChange as _;
use midfold_store::worker::JobWorker;
use midfold_store::{JobState, MemoryStore, Store, StoredSession, fsck};
use midfold_testkit::Rng;
use script::{ID, Said, Script};

const URL: &str = "MIDFOLD_CRASH_URL";
const SEED: &str = "MIDFOLD_CRASH_SEED";
const LIFE: &str = "MIDFOLD_CRASH_LIFE";
/// Kills that one session has to survive.
const A_SESSION: u64 = 10;
/// Turns of the script: more than a session's processes get through.
const TURNS: usize = 30;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The process that is killed; does nothing when it is run as a test.
#[tokio::test]
async fn driver() {
    let Ok(url) = std::env::var(URL) else { return };
    let script = Script::new(number(SEED, 0), TURNS);
    let store = midfold_store::open(&url).await.unwrap();
    let worker = script::worker(store.clone(), number(LIFE, 0));
    let mut stored = StoredSession::open(store, ID).await.unwrap();
    let next = script.next(stored.row().head);
    // The answer may have been lost on the way: a retry gets it again.
    if let Some(last) = next.checked_sub(1)
        && let Some(key) = script.key(last)
    {
        let again = stored.append(script.step_events(last), Some(key), 0).await.unwrap();
        assert!(again.repeated && again.first + again.count == script.end(last), "{again:?}");
    }
    for step in next..script.steps() {
        script::append(&mut stored, &script, step).await.unwrap();
        say(Said::Append { step });
        script::after_append(&mut stored, &worker, &script, step, say).await.unwrap();
    }
    panic!("the script is too short");
}

/// A whole line or nothing: what follows `ack` is durable.
fn say(said: Said) {
    match said {
        Said::Append { step } => println!("ack append {step}"),
        Said::Call { number } => println!("ack call {number}"),
        Said::Fold { id } => println!("ack fold {id}"),
        Said::Observed => println!("ack observed"),
        Said::Job { id, code, folded } => println!("ack job {id} {code} {folded}"),
    }
}

/// What a server calls the driver's connections.
fn driver_name() -> String {
    format!("midfold-driver-{}", std::process::id())
}

/// Runs the driver until it has said so many things and a moment longer; returns all it said.
fn run_and_kill(url: &str, seed: u64, life: u64, lines: usize, wait: Duration) -> Vec<String> {
    let url = match url.starts_with("postgres") {
        true => format!("{url}&application_name={}", driver_name()),
        false => url.to_owned(),
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::driver", "--nocapture", "--test-threads", "1"])
        .env(URL, url)
        .env(SEED, seed.to_string())
        .env(LIFE, life.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // `ack` may be behind what the test harness printed. A kill may leave half a line, which
    // was never said.
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = Vec::new();
    let mut next = || {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let whole = line.strip_suffix('\n')?;
        Some(whole.split_once("ack ").map(|(_, said)| said.to_owned()))
    };
    while said.len() < lines
        && let Some(line) = next()
    {
        said.extend(line);
    }
    std::thread::sleep(wait);
    child.kill().unwrap();
    while let Some(line) = next() {
        said.extend(line);
    }
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(9), "the driver ended by itself: {status}");
    said
}

/// The run that nobody disturbs.
struct Undisturbed {
    stored: StoredSession,
    worker: JobWorker,
    next: usize,
    /// Each step's context.
    contexts: HashMap<usize, Vec<u8>>,
}

impl Undisturbed {
    async fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let stored = StoredSession::create(store.clone(), script::new_session()).await.unwrap();
        Self { stored, worker: script::worker(store, 0), next: 0, contexts: HashMap::new() }
    }

    async fn context(&mut self, script: &Script, step: usize) -> &[u8] {
        while self.next <= step {
            let step = self.next;
            script::append(&mut self.stored, script, step).await.unwrap();
            let (stored, worker) = (&mut self.stored, &self.worker);
            let sent = script::after_append(stored, worker, script, step, drop).await.unwrap();
            self.contexts.insert(step, sent.context.bytes());
            self.next += 1;
        }
        &self.contexts[&step]
    }
}

/// What a store has to show for itself.
#[derive(Default)]
struct Tally {
    events: u64,
    folds: usize,
    accepted: usize,
    refused: usize,
}

/// Everything that was said to be done, against the store.
async fn check(store: &dyn Store, script: &Script, said: &[String], tally: &mut Tally) {
    let report = fsck(store).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    let rows = store.events(ID, 0..u64::MAX).await.unwrap();
    for (row, at) in rows.iter().zip(0..) {
        assert_eq!(row.seq, at as u64, "the seqs have no gap");
        assert_eq!(row.event.bytes, script.event(at).bytes, "event {at}");
    }
    let (row, folds) = (store.session(ID).await.unwrap(), store.folds(ID).await.unwrap());
    assert_eq!(row.head, rows.len() as u64);
    script.next(row.head);
    let jobs = store.jobs(Some(ID), u32::MAX).await.unwrap();
    let calls = store.calls(ID).await.unwrap();
    for line in said {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["append", step] => assert!(script.end(step.parse().unwrap()) <= row.head, "{line}"),
            ["call", call] => assert!(calls.len() >= call.parse().unwrap(), "{line}"),
            ["fold", id] => {
                assert!(folds.iter().any(|row| row.fold.id.to_hex() == id), "{line} is not there");
            }
            ["job", id, code, folded] => {
                let job = jobs.iter().find(|job| job.id.to_string() == id).unwrap();
                assert_eq!(job.state, JobState::Done, "{line}");
                assert!(job.outcome.as_ref().unwrap().starts_with(code), "{line}: {job:?}");
                assert_eq!(job.fold.is_some(), folded == "true", "{line}: {job:?}");
            }
            ["observed"] => {}
            _ => panic!("the driver said {line}"),
        }
    }
    let outcome = |prefix: &str| {
        let of = |job: &&midfold_store::StoreJob| {
            job.outcome.as_ref().is_some_and(|outcome| outcome.starts_with(prefix))
        };
        jobs.iter().filter(of).collect::<Vec<_>>()
    };
    let accepted = outcome("accepted");
    for job in &accepted {
        // In its own fold; or, where there was none to make, in the session's state, in a later
        // fold, or in the narration that went on from it.
        let key = &job.job.key;
        let made = folds.iter().any(|row| Some(row.fold.id) == job.fold);
        let waits = row.state.contains(&format!("\"ready\":{{\"request\":\"{key}\""));
        let used = format!("\"narrated\":{{\"request\":\"{key}\"");
        let used = folds.iter().any(|row| row.fold.body.contains(&used));
        let previous = format!("\"previous\":\"{key}\"");
        let updated = jobs.iter().any(|job| job.job.body.contains(&previous));
        assert!(made || waits || used || updated, "{job:?} was accepted and is lost");
    }
    tally.events = row.head;
    tally.folds = folds.len();
    tally.accepted = accepted.len();
    tally.refused = outcome("ungrounded").len();
}

/// The context of the newest step: as the store leads to it, as computed from the log alone, and
/// as a run has it that nobody disturbed.
async fn compare(store: &Arc<dyn Store>, script: &Script, calm: &mut Undisturbed, life: u64) {
    let mut stored = StoredSession::open(store.clone(), ID).await.unwrap();
    let Some(step) = script.next(stored.row().head).checked_sub(1) else { return };
    let worker = script::worker(store.clone(), life);
    let sent = script::after_append(&mut stored, &worker, script, step, drop).await.unwrap();
    let session = stored.whole().await.unwrap();
    if let Some(fold) = session.active() {
        assert!(fold.applies_to(session.log()), "the active fold applies");
    }
    let scratch = project(session.log(), session.active());
    assert!(sent.context.bytes() == scratch.bytes(), "step {step}: not what its log leads to");
    let expected = calm.context(script, step).await;
    let same = without_room(&sent.context.bytes()) == without_room(expected);
    assert!(same, "step {step}: not that of an undisturbed run");
}

/// A context without what depends on which answer of the model was there in time: all answers say the same, but a
/// recap says where its own one ends, and other lines get what room that leaves.
fn without_room(context: &[u8]) -> String {
    let text = String::from_utf8_lossy(context);
    let stays = |line: &&str| {
        !line.starts_with('@')
            && !line.starts_with("[End of recap ")
            && !line.starts_with("- It ends with @")
    };
    text.split("\\n").filter(stays).collect::<Vec<_>>().join("\n")
}

/// One session and its kills.
async fn survive(url: &str, seed: u64, kills: u64, gone: &dyn Fn()) -> Tally {
    let script = Script::new(seed, TURNS);
    let store = midfold_store::open(url).await.unwrap();
    store.create(script::new_session()).await.unwrap();
    let (mut rng, mut calm) = (Rng::new(seed), Undisturbed::new().await);
    let (mut tally, mut said) = (Tally::default(), Vec::new());
    for kill in 0..kills {
        let (lines, wait) = (rng.below(60), Duration::from_micros(rng.below(4_000) as u64));
        println!("seed {seed}, kill {kill}: after {lines} lines and {wait:?}");
        said.extend(run_and_kill(url, seed, 2 * kill, lines, wait));
        gone();
        // As after a restart: nothing of what this process remembers is used.
        let store = midfold_store::open(url).await.unwrap();
        check(&*store, &script, &said, &mut tally).await;
        compare(&store, &script, &mut calm, 2 * kill + 1).await;
    }
    tally
}

/// `gone` waits until nothing of a killed driver is under way any more.
async fn all_kills(mut url: impl FnMut() -> String, mut seed: u64, gone: &dyn Fn()) {
    let (mut left, mut sum) = (number("MIDFOLD_CRASHES", 50), Tally::default());
    while left > 0 {
        let kills = left.min(A_SESSION);
        let tally = survive(&url(), seed, kills, gone).await;
        sum.events += tally.events;
        sum.folds += tally.folds;
        sum.accepted += tally.accepted;
        sum.refused += tally.refused;
        left -= kills;
        seed += 1;
    }
    let Tally { events, folds, accepted, refused } = sum;
    println!("{events} events, {folds} folds; {accepted} narrations accepted, {refused} refused");
    assert!(events > 0 && folds > 0 && accepted > 0 && refused > 0, "too little was done");
}

#[tokio::test]
async fn sqlite_survives_kills() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = 0;
    let url = || {
        files += 1;
        format!("sqlite:{}", folder.path().join(format!("{files}.db")).display())
    };
    all_kills(url, 1_100, &|| {}).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn postgres_survives_kills() {
    let cluster = match midfold_testkit::postgres::Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return println!("skipped: {why}"),
    };
    let mut urls = Vec::new();
    let url = || {
        let url = cluster.schema().unwrap();
        urls.push(url.clone());
        url
    };
    // A statement that was sent is carried out, whatever became of its sender.
    let left = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}'",
        driver_name()
    );
    let gone = || {
        while cluster.sql(cluster.admin_url(), &left).unwrap() != "0" {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    all_kills(url, 2_200, &gone).await;
    urls.iter().for_each(|url| cluster.drop_schema(url));
}

/// The server itself is killed in the middle of appends: what it said was durable is.
#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_keeps_what_it_said_when_it_is_killed() {
    let cluster = match midfold_testkit::postgres::Cluster::start_own() {
        Ok(cluster) => cluster,
        Err(why) => return println!("skipped: {why}"),
    };
    let url = cluster.schema().unwrap();
    // A server that dies slowly is written to for longer: a life has this many steps at most.
    const LIFE: usize = 500;
    let crashes = number("MIDFOLD_SERVER_CRASHES", 3) as usize;
    let (script, mut rng) = (Arc::new(Script::new(33, 50 * crashes)), Rng::new(33));
    assert!(script.steps() > LIFE * crashes, "{} steps", script.steps());
    let store = midfold_store::open(&url).await.unwrap();
    let mut stored = StoredSession::create(store.clone(), script::new_session()).await.unwrap();
    for crash in 0..crashes {
        let first = script.next(stored.row().head);
        let (durable, seen) = tokio::sync::watch::channel(first);
        let text = script.clone();
        let writer = tokio::spawn(async move {
            let mut next = first;
            while next < first + LIFE && script::append(&mut stored, &text, next).await.is_ok() {
                next += 1;
                let _ = durable.send(next);
            }
            (stored, next)
        });
        let enough = first + rng.between(5, 60);
        seen.clone().wait_for(|durable| *durable >= enough).await.unwrap();
        tokio::task::block_in_place(|| cluster.crash()).unwrap();
        let (mut handle, durable) = writer.await.unwrap();
        // The connections of before are dead; each says so once, and then the same handle goes on.
        let mut tries = 0;
        while let Err(error) = handle.reload().await {
            tries += 1;
            assert!(tries < 40, "crash {crash}: the handle does not come back: {error}");
        }
        let head = handle.row().head;
        assert!(head >= script.end(durable - 1), "crash {crash}: an acknowledged event is gone");
        // At most the append that was under way came through without an answer.
        assert!(head <= script.end(durable), "crash {crash}: more than was asked for");
        let fresh = midfold_store::open(&url).await.unwrap();
        check(&*fresh, &script, &[], &mut Tally::default()).await;
        stored = handle;
    }
}
