//! The client. It works on each request once at a time, in chunks, with retries.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use midfold_core::narrate::{
    FailureClass, FinishReason, SummaryFailure, SummaryPrompt, SummaryReply, SummaryRequest,
};
use midfold_core::redact::Redactor;
use midfold_core::{Hash, Usage};
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use crate::config::{ConfigError, ModelConfig};
use crate::http::HttpPool;
use crate::retry;
use crate::wire::{CallRefusal, ModelAnswer, ModelAsk, OmittedParameters, WireProtocol};

/// The divisor for the part of the window that is kept free for the error of counting.
const WINDOW_MARGIN: u64 = 10;
/// The number of times that a prompt is made smaller before the request is given up.
const SHRINKS: u32 = 6;
/// The smallest prompt that is tried, in tokens. The rules and the schema take more than that.
const SMALLEST_ROOM: u64 = 256;

/// Waits between tries. The default sleeps; tests return at once.
pub type RetryPause =
    Arc<dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// The result that all callers of one request share.
type CallOutcome = Result<SummaryReply, SummaryFailure>;

/// A summariser at one address. It is meant to be shared: one client keeps one pool of connections.
pub struct ModelClient {
    config: ModelConfig,
    wire: WireProtocol,
    http: HttpPool,
    pause: RetryPause,
    /// The calls in progress, by request. An entry is dead when all of its callers are gone.
    running: Mutex<HashMap<Hash, Weak<OnceCell<CallOutcome>>>>,
}

impl std::fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("config", &self.config)
            .field("wire", &self.wire)
            .finish_non_exhaustive()
    }
}

impl ModelClient {
    /// A client. It does not connect yet.
    ///
    /// # Errors
    /// The address or the key cannot be used, or TLS cannot be set up.
    pub fn new(config: ModelConfig) -> Result<Self, ConfigError> {
        Self::with_pause(config, Arc::new(|time| Box::pin(tokio::time::sleep(time))))
    }

    /// A client with its own way to wait between tries.
    ///
    /// # Errors
    /// The errors of [`ModelClient::new`].
    pub fn with_pause(config: ModelConfig, pause: RetryPause) -> Result<Self, ConfigError> {
        let wire = WireProtocol::default();
        let http = HttpPool::new(&config, wire)?;
        Ok(Self { config, wire, http, pause, running: Mutex::default() })
    }

    /// The settings of the client.
    #[must_use]
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Has a narration written. Callers with the same request at the same time share one call; where the caller that
    /// runs it is dropped, the next one takes over.
    ///
    /// The reply is not judged here, because that needs the log ([`midfold_core::recap::ground::judge`]).
    ///
    /// # Errors
    /// The class of the failure, where no text came back. The error holds nothing of the prompt, the key or the
    /// address.
    pub async fn summarise(
        &self,
        request: &SummaryRequest,
    ) -> Result<SummaryReply, SummaryFailure> {
        let cell = self.join(request.id);
        let outcome = cell.get_or_init(|| self.run(request)).await.clone();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // The call is complete. A caller that asks again, for example after a failure, starts a new one.
        if running.get(&request.id).is_some_and(|known| known.as_ptr() == Arc::as_ptr(&cell)) {
            running.remove(&request.id);
        }
        outcome
    }

    fn join(&self, id: Hash) -> Arc<OnceCell<CallOutcome>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = running.get(&id).and_then(Weak::upgrade) {
            return cell;
        }
        running.retain(|_, cell| cell.strong_count() > 0);
        let cell = Arc::new(OnceCell::new());
        running.insert(id, Arc::downgrade(&cell));
        cell
    }

    async fn run(&self, request: &SummaryRequest) -> CallOutcome {
        let mut work = RequestWork::new(self, request);
        let end = Instant::now().checked_add(self.config.ceiling);
        let outcome = match end {
            Some(end) => timeout_at(end, work.run()).await.unwrap_or_else(|_| {
                Err(CallRefusal::new(FailureClass::Timeout, "the whole work took too long"))
            }),
            None => work.run().await,
        };
        let (id, calls) = (request.id, work.calls);
        match outcome {
            Ok(reply) => {
                tracing::info!(?id, calls, finish = ?reply.finish, "narration written");
                Ok(reply)
            }
            Err(CallRefusal { class, detail, .. }) => {
                tracing::warn!(?id, calls, %class, detail, "no narration");
                Err(SummaryFailure { class, detail, calls })
            }
        }
    }
}

/// The state of one request.
struct RequestWork<'a> {
    client: &'a ModelClient,
    request: &'a SummaryRequest,
    /// The longest time for one answer.
    timeout: Duration,
    without: OmittedParameters,
    /// The number of calls so far, with those that failed.
    calls: u32,
    usage: Option<Usage>,
}

impl<'a> RequestWork<'a> {
    fn new(client: &'a ModelClient, request: &'a SummaryRequest) -> Self {
        let requested = Duration::from_secs(u64::from(request.timeout_seconds));
        Self {
            client,
            request,
            timeout: client.config.timeout.unwrap_or(requested),
            without: OmittedParameters::default(),
            calls: 0,
            usage: None,
        }
    }

    fn cap(&self) -> u32 {
        self.client.config.max_tokens.unwrap_or(self.request.max_tokens)
    }

    /// Asks for all chunks in order. Each chunk continues the narration of those before it.
    async fn run(&mut self) -> Result<SummaryReply, CallRefusal> {
        let request = self.request;
        let counter = &*self.client.config.counter;
        let mut room =
            self.client.config.window_tokens.map(|window| {
                (window - window / WINDOW_MARGIN).saturating_sub(u64::from(self.cap()))
            });
        let mut previous = request.previous.clone();
        let (mut next, mut shrinks) = (0, 0);
        let mut refused: Option<(SummaryPrompt, CallRefusal)> = None;
        loop {
            let planned = room.unwrap_or(u64::MAX);
            let chunk = request.next_chunk(next, previous.as_deref(), planned, counter);
            let prompt = request.prompt(&chunk.sources, previous.as_deref());
            if let Some((refused_prompt, refusal)) = refused.take()
                && refused_prompt == prompt
            {
                // Nothing more can be cut: the frame itself is too long.
                return Err(refusal);
            }
            tracing::debug!(id = ?request.id, from = chunk.range.start, to = chunk.range.end, "asking");
            match self.ask(&prompt).await {
                Ok(answer) => {
                    next = chunk.range.end;
                    // An answer that broke off or is empty cannot be continued. An answer that reached its cap can be:
                    // what it has of its part is valid.
                    let usable =
                        answer.finish != FinishReason::Other && !answer.text.trim().is_empty();
                    if next >= request.sources.len() || !usable {
                        return Ok(self.reply(answer));
                    }
                    previous = Some(Redactor::shared().redact(&answer.text).0.into_owned());
                }
                Err(refusal) if refusal.class == FailureClass::Overflow => {
                    shrinks += 1;
                    let sent = counted(counter, &prompt);
                    let smaller = self.smaller(sent, planned, refusal.limit);
                    if shrinks > SHRINKS || smaller < SMALLEST_ROOM {
                        return Err(refusal);
                    }
                    tracing::debug!(id = ?request.id, sent, smaller, "prompt too long, cutting");
                    room = Some(smaller);
                    refused = Some((prompt, refusal));
                }
                Err(refusal) => return Err(refusal),
            }
        }
    }

    /// The room for the next try, in tokens: the limit that the server names, if it is below what was tried, or else
    /// half of what was tried.
    fn smaller(&self, prompt_tokens: u64, planned: u64, limit: Option<u64>) -> u64 {
        let tried = prompt_tokens.min(planned);
        let named = limit
            .map(|limit| (limit - limit / WINDOW_MARGIN).saturating_sub(u64::from(self.cap())));
        named.filter(|room| *room < tried && *room >= SMALLEST_ROOM).unwrap_or(tried / 2)
    }

    /// Sends one prompt, as often as its failures allow.
    async fn ask(&mut self, prompt: &SummaryPrompt) -> Result<ModelAnswer, CallRefusal> {
        let client = self.client;
        let mut failed: HashMap<FailureClass, u32> = HashMap::new();
        loop {
            let body = client.wire.body(&ModelAsk {
                model: &client.config.model,
                prompt,
                temperature: self.request.temperature.to_f64(),
                max_tokens: self.cap(),
                without: self.without,
            });
            self.calls += 1;
            let (refusal, retry_after) = match client.http.post(body, self.timeout).await {
                Ok(answer) => {
                    self.count(answer.usage);
                    return Ok(answer);
                }
                Err(failed) => failed,
            };
            let class = refusal.class;
            tracing::debug!(id = ?self.request.id, call = self.calls, %class, detail = refusal.detail, "call failed");
            if let Some(without) = refusal.without.filter(|new| !self.knows(*new)) {
                self.without = self.without.and(without);
                continue;
            }
            let tried = failed.entry(class).or_default();
            *tried += 1;
            let id = self.request.id;
            match retry::pause(&client.config, id, class, *tried, retry_after) {
                Some(time) => (client.pause)(time).await,
                None => return Err(refusal),
            }
        }
    }

    fn knows(&self, new: OmittedParameters) -> bool {
        self.without.and(new) == self.without
    }

    fn count(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            let sum = self.usage.get_or_insert_with(Usage::default);
            sum.prompt += usage.prompt;
            sum.output += usage.output;
            sum.cache_read += usage.cache_read;
            sum.cache_write += usage.cache_write;
        }
    }

    fn reply(&self, answer: ModelAnswer) -> SummaryReply {
        SummaryReply {
            text: answer.text,
            finish: answer.finish,
            model: answer.model.unwrap_or_else(|| self.client.config.model.clone()),
            usage: self.usage,
            calls: self.calls,
        }
    }
}

fn counted(counter: &dyn midfold_core::Counter, prompt: &SummaryPrompt) -> u64 {
    let count = |text| u64::from(counter.count(text, midfold_core::TextKind::Prose));
    count(&prompt.system) + count(&prompt.user)
}
