//! Summaries by a model, in three passes over the rows. *Plan* finds the turns that a summary will
//! replace and says what a model would be asked; *summarise* asks, once for each span, many at a
//! time, and keeps the answers on disk; *apply* is a run like any other that finds the answers
//! there. Planning and asking go on side by side; applying begins when all was asked.

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
    compress, plan_row,
};
use midfold::model::{AttemptLimits, ModelClient};
use midfold_args::TrajectoriesArgs;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::cache::AnswerCache;
use super::config::JobFile;
use crate::error::CommandError;
use crate::output::{EVERY, ProgressLine};
use crate::runtime::block_on;
use crate::summariser::SummariserModel;
use crate::words::number;

/// After this many failures in a row nobody is asked any more: there is no service.
const PATIENCE: u32 = 24;

/// Which model, how it is asked, and where its answers are kept.
#[derive(Clone, Debug)]
pub struct SummaryOptions {
    pub url: String,
    pub name: String,
    pub key_env: Option<String>,
    pub key_file: Option<PathBuf>,
    pub window: Option<u64>,
    pub cache: PathBuf,
    /// Calls at once.
    pub concurrency: usize,
    /// Calls that are begun in a minute, at most.
    pub per_minute: Option<u32>,
    /// Tries of a call, the first included.
    pub tries: u32,
    /// The first pause between tries; it doubles.
    pub pause: Duration,
    /// The longest time of one summary, with all its tries.
    pub timeout: Duration,
    pub ask: AskOptions,
    /// No line that is written over.
    pub quiet: bool,
}

/// Calls at once, where nothing says how many.
const CONCURRENCY: u16 = 16;
/// As Hermes' compressor has it: tries, seconds between them, seconds for a row, temperature.
const TRIES: u32 = 3;
const PAUSE: f64 = 2.0;
const TIMEOUT: f64 = 300.0;
const TEMPERATURE: f64 = 0.3;

impl SummaryOptions {
    /// What the command line and the file say together; `None` where no model is to be asked. A
    /// model alone is not enough: nothing is sent anywhere before somebody says where to.
    pub fn of(
        args: &TrajectoriesArgs,
        config: &JobFile,
        quiet: bool,
    ) -> Result<Option<Self>, CommandError> {
        let file = &config.summariser;
        let Some(url) = args.model.clone().or_else(|| file.base_url.clone()) else {
            let idle = [args.model_name.is_some(), args.key_env.is_some(), args.cache.is_some()];
            return match idle.contains(&true) {
                true => Err(CommandError::usage("which model is asked is not said")
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
        // Of a key in a file, only the file's own endpoint may see what the file's variable holds.
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

    /// What of it the output depends on.
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

/// Who writes the summaries.
pub enum SummarySource {
    /// Nobody: they are computed.
    Computed,
    /// First and second pass: what is wanted is handed to those who ask.
    Wanted(SummaryNeed),
    /// Last pass: what came back is in the cache.
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
    failed: HashMap<Hash, FailureClass>,
    /// Why nobody was asked about the rest.
    hopeless: Option<FailureClass>,
}

/// What those who plan and those who ask both know.
#[derive(Default)]
struct SharedPass {
    state: Mutex<PassState>,
}

#[derive(Default)]
struct PassState {
    /// Handed over, and no answer yet.
    under_way: HashSet<Hash>,
    failed: HashMap<Hash, FailureClass>,
    /// Failures since the last answer.
    in_a_row: u32,
    /// Why nobody is asked any more.
    hopeless: Option<FailureClass>,
    told: AskOutcome,
    /// When the line on the terminal was last written.
    shown: Option<Instant>,
}

impl SharedPass {
    fn lock(&self) -> MutexGuard<'_, PassState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What asking came to.
#[derive(Clone, Debug, Default)]
pub struct AskOutcome {
    pub model: String,
    /// Rows that want a summary by the model.
    pub rows: u64,
    /// Different spans that it was asked about now; the others were answered before.
    pub spans: u64,
    /// Answers that came back.
    pub answers: u64,
    /// Calls that were made, retries included.
    pub calls: u64,
    /// Those that brought no answer.
    pub errors: u64,
}

impl SummarySource {
    /// One row, in whichever pass this is. While planning, what is returned means nothing.
    pub fn compress(
        &self,
        line: &[u8],
        settings: &TrajectorySettings,
        counter: &dyn Counter,
    ) -> Result<CompressedRow, RowError> {
        if matches!(self, Self::Computed) {
            return compress(line, settings, counter);
        }
        let folding = match plan_row(line, settings, counter)? {
            PlannedRow::Done(done) => return Ok(done),
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
            let mut state = self.shared.lock();
            state.told.rows += 1;
            let known = state.under_way.contains(&key) || state.failed.contains_key(&key);
            // There are answers of this run and of earlier ones.
            if known || state.hopeless.is_some() || self.cache.has(&key) {
                return;
            }
            state.under_way.insert(key);
            state.told.spans += 1;
        }
        // Waits while enough is under way: what is planned ahead is bounded.
        let _ = self.queue.blocking_send(folding.request(&self.ask));
    }
}

impl SummaryText {
    /// With what the model wrote, where it did and where that stands; else computed, and the
    /// reason is told.
    fn apply(
        &self,
        folding: &RowFold<'_>,
        settings: &TrajectorySettings,
        counter: &dyn Counter,
    ) -> Result<CompressedRow, RowError> {
        let key = folding.key(&self.ask);
        let Some(reply) = self.cache.get(&key) else {
            let class = self.failed.get(&key);
            let made = u64::from(class.is_some());
            let class =
                class.or(self.hopeless.as_ref()).map_or("not-asked", |class| class.as_str());
            let spent = SummaryCost { calls: made, errors: made, refused: Some(class.to_owned()) };
            return folding.finish(None, &spent, settings, counter);
        };
        folding.finish_reply(&self.ask, &reply, settings, counter)
    }
}

/// The first two passes. `look` goes over all the rows with what it is handed, and drops it.
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
        let asked = asking
            .join()
            .unwrap_or_else(|_| Err(CommandError::failed("the thread that asks has died")));
        looked.and(asked)
    })?;
    let state = std::mem::take(&mut *shared.lock());
    let PassState { failed, hopeless, told, .. } = state;
    let told = AskOutcome { model: options.name.clone(), ..told };
    let written = SummaryText { ask: options.ask.clone(), cache, failed, hopeless };
    Ok((SummarySource::Written(written), told))
}

/// The second pass: takes what is wanted from the queue until it ends.
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
        while let Some(done) = work.try_join_next() {
            done.unwrap_or(Ok(()))?;
        }
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
        // A call that is over may have shown that there is nobody to ask.
        if shared.lock().is_given_up(&request.id) {
            continue;
        }
        if let Some(between) = between {
            sleep_until(next).await;
            next = next.max(Instant::now()) + between;
        }
        let (client, cache, shared) = (Arc::clone(&client), cache.clone(), Arc::clone(&shared));
        work.spawn(async move {
            let answer = client.summarise(&request).await;
            let kept = match &answer {
                Ok(reply) => cache.put(&request.id, reply),
                Err(_) => Ok(()),
            };
            let mut state = shared.lock();
            state.answered(&request.id, &answer);
            if line.is_shown() {
                state.show(line);
            }
            drop((state, permit));
            kept
        });
    }
    while let Some(done) = work.join_next().await {
        done.unwrap_or(Ok(()))?;
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
                self.told.answers += 1;
                self.told.calls += calls;
                self.told.errors += calls - 1;
            }
            Err(failure) => {
                self.told.calls += 1;
                self.told.errors += 1;
                self.fail(*key, failure.class);
            }
        }
    }

    /// Writes the line over.
    fn show(&mut self, line: ProgressLine) {
        if self.shown.is_some_and(|shown| shown.elapsed() < EVERY) {
            return;
        }
        self.shown = Some(Instant::now());
        let AskOutcome { spans, answers, errors, .. } = &self.told;
        line.say(&format!(
            "{} of {} spans answered, {} calls failed",
            number(*answers),
            number(*spans),
            number(*errors)
        ));
    }

    fn fail(&mut self, key: Hash, class: FailureClass) {
        self.failed.insert(key, class);
        self.in_a_row += 1;
        // A key does not become right; and where nobody ever answers there is no service.
        if class == FailureClass::Auth || self.in_a_row >= PATIENCE {
            self.hopeless.get_or_insert(class);
        }
    }

    fn is_given_up(&mut self, key: &Hash) -> bool {
        let given_up = self.hopeless.is_some();
        if given_up && self.under_way.remove(key) {
            self.told.spans -= 1;
        }
        given_up
    }
}
