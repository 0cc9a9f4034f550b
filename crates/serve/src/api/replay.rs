//! A route that compares policies: a session is replayed under each.

use std::time::Instant;

use hyper::StatusCode;
use midfold::{DialectKind, EventLog, Policy, event_rows, events_of, tokens};
use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{Recording, ReplayMeasures, ReplayResult};
use midfold_eval::{
    ConversationFacts, ReplayContender, ReplayForm, ReplayOptions, StrategyComparison,
    StrategyResult, strategy,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::ask::ApiRequest;
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use super::sessions::{open, or_problem};

/// The most policies of one comparison.
const MOST: usize = 8;
/// The tokenizer of `midfold measure replay`, so that both give the same numbers.
const TOKENIZER: &str = "chars:3.2";

pub(super) fn routes(api: &mut ApiRoutes) {
    api.on(
        Operation::post(
            "/v1/sessions/{id}/replay",
            "replay",
            "Replay a session under some policies: the document of `midfold measure replay --json`",
        ),
        replay,
    );
}

/// A comparison of policies over the messages of a session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareBody {
    /// The names of presets; `raw` sends every message.
    #[schemars(length(min = 1, max = 8))]
    policies: Vec<String>,
    /// The window in tokens; that of the session without it.
    #[schemars(range(min = 1))]
    window: Option<u64>,
}

async fn replay(request: ApiRequest<(), CompareBody>) -> Result<Value, ApiProblem> {
    let CompareBody { policies, window } = &request.body;
    if policies.is_empty() || policies.len() > MOST {
        return Err(ApiProblem::bad(format!("`policies` has 1 to {MOST} names")));
    }
    let mut contenders = Vec::new();
    for name in policies {
        let policy: Option<Policy> = strategy(name)?;
        let form = if policy.is_some() { ReplayForm::Session } else { ReplayForm::Stateless };
        let forms = ReplayContender::forms(policy.as_ref(), form).into_iter();
        contenders.extend(forms.map(|contender| (name.clone(), contender)));
    }
    let mut stored = open(&request).await?;
    let status = or_problem(&request.desk, stored.status(request.now())).await?;
    let window = window.unwrap_or(status.context_length).max(1);
    let kind = DialectKind::from_name(&stored.row().new.dialect);
    let kind = kind.unwrap_or(DialectKind::OpenAiChat);
    let session = or_problem(&request.desk, stored.whole()).await?;
    let recording = recorded(session.log(), session.meter().unseen, kind)?;
    // The lock on the session is released, because other requests may read the session while it is replayed.
    drop(stored);
    // A comparison takes a thread for seconds, so the next one is refused and does not wait.
    let Ok(_alone) = request.desk.replays.try_acquire() else {
        return Err(ApiProblem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            "another comparison is under way",
        )
        .hint("ask again when it is done")
        .wait(5));
    };
    Ok(compared(request.id(), kind.name(), &recording, &contenders, window))
}

/// The messages of a session, counted with the tokenizer of `midfold measure replay`. `unseen` is what each request has
/// beside messages and envelope, in tokens.
fn recorded(
    stored_log: &EventLog,
    unseen: u64,
    kind: DialectKind,
) -> Result<Recording, ApiProblem> {
    let counter = tokens::by_name(TOKENIZER).map_err(|error| ApiProblem::bad(error.to_string()))?;
    let mut log = EventLog::new(kind.shared(), *stored_log.profile(), counter);
    log.add_to_envelope(stored_log.envelope_tokens().saturating_add(unseen));
    for event in events_of(stored_log) {
        log.append(event);
    }
    Ok(Recording::new(log))
}

fn compared(
    name: &str,
    dialect: &'static str,
    recording: &Recording,
    contenders: &[(String, ReplayContender)],
    window: u64,
) -> Value {
    let prices = PriceTable::reference();
    let log = recording.log();
    let conversations = [ConversationFacts {
        name: name.to_owned(),
        dialect,
        messages: log.len(),
        tokens: log.tokens(),
        events: event_rows(log),
    }];
    let results: Vec<PolicyResult> = contenders
        .iter()
        .map(|(_, entrant)| PolicyResult::of(entrant, recording, &prices, window))
        .collect();
    let runs = contenders.iter().zip(&results).map(|((name, contender), result)| StrategyResult {
        strategy: name,
        window,
        form: contender.form(),
        is_engine: false,
        totals: &result.totals,
        each: &result.each,
    });
    StrategyComparison {
        tokenizer: TOKENIZER,
        prices: &prices,
        conversations: &conversations,
        runs: runs.collect(),
    }
    .to_json()
}

/// The measures of one policy.
struct PolicyResult {
    totals: ReplayMeasures,
    each: [(usize, Result<ReplayResult, String>); 1],
}

impl PolicyResult {
    fn of(
        contender: &ReplayContender,
        recording: &Recording,
        prices: &PriceTable,
        window: u64,
    ) -> Self {
        let begun = Instant::now();
        let clock = move || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let replaying = ReplayOptions { window, prices, clock: &clock };
        let outcome = replaying.run(recording, contender.strategy());
        let mut totals = ReplayMeasures::default();
        if let Ok(outcome) = &outcome {
            totals.add(&outcome.measures);
        }
        Self { totals, each: [(0, outcome.map_err(|error| error.to_string()))] }
    }
}
