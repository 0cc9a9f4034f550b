//! Policies compared: a session replayed under each.

use std::time::Instant;

use hyper::StatusCode;
use midfold::core::prices::Prices;
use midfold::core::replay::{Measures, Recording, Replayed};
use midfold::{
    About, Comparison, Contender, DialectKind, Form, Log, Policy, Ran, Replaying, event_rows,
    events_of, strategy, tokens,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::ask::Asked;
use super::describe::{Api, Op};
use super::problem::Problem;
use super::sessions::{done, open};

/// Policies of one comparison.
const MOST: usize = 8;
/// Counts as `midfold replay` does.
const TOKENIZER: &str = "chars:3.2";

pub(super) fn routes(api: &mut Api) {
    api.on(
        Op::post(
            "/v1/sessions/{id}/replay",
            "replay",
            "Replay a session under some policies: the document of `midfold replay --json`",
        ),
        replay,
    );
}

/// What is compared.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Comparing {
    /// Names of presets; `raw` sends everything.
    #[schemars(length(min = 1, max = 8))]
    policies: Vec<String>,
    /// The window, in tokens; that of the session without it.
    #[schemars(range(min = 1))]
    window: Option<u64>,
}

async fn replay(asked: Asked<(), Comparing>) -> Result<Value, Problem> {
    let Comparing { policies, window } = &asked.body;
    if policies.is_empty() || policies.len() > MOST {
        return Err(Problem::bad(format!("`policies` has 1 to {MOST} names")));
    }
    let mut contenders = Vec::new();
    for name in policies {
        let policy: Option<Policy> = strategy(name)?;
        let form = if policy.is_some() { Form::Session } else { Form::Stateless };
        let forms = Contender::forms(policy.as_ref(), form).into_iter();
        contenders.extend(forms.map(|contender| (name.clone(), contender)));
    }
    let mut stored = open(&asked).await?;
    let status = done(&asked.desk, stored.status(asked.now())).await?;
    let window = window.unwrap_or(status.context_length).max(1);
    let kind = DialectKind::from_name(&stored.row().new.dialect);
    let kind = kind.unwrap_or(DialectKind::OpenAiChat);
    let recording = recorded(done(&asked.desk, stored.whole()).await?.log(), kind)?;
    // Others may look at the session while it is replayed.
    drop(stored);
    let Ok(_alone) = asked.desk.replays.try_acquire() else {
        return Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            "another comparison is under way",
        )
        .hint("ask again when it is done")
        .wait(5));
    };
    Ok(compared(asked.id(), kind.name(), &recording, &contenders, window))
}

/// The messages of a session, counted as `midfold replay` does.
fn recorded(held: &Log, kind: DialectKind) -> Result<Recording, Problem> {
    let counter = tokens::by_name(TOKENIZER).map_err(|error| Problem::bad(error.to_string()))?;
    let mut log = Log::new(kind.shared(), *held.profile(), counter);
    for event in events_of(held) {
        log.append(event);
    }
    Ok(Recording::new(log))
}

fn compared(
    name: &str,
    dialect: &'static str,
    recording: &Recording,
    contenders: &[(String, Contender)],
    window: u64,
) -> Value {
    let prices = Prices::reference();
    let log = recording.log();
    let conversations = [About {
        name: name.to_owned(),
        dialect,
        messages: log.len(),
        tokens: log.tokens(),
        events: event_rows(log),
    }];
    let found: Vec<Done> =
        contenders.iter().map(|(_, it)| Done::of(it, recording, &prices, window)).collect();
    let runs = contenders.iter().zip(&found).map(|((name, contender), done)| Ran {
        strategy: name,
        window,
        form: contender.form(),
        is_engine: false,
        totals: &done.totals,
        each: &done.each,
    });
    Comparison {
        tokenizer: TOKENIZER,
        arguments: "meant",
        prices: &prices,
        conversations: &conversations,
        runs: runs.collect(),
    }
    .to_json()
}

/// What came of one policy.
struct Done {
    totals: Measures,
    each: [(usize, Result<Replayed, String>); 1],
}

impl Done {
    fn of(contender: &Contender, recording: &Recording, prices: &Prices, window: u64) -> Self {
        let begun = Instant::now();
        let clock = move || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let replaying = Replaying { window, prices, clock: &clock };
        let found = replaying.run(recording, contender.strategy());
        let mut totals = Measures::default();
        if let Ok(found) = &found {
            totals.add(&found.measures);
        }
        Self { totals, each: [(0, found.map_err(|error| error.to_string()))] }
    }
}
