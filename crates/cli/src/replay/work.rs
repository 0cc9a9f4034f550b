//! Replays conversations on all cores. Each conversation is read once for all strategies.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{ReplayMeasures, ReplayResult};
use midfold_eval::{ConversationFacts, ReplayOptions};

use crate::error::CommandError;
use crate::replay::corpus::{CorpusConversation, ReplayCorpus, SkippedConversations};
use crate::replay::progress::ReplayProgress;
use crate::replay::strategies::StrategyRun;

/// The outcome of all replays.
pub struct WorkOutcome {
    /// Facts about every conversation that was read, in order.
    pub conversations: Vec<ConversationFacts>,
    /// One result for each run, in the order of the runs.
    pub results: Vec<RunOutcome>,
    pub skipped: SkippedConversations,
}

/// The outcome of one strategy in one window and form.
#[derive(Default)]
pub struct RunOutcome {
    pub totals: ReplayMeasures,
    /// The number of conversations that are long enough for the window.
    pub conversations: usize,
    /// The result for each conversation, by its number, or the reason why it was left out.
    pub each: Vec<(usize, Result<ReplayResult, String>)>,
}

/// The runs to do, and how to do them.
pub struct WorkTask<'a> {
    pub runs: &'a [StrategyRun],
    pub prices: &'a PriceTable,
    /// Only conversations with more tokens than this share of the window are replayed.
    pub longer_than: f64,
    /// Whether to keep rows and pictures of every conversation.
    pub details: bool,
    pub jobs: usize,
}

struct WorkState {
    corpus: ReplayCorpus,
    current: Option<(usize, Arc<CorpusConversation>)>,
    next_run: usize,
    conversations: Vec<ConversationFacts>,
    results: Vec<RunOutcome>,
    failed: Option<CommandError>,
}

/// Replays all conversations under all strategies. Fails with the first error of reading.
pub fn work(
    task: &WorkTask<'_>,
    corpus: ReplayCorpus,
    progress: &ReplayProgress,
) -> Result<WorkOutcome, CommandError> {
    let results = task.runs.iter().map(|_| RunOutcome::default()).collect();
    let state = Mutex::new(WorkState {
        corpus,
        current: None,
        next_run: 0,
        conversations: Vec::new(),
        results,
        failed: None,
    });
    std::thread::scope(|scope| {
        for _ in 0..task.jobs.max(1) {
            scope.spawn(|| worker(task, &state, progress));
        }
    });
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.failed {
        return Err(error);
    }
    let mut results = state.results;
    for ran in &mut results {
        // Threads end in any order, and a report should not depend on it: the last digits of a sum do.
        ran.each.sort_by_key(|(at, _)| *at);
        for result in ran.each.iter().filter_map(|(_, result)| result.as_ref().ok()) {
            ran.totals.add(&result.measures);
        }
    }
    Ok(WorkOutcome { conversations: state.conversations, results, skipped: state.corpus.skipped })
}

fn lock(state: &Mutex<WorkState>) -> MutexGuard<'_, WorkState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn worker(task: &WorkTask<'_>, state: &Mutex<WorkState>, progress: &ReplayProgress) {
    loop {
        // The lock is released at the end of this line, so that other threads go on while this one replays.
        let next = lock(state).next(task);
        let Some((at, recorded, run)) = next else { return };
        let result = one(task, &recorded, &task.runs[run]);
        progress.step(&recorded);
        let mut state = lock(state);
        let ran = &mut state.results[run];
        ran.conversations += 1;
        let result = result.map(|result| match task.details {
            true => result,
            false => ReplayResult { measures: result.measures, ..ReplayResult::default() },
        });
        ran.each.push((at, result));
    }
}

impl WorkState {
    /// The next replay. When all runs of the current conversation have started, it reads the next one. `None` at the
    /// end or after an error.
    fn next(&mut self, task: &WorkTask<'_>) -> Option<(usize, Arc<CorpusConversation>, usize)> {
        loop {
            if self.failed.is_some() {
                return None;
            }
            let Some((at, recorded)) =
                self.current.clone().filter(|_| self.next_run < task.runs.len())
            else {
                match self.corpus.next() {
                    Ok(Some(recorded)) => self.open(task, recorded),
                    Ok(None) => return None,
                    Err(error) => self.failed = Some(error),
                }
                continue;
            };
            let run = self.next_run;
            self.next_run += 1;
            let window = task.runs[run].window as f64;
            if recorded.tokens as f64 > window * task.longer_than {
                return Some((at, recorded, run));
            }
        }
    }

    fn open(&mut self, task: &WorkTask<'_>, recorded: CorpusConversation) {
        let log = recorded.recording.log();
        self.conversations.push(ConversationFacts {
            name: recorded.name.clone(),
            dialect: recorded.dialect.name(),
            messages: log.len(),
            tokens: log.tokens(),
            events: if task.details { midfold::event_rows(log) } else { Vec::new() },
        });
        self.current = Some((self.conversations.len() - 1, Arc::new(recorded)));
        self.next_run = 0;
    }
}

fn one(
    task: &WorkTask<'_>,
    recorded: &CorpusConversation,
    run: &StrategyRun,
) -> Result<ReplayResult, String> {
    let begun = Instant::now();
    let clock = || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let replaying = ReplayOptions { window: run.window, prices: task.prices, clock: &clock };
    run.replay(&recorded.recording, &replaying, recorded.dialect).map_err(|error| error.to_string())
}
