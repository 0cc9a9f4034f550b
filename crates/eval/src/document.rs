//! Writes a comparison as JSON, for programs and for the page that draws it.

use midfold::EventRow;
use midfold_core::redact::Redactor;
use midfold_core::trigger::FoldCause;
use serde_json::{Map, Value, json};

use crate::contender::measures;
use crate::prices::PriceTable;
use crate::replay::{LostIdentifier, ReplayMeasures, ReplayResult};

/// The version of the document's form.
const VERSION: u32 = 1;
/// The most losses that are listed for one conversation.
const LOSSES: usize = 500;
/// The most names that are listed for one fold.
const REFERENCES: usize = 40;

/// The facts about a conversation that was replayed.
pub struct ConversationFacts {
    /// The name of the conversation.
    pub name: String,
    /// The wire format.
    pub dialect: &'static str,
    /// Number of messages.
    pub messages: usize,
    /// The tokens of all messages.
    pub tokens: u64,
    /// The messages. Empty unless the page is drawn.
    pub events: Vec<EventRow>,
}

/// The result of one strategy in one window.
pub struct StrategyResult<'a> {
    /// The name of the strategy.
    pub strategy: &'a str,
    /// The window, in tokens.
    pub window: u64,
    /// The name of its form.
    pub form: &'static str,
    /// Whether it is an engine outside of midfold.
    pub is_engine: bool,
    /// The sums over all conversations.
    pub totals: &'a ReplayMeasures,
    /// The result for each conversation, by its index. `Err` says why there is none.
    pub each: &'a [(usize, Result<ReplayResult, String>)],
}

/// A comparison of strategies on conversations.
pub struct StrategyComparison<'a> {
    /// The counter of the tokens.
    pub tokenizer: &'a str,
    /// The prices of requests.
    pub prices: &'a PriceTable,
    /// The conversations, in order.
    pub conversations: &'a [ConversationFacts],
    /// The strategies.
    pub runs: Vec<StrategyResult<'a>>,
}

impl StrategyComparison<'_> {
    /// The whole comparison, as `midfold measure replay --json` prints it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "version": VERSION,
            "midfold": env!("CARGO_PKG_VERSION"),
            "tokenizer": self.tokenizer,
            "prices": self.prices,
            "conversations": self.conversations.iter().map(about).collect::<Vec<_>>(),
            "runs": self.runs.iter().map(one).collect::<Vec<_>>(),
        })
    }
}

fn about(about: &ConversationFacts) -> Value {
    let row = |event: &EventRow| json!([event.role, event.tokens, event.line, event.tool]);
    json!({
        "name": about.name,
        "dialect": about.dialect,
        "messages": about.messages,
        "tokens": about.tokens,
        "events": about.events.iter().map(row).collect::<Vec<_>>(),
    })
}

fn one(ran: &StrategyResult<'_>) -> Value {
    let each = ran.each.iter().map(|(at, outcome)| match outcome {
        Ok(replay) => conversation(*at, replay, ran.window),
        Err(error) => json!({ "conversation": at, "error": error }),
    });
    json!({
        "strategy": ran.strategy,
        "window": ran.window,
        "form": ran.form,
        "engine": ran.is_engine,
        "totals": measures(ran.totals, ran.window),
        "conversations": each.collect::<Vec<_>>(),
    })
}

fn conversation(at: usize, replay: &ReplayResult, window: u64) -> Value {
    let requests = replay.requests.iter().map(|row| {
        let fold = row.fold.map_or(-1, |at| i64::try_from(at).unwrap_or(-1));
        json!([
            row.at,
            row.raw,
            row.tokens,
            row.prefix,
            fold,
            u8::from(row.broke),
            row.at_risk.need,
            row.at_risk.have
        ])
    });
    json!({
        "conversation": at,
        "totals": measures(&replay.measures, window),
        "requests": requests.collect::<Vec<_>>(),
        "folds": (0..replay.folds.len()).map(|at| fold(replay, at)).collect::<Vec<_>>(),
        "losses": replay.losses.iter().take(LOSSES).map(loss).collect::<Vec<_>>(),
    })
}

/// The start of a reason that says only that the event is a stub.
const PLAIN: &str = "retain: ";

fn fold(replay: &ReplayResult, place: usize) -> Value {
    let fold = &replay.folds[place];
    let tells = |(_, why): &(&u32, &String)| !why.starts_with(PLAIN);
    let why = fold.why.iter().filter(tells).map(|(seq, why)| (seq.to_string(), json!(why)));
    let fates = fold.fates.iter().map(|(cell, count)| json!([cell.letter(), count]));
    json!({
        "at": fold.at,
        "before": fold.before,
        "after": fold.after,
        "cause": fold.cause.map(FoldCause::name),
        "fates": fates.collect::<Vec<_>>(),
        "why": why.collect::<Map<_, _>>(),
        // An engine outside may have left secrets in its recap.
        "recap": fold.recap.as_deref().map(hidden),
        "recap_tokens": fold.recap_tokens,
        "referenced_later": referenced_later(replay, place),
    })
}

/// The names that were not in the context after this fold and were needed before the next one.
fn referenced_later(replay: &ReplayResult, place: usize) -> Vec<String> {
    let from = replay.folds[place].at;
    let until = replay.folds.get(place + 1).map_or(usize::MAX, |next| next.at);
    let missed = replay.losses.iter().filter(|loss| (from..until).contains(&loss.at));
    missed.take(REFERENCES).map(|loss| hidden(&loss.id)).collect()
}

fn loss(loss: &LostIdentifier) -> Value {
    json!({
        "id": hidden(&loss.id),
        "class": loss.class.name(),
        "at": loss.at,
        "seen": loss.seen,
        "times": loss.times,
        "recalled": loss.recalled,
    })
}

/// The text without anything that looks like a secret.
fn hidden(text: &str) -> String {
    Redactor::shared().redact(text).0.into_owned()
}
