//! The lines at the start and the end of a proxy: how it folds; the requests that came through, and the tokens saved.

use midfold::core::spending::PromptCost;
use midfold::store::{Millis, NewestQuery};
use midfold_args::StoreAt;
use midfold_serve::ServerTotals;
use serde_json::json;

use crate::host::OpenStore;
use crate::output::{Output, OutputColor};
use crate::words::{number, plural};

/// The policies by which a proxy folds, by name.
pub struct ServedPolicy {
    pub name: String,
    /// The one where fewer than 32,000 tokens can be folded.
    pub in_little_room: String,
}

impl std::fmt::Display for ServedPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, in_little_room } = self;
        write!(f, "`{name}`")?;
        if name != in_little_room {
            write!(f, " (`{in_little_room}` in windows of less than about 32,000 tokens)")?;
        }
        Ok(())
    }
}

/// Prints the line at the start.
pub fn say_start(policy: &ServedPolicy, recalls: bool, output: &Output) {
    let label = output.stderr_style().paint(OutputColor::Dim, "midfold:");
    let recall = if recalls { ", the model can look up what was folded" } else { "" };
    output.stderr(&format!("{label} folds by {policy}{recall}\n"));
}

/// Prints the totals as JSON, with the session that the requests made or went on with.
pub fn say_json(totals: &ServerTotals, session: Option<&str>, output: &Output) {
    let mut value = to_json(totals);
    if let Some(id) = session {
        value["session"] = id.into();
    }
    output.stderr(&format!("{value}\n"));
}

/// Prints the line at the end. It goes to standard error, because standard output belongs to the program.
pub fn say(totals: &ServerTotals, output: &Output) {
    let label = output.stderr_style().paint(OutputColor::Dim, "midfold:");
    output.stderr(&format!("{label} {}\n", line(totals)));
}

/// The session that the program's requests made or went on with: the busiest one, or the one that changed last where
/// that one is not stored, as after a first request that the provider refused. Without a store that outlives the program
/// there is none.
pub async fn session_of_run(
    at: &StoreAt,
    busiest: Option<String>,
    began: Millis,
) -> Option<String> {
    let host = OpenStore::open_if_there(at).await.ok()??;
    if let Some(id) = busiest
        && host.store.activity(&id).await.is_ok()
    {
        return Some(id);
    }
    let newest = NewestQuery { limit: 1, ..NewestQuery::default() };
    let sessions = host.store.newest(&newest).await.ok()?;
    sessions.into_iter().find(|session| session.changed >= began).map(|session| session.id)
}

/// Prints the session, and how to look into it.
pub fn say_session(id: &str, output: &Output) {
    let label = output.stderr_style().paint(OutputColor::Dim, "midfold:");
    output.stderr(&format!(
        "{label} session {id}; `midfold recall find last WORDS` looks into it, `midfold top` shows it\n"
    ));
}

/// Prints the windows that this proxy or an earlier one learned from a server.
pub fn say_windows(learned: &[(String, u64)], output: &Output) {
    let label = output.stderr_style().paint(OutputColor::Dim, "midfold:");
    for (model, window) in learned {
        let model = if model.is_empty() { "the model" } else { model };
        output.stderr(&format!(
            "{label} window of {model}: {} tokens, learned from its server; --window sets another\n",
            number(*window)
        ));
    }
}

/// The line about the requests that came through.
pub fn line(totals: &ServerTotals) -> String {
    let ServerTotals { requests, with_history, folded, folds, look_ups, cost, .. } = *totals;
    if requests == 0 {
        return "no request came through: `midfold doctor` shows where clients send theirs"
            .to_owned();
    }
    let mut parts = vec![plural(with_history, "model request")];
    match (folded, folds) {
        (0, _) => parts.push("nothing was folded".to_owned()),
        (_, 0) => parts.push("an earlier fold".to_owned()),
        _ => parts.push(plural(folds, "fold")),
    }
    parts.extend((look_ups > 0).then(|| plural(look_ups, "look-up")));
    if totals.cache_read_tokens > 0 {
        let cached = share(totals.cache_read_tokens, totals.prompt_tokens);
        parts.push(format!("{cached} of the prompts from the provider's cache"));
    }
    parts.extend(cost.filter(|_| folded > 0).map(|cost| cost_words(&cost)));
    if totals.faults > 0 {
        let why = totals.fault_reason.map_or(String::new(), |reason| format!(" ({reason})"));
        parts.push(format!("{} sent as they came{why}", number(totals.faults)));
    }
    parts.join(", ")
}

/// The cost of the prompts against the cost of sending everything, in tokens at the price of uncached input.
fn cost_words(cost: &PromptCost) -> String {
    let [sent, everything] = [cost.sent, cost.everything].map(whole);
    let change = cost.change();
    let [sent, everything] = [number(sent), number(everything)];
    format!("cost {change} (as {sent} uncached tokens; sending everything: {everything})")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a figure for people")]
fn whole(tokens: f64) -> u64 {
    tokens.round() as u64
}

fn share(part: u64, whole: u64) -> String {
    let percent = u128::from(part) * 100 / u128::from(whole.max(1));
    format!("{percent} %")
}

fn to_json(totals: &ServerTotals) -> serde_json::Value {
    json!({
        "requests": totals.requests,
        "with_history": totals.with_history,
        "folded": totals.folded,
        "folds": totals.folds,
        "look_ups": totals.look_ups,
        "faults": totals.faults,
        "cost": totals.cost.map(|cost| json!({ "sent": cost.sent, "everything": cost.everything, "unit": "tokens" })),
        "tokens_before": totals.tokens_before,
        "tokens_after": totals.tokens_after,
        "prompt_tokens": totals.prompt_tokens,
        "cache_read_tokens": totals.cache_read_tokens,
    })
}
