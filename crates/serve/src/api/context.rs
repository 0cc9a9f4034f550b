//! Routes for the context to send, the usage that the provider reported, and the context to send after a refusal.

use hyper::StatusCode;
use midfold::core::Hash;
use midfold::core::event::Usage;
use midfold::core::inject::Injection;
use midfold::store::{StoredError, StoredSession};
use midfold::view::SessionDetail;
use midfold::{RefusedRequest, injections, recover as recovered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ask::ApiRequest;
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use super::sessions::{open, or_problem};

pub(super) fn routes(api: &mut ApiRoutes) {
    api.on(
        Operation::post(
            "/v1/sessions/{id}/context",
            "context",
            "Give the messages to send, folded first where that is due",
        ),
        context,
    );
    api.on(
        Operation::post(
            "/v1/sessions/{id}/usage",
            "observe",
            "Record what the provider counted for a request",
        ),
        observe,
    );
    api.on(
        Operation::post(
            "/v1/sessions/{id}/recover",
            "recover",
            "Compact after the provider refused a request as too long, and give the messages to send once",
        ),
        recover,
    );
}

/// A query for the context to send.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextQuery {
    /// Whether to write a call into the ledger; `true` without it.
    record: Option<bool>,
    /// The texts of hooks to add beside the newest request. They are sent and not kept.
    #[serde(default)]
    injections: Vec<InjectionBody>,
}

/// The text of a hook.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InjectionBody {
    /// The name of the hook.
    name: String,
    /// The text; null if the hook adds nothing now. Its reserve is kept free all the same.
    text: Option<String>,
    /// The tokens that are kept free for the hook. A longer text is an error.
    reserve: u64,
}

/// The context to send.
#[derive(Serialize, JsonSchema)]
struct SendingContext {
    /// The messages to send, byte for byte.
    #[schemars(with = "Vec<Value>")]
    messages: Vec<Box<RawValue>>,
    /// The number of the call in the ledger; null if it was not recorded.
    call: Option<u64>,
    /// The id of the fold that was made for this context; null if none was made.
    folded: Option<Hash>,
    /// Tokens of the context, as midfold counts them.
    tokens: u64,
    /// The texts that hooks added.
    injections: Vec<Injection>,
}

/// The messages as JSON. The log has only valid JSON, so an error means that the store is damaged.
fn raw<'a>(
    messages: impl Iterator<Item = &'a bytes::Bytes>,
) -> Result<Vec<Box<RawValue>>, ApiProblem> {
    let one = |bytes: &bytes::Bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        RawValue::from_string(text).map_err(|error| {
            ApiProblem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", error.to_string())
        })
    };
    messages.map(one).collect()
}

async fn context(request: ApiRequest<(), ContextQuery>) -> Result<SendingContext, ApiProblem> {
    let mut stored = open(&request).await?;
    let ContextQuery { record, injections: hooks } = &request.body;
    let record = record.unwrap_or(true);
    let reserves = hooks.iter().map(|hook| (hook.name.as_str(), hook.reserve));
    let texts: Vec<(&str, &str)> =
        hooks.iter().filter_map(|hook| Some((hook.name.as_str(), hook.text.as_deref()?))).collect();
    let accepted = injections(reserves, texts.iter().map(|(name, _)| *name));
    let accepted = or_problem(&request.desk, std::future::ready(accepted)).await?;
    stored.set_injections(accepted);
    let answer = sending(&mut stored, &texts, record, request.now()).await;
    // The session stays open for later requests, which have hooks of their own.
    stored.set_injections(midfold::core::inject::Injections::default());
    or_problem(&request.desk, std::future::ready(answer)).await?
}

/// Makes the context. The outer error is the store's, the inner one that of a damaged log.
async fn sending(
    stored: &mut StoredSession,
    texts: &[(&str, &str)],
    record: bool,
    now: u64,
) -> Result<Result<SendingContext, ApiProblem>, StoredError> {
    let before = stored.row().active;
    if texts.is_empty() {
        let outcome = stored.context(record, now).await?;
        let messages = raw(outcome.context.pieces().map(|piece| &piece.bytes));
        return Ok(messages.map(|messages| SendingContext {
            messages,
            call: outcome.call,
            folded: outcome.folded,
            tokens: outcome.context.tokens(),
            injections: Vec::new(),
        }));
    }
    let injected = stored.context_with(texts, record, now).await?;
    let folded = stored.row().active.filter(|fold| Some(*fold) != before);
    let messages = raw(injected.context.messages().map(|(bytes, _)| bytes));
    Ok(messages.map(|messages| SendingContext {
        messages,
        call: injected.call,
        folded,
        tokens: injected.context.tokens(),
        injections: injected.context.injections().to_vec(),
    }))
}

/// The tokens of a request, as the provider counted them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ObservedUsage {
    /// Tokens of the prompt, cached ones included.
    prompt: u64,
    /// Tokens of the reply.
    #[serde(default)]
    output: u64,
    /// Tokens of the prompt that were read from the cache.
    #[serde(default)]
    cache_read: u64,
    /// Tokens of the prompt that were written to the cache.
    #[serde(default)]
    cache_write: u64,
    /// The number of the call in the ledger; the newest without it.
    call: Option<u64>,
}

async fn observe(request: ApiRequest<(), ObservedUsage>) -> Result<SessionDetail, ApiProblem> {
    let mut stored = open(&request).await?;
    let ObservedUsage { prompt, output, cache_read, cache_write, call } = request.body;
    if cache_read.saturating_add(cache_write) > prompt {
        return Err(ApiProblem::bad("the cache has more tokens than the prompt")
            .hint("`prompt` counts all tokens of the prompt, cached ones included"));
    }
    let usage = Usage { prompt, output, cache_read, cache_write };
    let detail = async {
        let newest = stored.calls().await?.last().map(|(call, _)| call.number);
        stored.observe(usage, call.or(newest), request.now()).await?;
        SessionDetail::of(&request.desk.overviews, &mut stored, request.now()).await
    };
    or_problem(&request.desk, detail).await
}

/// The provider's refusal of a request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReportedRefusal {
    /// The HTTP status; null if the connection broke before there was one.
    #[schemars(range(min = 100, max = 999))]
    status: Option<u16>,
    /// The body of the answer, as text.
    #[serde(default)]
    body: String,
}

async fn recover(request: ApiRequest<(), ReportedRefusal>) -> Result<SendingContext, ApiProblem> {
    let mut stored = open(&request).await?;
    let ReportedRefusal { status, body } = &request.body;
    let refused = RefusedRequest { status: *status, body: body.as_bytes(), reply: 0 };
    let outcome =
        or_problem(&request.desk, recovered(&mut stored, &refused, request.now())).await?;
    let Some(again) = outcome.retry else {
        let failure = outcome.judged.no_overflow();
        let problem = ApiProblem::new(StatusCode::CONFLICT, "no-overflow", failure.message);
        return Err(failure.hints.into_iter().fold(problem, ApiProblem::hint));
    };
    Ok(SendingContext {
        messages: raw(again.context.pieces().map(|piece| &piece.bytes))?,
        call: again.call,
        folded: again.folded,
        tokens: again.context.tokens(),
        injections: Vec::new(),
    })
}
