//! Makes the answer to a request.

use std::sync::PoisonError;

use serde_json::{Value, json};

use super::cache::CachePrefix;
use super::count;
use super::endpoint::{Endpoint, ReplyMode};
use super::errors::{BrokenRule, Flavour, OverflowSizes, ServerFailure, error, overflow, window};
use super::fault::PlannedFault;
use super::reply::{ReplyKind, ScriptedReply};
use super::request_parts::{AskedParts, WireDialect, fnv};
use super::settings::UpstreamSettings;
use super::shared::{RecordedCall, SharedInner, SharedState};
use super::stats::{RawMessage, RequestOutcome, StatsEntry, raw_messages};
use super::stream::{self, CREATED, NumberedReply, failed};
use super::strict::check;

/// The answer to a request, and the fault to play while sending it.
#[derive(Debug)]
pub(crate) struct ServerAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: ServerBody,
    pub fault: Option<PlannedFault>,
}

#[derive(Debug)]
pub(crate) enum ServerBody {
    Whole(String),
    /// A stream in pieces, with its content type.
    Pieces(&'static str, Vec<String>),
}

impl ServerAnswer {
    fn json(status: u16, body: &Value) -> Self {
        Self { status, headers: Vec::new(), body: ServerBody::Whole(body.to_string()), fault: None }
    }
}

impl From<ServerFailure> for ServerAnswer {
    fn from(failure: ServerFailure) -> Self {
        let headers = failure.headers.into_iter().map(|(name, value)| (name.to_owned(), value));
        let body = ServerBody::Whole(failure.body);
        Self { status: failure.status, headers: headers.collect(), body, fault: None }
    }
}

/// The content type of a stream of events.
const EVENTS: &str = "text/event-stream; charset=utf-8";

/// The headers in which clients name their session.
const SESSION_HEADERS: [&str; 8] = [
    "x-session-id",
    "session-id",
    "session_id",
    "thread-id",
    "x-claude-code-session-id",
    "x-litellm-session-id",
    "x-affinity",
    "x-session-affinity",
];

/// Answers a request and records it.
pub(crate) fn answer(shared: &SharedState, request: &RecordedCall) -> ServerAnswer {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    if let Some(answer) = control(shared, &request.method, path) {
        return answer;
    }
    let mut inner = shared.inner.lock().unwrap_or_else(PoisonError::into_inner);
    inner.recorded.push(request.clone());
    let at = inner.recorded.len() - 1;
    let answer = match Endpoint::of(&request.method, path, query) {
        Endpoint::Model { dialect, model, how } => {
            model_answer(shared, &mut inner, request, dialect, model, how)
        }
        Endpoint::Count { dialect, model } => counted(shared, request, dialect, model),
        Endpoint::Models(dialect) => ServerAnswer::json(200, &models(dialect, request)),
        Endpoint::Unknown(dialect) => {
            let text = match dialect {
                WireDialect::Messages => "Not Found".to_owned(),
                _ => format!("Invalid URL ({} {path})", request.method),
            };
            error(dialect, 404, &BrokenRule::new(text)).into()
        }
    };
    inner.recorded[at].status =
        if matches!(answer.fault, Some(PlannedFault::Reset)) { 0 } else { answer.status };
    answer
}

/// Answers the control requests of tests in other languages. `None` for any other request.
fn control(shared: &SharedState, method: &str, path: &str) -> Option<ServerAnswer> {
    match (method, path) {
        ("GET", "/__stats") => {
            let inner = shared.inner.lock().unwrap_or_else(PoisonError::into_inner);
            Some(ServerAnswer::json(200, &inner.stats.json()))
        }
        ("POST", "/__reset") => {
            *shared.inner.lock().unwrap_or_else(PoisonError::into_inner) = SharedInner::default();
            Some(ServerAnswer::json(200, &json!({})))
        }
        ("POST", "/__release") => {
            shared.releases.add_permits(1);
            Some(ServerAnswer::json(200, &json!({})))
        }
        _ => None,
    }
}

fn models(dialect: WireDialect, request: &RecordedCall) -> Value {
    if dialect == WireDialect::Gemini {
        return json!({"models": [{"name": "models/scripted", "displayName": "Scripted",
            "supportedGenerationMethods": ["generateContent", "countTokens"]}]});
    }
    if request.header("anthropic-version").is_some() {
        return json!({"data": [{"type": "model", "id": "scripted", "display_name": "Scripted",
            "created_at": "2026-01-01T00:00:00Z"}], "has_more": false, "first_id": "scripted",
            "last_id": "scripted"});
    }
    json!({"object": "list", "data": [{"id": "scripted", "object": "model", "created": CREATED,
        "owned_by": "testkit"}]})
}

/// The body as a request. Fails where it is not a JSON object.
fn parsed(
    request: &RecordedCall,
    dialect: WireDialect,
    model: Option<String>,
    how: ReplyMode,
) -> Result<AskedParts, ServerFailure> {
    let body = serde_json::from_slice::<Value>(&request.body).ok().filter(Value::is_object);
    let Some(body) = body else {
        let text = "We could not parse the JSON body of your request.";
        return Err(error(dialect, 400, &BrokenRule::new(text)));
    };
    let streams = match how {
        ReplyMode::AsBodySays => body["stream"] == true,
        ReplyMode::Whole => false,
        ReplyMode::Events | ReplyMode::Array => true,
    };
    Ok(AskedParts::new(dialect, model, streams, body))
}

fn counted(
    shared: &SharedState,
    request: &RecordedCall,
    dialect: WireDialect,
    model: Option<String>,
) -> ServerAnswer {
    let mut parts = match parsed(request, dialect, model, ReplyMode::Whole) {
        Ok(parts) => parts,
        Err(failure) => return failure.into(),
    };
    if dialect == WireDialect::Messages {
        // A count needs no `max_tokens`, but the check asks for it.
        parts.body["max_tokens"] = json!(1);
        if let Err(broken) = check(&parts, shared.settings().strict) {
            return error(dialect, 400, &broken).into();
        }
    } else if parts.body["generateContentRequest"].is_object() {
        let inner = parts.body["generateContentRequest"].clone();
        parts = AskedParts::new(dialect, Some(parts.model.clone()), false, inner);
    }
    let tokens = count::prompt(&parts);
    ServerAnswer::json(
        200,
        &match dialect {
            WireDialect::Gemini => json!({"totalTokens": tokens}),
            _ => json!({"input_tokens": tokens}),
        },
    )
}

fn session(request: &RecordedCall, body: &Value) -> String {
    let header = SESSION_HEADERS.iter().find_map(|name| request.header(name));
    header.or(body["prompt_cache_key"].as_str()).unwrap_or_default().to_owned()
}

/// Answers a request to a model, and adds it to the statistics.
fn model_answer(
    shared: &SharedState,
    inner: &mut SharedInner,
    request: &RecordedCall,
    dialect: WireDialect,
    model: Option<String>,
    how: ReplyMode,
) -> ServerAnswer {
    inner.number += 1;
    let mut entry = StatsEntry {
        number: inner.number,
        endpoint: request.target.clone(),
        dialect,
        model: String::new(),
        session: String::new(),
        kind: ReplyKind::Turn,
        outcome: RequestOutcome::Answered,
        status: 200,
        prompt_tokens: 0,
        cached_tokens: 0,
        written_tokens: 0,
        output_tokens: 0,
        messages: 0,
        bytes: request.body.len(),
        digest: fnv(&request.body),
        append_only: None,
        same_bytes: None,
        shared: None,
        step: None,
    };
    let answer = match parsed(request, dialect, model, how) {
        Ok(parts) => replied(shared, inner, request, parts, how, &mut entry),
        Err(failure) => refused(failure, "no JSON object", &mut entry),
    };
    entry.status =
        if matches!(answer.fault, Some(PlannedFault::Reset)) { 0 } else { answer.status };
    inner.stats.push(entry);
    answer
}

fn refused(failure: ServerFailure, text: &str, entry: &mut StatsEntry) -> ServerAnswer {
    entry.outcome = RequestOutcome::Refused(text.to_owned());
    failure.into()
}

/// Notes what a turn has in common with the one before of its session.
fn note_turn(
    inner: &mut SharedInner,
    entry: &mut StatsEntry,
    prefix: &CachePrefix,
    raw: Vec<RawMessage>,
) {
    let common = inner.turns.next(&entry.session, prefix, raw);
    entry.append_only = common.map(|common| common.append_only);
    entry.same_bytes = common.and_then(|common| common.same_bytes);
    entry.shared = common.map(|common| common.shared);
}

fn replied(
    shared: &SharedState,
    inner: &mut SharedInner,
    request: &RecordedCall,
    mut parts: AskedParts,
    how: ReplyMode,
    entry: &mut StatsEntry,
) -> ServerAnswer {
    let settings = shared.settings();
    let dialect = parts.dialect;
    entry.model = parts.model.clone();
    entry.session = session(request, &parts.body);
    let fault =
        settings.faults.iter().find(|(when, _)| when.is(entry.number)).map(|(_, f)| f.clone());
    if let Some(answer) = fault.as_ref().and_then(|fault| instead(dialect, fault, parts.streams)) {
        entry.outcome = RequestOutcome::Fault;
        return answer;
    }
    if let Err((status, broken)) = inner.state.resolve(&mut parts, settings.keeps()) {
        return refused(error(dialect, status, &broken), &broken.message, entry);
    }
    entry.messages = parts.items.len();
    if let Err(broken) = check(&parts, settings.strict) {
        return refused(error(dialect, 400, &broken), &broken.message, entry);
    }
    let mut prefix = CachePrefix::new(&parts);
    let mut prompt = prefix.total();
    entry.prompt_tokens = prompt;
    if let Some(limit) = settings.limit.filter(|limit| prompt > *limit)
        && settings.flavour == Flavour::SilentTruncate
    {
        entry.outcome = RequestOutcome::Overflow;
        truncate(&mut parts, limit / 2);
        prefix = CachePrefix::new(&parts);
        prompt = prefix.total();
    }
    let mut reply = settings.script.reply(&parts, &settings.summary_phrases);
    (entry.kind, entry.step) = (reply.kind, reply.step);
    let output = if settings.count_output { parts.max_tokens().unwrap_or(0) } else { 0 };
    let over = settings.limit.filter(|limit| prompt + output > *limit);
    if let Some(limit) = over {
        entry.outcome = RequestOutcome::Overflow;
        let sizes = OverflowSizes { prompt, output, limit };
        if let Some(answer) = too_long(&settings, &parts, &reply, sizes) {
            return answer;
        }
        reply = ScriptedReply { text: String::new(), calls: Vec::new(), ..reply };
    } else if fault.as_ref().is_some_and(|fault| !fault.passes()) {
        entry.outcome = RequestOutcome::Fault;
    }
    let answered = entry.outcome == RequestOutcome::Answered;
    let explicit = settings.explicit_cache && dialect == WireDialect::Messages;
    let cached = if over.is_some() { 0 } else { inner.cache.read(&prefix, explicit) };
    let mut numbered = NumberedReply::new(&parts, &reply, prompt, cached, settings.thinks(&parts));
    numbered.bind = settings.bind_thinking;
    numbered.written = prefix.marked().saturating_sub(cached);
    if over.is_some() {
        numbered.cut(0);
    }
    entry.cached_tokens = cached;
    entry.written_tokens = if dialect == WireDialect::Messages { numbered.written } else { 0 };
    entry.output_tokens = numbered.output;
    if answered {
        if reply.kind == ReplyKind::Turn {
            let raw = raw_messages(&request.body, dialect, parts.items.len());
            note_turn(inner, entry, &prefix, raw);
            inner.stats.done |= reply.done;
        }
        inner.state.keep(&numbered, settings.keeps());
    }
    // A prompt that was truncated silently got a reply too, so its facts count.
    if over.is_none() && entry.outcome != RequestOutcome::Fault {
        inner.stats.needed(&entry.session, &reply.uses);
    }
    let events =
        (parts.streams && !settings.ignores_stream).then(|| settings.events_type.unwrap_or(EVENTS));
    let body = body_of(&numbered, how, events);
    ServerAnswer { status: 200, headers: extra(dialect, &numbered.seed), body, fault }
}

/// A reply as it is sent: as events of this content type, where it is streamed.
fn body_of(reply: &NumberedReply<'_>, how: ReplyMode, events: Option<&'static str>) -> ServerBody {
    match (how, events) {
        (ReplyMode::Array, _) => {
            ServerBody::Pieces("application/json; charset=UTF-8", listed(reply))
        }
        (_, Some(content_type)) => ServerBody::Pieces(content_type, reply.events()),
        (_, None) => ServerBody::Whole(reply.whole().to_string()),
    }
}

/// The answer that a fault sends instead of a reply. `None` for faults that happen while the reply is sent.
fn instead(dialect: WireDialect, fault: &PlannedFault, streams: bool) -> Option<ServerAnswer> {
    let answer = match fault {
        PlannedFault::Status { code, headers, body } => ServerAnswer {
            status: *code,
            headers: headers.clone(),
            body: ServerBody::Whole(body.clone()),
            fault: None,
        },
        PlannedFault::RateLimited { retry_after } => {
            let text = "Rate limit reached for requests. Please try again later.";
            let mut answer = ServerAnswer::from(error(dialect, 429, &BrokenRule::new(text)));
            answer.headers.push(("retry-after".to_owned(), retry_after.clone()));
            answer
        }
        PlannedFault::StreamError { .. } if streams => return None,
        PlannedFault::ServerError | PlannedFault::StreamError { .. } => error(
            dialect,
            500,
            &BrokenRule::new("The server had an error while processing your request."),
        )
        .into(),
        PlannedFault::Reset => ServerAnswer {
            fault: Some(PlannedFault::Reset),
            ..ServerAnswer::json(200, &Value::Null)
        },
        PlannedFault::Cut { .. } | PlannedFault::Hang { .. } | PlannedFault::Held => return None,
    };
    Some(answer)
}

/// Drops messages from the front until the prompt has at most this many tokens, as Ollama does. The last message stays.
fn truncate(parts: &mut AskedParts, tokens: u64) {
    while parts.items.len() > 1 && count::prompt(parts) > tokens {
        parts.items.remove(0);
    }
}

/// The error for a prompt that does not fit. `None` where the backend reports no error.
fn too_long(
    settings: &UpstreamSettings,
    parts: &AskedParts,
    reply: &ScriptedReply,
    sizes: OverflowSizes,
) -> Option<ServerAnswer> {
    let failure = overflow(parts.dialect, settings.flavour, sizes)?;
    if !settings.overflow_in_answer {
        return Some(failure.into());
    }
    let numbered = NumberedReply::new(parts, reply, sizes.prompt, 0, false);
    let body = match parts.dialect {
        _ if !parts.streams => ServerBody::Whole(failure.body),
        WireDialect::Responses if settings.flavour == Flavour::Native => {
            ServerBody::Pieces(EVENTS, stream::responses::refused(&numbered, &window()))
        }
        _ => ServerBody::Pieces(EVENTS, begun_and_refused(&numbered, &failure.body)),
    };
    Some(ServerAnswer { status: 200, headers: Vec::new(), body, fault: None })
}

/// A stream that begins as every stream does, and then reports an error.
fn begun_and_refused(numbered: &NumberedReply<'_>, error: &str) -> Vec<String> {
    // The first event of Gemini has content, so its error comes first.
    let begun = match numbered.request.dialect {
        WireDialect::Gemini => None,
        _ => numbered.events().into_iter().next(),
    };
    begun.into_iter().chain([format!("event: error\ndata: {error}\n\n")]).collect()
}

/// The chunks of a Gemini stream as the pieces of one JSON array.
fn listed(numbered: &NumberedReply<'_>) -> Vec<String> {
    let chunks = stream::gemini::chunks(numbered);
    let last = chunks.len().saturating_sub(1);
    let pieces = chunks.iter().enumerate().map(|(at, chunk)| {
        let start = if at == 0 { "[" } else { ",\r\n" };
        let end = if at == last { "]" } else { "" };
        format!("{start}{chunk}{end}")
    });
    pieces.collect()
}

/// Headers that providers add and clients read.
fn extra(dialect: WireDialect, seed: &str) -> Vec<(String, String)> {
    let pairs: &[(&str, &str)] = match dialect {
        WireDialect::Chat | WireDialect::Responses => &[
            ("openai-processing-ms", "7"),
            ("x-ratelimit-limit-tokens", "1000000"),
            ("x-ratelimit-remaining-tokens", "999000"),
        ],
        WireDialect::Messages => &[("anthropic-ratelimit-tokens-remaining", "999000")],
        WireDialect::Gemini => &[("server-timing", "gfet4t7; dur=7")],
    };
    let id = match dialect {
        WireDialect::Messages => "request-id",
        _ => "x-request-id",
    };
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    pairs.chain([(id.to_owned(), format!("req_{seed}"))]).collect()
}

/// The error event that ends a stream, for the fault [`PlannedFault::StreamError`].
pub(crate) fn failure_event(dialect: WireDialect) -> String {
    failed(dialect)
}
