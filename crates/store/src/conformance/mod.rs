//! The properties that every store has to have, as cases for any implementation.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), String> {
//! use std::sync::Arc;
//! use midfold_store::{MemoryStore, Store, conformance};
//! conformance::run(|| async { Ok(Arc::new(MemoryStore::new()) as Arc<dyn Store>) }).await
//! # }
//! ```
//!
//! Each case gets an empty store of its own. It is deterministic, waits for no clock, and its message says what it
//! saw. Cases do not panic, so that a test can collect all failures.

mod activity;
mod answers;
mod delete;
mod folds;
mod jobs;
mod kit;
mod log;
mod recall;
mod windows;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::StoreError;
use crate::store::Store;

pub use jobs::workers_share_a_queue;
pub use kit::CaseOutcome;

type RunningCase = Pin<Box<dyn Future<Output = CaseOutcome> + Send>>;

/// One property of a store, with its check.
#[derive(Clone, Copy)]
pub struct ConformanceCase {
    /// The name of the property.
    pub name: &'static str,
    run: fn(Arc<dyn Store>) -> RunningCase,
}

impl ConformanceCase {
    /// Runs the case on an empty store.
    ///
    /// # Errors
    /// Fails with a description of the store's mistake.
    pub async fn run(&self, store: Arc<dyn Store>) -> CaseOutcome {
        (self.run)(store).await.map_err(|why| format!("{}: {why}", self.name))
    }
}

/// Runs all cases, each on a store of its own that `make` returns.
///
/// # Errors
/// Fails with the messages of all cases that failed, one on each line.
pub async fn run<F, Made>(make: F) -> CaseOutcome
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
        pub fn cases() -> Vec<ConformanceCase> {
            vec![$(ConformanceCase {
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
    log::sessions_are_found_by_their_beginning,
    answers::a_history_is_found_by_its_answer,
    answers::the_answers_that_came_last_are_kept,
    windows::a_window_is_noted_and_raised,
    windows::the_windows_that_were_learned_last_are_kept,
    activity::the_newest_change_comes_first,
    activity::what_a_session_does_is_counted,
    activity::owners_see_their_own,
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
    delete::a_deleted_session_is_gone_with_all_that_is_its,
    delete::a_name_is_free_again,
    delete::a_lease_of_a_deleted_session_stores_nothing,
    delete::a_session_is_idle_since_its_last_change,
    recall::words_are_found_wherever_they_stand,
    recall::literals_and_regexes_scan_newest_first,
    recall::bad_queries_are_said_to_be_bad,
    recall::what_came_later_is_found_too,
    recall::tools_are_found_by_name,
    recall::an_agent_reads_the_log,
];
