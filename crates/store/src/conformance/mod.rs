//! What every store has to do, as cases that any implementation can be held to.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), String> {
//! use std::sync::Arc;
//! use midfold_store::{MemoryStore, Store, conformance};
//! conformance::run(|| async { Ok(Arc::new(MemoryStore::new()) as Arc<dyn Store>) }).await
//! # }
//! ```
//!
//! A case gets a store of its own, empty. It is deterministic, waits for no clock, and says in its
//! message what it saw. Nothing here panics, so that a test may collect all failures.

mod folds;
mod jobs;
mod log;
mod recall;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use midfold_core::Hash;

use crate::Store;
use crate::error::StoreError;
use crate::types::{Append, Appended, NewEvent, NewFold, NewJob, NewSession};

pub use jobs::workers_share_a_queue;

/// The outcome of a case: nothing, or what was wrong.
pub type Outcome = Result<(), String>;

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// One property and how it is checked.
#[derive(Clone, Copy)]
pub struct Case {
    /// The property.
    pub name: &'static str,
    run: fn(Arc<dyn Store>) -> Running,
}

impl Case {
    /// Runs the case on an empty store.
    ///
    /// # Errors
    /// What the store did wrong.
    pub async fn run(&self, store: Arc<dyn Store>) -> Outcome {
        (self.run)(store).await.map_err(|why| format!("{}: {why}", self.name))
    }
}

/// Runs all cases, each on a store of its own.
///
/// # Errors
/// All that failed, one a line.
pub async fn run<F, Made>(make: F) -> Outcome
where
    F: Fn() -> Made,
    Made: Future<Output = Result<Arc<dyn Store>, StoreError>>,
{
    let mut failed = Vec::new();
    for case in cases() {
        let outcome = match make().await {
            Ok(store) => case.run(store).await,
            Err(error) => Err(format!("{}: no store: {error}", case.name)),
        };
        failed.extend(outcome.err());
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

macro_rules! cases {
    ($($module:ident :: $name:ident),* $(,)?) => {
        /// All cases.
        #[must_use]
        pub fn cases() -> Vec<Case> {
            vec![$(Case {
                name: stringify!($name),
                run: |store| Box::pin($module::$name(store)),
            }),*]
        }
    };
}

cases![
    log::sessions_are_made_once_and_listed_in_order,
    log::what_is_not_there_is_said_so,
    log::an_append_is_compare_and_set,
    log::a_retry_gets_the_first_answer,
    log::bytes_come_back_identical,
    log::a_large_batch_is_one_append,
    log::concurrent_writers_make_one_chain,
    log::concurrent_retries_append_once,
    log::state_is_compare_and_swap,
    log::sessions_are_apart,
    folds::a_fold_is_there_once,
    folds::concurrent_nodes_end_with_one_fold,
    folds::the_active_fold_is_compare_and_swap,
    folds::loading_reads_head_and_tail_only,
    folds::loading_hands_out_what_the_fold_keeps,
    jobs::a_job_is_there_iff_its_append_is,
    jobs::one_live_job_a_session,
    jobs::leases_expire_and_fence,
    jobs::failures_wait_or_die_with_the_reason,
    jobs::a_fold_comes_with_its_completion,
    jobs::four_workers_do_each_span_once,
    jobs::calls_are_a_chain_and_settle_once,
    recall::words_are_found_wherever_they_stand,
    recall::literals_and_regexes_scan_newest_first,
    recall::bad_queries_are_said_to_be_bad,
    recall::what_came_later_is_found_too,
];

/// Fails the case with a message unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        if !$holds {
            return Err(format!($($message)*));
        }
    };
}

/// Fails the case unless both are equal.
macro_rules! equal {
    ($found:expr, $wanted:expr, $what:expr) => {
        match (&$found, &$wanted) {
            (found, wanted) if found == wanted => {}
            (found, wanted) => {
                return Err(format!("{}: found {found:?}, wanted {wanted:?}", $what));
            }
        }
    };
}

/// Fails the case unless this is the error.
macro_rules! refused {
    ($outcome:expr, $pattern:pat $(if $guard:expr)?, $what:expr) => {
        match $outcome {
            Err($pattern) $(if $guard)? => {}
            other => return Err(format!("{}: got {other:?}", $what)),
        }
    };
}

use {ensure, equal, refused};

/// What a store says in a case that must go well.
fn said(error: StoreError) -> String {
    error.to_string()
}

/// A session of Chat Completions messages.
fn new_session(id: &str) -> NewSession {
    NewSession {
        id: id.to_owned(),
        dialect: "openai-chat".to_owned(),
        profile: "openai".to_owned(),
        counter: "chars:4".to_owned(),
        policy: "name = \"default\"\n".to_owned(),
        meta: "{\"of\":\"the conformance suite\"}".to_owned(),
        created: 1_700_000_000_000,
    }
}

/// Appends to a session, and keeps its place in the chain.
struct Writer {
    store: Arc<dyn Store>,
    id: String,
    head: u64,
    hash: Hash,
}

impl Writer {
    async fn new(store: &Arc<dyn Store>, id: &str) -> Result<Self, String> {
        store.create(new_session(id)).await.map_err(said)?;
        Ok(Self { store: store.clone(), id: id.to_owned(), head: 0, hash: Hash::ROOT })
    }

    /// The events, as they would be appended now.
    fn chained<B: Into<Bytes>>(&self, all: impl IntoIterator<Item = B>) -> Vec<NewEvent> {
        chain(self.hash, all)
    }

    async fn append<B: Into<Bytes>>(
        &mut self,
        all: impl IntoIterator<Item = B>,
    ) -> Result<Appended, String> {
        self.append_with(all, None, None).await
    }

    async fn append_with<B: Into<Bytes>>(
        &mut self,
        all: impl IntoIterator<Item = B>,
        key: Option<&str>,
        job: Option<NewJob>,
    ) -> Result<Appended, String> {
        let events = self.chained(all);
        let hash = events.last().map_or(self.hash, |event| event.hash);
        let append =
            Append { expected: self.head, key: key.map(str::to_owned), events, job, now: 5 };
        let answer = self.store.append(&self.id, append).await.map_err(said)?;
        if !answer.repeated {
            self.head += answer.count;
            self.hash = hash;
        }
        Ok(answer)
    }

    /// `count` messages of one size each.
    async fn fill(&mut self, count: usize) -> Result<(), String> {
        let mut left = count;
        while left > 0 {
            let now = left.min(500);
            let from = self.head;
            self.append((0..now as u64).map(|at| user(&format!("event {:08}", from + at)))).await?;
            left -= now;
        }
        Ok(())
    }
}

/// The events after `hash`.
fn chain<B: Into<Bytes>>(mut hash: Hash, all: impl IntoIterator<Item = B>) -> Vec<NewEvent> {
    let event = |bytes: B| {
        let bytes: Bytes = bytes.into();
        hash = hash.chain(&bytes);
        NewEvent { bytes, hash, turn: 1, tokens: 7, usage: None }
    };
    all.into_iter().map(event).collect()
}

/// A user message that says this. `text` needs no escapes.
fn user(text: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":\"{text}\"}}")
}

/// A fold over a span; `name` makes it another one.
fn fold(start: u64, end: u64, name: &str) -> NewFold {
    let hash = |what: &str| Hash::ROOT.chain(format!("{what} {name} {start} {end}").as_bytes());
    NewFold {
        id: hash("id"),
        start,
        end,
        before: hash("before"),
        through: hash("through"),
        policy: hash("policy"),
        recap: hash("recap"),
        kept: Vec::new(),
        body: format!("{{\"version\":1,\"name\":\"{name}\"}}"),
        now: 9,
    }
}

/// A job over a span.
fn job(session: &str, key: &str, run_at: u64) -> NewJob {
    NewJob {
        key: key.to_owned(),
        session: session.to_owned(),
        start: 0,
        end: 4,
        through: Hash::ROOT.chain(key.as_bytes()),
        body: format!("{{\"for\":\"{key}\"}}"),
        run_at,
    }
}
