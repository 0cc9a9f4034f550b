//! Summaries by a model, in three passes over the rows.
//!
//! *Plan* finds the turns that a summary will replace, and makes the request to a model. *Summarise* asks the model
//! once for each span, many requests at a time, and keeps the answers on disk. *Apply* is a run like any other that
//! finds the answers there. Planning and asking go on side by side; applying begins when all requests are answered.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use midfold::Counter;
use midfold::core::Hash;
use midfold::core::budget::Ratio;
use midfold::core::narrate::{FailureClass, SummaryFailure, SummaryReply, SummaryRequest};
use midfold::formats::trajectory::{
    AskOptions, CompressedRow, PlannedRow, RowError, RowFold, SummaryCost, TrajectorySettings,
    compress, plan_row, trimmed,
};
use midfold::model::{AttemptLimits, ModelClient};
use midfold_args::TrajectoriesArgs;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::cache::AnswerCache;
use super::config::JobFile;
use crate::error::CommandError;
use crate::output::{PROGRESS_INTERVAL, ProgressLine};
use crate::runtime::block_on;
use crate::summariser::SummariserModel;
use crate::words::number;

/// After this many failures in a row no more requests are made: the model's server is probably not there.
const PATIENCE: u32 = 24;

/// The model, how it is asked, and the folder of its answers.
#[derive(Clone, Debug)]
pub struct SummaryOptions {
    pub url: String,
    pub name: String,
    pub key_env: Option<String>,
    pub key_file: Option<PathBuf>,
    pub window: Option<u64>,
    pub cache: PathBuf,
    /// The most calls at the same time.
    pub concurrency: usize,
    /// The most calls that are started in a minute. `None` for no limit.
    pub per_minute: Option<u32>,
    /// The most attempts for a call, the first included.
    pub tries: u32,
    /// The pause before the second attempt. Each further pause is twice as long.
    pub pause: Duration,
    /// The longest time of one summary, with all its tries.
    pub timeout: Duration,
    pub ask: AskOptions,
    /// Shows no progress line.
    pub quiet: bool,
}

/// The most calls at the same time, where nothing sets it.
const CONCURRENCY: u16 = 16;
/// The defaults of Hermes' compressor: attempts, seconds between them, seconds for a row, temperature.
const TRIES: u32 = 3;
const PAUSE: f64 = 2.0;
const TIMEOUT: f64 = 300.0;
const TEMPERATURE: f64 = 0.3;

impl SummaryOptions {
    /// The options of the command line and the file. `None` where no model is asked. A model's name alone asks nobody:
    /// nothing is sent anywhere unless the user names an address.
    pub fn of(
        args: &TrajectoriesArgs,
        config: &JobFile,
        quiet: bool,
    ) -> Result<Option<Self>, CommandError> {
        let file = &config.summariser;
        let Some(url) = args.model.clone().or_else(|| file.base_url.clone()) else {
            let idle = [args.model_name.is_some(), args.key_env.is_some(), args.cache.is_some()];
            return match idle.contains(&true) {
                true => Err(CommandError::usage("the address of the model is missing")
                    .hint("--model takes its address: http://127.0.0.1:8080")),
                false => Ok(None),
            };
        };
        let Some(name) = args.model_name.clone().or_else(|| file.model.clone()) else {
            return Err(CommandError::usage("--model needs the model's name, too")
                .hint("--model-name NAME; a server of one model takes any"));
        };
        let timeout = Duration::from_secs_f64(file.timeout.unwrap_or(TIMEOUT).max(1.0));
        let temperature = file.temperature.unwrap_or(TEMPERATURE);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10")]
        let temperature = Ratio((temperature * 1e4).round() as u32);
        let timeout_seconds = u32::try_from(timeout.as_secs()).unwrap_or(u32::MAX);
        // The file's variable with the key is used only with the file's own address. Otherwise the key would be sent to
        // another server.
        let own = args.model.is_none().then(|| file.api_key_env.clone()).flatten();
        let key_env = args.key_env.clone().or(own.filter(|_| args.key_file.is_none()));
        Ok(Some(Self {
            url,
            ask: AskOptions { model: name.clone(), temperature, timeout_seconds },
            name,
            key_env,
            key_file: args.key_file.clone(),
            window: args.model_window,
            cache: args.cache.clone().unwrap_or_else(|| args.output.with_extension("summaries")),
            concurrency: args.concurrency.or(file.concurrency).unwrap_or(CONCURRENCY).into(),
            per_minute: args.per_minute,
            tries: file.max_retries.unwrap_or(TRIES),
            pause: Duration::from_secs_f64(file.retry_delay.unwrap_or(PAUSE)),
            timeout,
            quiet,
        }))
    }

    /// The options that the output depends on, for the fingerprint of the run.
    pub fn identity(&self) -> String {
        format!("{} {}", self.ask.model, self.ask.temperature.0)
    }

    fn client(&self) -> Result<ModelClient, CommandError> {
        let model = SummariserModel {
            url: &self.url,
            name: &self.name,
            key_env: self.key_env.as_deref(),
            key_file: self.key_file.as_deref(),
            window: self.window,
            option: "--model",
        };
        model.client_with(|config| {
            let tries = self.tries.max(1);
            config.attempts = AttemptLimits {
                rate_limited: tries,
                server: tries,
                network: tries,
                timeout: tries,
                garbage: tries,
            };
            config.backoff = self.pause;
            config.longest_pause = config.longest_pause.max(self.pause);
            config.ceiling = self.timeout;
        })
    }
}

/// The source of summaries in a pass.
pub enum SummarySource {
    /// No model: the summaries are computed.
    Computed,
    /// The first two passes: requests for summaries go to the queue.
    Wanted(SummaryNeed),
    /// The last pass: the answers are in the cache.
    Written(SummaryText),
}

pub struct SummaryNeed {
    ask: AskOptions,
    cache: AnswerCache,
    queue: mpsc::Sender<SummaryRequest>,
    shared: Arc<SharedPass>,
}

pub struct SummaryText {
    ask: AskOptions,
    cache: AnswerCache,
    /// The failures, by request: the class, and the number of calls.
    failed: HashMap<Hash, (FailureClass, u64)>,
    /// The failure after which no more requests were made. `None` where all were made.
    hopeless: Option<FailureClass>,
}

/// State that the planning thread and the asking thread share.
#[derive(Default)]
struct SharedPass {
    state: Mutex<PassState>,
}

#[derive(Default)]
struct PassState {
    /// Requests in the queue or on their way, without an answer yet.
    under_way: HashSet<Hash>,
    failed: HashMap<Hash, (FailureClass, u64)>,
    /// Failures since the last answer.
    in_a_row: u32,
    /// The failure after which no more requests are made. `None` while requests go on.
    hopeless: Option<FailureClass>,
    ask_outcome: AskOutcome,
    /// The time when the progress line was last written.
    shown: Option<Instant>,
}

impl SharedPass {
    fn lock(&self) -> MutexGuard<'_, PassState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of asking a model for summaries.
#[derive(Clone, Debug, Default)]
pub struct AskOutcome {
    pub model: String,
    /// The rows that want a summary by the model.
    pub rows: u64,
    /// The different spans that this run asks about. Spans with an answer of an earlier run do not count.
    pub spans: u64,
    /// The answers that arrived.
    pub answers: u64,
    /// The calls that were made, retries included.
    pub calls: u64,
    /// The calls that brought no answer.
    pub errors: u64,
}

impl SummarySource {
    /// Compresses one row, in whichever pass this is. The result while planning is dropped.
    pub fn compress(
        &self,
        line: &[u8],
        settings: &TrajectorySettings,
        counter: &dyn Counter,
    ) -> Result<CompressedRow, RowError> {
        if settings.trim_turns
            && let Some(cut) = trimmed(line, &settings.aligned)?
        {
            let settings = TrajectorySettings { trim_turns: false, ..settings.clone() };
            let compressed = self.compress(&cut, &settings, counter)?;
            return Ok(CompressedRow { bytes: compressed.bytes.or(Some(cut)), ..compressed });
        }
        if matches!(self, Self::Computed) {
            return compress(line, settings, counter);
        }
        let folding = match plan_row(line, settings, counter)? {
            PlannedRow::Done(row) => return Ok(row),
            PlannedRow::Fold(folding) => folding,
        };
        match self {
            Self::Written(written) if folding.wants_model() => {
                written.apply(&folding, settings, counter)
            }
            Self::Wanted(wanted) => {
                wanted.plan(&folding);
                Ok(folding.unchanged())
            }
            _ => folding.finish(None, &SummaryCost::default(), settings, counter),
        }
    }
}

impl SummaryNeed {
    fn plan(&self, folding: &RowFold<'_>) {
        if !folding.wants_model() {
            return;
        }
        let key = folding.key(&self.ask);
        {
            // This block ends before the request is sent. Sending waits for room in the queue, and the asking thread
            // needs this lock to make room.
            let mut state = self.shared.lock();
            state.ask_outcome.rows += 1;
            let known = state.under_way.contains(&key) || state.failed.contains_key(&key);
            // The cache holds answers of this run and of earlier ones.
            if known || state.hopeless.is_some() || self.cache.has(&key) {
                return;
            }
            state.under_way.insert(key);
            state.ask_outcome.spans += 1;
        }
        // Blocks while the queue is full, so that planning does not run far ahead of asking.
        let _ = self.queue.blocking_send(folding.request(&self.ask));
    }
}

impl SummaryText {
    /// Compresses a row with the model's summary, where there is one and it is accepted. Otherwise the summary is
    /// computed, and the row says why.
    fn apply(
        &self,
        folding: &RowFold<'_>,
        settings: &TrajectorySettings,
        counter: &dyn Counter,
    ) -> Result<CompressedRow, RowError> {
        let key = folding.key(&self.ask);
        let Some(reply) = self.cache.get(&key) else {
            let (class, attempts) = match self.failed.get(&key) {
                Some((class, calls)) => (Some(class), *calls),
                None => (self.hopeless.as_ref(), 0),
            };
            let class = class.map_or("not-asked", |class| class.as_str());
            let spent =
                SummaryCost { calls: attempts, errors: attempts, refused: Some(class.to_owned()) };
            return folding.finish(None, &spent, settings, counter);
        };
        folding.finish_reply(&self.ask, &reply, settings, counter)
    }
}

/// The first two passes. `look` runs over all rows with the given source, and drops its results. Returns the source for
/// the last pass.
pub fn ask(
    options: &SummaryOptions,
    look: impl FnOnce(SummarySource) -> Result<(), CommandError>,
) -> Result<(SummarySource, AskOutcome), CommandError> {
    let client = Arc::new(options.client()?);
    let cache = AnswerCache::open(&options.cache)?;
    let shared = Arc::new(SharedPass::default());
    let (queue, wanted) = mpsc::channel(options.concurrency.max(1));
    let summaries = SummarySource::Wanted(SummaryNeed {
        ask: options.ask.clone(),
        cache: cache.clone(),
        queue,
        shared: Arc::clone(&shared),
    });
    std::thread::scope(|scope| {
        let (cache, shared) = (&cache, &shared);
        let asking = scope.spawn(move || {
            block_on(summarise(options, client, cache.clone(), Arc::clone(shared), wanted))
        });
        let looked = look(summaries);
        let outcome = asking
            .join()
            .unwrap_or_else(|_| Err(CommandError::failed("the thread that asks has died")));
        // Where planning fails, it closes the queue, and the asking thread ends as well. The error of planning comes
        // first.
        looked.and(outcome)
    })?;
    let state = std::mem::take(&mut *shared.lock());
    let PassState { failed, hopeless, ask_outcome, .. } = state;
    let ask_outcome = AskOutcome { model: options.name.clone(), ..ask_outcome };
    let written = SummaryText { ask: options.ask.clone(), cache, failed, hopeless };
    Ok((SummarySource::Written(written), ask_outcome))
}

/// The second pass: asks for each request in the queue, until the queue is closed.
async fn summarise(
    options: &SummaryOptions,
    client: Arc<ModelClient>,
    cache: AnswerCache,
    shared: Arc<SharedPass>,
    mut wanted: mpsc::Receiver<SummaryRequest>,
) -> Result<(), CommandError> {
    let room = Arc::new(Semaphore::new(options.concurrency.max(1)));
    let between = options.per_minute.map(|calls| Duration::from_secs(60) / calls.max(1));
    let line = ProgressLine::new(options.quiet);
    let mut next = Instant::now();
    let mut work = JoinSet::new();
    while let Some(request) = wanted.recv().await {
        while let Some(joined) = work.try_join_next() {
            // A task that panicked brings no answer. The last pass computes the summary of such a span.
            joined.unwrap_or(Ok(()))?;
        }
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
        // Another call may have shown meanwhile that the server is not there.
        if shared.lock().is_given_up(&request.id) {
            continue;
        }
        if let Some(between) = between {
            sleep_until(next).await;
            // A pause in planning must not save up calls that then go out all at once.
            next = next.max(Instant::now()) + between;
        }
        let (client, cache, shared) = (Arc::clone(&client), cache.clone(), Arc::clone(&shared));
        work.spawn(async move {
            let answer = client.summarise(&request).await;
            let cached = match &answer {
                Ok(reply) => cache.put(&request.id, reply),
                Err(_) => Ok(()),
            };
            let mut state = shared.lock();
            state.answered(&request.id, &answer);
            if line.is_shown() {
                state.show(line);
            }
            drop((state, permit));
            cached
        });
    }
    while let Some(joined) = work.join_next().await {
        joined.unwrap_or(Ok(()))?;
    }
    line.end();
    Ok(())
}

impl PassState {
    fn answered(&mut self, key: &Hash, answer: &Result<SummaryReply, SummaryFailure>) {
        self.under_way.remove(key);
        match answer {
            Ok(reply) => {
                let calls = u64::from(reply.calls.max(1));
                self.in_a_row = 0;
                self.ask_outcome.answers += 1;
                self.ask_outcome.calls += calls;
                // Each call before the last one failed.
                self.ask_outcome.errors += calls - 1;
            }
            Err(failure) => {
                let calls = u64::from(failure.calls);
                self.ask_outcome.calls += calls;
                self.ask_outcome.errors += calls;
                self.fail(*key, failure.class, calls);
            }
        }
    }

    /// Overwrites the progress line, but not more often than [`PROGRESS_INTERVAL`].
    fn show(&mut self, line: ProgressLine) {
        if self.shown.is_some_and(|shown| shown.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        let AskOutcome { spans, answers, errors, .. } = &self.ask_outcome;
        line.show(&format!(
            "{} of {} spans answered, {} calls failed",
            number(*answers),
            number(*spans),
            number(*errors)
        ));
    }

    fn fail(&mut self, key: Hash, class: FailureClass, calls: u64) {
        self.failed.insert(key, (class, calls));
        self.in_a_row += 1;
        // A wrong key stays wrong, and a server that never answers is not there. In both cases no more requests are
        // made.
        if class == FailureClass::Auth || self.in_a_row >= PATIENCE {
            self.hopeless.get_or_insert(class);
        }
    }

    fn is_given_up(&mut self, key: &Hash) -> bool {
        let given_up = self.hopeless.is_some();
        if given_up && self.under_way.remove(key) {
            // The span was counted when it was queued, and nobody asks for it now.
            self.ask_outcome.spans -= 1;
        }
        given_up
    }
}
