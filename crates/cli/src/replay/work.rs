//! The work, on all cores: one conversation is read once for all strategies.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use midfold::core::prices::Prices;
use midfold::core::replay::{Measures, Replayed};
use midfold::{About, Replaying};

use crate::error::CommandError;
use crate::replay::corpus::{Corpus, Recorded, Skipped};
use crate::replay::progress::Progress;
use crate::replay::strategies::Run;

/// What all of it came to.
pub struct Outcome {
    /// What is known of every conversation that was replayed, in order.
    pub conversations: Vec<About>,
    /// One a run.
    pub results: Vec<Ran>,
    pub skipped: Skipped,
}

/// What one run came to.
#[derive(Default)]
pub struct Ran {
    pub totals: Measures,
    /// Conversations that are long enough for its window.
    pub conversations: usize,
    /// Each, by the number of its conversation: what was found, or why nothing was.
    pub each: Vec<(usize, Result<Replayed, String>)>,
}

/// What is asked of the work.
pub struct Task<'a> {
    pub runs: &'a [Run],
    pub prices: &'a Prices,
    pub longer_than: f64,
    /// Keep rows and pictures of every conversation.
    pub details: bool,
    pub jobs: usize,
}

struct State {
    corpus: Corpus,
    current: Option<(usize, Arc<Recorded>)>,
    next_run: usize,
    conversations: Vec<About>,
    results: Vec<Ran>,
    failed: Option<CommandError>,
}

/// Replays everything.
pub fn work(task: &Task<'_>, corpus: Corpus, progress: &Progress) -> Result<Outcome, CommandError> {
    let results = task.runs.iter().map(|_| Ran::default()).collect();
    let state = Mutex::new(State {
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
        ran.each.sort_by_key(|(at, _)| *at);
    }
    Ok(Outcome { conversations: state.conversations, results, skipped: state.corpus.skipped })
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn worker(task: &Task<'_>, state: &Mutex<State>, progress: &Progress) {
    loop {
        // The lock is held for this line only.
        let next = lock(state).next(task);
        let Some((at, recorded, run)) = next else { return };
        let found = one(task, &recorded, &task.runs[run]);
        progress.step(&recorded);
        let mut state = lock(state);
        let ran = &mut state.results[run];
        ran.conversations += 1;
        let found = found.map(|found| {
            ran.totals.add(&found.measures);
            if task.details {
                found
            } else {
                Replayed { measures: found.measures, ..Replayed::default() }
            }
        });
        ran.each.push((at, found));
    }
}

impl State {
    /// The next replay; reads the next conversation where all of this one are under way.
    fn next(&mut self, task: &Task<'_>) -> Option<(usize, Arc<Recorded>, usize)> {
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

    fn open(&mut self, task: &Task<'_>, recorded: Recorded) {
        let log = recorded.recording.log();
        self.conversations.push(About {
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

fn one(task: &Task<'_>, recorded: &Recorded, run: &Run) -> Result<Replayed, String> {
    let begun = Instant::now();
    let clock = || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let replaying = Replaying { window: run.window, prices: task.prices, clock: &clock };
    run.replay(&recorded.recording, &replaying, recorded.dialect).map_err(|error| error.to_string())
}
