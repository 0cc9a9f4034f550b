//! Statistics: the requests that the server saw, and what a provider would charge for them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::cache::CachePrefix;
use super::reply::{FactUse, ReplyKind};
use super::request_parts::{WireDialect, fnv};

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// With a reply.
    Answered,
    /// With an error in the provider's words, because it breaks a rule of the provider.
    Refused(String),
    /// With an error, because the prompt does not fit.
    Overflow,
    /// With a planned fault.
    Fault,
}

impl RequestOutcome {
    /// Its name in statistics.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused(_) => "refused",
            Self::Overflow => "overflow",
            Self::Fault => "fault",
        }
    }
}

/// One request to a model.
#[derive(Clone, Debug)]
pub struct StatsEntry {
    /// The number of the request, from 1, among all requests to a model.
    pub number: u64,
    /// The path of the request.
    pub endpoint: String,
    /// The dialect of the request.
    pub dialect: WireDialect,
    /// The model that the request names.
    pub model: String,
    /// The session that the headers or the `prompt_cache_key` name. Empty where neither does.
    pub session: String,
    /// The purpose of the request.
    pub kind: ReplyKind,
    /// How the request ended.
    pub outcome: RequestOutcome,
    /// The status of the answer. 0 for a reset connection.
    pub status: u16,
    /// The tokens of the prompt.
    pub prompt_tokens: u64,
    /// The tokens of the prompt that the cache had.
    pub cached_tokens: u64,
    /// The tokens of the prompt that were written to the cache. 0 in dialects that report no writes.
    pub written_tokens: u64,
    /// The tokens of the reply.
    pub output_tokens: u64,
    /// The number of messages, items or contents.
    pub messages: usize,
    /// The bytes of the body.
    pub bytes: usize,
    /// The FNV-1a hash of the body.
    pub digest: u64,
    /// Whether the request begins with all of the session's last answered turn: tools, instructions and messages.
    /// `None` for the first turn, and for a request that is no turn.
    pub append_only: Option<bool>,
    /// Whether the messages that it repeats of that turn are also the same bytes. Messages with cache marks are left
    /// out, because marks move. `None` where the server keeps the messages.
    pub same_bytes: Option<bool>,
    /// The number of messages that it has in common with the start of that turn, which is where a rewrite begins.
    pub shared: Option<usize>,
    /// The step that the agent is at.
    pub step: Option<u32>,
}

impl StatsEntry {
    /// The price of the request, in tenths of the price of one uncached input token: 10 for each uncached token, 1 for
    /// each cached one, 50 for each token of the reply.
    #[must_use]
    pub fn cost_tenths(&self) -> u64 {
        (self.prompt_tokens - self.cached_tokens) * 10
            + self.cached_tokens
            + self.output_tokens * 50
    }

    fn json(&self) -> Value {
        json!({
            "number": self.number, "endpoint": self.endpoint, "dialect": self.dialect.name(),
            "model": self.model, "session": self.session, "kind": self.kind.name(),
            "outcome": self.outcome.name(), "status": self.status,
            "prompt_tokens": self.prompt_tokens, "cached_tokens": self.cached_tokens,
            "written_tokens": self.written_tokens,
            "output_tokens": self.output_tokens, "messages": self.messages, "bytes": self.bytes,
            "digest": format!("{:016x}", self.digest), "append_only": self.append_only, "shared": self.shared,
            "same_bytes": self.same_bytes,
            "step": self.step, "cost_tenths": self.cost_tenths(),
        })
    }
}

/// The statistics since the start or the last reset.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// The requests, in the order of arrival.
    pub requests: Vec<StatsEntry>,
    /// The texts of all refusals, in order.
    pub refused: Vec<String>,
    /// Requests whose prompt did not fit.
    pub overflows: u64,
    /// Planned faults that happened.
    pub faults: u64,
    /// Facts that were needed and in the prompt. Each counts once for a session and step.
    pub facts_used: u64,
    /// Facts that were needed and not in the prompt.
    pub facts_missing: u64,
    /// Compactions by the client itself.
    pub summaries: u64,
    /// Requests beside the conversation.
    pub sides: u64,
    /// Answered turns.
    pub turns: u64,
    /// Answered turns that begin with all of the turn before.
    pub appends: u64,
    /// Answered turns that change some part of the turn before.
    pub rewrites: u64,
    /// Answered turns that repeat a message in other bytes.
    pub respelled: u64,
    /// The tokens of all answered prompts.
    pub prompt_tokens: u64,
    /// The tokens of these prompts that were cached.
    pub cached_tokens: u64,
    /// The tokens of all replies.
    pub output_tokens: u64,
    /// The tokens of the largest answered prompt.
    pub peak_tokens: u64,
    /// The price of all requests: see [`StatsEntry::cost_tenths`].
    pub cost_tenths: u64,
    /// The highest step of an answered turn.
    pub step: u32,
    /// Whether the final answer was given.
    pub done: bool,
    needed: BTreeMap<(String, u32, u32), bool>,
}

impl Stats {
    pub(crate) fn push(&mut self, entry: StatsEntry) {
        match &entry.outcome {
            RequestOutcome::Answered => {
                match entry.kind {
                    ReplyKind::Turn => self.turns += 1,
                    ReplyKind::Side => self.sides += 1,
                    ReplyKind::Summary => self.summaries += 1,
                    ReplyKind::Count => {}
                }
                match entry.append_only {
                    Some(true) => self.appends += 1,
                    Some(false) => self.rewrites += 1,
                    None => {}
                }
                self.respelled += u64::from(entry.same_bytes == Some(false));
                self.prompt_tokens += entry.prompt_tokens;
                self.cached_tokens += entry.cached_tokens;
                self.output_tokens += entry.output_tokens;
                self.peak_tokens = self.peak_tokens.max(entry.prompt_tokens);
                self.cost_tenths += entry.cost_tenths();
                self.step = self.step.max(entry.step.unwrap_or(0));
            }
            RequestOutcome::Refused(text) => self.refused.push(text.clone()),
            RequestOutcome::Overflow => self.overflows += 1,
            RequestOutcome::Fault => self.faults += 1,
        }
        self.requests.push(entry);
    }

    /// Records which needed facts were in the prompt. If a step is tried again, only the last attempt counts.
    pub(crate) fn needed(&mut self, session: &str, uses: &[FactUse]) {
        for one in uses {
            self.needed.insert((session.to_owned(), one.step, one.part), one.is_found);
        }
        self.facts_used = self.needed.values().filter(|is_found| **is_found).count() as u64;
        self.facts_missing = self.needed.len() as u64 - self.facts_used;
    }

    /// The statistics in the form of `GET /__stats`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "totals": {
                "requests": self.requests.len(), "turns": self.turns, "sides": self.sides,
                "summaries": self.summaries, "refused": self.refused.len(),
                "overflows": self.overflows, "faults": self.faults,
                "facts_used": self.facts_used, "facts_missing": self.facts_missing,
                "appends": self.appends, "rewrites": self.rewrites, "respelled": self.respelled,
                "prompt_tokens": self.prompt_tokens, "cached_tokens": self.cached_tokens,
                "output_tokens": self.output_tokens, "peak_tokens": self.peak_tokens,
                "cost_tenths": self.cost_tenths, "step": self.step, "done": self.done,
            },
            "refused": self.refused,
            "requests": self.requests.iter().map(StatsEntry::json).collect::<Vec<_>>(),
        })
    }
}

/// The last answered turn of each session, to compare the next one with.
#[derive(Debug, Default)]
pub(crate) struct AnsweredTurns {
    last: BTreeMap<String, (CachePrefix, Vec<RawMessage>)>,
}

/// The common part of a turn and the turn before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommonTurn {
    pub append_only: bool,
    pub shared: usize,
    pub same_bytes: Option<bool>,
}

impl AnsweredTurns {
    /// Compares a turn with the one before, and keeps it for the next comparison. `None` for the first turn of a
    /// session.
    pub fn next(
        &mut self,
        session: &str,
        prefix: &CachePrefix,
        raw: Vec<RawMessage>,
    ) -> Option<CommonTurn> {
        let now = (prefix.clone(), raw.clone());
        let (before, before_raw) = self.last.insert(session.to_owned(), now)?;
        let shared = prefix.shared(&before);
        let pairs = raw.iter().zip(&before_raw).take(shared);
        let same =
            |(a, b): (&RawMessage, &RawMessage)| a.marked || b.marked || a.digest == b.digest;
        Some(CommonTurn {
            append_only: prefix.extends(&before),
            shared,
            // `raw_messages` is empty where the server keeps messages; then nothing can be compared.
            same_bytes: (raw.len() >= shared && before_raw.len() >= shared)
                .then(|| pairs.into_iter().all(same)),
        })
    }
}

/// A message as its bytes in the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawMessage {
    digest: u64,
    marked: bool,
}

/// The messages of a body as their bytes. Empty where the server has kept some of them, so that the body has fewer than
/// `expected`.
pub(crate) fn raw_messages(body: &[u8], dialect: WireDialect, expected: usize) -> Vec<RawMessage> {
    let key = match dialect {
        WireDialect::Chat | WireDialect::Messages => "messages",
        WireDialect::Responses => "input",
        WireDialect::Gemini => "contents",
    };
    let fields = serde_json::from_slice::<BTreeMap<String, &RawValue>>(body).unwrap_or_default();
    let list = fields.get(key).map(|list| serde_json::from_str::<Vec<&RawValue>>(list.get()));
    let list = list.and_then(Result::ok).filter(|list| list.len() == expected);
    let raw = list.unwrap_or_default().into_iter().map(|message| {
        let text = message.get();
        RawMessage { digest: fnv(text.as_bytes()), marked: text.contains("\"cache_control\"") }
    });
    raw.collect()
}
