//! Measuring policies on conversations that are held in memory, on all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use midfold::Policy;
use midfold::core::prices::Prices;
use midfold::core::replay::{Measures, Settings, Strategy, replay};
use midfold::core::tune::{self, Evaluated};
use midfold::formats::profile;

use crate::error::CommandError;
use crate::replay::{Corpus, Progress, Recorded, Skipped};

/// The conversations and how they are measured.
pub struct Bench<'a> {
    pub conversations: Vec<Recorded>,
    pub skipped: Skipped,
    pub windows: &'a [u64],
    pub longer_than: f64,
    pub prices: &'a Prices,
    pub jobs: usize,
}

/// Half of the conversations, by number.
pub type Half = Vec<usize>;

impl<'a> Bench<'a> {
    /// Reads and counts every conversation, once.
    pub fn read(
        mut corpus: Corpus,
        measure: &midfold_args::ReplayMeasure,
        windows: &'a [u64],
        prices: &'a Prices,
        progress: &Progress,
    ) -> Result<Self, CommandError> {
        let mut conversations = Vec::new();
        while let Some(recorded) = corpus.next()? {
            conversations.push(recorded);
            progress.say(&format!("reading: {} conversations", conversations.len()));
        }
        Ok(Self {
            conversations,
            skipped: corpus.skipped,
            windows,
            longer_than: measure.longer_than,
            prices,
            jobs: crate::replay::jobs(measure),
        })
    }

    /// Takes out those that a policy cannot replay: nothing could be held against it there.
    /// Returns their names, and why.
    pub fn leave_out(&mut self, policy: &Policy) -> Vec<String> {
        let all: Half = (0..self.conversations.len()).collect();
        let each = self.each(std::slice::from_ref(policy), &all, &|| {});
        let mut left_out = Vec::new();
        let mut kept = Vec::new();
        let each = each.into_iter().flatten();
        for (recorded, found) in std::mem::take(&mut self.conversations).into_iter().zip(each) {
            match found {
                Ok(_) => kept.push(recorded),
                Err(error) => left_out.push(format!("{}: {error}", recorded.name)),
            }
        }
        self.conversations = kept;
        left_out
    }

    /// The two halves: to search on, and held out. What one session was compacted into is in one.
    pub fn halves(&self) -> (Half, Half) {
        let mut sessions: BTreeMap<usize, (&str, u64)> = BTreeMap::new();
        for one in &self.conversations {
            sessions.entry(one.session).or_insert((one.dialect.name(), 0)).1 += one.tokens;
        }
        let list: Vec<_> = sessions.values().copied().collect();
        let held: BTreeMap<usize, bool> = sessions.into_keys().zip(tune::hold_out(&list)).collect();
        (0..self.conversations.len()).partition(|at| !held[&self.conversations[*at].session])
    }

    /// Tokens that there would be if every request filled its window.
    pub fn room(&self, half: &Half) -> f64 {
        let of = |recorded: &Recorded| {
            let windows = self.windows.iter().filter(|window| self.is_long(recorded, **window));
            windows.sum::<u64>() as f64 * recorded.recording.requests() as f64
        };
        half.iter().map(|at| of(&self.conversations[*at])).sum()
    }

    fn is_long(&self, recorded: &Recorded, window: u64) -> bool {
        recorded.tokens as f64 > window as f64 * self.longer_than
    }

    /// What policies come to on some conversations.
    pub fn measure(
        &self,
        policies: &[Policy],
        half: &Half,
        step: &(dyn Fn() + Sync),
    ) -> Vec<Evaluated> {
        let each = self.each(policies, half, step);
        each.into_iter().map(|each| each.into_iter().collect::<Result<_, _>>().ok()).collect()
    }

    /// By policy, then by conversation.
    fn each(
        &self,
        policies: &[Policy],
        half: &Half,
        step: &(dyn Fn() + Sync),
    ) -> Vec<Vec<Result<Measures, String>>> {
        let blank = || half.iter().map(|_| Ok(Measures::default())).collect();
        let results: Mutex<Vec<Vec<_>>> = Mutex::new(policies.iter().map(|_| blank()).collect());
        // The longest first, so that no core waits for one at the end.
        let mut order: Vec<(usize, usize)> =
            (0..policies.len()).flat_map(|p| (0..half.len()).map(move |c| (p, c))).collect();
        order.sort_by_key(|(_, c)| std::cmp::Reverse(self.conversations[half[*c]].tokens));
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(order.len()) {
                scope.spawn(|| {
                    while let Some((p, c)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let found = self.one(&policies[*p], &self.conversations[half[*c]]);
                        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                        results[*p][*c] = found;
                        step();
                    }
                });
            }
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// One conversation in every window that it is long enough for.
    fn one(&self, policy: &Policy, recorded: &Recorded) -> Result<Measures, String> {
        let rules = profile::rules(&recorded.profile);
        let mut sum = Measures::default();
        for window in self.windows {
            if !self.is_long(recorded, *window) {
                continue;
            }
            let settings = Settings {
                window: *window,
                rules: &rules,
                search: false,
                prices: self.prices,
                clock: None,
                watch: None,
            };
            let found = replay(&recorded.recording, Strategy::Stateless(policy), &settings);
            sum.add(&found.map_err(|error| error.to_string())?.measures);
        }
        Ok(sum)
    }
}
