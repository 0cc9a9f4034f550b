//! Routes that append and read messages.

use midfold::DialectKind;
use midfold::store::AppendOutcome;
use midfold::view::{MessagePage, MessageView, message, messages};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ask::{ApiRequest, text, within};
use super::body_messages::events;
use super::describe::{ApiRoutes, Operation};
use super::problem::ApiProblem;
use super::sessions::{open, or_problem};

/// The messages of a page if the request names no number.
const PAGE: u64 = 100;
/// The most messages of a page.
const MOST: u64 = 1_000;
/// The characters that are shown of a text if the request names no number.
const CHARS: u64 = 2_000;
/// The most characters of an idempotency key.
const KEY: usize = 200;

pub(super) fn routes(api: &mut ApiRoutes) {
    let path = "/v1/sessions/{id}/messages";
    api.on(Operation::get(path, "messages", "Read messages, and what became of each"), list);
    api.on(
        Operation::post(
            path,
            "append",
            "Append messages: all of them or none, durable once it is answered",
        )
        .creates()
        .keyed(),
        append,
    );
    api.on(
        Operation::get("/v1/sessions/{id}/messages/{seq}", "message", "Read one message, whole"),
        one,
    );
}

/// A query for a page of messages.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MessagesQuery {
    /// The number of the first message; 0 without it.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    from: Option<u64>,
    /// The most messages of the page: 1 to 1,000.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>", range(min = 1, max = 1000))]
    limit: Option<u64>,
    /// The most characters of each text; 2,000 without it.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    chars: Option<u64>,
}

async fn list(request: ApiRequest<MessagesQuery>) -> Result<MessagePage, ApiProblem> {
    let mut stored = open(&request).await?;
    let MessagesQuery { from, limit, chars } = &request.query;
    let from = from.unwrap_or(0);
    let to = from.saturating_add(within("limit", *limit, PAGE, 1..=MOST)?);
    let chars = usize::try_from(chars.unwrap_or(CHARS)).unwrap_or(usize::MAX);
    or_problem(&request.desk, messages(&mut stored, from..to, chars)).await
}

async fn one(request: ApiRequest) -> Result<MessageView, ApiProblem> {
    let seq = request.number("seq")?;
    let mut stored = open(&request).await?;
    or_problem(&request.desk, message(&mut stored, seq)).await
}

/// A condition for an append.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AppendQuery {
    /// The number of messages that the session has to have. If it has another number, somebody else appended, and
    /// nothing is done.
    #[serde(default, deserialize_with = "text::number")]
    #[schemars(with = "Option<u64>")]
    expect: Option<u64>,
}

/// Messages to append.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AppendBody {
    /// The messages as they are to be sent. Their bytes are kept.
    #[schemars(with = "Vec<serde_json::Map<String, Value>>", length(min = 1))]
    messages: Box<RawValue>,
}

/// The result of an append.
#[derive(Serialize, JsonSchema)]
struct AppendedMessages {
    /// The number of the first appended message in the log.
    first: u64,
    /// The number of appended messages.
    count: u64,
    /// Whether the idempotency key was used before. If so, this is the first answer again, and nothing was appended
    /// now.
    repeated: bool,
}

async fn append(
    request: ApiRequest<AppendQuery, AppendBody>,
) -> Result<AppendedMessages, ApiProblem> {
    let key = request.key.clone();
    if key.as_ref().is_some_and(|key| key.is_empty() || key.len() > KEY) {
        return Err(ApiProblem::bad(format!("`Idempotency-Key` has 1 to {KEY} characters")));
    }
    let mut stored = open(&request).await?;
    let kind = DialectKind::from_name(&stored.row().new.dialect);
    // A session of an unknown dialect cannot be opened, so this default is never used.
    let kind = kind.unwrap_or(DialectKind::OpenAiChat);
    let events = events(request.body.messages.get(), kind, request.id(), request.most_messages)?;
    let (expect, now) = (request.query.expect, request.now());
    let appended = midfold::append(&mut stored, events, key, expect, now);
    let AppendOutcome { first, count, repeated } = or_problem(&request.desk, appended).await?;
    Ok(AppendedMessages { first, count, repeated })
}
