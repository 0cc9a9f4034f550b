//! A route for administrators: the server's settings, and what it did since its start.

use midfold::WindowSource;
use midfold::view::FaultCount;
use schemars::JsonSchema;
use serde::Serialize;

use super::describe::{ApiRoutes, Operation};
use crate::app::SharedApp;

pub(super) fn routes(api: &mut ApiRoutes) {
    api.about_server(
        Operation::get(
            "/v1/server",
            "server",
            "Say what this server is set to, and what it did so far",
        ),
        ServerReport::of,
    );
}

/// What the server is and did since its start.
#[derive(Serialize, JsonSchema)]
struct ServerReport {
    /// Of midfold.
    version: &'static str,
    /// When it began to listen, in milliseconds since 1970.
    started: u64,
    /// What its clock says now, in milliseconds since 1970.
    now: u64,
    /// Where it listens.
    listen: String,
    /// Where conversations are kept: `memory`, or the place of the store, without a password.
    store: String,
    /// The name of the policy that folds where a request asks for no other one.
    policy: String,
    /// Whoever asks needs a key.
    asks_for_keys: bool,
    /// What it should have looked at and could not is refused instead of sent as it came.
    strict: bool,
    requests: RequestTotals,
    /// Each cause for which requests were sent as they came although midfold should have looked at them.
    faults: Vec<FaultCount>,
    /// Where requests go.
    upstreams: Vec<UpstreamPlace>,
    /// Windows that were said at the start, and those that requests had to fit so far.
    windows: Vec<WindowRow>,
}

/// What became of requests since the start.
#[derive(Serialize, JsonSchema)]
struct RequestTotals {
    /// All of them.
    all: u64,
    /// Those whose history was looked at.
    with_history: u64,
    /// Those that were read through a fold.
    folded: u64,
    /// Folds that were made.
    folds: u64,
    /// Those that a provider refused as too long.
    overflows: u64,
    /// Of these, those that were folded and sent again.
    recovered: u64,
    /// Prompts of which a server dropped a part, and said nothing.
    truncated: u64,
    /// Those that got no answer.
    unanswered: u64,
    /// Answers that broke off.
    broken: u64,
}

/// A place that requests go to.
#[derive(Serialize, JsonSchema)]
struct UpstreamPlace {
    name: String,
    url: String,
    /// Patterns of the models that go there whatever their format; often none.
    models: Vec<String>,
}

/// How much a model holds.
#[derive(Serialize, JsonSchema)]
struct WindowRow {
    /// Where requests for it went; none for what was said at the start.
    upstream: Option<String>,
    /// Its name; a pattern of names where it was said at the start.
    model: String,
    /// In tokens.
    window: u64,
    /// Who says so: `setting`, `request`, `server`, `learned` (of a refusal, or of what was taken), `table` (known of
    /// models of this name) or `default` (nobody).
    from: &'static str,
}

impl ServerReport {
    fn of(app: &SharedApp) -> Self {
        let store = app.desk.as_ref().map(|desk| desk.store.place());
        let faults = app.metrics.faults().map(|(cause, requests)| FaultCount {
            cause: cause.name().to_owned(),
            reason: cause.reason().to_owned(),
            requests,
        });
        let upstreams = app.upstreams.places().into_iter().map(|(name, url)| {
            let models = app.upstreams.models(&name);
            UpstreamPlace { name, url, models }
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            started: app.started,
            now: app.now(),
            listen: app.listens_on.clone(),
            store: store.unwrap_or_else(|| "memory".to_owned()),
            policy: app.policy.clone(),
            asks_for_keys: app.keys.is_some(),
            strict: app.is_strict,
            requests: RequestTotals::of(app),
            faults: faults.collect(),
            upstreams: upstreams.collect(),
            windows: windows(app),
        }
    }
}

impl RequestTotals {
    fn of(app: &SharedApp) -> Self {
        let totals = app.totals();
        Self {
            all: totals.requests,
            with_history: totals.with_history,
            folded: totals.folded,
            folds: totals.folds,
            overflows: totals.overflows,
            recovered: totals.recovered,
            truncated: totals.truncated,
            unanswered: totals.unanswered,
            broken: totals.broken,
        }
    }
}

/// The windows that were set at the start, and those that requests had to fit.
fn windows(app: &SharedApp) -> Vec<WindowRow> {
    let said = app.said_windows.iter().map(|(model, window)| WindowRow {
        upstream: None,
        model: model.clone(),
        window: *window,
        from: WindowSource::Given.name(),
    });
    let known = app.known.all().into_iter().map(|known| WindowRow {
        upstream: Some(known.upstream),
        model: known.model,
        window: known.window,
        from: known.from.name(),
    });
    said.chain(known).collect()
}
