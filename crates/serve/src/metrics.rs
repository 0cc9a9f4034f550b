//! Metrics for Prometheus, of one process since its start.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use midfold::core::event::Usage;
use midfold::core::spending::PromptCost;
use midfold_proxy::OutgoingRequest;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use crate::metric_labels::{AnswerLabels, RequestLabels, TokenLabels};
use crate::pass_cause::PassCause;
use crate::totals::ServerTotals;

/// The upper ends of the histogram's buckets for added latency, in seconds.
const CLASSES: [f64; 10] =
    [0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.064, 0.256, 1.0];

/// The media type of the text that [`ServerMetrics::text`] writes.
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The only label of a request that was sent as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CauseLabel {
    cause: &'static str,
}

impl From<PassCause> for CauseLabel {
    fn from(cause: PassCause) -> Self {
        Self { cause: cause.name() }
    }
}

/// The figures of the moment of asking.
pub(crate) struct MeasuredNow {
    /// Conversations in memory.
    pub conversations: usize,
    /// The bytes of memory that they take, about.
    pub conversation_bytes: usize,
    /// Conversations that wait to be written.
    pub unsaved: usize,
    /// Bytes of request bodies in memory.
    pub request_bytes: usize,
    /// The most bytes of request bodies so far.
    pub request_bytes_peak: usize,
    /// The cost of the prompts.
    pub cost: Option<PromptCost>,
}

/// The gauges for [`MeasuredNow`].
#[derive(Default)]
struct NowGauges {
    conversations: Gauge<u64, AtomicU64>,
    conversation_bytes: Gauge<u64, AtomicU64>,
    unsaved: Gauge<u64, AtomicU64>,
    request_bytes: Gauge<u64, AtomicU64>,
    request_bytes_peak: Gauge<u64, AtomicU64>,
    cost_sent: Gauge<f64, AtomicU64>,
    cost_everything: Gauge<f64, AtomicU64>,
    cost_saved: Gauge<f64, AtomicU64>,
}

/// Counters since the process started.
pub(crate) struct ServerMetrics {
    registry: Registry,
    now: NowGauges,
    requests: Counter,
    passed: Counter,
    folded: Counter,
    folds: Counter,
    overflows: Counter,
    recovered: Counter,
    truncated: Counter,
    cut: Counter,
    unanswered: Counter,
    broken: Counter,
    recalls: Counter,
    agent_calls: Counter,
    placeholders: Counter,
    placeholders_handed_on: Counter,
    narrations: Counter,
    narrations_refused: Counter,
    refused: Counter,
    /// Requests that were sent unchanged although midfold should have read them, by cause.
    open: Family<CauseLabel, Counter>,
    tokens_before: Counter,
    tokens_after: Counter,
    prompt: Counter,
    cache_read: Counter,
    cache_write: Counter,
    output: Counter,
    answers: Family<AnswerLabels, Counter>,
    answer_tokens: Family<TokenLabels, Counter>,
    /// The time that midfold took to decide.
    latency: Histogram,
}

impl Default for ServerMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("midfold");
        let build = Family::<_, Gauge>::default();
        build.get_or_create(&[("version", env!("CARGO_PKG_VERSION"))]).set(1);
        registry.register("build_info", "The version that runs", build);
        let all = &mut registry;
        Self {
            requests: add(all, "requests", "Requests"),
            passed: add(all, "requests_passed", "Requests without a history"),
            folded: add(all, "requests_folded", "Requests read through a fold"),
            folds: add(all, "folds", "Folds made"),
            overflows: add(all, "overflows", "Requests that the provider refused as too long"),
            recovered: add(
                all,
                "overflows_recovered",
                "Requests that were refused as too long, folded and sent again",
            ),
            cut: add(
                all,
                "results_cut",
                "Requests of which the newest results were shown cut, because they alone are too long for the window",
            ),
            truncated: add(
                all,
                "truncations",
                "Prompts of which a server dropped a part, and said nothing",
            ),
            unanswered: add(all, "unanswered", "Requests that got no answer"),
            broken: add(all, "broken", "Answers to requests with a history that broke off"),
            refused: add(all, "refused", "Requests that were not let in"),
            tokens_before: add(all, "tokens_before", "Tokens of requests as they came"),
            tokens_after: add(all, "tokens_after", "Tokens of what was sent"),
            prompt: add(all, "prompt_tokens", "Prompt tokens that providers counted"),
            cache_read: add(
                all,
                "cache_read_tokens",
                "Prompt tokens that providers read from their cache",
            ),
            cache_write: add(
                all,
                "cache_write_tokens",
                "Prompt tokens that providers wrote to their cache",
            ),
            output: add(all, "output_tokens", "Tokens of replies"),
            answers: add(all, "answers", "Answers of providers by model, upstream, key and status"),
            answer_tokens: add(
                all,
                "answer_tokens",
                "Tokens that providers counted by model, upstream, key and kind",
            ),
            recalls: add(all, "recalls", "Times that a model looked up what was folded"),
            agent_calls: add(
                all,
                "agent_calls",
                "Times that an agent asked for a fold, a pin or a note (--agent-tools)",
            ),
            placeholders: add(
                all,
                "placeholders",
                "Calls in which a model copied what a fold printed in the place of content",
            ),
            placeholders_handed_on: add(
                all,
                "placeholders_handed_on",
                "Of these, calls that went to the client",
            ),
            narrations: add(all, "narrations", "Narrations that a model wrote"),
            narrations_refused: add(
                all,
                "narrations_refused",
                "Narrations that failed or may not stand",
            ),
            open: causes(all),
            latency: latency(all),
            now: NowGauges::new(all),
            registry,
        }
    }
}

/// A metric that is written with the others.
fn add<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// The counter of requests that were sent as they came. Each cause is there from the start, so that a rate of it exists.
fn causes(registry: &mut Registry) -> Family<CauseLabel, Counter> {
    let open: Family<CauseLabel, Counter> =
        add(registry, "fail_open", "Requests sent as they came, by cause");
    PassCause::ALL.into_iter().for_each(|cause| drop(open.get_or_create(&cause.into())));
    open
}

fn latency(registry: &mut Registry) -> Histogram {
    let latency = Histogram::new(CLASSES);
    registry.register(
        "decide_seconds",
        "Time from a whole request to what is sent",
        latency.clone(),
    );
    latency
}

impl NowGauges {
    fn new(all: &mut Registry) -> Self {
        Self {
            conversations: add(all, "conversations", "Conversations in memory"),
            conversation_bytes: add(
                all,
                "conversation_bytes",
                "Bytes of memory that they take, about",
            ),
            unsaved: add(all, "unsaved_conversations", "Conversations that wait to be written"),
            request_bytes: add(all, "request_bytes", "Bytes of requests that are in memory"),
            request_bytes_peak: add(all, "request_bytes_peak", "The most that they ever were"),
            cost_sent: add(
                all,
                "cost_sent",
                "What the prompts cost, in tokens at the price of plain input",
            ),
            cost_everything: add(
                all,
                "cost_everything",
                "What they would have cost with every message in them",
            ),
            cost_saved: add(all, "cost_saved", "What that would have cost more"),
        }
    }

    fn set(&self, now: &MeasuredNow) {
        for (gauge, value) in [
            (&self.conversations, now.conversations),
            (&self.conversation_bytes, now.conversation_bytes),
            (&self.unsaved, now.unsaved),
            (&self.request_bytes, now.request_bytes),
            (&self.request_bytes_peak, now.request_bytes_peak),
        ] {
            gauge.set(value as u64);
        }
        if let Some(cost) = &now.cost {
            self.cost_sent.set(cost.sent);
            self.cost_everything.set(cost.everything);
            self.cost_saved.set(cost.saved());
        }
    }
}

impl ServerMetrics {
    pub fn count_passed(&self) {
        self.requests.inc();
        self.passed.inc();
    }

    /// Counts a request with a history. `took` is the time in which midfold decided what to send.
    pub fn count_sent(&self, outgoing: &OutgoingRequest, took: Duration) {
        self.requests.inc();
        self.folded.inc_by(u64::from(outgoing.is_folded()));
        self.folds.inc_by(u64::from(outgoing.is_new_fold));
        self.cut.inc_by(u64::from(outgoing.cut > 0));
        self.tokens_before.inc_by(outgoing.tokens_before);
        self.tokens_after.inc_by(outgoing.tokens_after);
        self.latency.observe(took.as_secs_f64());
    }

    /// Counts a request that the provider refused as too long. `again` is what is sent instead, if anything.
    pub fn count_overflow(&self, again: Option<&OutgoingRequest>) {
        self.overflows.inc();
        self.recovered.inc_by(u64::from(again.is_some()));
        self.folds.inc_by(again.map_or(0, |outgoing| u64::from(outgoing.is_new_fold)));
        self.cut.inc_by(again.map_or(0, |outgoing| u64::from(outgoing.cut > 0)));
    }

    /// Counts a prompt of which a server silently dropped a part.
    pub fn count_truncated(&self) {
        self.truncated.inc();
    }

    pub fn count_unanswered(&self) {
        self.unanswered.inc();
    }

    /// Counts an answer that broke off.
    pub fn count_broken(&self) {
        self.broken.inc();
    }

    /// Counts the answer of a provider to a request, whatever its status.
    pub fn count_answer(&self, labels: &RequestLabels, status: u16) {
        self.answers.get_or_create(&labels.with_status(status)).inc();
    }

    /// Counts the model's calls of the recall tool and of the agent's tools.
    pub fn count_look_ups(&self, look_ups: usize, wishes: usize) {
        self.recalls.inc_by(look_ups as u64);
        self.agent_calls.inc_by(wishes as u64);
    }

    /// Counts calls with placeholders: those that were not run, and those that went to the client.
    pub fn count_placeholders(&self, unrun: usize, handed_on: usize) {
        self.placeholders.inc_by((unrun + handed_on) as u64);
        self.placeholders_handed_on.inc_by(handed_on as u64);
    }

    /// Counts a narration, accepted or refused.
    pub fn count_narration(&self, is_accepted: bool) {
        if is_accepted { &self.narrations } else { &self.narrations_refused }.inc();
    }

    /// Counts a request that was not admitted.
    pub fn count_refused(&self) {
        self.refused.inc();
    }

    pub fn count_passed_unread(&self, cause: PassCause) {
        self.open.get_or_create(&cause.into()).inc();
    }

    pub fn add_usage(&self, labels: &RequestLabels, usage: Usage) {
        for (total, kind, tokens) in [
            (&self.prompt, "prompt", usage.prompt),
            (&self.cache_read, "cache_read", usage.cache_read),
            (&self.cache_write, "cache_write", usage.cache_write),
            (&self.output, "output", usage.output),
        ] {
            total.inc_by(tokens);
            self.answer_tokens.get_or_create(&labels.with_kind(kind)).inc_by(tokens);
        }
    }

    /// The totals that a person wants to see.
    pub fn totals(&self, cost: Option<PromptCost>) -> ServerTotals {
        ServerTotals {
            requests: self.requests.get(),
            with_history: self.requests.get().saturating_sub(self.passed.get()),
            folded: self.folded.get(),
            folds: self.folds.get(),
            look_ups: self.recalls.get(),
            faults: self.faults().map(|(_, count)| count).sum(),
            fault_reason: self
                .faults()
                .filter(|(_, count)| *count > 0)
                .max_by_key(|(_, count)| *count)
                .map(|(cause, _)| cause.reason()),
            overflows: self.overflows.get(),
            recovered: self.recovered.get(),
            truncated: self.truncated.get(),
            unanswered: self.unanswered.get(),
            broken: self.broken.get(),
            cost,
            tokens_before: self.tokens_before.get(),
            tokens_after: self.tokens_after.get(),
            prompt_tokens: self.prompt.get(),
            cache_read_tokens: self.cache_read.get(),
        }
    }

    /// How many requests were sent unchanged, by cause.
    pub fn faults(&self) -> impl Iterator<Item = (PassCause, u64)> {
        PassCause::ALL
            .into_iter()
            .map(|cause| (cause, self.open.get_or_create(&cause.into()).get()))
    }

    /// All metrics as text in the format of OpenMetrics, which Prometheus reads.
    pub fn text(&self, now: &MeasuredNow) -> String {
        self.now.set(now);
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}
