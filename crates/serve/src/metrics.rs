//! Metrics for Prometheus. No label ever contains text of a client: only the names of faults are labels.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use midfold::core::event::Usage;
use midfold::core::spending::PromptCost;
use midfold_proxy::{OutgoingRequest, RequestFault};

use crate::totals::ServerTotals;

/// The upper ends of the histogram's buckets for added latency, in microseconds.
const CLASSES: [u64; 10] =
    [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 64_000, 256_000, 1_000_000];

/// Why a request was sent unchanged although midfold should have read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassCause {
    /// It is larger than the memory for requests allows.
    TooLarge,
    /// It is compressed in a way that midfold does not read.
    Encoded,
    /// It is not a valid request of its format.
    Unread,
    /// It has messages, but its path is unknown.
    Path,
    /// It is signed, so the upstream would refuse another body.
    Signed,
    /// The messages that may not be folded do not fit.
    Floor,
    /// The client's system prompt and tools take nearly all of the window.
    Fixed,
    /// The requested preset or profile does not exist.
    Named,
    /// A panic in midfold.
    Panic,
}

impl PassCause {
    const ALL: [Self; 9] = [
        Self::TooLarge,
        Self::Encoded,
        Self::Unread,
        Self::Path,
        Self::Signed,
        Self::Floor,
        Self::Fixed,
        Self::Named,
        Self::Panic,
    ];

    /// The cause in words.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::TooLarge => "it is larger than what may be in memory",
            Self::Encoded => "it is packed in a way that is not read here",
            Self::Unread => "it is no request of the format that its path says",
            Self::Path => "it has messages, and nothing is known of its path",
            Self::Signed => "it is signed, and another body would be refused",
            Self::Floor => RequestFault::Floor.reason(),
            Self::Fixed => RequestFault::Fixed.reason(),
            Self::Named => RequestFault::Preset.reason(),
            Self::Panic => "a fault in midfold",
        }
    }

    /// Whether `--strict` refuses such a request. One with an unknown path may have no history, and one that is signed
    /// cannot be changed, so both pass.
    pub(crate) fn is_strict(self) -> bool {
        !matches!(self, Self::Path | Self::Signed)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::Encoded => "encoded",
            Self::Unread => "unread",
            Self::Path => "path",
            Self::Signed => "signed",
            Self::Floor => "floor",
            Self::Fixed => "fixed",
            Self::Named => RequestFault::Preset.name(),
            Self::Panic => "panic",
        }
    }
}

/// Counters since the process started.
#[derive(Default)]
pub(crate) struct ServerMetrics {
    requests: AtomicU64,
    passed: AtomicU64,
    folded: AtomicU64,
    folds: AtomicU64,
    overflows: AtomicU64,
    recovered: AtomicU64,
    truncated: AtomicU64,
    cut: AtomicU64,
    unanswered: AtomicU64,
    broken: AtomicU64,
    recalls: AtomicU64,
    agent_calls: AtomicU64,
    placeholders: AtomicU64,
    placeholders_handed_on: AtomicU64,
    narrations: AtomicU64,
    narrations_refused: AtomicU64,
    refused: AtomicU64,
    /// Requests that were sent unchanged although midfold should have read them, by cause.
    open: [AtomicU64; PassCause::ALL.len()],
    tokens_before: AtomicU64,
    tokens_after: AtomicU64,
    prompt: AtomicU64,
    cache_read: AtomicU64,
    cache_write: AtomicU64,
    output: AtomicU64,
    /// A histogram of the time that midfold took to decide.
    latency: [AtomicU64; CLASSES.len() + 1],
    /// The sum of these times, in microseconds.
    latency_sum: AtomicU64,
}

impl ServerMetrics {
    pub fn count_passed(&self) {
        add(&self.requests, 1);
        add(&self.passed, 1);
    }

    /// Counts a request with a history. `took` is the time in which midfold decided what to send.
    pub fn count_sent(&self, sent: &OutgoingRequest, took: Duration) {
        add(&self.requests, 1);
        add(&self.folded, u64::from(sent.is_folded()));
        add(&self.folds, u64::from(sent.is_new_fold));
        add(&self.cut, u64::from(sent.cut > 0));
        add(&self.tokens_before, sent.tokens_before);
        add(&self.tokens_after, sent.tokens_after);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let class = CLASSES.iter().position(|end| micros <= *end).unwrap_or(CLASSES.len());
        add(&self.latency[class], 1);
        add(&self.latency_sum, micros);
    }

    /// Counts a request that the provider refused as too long. `again` is what is sent instead, if anything.
    pub fn count_overflow(&self, again: Option<&OutgoingRequest>) {
        add(&self.overflows, 1);
        add(&self.recovered, u64::from(again.is_some()));
        add(&self.folds, again.map_or(0, |sent| u64::from(sent.is_new_fold)));
        add(&self.cut, again.map_or(0, |sent| u64::from(sent.cut > 0)));
    }

    /// Counts a prompt of which a server silently dropped a part.
    pub fn count_truncated(&self) {
        add(&self.truncated, 1);
    }

    pub fn count_unanswered(&self) {
        add(&self.unanswered, 1);
    }

    /// Counts an answer that broke off.
    pub fn count_broken(&self) {
        add(&self.broken, 1);
    }

    /// Counts the model's calls of the recall tool and of the agent's tools.
    pub fn count_look_ups(&self, look_ups: usize, wishes: usize) {
        add(&self.recalls, look_ups as u64);
        add(&self.agent_calls, wishes as u64);
    }

    /// Counts calls with placeholders: those that were not run, and those that went to the client.
    pub fn count_placeholders(&self, unrun: usize, handed_on: usize) {
        add(&self.placeholders, (unrun + handed_on) as u64);
        add(&self.placeholders_handed_on, handed_on as u64);
    }

    /// Counts a narration, accepted or refused.
    pub fn count_narration(&self, is_accepted: bool) {
        add(if is_accepted { &self.narrations } else { &self.narrations_refused }, 1);
    }

    /// Counts a request that was not admitted.
    pub fn count_refused(&self) {
        add(&self.refused, 1);
    }

    pub fn count_passed_unread(&self, cause: PassCause) {
        let at = PassCause::ALL.iter().position(|other| *other == cause).unwrap_or(0);
        add(&self.open[at], 1);
    }

    pub fn add_usage(&self, usage: Usage) {
        add(&self.prompt, usage.prompt);
        add(&self.cache_read, usage.cache_read);
        add(&self.cache_write, usage.cache_write);
        add(&self.output, usage.output);
    }

    /// The totals that a person wants to see.
    pub fn totals(&self, cost: Option<PromptCost>) -> ServerTotals {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ServerTotals {
            requests: get(&self.requests),
            with_history: get(&self.requests).saturating_sub(get(&self.passed)),
            folded: get(&self.folded),
            folds: get(&self.folds),
            look_ups: get(&self.recalls),
            faults: self.open.iter().map(get).sum(),
            fault_reason: self
                .faults()
                .filter(|(_, count)| *count > 0)
                .max_by_key(|(_, count)| *count)
                .map(|(cause, _)| cause.reason()),
            overflows: get(&self.overflows),
            recovered: get(&self.recovered),
            truncated: get(&self.truncated),
            unanswered: get(&self.unanswered),
            broken: get(&self.broken),
            cost,
            tokens_before: get(&self.tokens_before),
            tokens_after: get(&self.tokens_after),
            prompt_tokens: get(&self.prompt),
            cache_read_tokens: get(&self.cache_read),
        }
    }

    /// How many requests were sent unchanged, by cause.
    pub fn faults(&self) -> impl Iterator<Item = (PassCause, u64)> {
        let counts = self.open.iter().map(|count| count.load(Ordering::Relaxed));
        PassCause::ALL.into_iter().zip(counts)
    }

    /// All metrics in the text format of Prometheus. `held` is the number of conversations in memory and their bytes,
    /// `unsaved` the number that wait to be written, `bodies` the bytes of request bodies in memory and their peak.
    pub fn text(&self, held: (usize, usize), unsaved: usize, bodies: (usize, usize)) -> String {
        let mut out = String::new();
        let mut counter = |name: &str, help: &str, value: u64| {
            let _ = write!(
                out,
                "# HELP midfold_{name} {help}\n# TYPE midfold_{name} counter\nmidfold_{name} {value}\n"
            );
        };
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        counter("requests_total", "Requests.", get(&self.requests));
        counter("requests_passed_total", "Requests without a history.", get(&self.passed));
        counter("requests_folded_total", "Requests read through a fold.", get(&self.folded));
        counter("folds_total", "Folds made.", get(&self.folds));
        counter(
            "overflows_total",
            "Requests that the provider refused as too long.",
            get(&self.overflows),
        );
        counter(
            "overflows_recovered_total",
            "Requests that were refused as too long, folded and sent again.",
            get(&self.recovered),
        );
        counter(
            "results_cut_total",
            "Requests of which the newest results were shown cut, because they alone are too long for the window.",
            get(&self.cut),
        );
        counter(
            "truncations_total",
            "Prompts of which a server dropped a part, and said nothing.",
            get(&self.truncated),
        );
        counter("unanswered_total", "Requests that got no answer.", get(&self.unanswered));
        counter(
            "broken_total",
            "Answers to requests with a history that broke off.",
            get(&self.broken),
        );
        counter("refused_total", "Requests that were not let in.", get(&self.refused));
        counter(
            "tokens_before_total",
            "Tokens of requests as they came.",
            get(&self.tokens_before),
        );
        counter("tokens_after_total", "Tokens of what was sent.", get(&self.tokens_after));
        counter("prompt_tokens_total", "Prompt tokens that providers counted.", get(&self.prompt));
        counter(
            "cache_read_tokens_total",
            "Prompt tokens that providers read from their cache.",
            get(&self.cache_read),
        );
        counter(
            "cache_write_tokens_total",
            "Prompt tokens that providers wrote to their cache.",
            get(&self.cache_write),
        );
        counter("output_tokens_total", "Tokens of replies.", get(&self.output));
        counter(
            "recalls_total",
            "Times that a model looked up what was folded.",
            get(&self.recalls),
        );
        counter(
            "agent_calls_total",
            "Times that an agent asked for a fold, a pin or a note (`--agent-tools`).",
            get(&self.agent_calls),
        );
        counter(
            "placeholders_total",
            "Calls in which a model copied what a fold printed in the place of content.",
            get(&self.placeholders),
        );
        counter(
            "placeholders_handed_on_total",
            "Of these, calls that went to the client.",
            get(&self.placeholders_handed_on),
        );
        counter("narrations_total", "Narrations that a model wrote.", get(&self.narrations));
        counter(
            "narrations_refused_total",
            "Narrations that failed or may not stand.",
            get(&self.narrations_refused),
        );
        self.open_text(&mut out);
        self.latency_text(&mut out);
        let (conversations, bytes) = held;
        for (name, help, value) in [
            ("conversations", "Conversations in memory.", conversations),
            ("conversation_bytes", "Bytes of memory that they take, about.", bytes),
            ("unsaved_conversations", "Conversations that wait to be written.", unsaved),
            ("request_bytes", "Bytes of requests that are in memory.", bodies.0),
            ("request_bytes_peak", "The most that they ever were.", bodies.1),
        ] {
            let _ = write!(
                out,
                "# HELP midfold_{name} {help}\n# TYPE midfold_{name} gauge\nmidfold_{name} {value}\n"
            );
        }
        out
    }

    fn open_text(&self, out: &mut String) {
        let _ = out.write_str(
            "# HELP midfold_fail_open_total Requests sent as they came, by cause.\n\
             # TYPE midfold_fail_open_total counter\n",
        );
        for (cause, count) in self.faults() {
            let _ = writeln!(out, "midfold_fail_open_total{{cause=\"{}\"}} {count}", cause.name());
        }
    }

    fn latency_text(&self, out: &mut String) {
        let name = "midfold_decide_seconds";
        let _ = write!(
            out,
            "# HELP {name} Time from a whole request to what is sent.\n# TYPE {name} histogram\n"
        );
        let mut sum = 0;
        for (class, count) in self.latency.iter().enumerate() {
            // Buckets of Prometheus are cumulative: each counts all shorter times, too.
            sum += count.load(Ordering::Relaxed);
            let end = CLASSES.get(class).map(|end| Duration::from_micros(*end).as_secs_f64());
            let end = end.map_or("+Inf".to_owned(), |end| end.to_string());
            let _ = writeln!(out, "{name}_bucket{{le=\"{end}\"}} {sum}");
        }
        let total = Duration::from_micros(self.latency_sum.load(Ordering::Relaxed)).as_secs_f64();
        let _ = write!(out, "{name}_sum {total}\n{name}_count {sum}\n");
    }
}

fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

/// The cost of the prompts in the text format of Prometheus.
pub(crate) fn cost_text(cost: Option<PromptCost>, out: &mut String) {
    let (sent, everything, saved) =
        cost.map_or((0.0, 0.0, 0.0), |it| (it.sent, it.everything, it.saved()));
    for (name, help, value) in [
        ("sent", "What the prompts cost, in tokens at the price of plain input.", sent),
        ("everything", "What they would have cost with every message in them.", everything),
        ("saved", "What that would have cost more.", saved),
    ] {
        let name = format!("midfold_cost_{name}");
        let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
    }
}
