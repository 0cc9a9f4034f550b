//! A route for administrators: the server's settings, and what it did since its start.

use midfold::WindowSource;
use midfold::view::FaultCount;
use schemars::JsonSchema;
use serde::Serialize;

use super::describe::{ApiRoutes, Operation};
use crate::app::SharedApp;

pub(super) fn routes(api: &mut ApiRoutes) {
    api.about_server(
        Operation::get("/v1/server", "server", "Give the server's settings and its counts so far"),
        ServerReport::of,
    );
}

/// The server's settings, and its counts since it was started.
#[derive(Serialize, JsonSchema)]
struct ServerReport {
    /// The version of midfold.
    version: &'static str,
    /// When the server began to listen, in milliseconds since 1970.
    started: u64,
    /// The present time by the server's clock, in milliseconds since 1970.
    now: u64,
    /// The address that the server listens on.
    listen: String,
    /// The store of the conversations: `memory`, or its URL without the password.
    store: String,
    /// The name of the policy that applies unless a request names another.
    policy: String,
    /// Whether requests need a key.
    asks_for_keys: bool,
    /// Whether a request that should be looked at and cannot be is refused. Otherwise it is sent as it came.
    strict: bool,
    requests: RequestTotals,
    /// The causes for which requests were sent as they came although midfold should have looked at them.
    faults: Vec<FaultCount>,
    /// The places that requests go to.
    upstreams: Vec<UpstreamPlace>,
    /// The windows of models: those given at the start, and those that requests had to fit so far.
    windows: Vec<WindowRow>,
}

/// The counts of requests since the server was started.
#[derive(Serialize, JsonSchema)]
struct RequestTotals {
    /// All requests.
    all: u64,
    /// Requests with a conversation that midfold looked at.
    with_history: u64,
    /// Requests that were sent through a fold.
    folded: u64,
    /// The number of folds that were made.
    folds: u64,
    /// Requests that a provider refused as too long.
    overflows: u64,
    /// Requests that a provider refused as too long, and that were then folded and sent again.
    recovered: u64,
    /// Requests of which a server dropped a part of the prompt, without an error.
    truncated: u64,
    /// Requests that got no answer.
    unanswered: u64,
    /// Requests whose answer broke off.
    broken: u64,
}

/// A place that requests go to.
#[derive(Serialize, JsonSchema)]
struct UpstreamPlace {
    name: String,
    url: String,
    /// Patterns of the models whose requests go there, whatever format these have; often empty.
    models: Vec<String>,
}

/// The window of a model.
#[derive(Serialize, JsonSchema)]
struct WindowRow {
    /// The name of the place where requests for the model went; null if the window was given at the start.
    upstream: Option<String>,
    /// The name of the model; a pattern of names if the window was given at the start.
    model: String,
    /// The window in tokens.
    window: u64,
    /// Where the window is known from: `setting`, `request`, `server`, `learned` (from a refusal, or from an accepted
    /// prompt), `table` (built in, by the model's name) or `default` (from nowhere).
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
    let given = app.said_windows.iter().map(|(model, window)| WindowRow {
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
    given.chain(known).collect()
}
