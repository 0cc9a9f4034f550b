//! Routes that list, create, read, fork, export and delete sessions.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use midfold::store::{
    NewestQuery, SessionActivity, SessionExtent, SessionMeta, StoreError, StoredError, transfer,
};
use midfold::view::{Overview, SessionDetail};
use midfold::{Door, DoorHost, Failure, PolicyFrom, Settings, Start, without_messages};
use midfold_proxy::RandomSource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ask::{ApiRequest, text, within};
use super::body_messages::events;
use super::caller::ApiCaller;
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use crate::desk::{Desk, LockedSession};

/// The sessions of a page if the request names no number.
const PAGE: u64 = 100;
/// The most sessions of a page.
const MOST: u64 = 500;
/// How many sessions are searched for one page; the next page goes on behind them.
const LOOKED_AT: u64 = 20_000;
/// How many sessions a search reads from the store at once.
const AT_ONCE: usize = 500;

pub(super) fn routes(api: &mut ApiRoutes) {
    api.on(Operation::get("/v1/sessions", "list", "List sessions, the newest change first"), list);
    api.on(Operation::post("/v1/sessions", "create", "Make a session").creates(), create);
    api.on(Operation::get("/v1/sessions/{id}", "status", "Give the figures of a session"), status);
    api.on(Operation::delete("/v1/sessions/{id}", "delete", "Delete a session, for good"), delete);
    api.on(
        Operation::post(
            "/v1/sessions/{id}/fork",
            "fork",
            "Make a session of the first messages of another",
        )
        .creates(),
        fork,
    );
    api.raw(
        Operation::get(
            "/v1/sessions/{id}/export",
            "export",
            "Write a session out, as `midfold store export` does",
        )
        .answers("application/x-ndjson"),
        export,
    );
    api.on(Operation::get("/v1/presets", "presets", "List the presets"), presets);
}

/// The result of work on a session, with a store's error as a problem.
pub(super) async fn or_problem<T, E: Into<StoredError>>(
    desk: &Desk,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, ApiProblem> {
    match work.await {
        Ok(outcome) => Ok(outcome),
        Err(error) => Err(ApiProblem::stored(&*desk.store, error.into()).await),
    }
}

/// The activity of a session. For a caller that may not see the session, it does not exist.
pub(super) async fn activity(
    desk: &Desk,
    caller: &ApiCaller,
    id: &str,
) -> Result<SessionActivity, ApiProblem> {
    let outcome = desk.store.activity(id).await;
    let unseen = || StoreError::NoSession(id.to_owned());
    let outcome = outcome
        .and_then(|row| if caller.sees(row.owner.as_deref()) { Ok(row) } else { Err(unseen()) });
    or_problem(desk, std::future::ready(outcome)).await
}

/// Opens the session that a request names, for this request alone.
pub(super) async fn open<Q, B>(request: &ApiRequest<Q, B>) -> Result<LockedSession, ApiProblem> {
    let ApiRequest { desk, caller, .. } = request;
    activity(desk, caller, request.id()).await?;
    or_problem(desk, desk.opened.open(&desk.store, request.id())).await
}

/// A query for a page of sessions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// The most sessions of the page: 1 to 500.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>", range(min = 1, max = 500))]
    limit: Option<u64>,
    /// The `next` of the page before; the first page without it.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    after: Option<u64>,
    /// Only sessions with this text in their id, title, model, client or source.
    q: Option<String>,
}

/// A page of sessions.
#[derive(Serialize, JsonSchema)]
struct SessionPage {
    /// The sessions of the page, the last changed first.
    sessions: Vec<Overview>,
    /// The `after` of the next page; null on the last page.
    next: Option<u64>,
}

async fn list(request: ApiRequest<ListQuery>) -> Result<SessionPage, ApiProblem> {
    let ApiRequest { desk, caller, query, .. } = request;
    let limit = usize::try_from(within("limit", query.limit, PAGE, 1..=MOST)?).unwrap_or(1);
    let wanted = query.q.unwrap_or_default().to_lowercase();
    let mut page = SessionPage { sessions: Vec::new(), next: query.after };
    let mut looked_at = 0;
    // One more than the page has, because only a row behind it tells that there is a next page. A search reads many
    // rows at once, and few of them match.
    let rows = if wanted.is_empty() { limit + 1 } else { AT_ONCE };
    while looked_at < LOOKED_AT {
        let (owner, before) = (caller.owner.clone(), page.next);
        let page_query =
            NewestQuery { owner, before, limit: u32::try_from(rows).unwrap_or(u32::MAX) };
        let activities = or_problem(&desk, desk.store.newest(&page_query)).await?;
        let is_last = activities.len() < rows;
        for activity in activities {
            if page.sessions.len() == limit || looked_at == LOOKED_AT {
                return Ok(page);
            }
            looked_at += 1;
            page.next = Some(activity.tick);
            match desk.overviews.of(activity).await {
                Ok(overview) if matches(&overview, &wanted) => {
                    page.sessions.push((*overview).clone());
                }
                // The session does not match, or was deleted after the list was read.
                Ok(_) | Err(StoreError::NoSession(_)) => {}
                Err(error) => return or_problem(&desk, std::future::ready(Err(error))).await,
            }
        }
        if is_last {
            page.next = None;
            return Ok(page);
        }
    }
    Ok(page)
}

fn matches(overview: &Overview, wanted: &str) -> bool {
    let Overview { id, title, model, client, source, .. } = overview;
    let texts = [Some(id), title.as_ref(), Some(model), client.as_ref(), source.as_ref()];
    wanted.is_empty()
        || texts.into_iter().flatten().any(|label| label.to_lowercase().contains(wanted))
}

/// The settings and the first messages of a new session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewSessionBody {
    /// The id: 1 to 200 characters. Without it, a new id that sorts by time.
    id: Option<String>,
    /// The wire format of the messages: `openai-chat` (default), `openai-responses`, `anthropic`, `gemini`, `bedrock`,
    /// `ollama`, `sharegpt`.
    dialect: Option<String>,
    /// The model that the contexts go to. Window, tokenizer and trigger rules follow from it.
    model: Option<String>,
    /// The model's window in tokens. Without it, the window that is known for the model.
    #[schemars(range(min = 1))]
    window: Option<u64>,
    /// Tokens of the window that stay free for the reply.
    #[serde(default)]
    output_reserve: u64,
    /// Seconds for which the provider's cache keeps a prompt, such as 300. After a longer pause, a context above the
    /// buffer line is folded before it is sent. Without it, a pause changes nothing.
    #[schemars(range(min = 0))]
    cache_lifetime: Option<f64>,
    /// The name of a preset; `default` without it.
    preset: Option<String>,
    /// The differences to a preset, in the shape of `docs/policy.schema.json`.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    policy: Option<Value>,
    /// The system prompt: a text, or the value that the dialect has for it.
    #[schemars(with = "Option<Value>")]
    system: Option<Box<RawValue>>,
    /// The tools of the requests. They are counted and not sent.
    #[schemars(with = "Option<Vec<Value>>")]
    tools: Option<Box<RawValue>>,
    /// The first messages.
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    messages: Option<Box<RawValue>>,
}

/// A host without files: this door reads none.
const HOST: DoorHost = DoorHost {
    door: Door::Http,
    read: |path| {
        let text = format!("`{}` is no name that is known here", path.display());
        Err(Failure::usage(midfold::FailureArea::Input, text))
    },
};

/// The policy that a request asks for; `None` if it names neither a preset nor a policy.
pub(super) fn policy(
    preset: Option<String>,
    given: Option<&Value>,
) -> Result<Option<midfold::Policy>, Failure> {
    if preset.is_none() && given.is_none() {
        return Ok(None);
    }
    let policy = given.map(PolicyFrom::json).transpose()?;
    Settings { preset, policy, ..Settings::default() }.policy(&HOST).map(Some)
}

async fn create(request: ApiRequest<(), NewSessionBody>) -> Result<Overview, ApiProblem> {
    let now = request.now();
    let ApiRequest { app, desk, caller, body: new, most_messages, .. } = request;
    let kind = midfold::dialect(new.dialect.as_deref().unwrap_or("openai-chat"))?;
    let settings = Settings { model: new.model.clone(), window: new.window, ..Settings::default() };
    let rules = policy(new.preset, new.policy.as_ref())?;
    let rules = rules.map_or_else(|| midfold::by_name("default", Door::Http), Ok)?;
    if new.tools.as_ref().is_some_and(|json| !json.get().starts_with('[')) {
        return Err(ApiProblem::bad("`tools` is no list"));
    }
    let lifetime = new.cache_lifetime.map(midfold::cache_lifetime).transpose()?;
    let system = new.system.map(|json| json.get().to_owned());
    let tools = new.tools.map(|json| Bytes::from(json.get().to_owned()));
    let empty = without_messages(kind, system.as_deref(), tools, new.model);
    let prepared = settings.setup(&HOST)?.prepare(empty);
    let prepared = prepared.map_err(|error| midfold::AdvisedError::advise(error, Door::Http))?;
    let start = Start {
        id: new.id.unwrap_or_else(|| fresh(now, &app.random)),
        policy: rules,
        output_reserve: new.output_reserve,
        source: Some(SessionMeta::API.to_owned()),
        owner: caller.owner,
        cache_lifetime: lifetime.flatten(),
    };
    let started = start.check(&prepared, now, Door::Http)?;
    started.can_be_stored()?;
    let mut first = started.messages();
    if let Some(json) = &new.messages {
        first.extend(events(json.get(), kind, "a new session", most_messages)?);
    }
    let overview = async {
        let stored = started.store(Arc::clone(&desk.store), first).await?;
        Ok::<_, StoredError>(desk.overviews.one(&stored.row().new.id).await?)
    };
    Ok((*or_problem(&desk, overview).await?).clone())
}

/// A new id: the time and a random number, so that ids sort by the time of creation.
fn fresh(now: u64, random: &RandomSource) -> String {
    let mut bytes = [0; 8];
    random(&mut bytes);
    format!("{now:012x}-{:016x}", u64::from_be_bytes(bytes))
}

async fn status(request: ApiRequest) -> Result<SessionDetail, ApiProblem> {
    let mut stored = open(&request).await?;
    or_problem(
        &request.desk,
        SessionDetail::of(&request.desk.overviews, &mut stored, request.now()),
    )
    .await
}

async fn delete(request: ApiRequest) -> Result<SessionExtent, ApiProblem> {
    let ApiRequest { desk, caller, .. } = &request;
    // The feed reports the last figures of the session, which can only be read before it is deleted.
    let last_activity = activity(desk, caller, request.id()).await?;
    desk.opened.close(request.id());
    let extent = or_problem(desk, desk.store.delete(request.id(), None)).await?;
    desk.feed.report_deletion(&last_activity);
    // The session is gone for every reader, so a failed scrub does not make the deletion fail.
    if let Err(error) = desk.store.scrub().await {
        tracing::warn!(%error, "the bytes of a deleted session may still be in the file");
    }
    Ok(extent)
}

/// The fork of a session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForkBody {
    /// The id of the new session. Without it, a new id that sorts by time.
    id: Option<String>,
    /// The number of first messages that the new session takes; all without it.
    at: Option<u64>,
}

async fn fork(request: ApiRequest<(), ForkBody>) -> Result<Overview, ApiProblem> {
    let mut stored = open(&request).await?;
    let id = request.body.id.clone().unwrap_or_else(|| fresh(request.now(), &request.app.random));
    let overview = async {
        stored.fork(&id, request.body.at, request.now()).await?;
        Ok::<_, StoredError>(request.desk.overviews.one(&id).await?)
    };
    Ok((*or_problem(&request.desk, overview).await?).clone())
}

async fn export(request: ApiRequest) -> Result<Response, ApiProblem> {
    activity(&request.desk, &request.caller, request.id()).await?;
    let mut out = Vec::new();
    let written = transfer::export(&*request.desk.store, Some(request.id()), &mut out).await;
    written.map_err(|error| {
        ApiProblem::new(StatusCode::SERVICE_UNAVAILABLE, "store", error.to_string())
    })?;
    let mut response = Response::new(Body::from(out));
    let lines = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(CONTENT_TYPE, lines);
    Ok(response)
}

/// The presets.
#[derive(Serialize, JsonSchema)]
struct PresetList {
    /// The presets; `default` comes first.
    presets: Vec<PresetEntry>,
}

/// A preset.
#[derive(Serialize, JsonSchema)]
struct PresetEntry {
    /// The name of the preset.
    name: String,
    /// What the preset does, in one line.
    about: String,
}

async fn presets(_: ApiRequest) -> Result<PresetList, ApiProblem> {
    let preset = |name: &'static str| {
        let about = midfold::Policy::preset(name).map(|policy| policy.summary).unwrap_or_default();
        PresetEntry { name: name.to_owned(), about }
    };
    Ok(PresetList { presets: midfold::Policy::preset_names().into_iter().map(preset).collect() })
}
