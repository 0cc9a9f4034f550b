//! Reads path, query and body of an API request into the types that its route takes.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderName;
use hyper::http::request::Parts;
use midfold::formats::answer::is_media_type;
use midfold::formats::request::memory_of;
use serde::de::DeserializeOwned;

use super::caller::ApiCaller;
use super::problem::ApiProblem;
use crate::app::SharedApp;
use crate::body::{BodyRead, BodyRoom};
use crate::desk::Desk;
use crate::guard::{BodyEnd, GuardedBody};
use crate::keys::KeyHolder;
use crate::reading::MEMORY;
use crate::upstream::content_type;

/// The header that names an append: a retry with the same key returns the first answer.
pub(super) const IDEMPOTENCY: HeaderName = HeaderName::from_static("idempotency-key");

/// An API request after it was read.
pub(crate) struct ApiRequest<Q = (), B = ()> {
    pub app: Arc<SharedApp>,
    pub desk: Arc<Desk>,
    pub caller: ApiCaller,
    /// The holder of the request's key; `None` if the server has no keys.
    pub holder: Option<Arc<KeyHolder>>,
    path: HashMap<String, String>,
    pub query: Q,
    pub body: B,
    /// The value of the header [`IDEMPOTENCY`], if it was sent.
    pub key: Option<String>,
    /// The most messages that the body may have.
    pub most_messages: usize,
    /// The memory that the body takes, until the request is answered.
    _room: BodyRoom,
}

impl<Q: DeserializeOwned, B: DeserializeOwned> ApiRequest<Q, B> {
    /// Admits a request and reads it.
    pub async fn read(app: Arc<SharedApp>, request: Request) -> Result<Self, ApiProblem> {
        let (caller, request) = ApiCaller::enter(&app, request)?;
        let Some(desk) = app.desk.clone() else {
            return Err(ApiProblem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "memory",
                "this server keeps conversations in memory alone",
            )
            .hint("start it with a store: midfold serve --store sqlite:PATH"));
        };
        let (mut parts, body) = request.into_parts();
        let holder = parts.extensions.get().cloned();
        let path = path(&mut parts).await?;
        let query = query(parts.uri.query().unwrap_or_default())?;
        let key = parts.headers.get(IDEMPOTENCY).and_then(|value| value.to_str().ok());
        let key = key.map(str::to_owned);
        let (bytes, room) = document(&app, &parts, body).await?;
        let most_messages = KeyHolder::longest_history(&parts).min(app.limits.longest_history);
        let body = body_of(&parts, &bytes)?;
        Ok(Self { app, desk, caller, holder, path, query, body, key, most_messages, _room: room })
    }
}

impl<Q, B> ApiRequest<Q, B> {
    /// The id of the session in the path.
    pub fn id(&self) -> &str {
        self.path.get("id").map_or("", String::as_str)
    }

    /// A number in the path. The error is a 404, because no other path has a number there.
    pub fn number(&self, name: &str) -> Result<u64, ApiProblem> {
        let text = self.path.get(name).map_or("", String::as_str);
        text.parse().map_err(|_| ApiProblem::missing(format!("`{text}` is no number")))
    }

    /// The current time in milliseconds since 1970.
    pub fn now(&self) -> u64 {
        self.app.now()
    }
}

/// Reads the body of a request to midfold's own API, and reserves memory for it and for the values parsed from it.
pub(crate) async fn document(
    app: &SharedApp,
    parts: &Parts,
    body: Body,
) -> Result<(Bytes, BodyRoom), ApiProblem> {
    let longest = KeyHolder::longest_body(parts);
    let (body, watch) = GuardedBody::around(body, app.limits.idle, longest)
        .map_err(|ended| too_large(&ended.to_string()))?;
    let (bytes, mut room) = match app.rooms.read(body, None).await {
        BodyRead::Whole(bytes, room) => (bytes, room),
        BodyRead::Large(_) => {
            let most = app.rooms.longest();
            return Err(too_large(&format!(
                "the body is larger than the limit of {most} bytes, or too many bodies are being read"
            )));
        }
        BodyRead::Broken => {
            return Err(match watch.ended() {
                None => ApiProblem::bad("the body stopped"),
                Some(ended @ BodyEnd::Idle) => stopped(&ended.to_string()),
                Some(ended) => too_large(&ended.to_string()),
            });
        }
    };
    // The values are counted before serde makes them: a few bytes of JSON can become many times as many in memory.
    let memory = memory_of(&bytes);
    if memory > app.rooms.longest() * MEMORY || !app.rooms.take(&mut room, memory) {
        return Err(too_large(
            "the body has more values than there is memory for; send it in several requests",
        ));
    }
    Ok((bytes, room))
}

fn stopped(why: &str) -> ApiProblem {
    ApiProblem::new(StatusCode::REQUEST_TIMEOUT, "timeout", why.trim_start_matches("midfold: "))
}

pub(super) fn too_large(why: &str) -> ApiProblem {
    ApiProblem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", why.trim_start_matches("midfold: "))
}

async fn path(parts: &mut Parts) -> Result<HashMap<String, String>, ApiProblem> {
    let params = RawPathParams::from_request_parts(parts, &()).await;
    let params = params.map_err(|_| ApiProblem::missing("the path is not text in UTF-8"))?;
    Ok(params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Parses a query string. Its pairs become a JSON object of strings, from which the route's type is read.
fn query<Q: DeserializeOwned>(text: &str) -> Result<Q, ApiProblem> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let mut fields = serde_json::Map::new();
    for pair in pairs {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decoded(name)?, decoded(value)?);
        // The query may also contain the key of the request, which was removed before.
        if fields.insert(name.clone(), value.into()).is_some() {
            return Err(ApiProblem::bad(format!("the query has `{name}` twice")));
        }
    }
    let value = match fields.is_empty() {
        // A route without a query takes `()`, which reads from null.
        true => serde_json::Value::Null,
        false => serde_json::Value::Object(fields),
    };
    serde_json::from_value::<Q>(value.clone())
        // A type with optional fields alone does not read from null, but from an empty object.
        .or_else(|error| match value.is_null() {
            true => serde_json::from_value(serde_json::json!({})),
            false => Err(error),
        })
        .map_err(|error| ApiProblem::bad(format!("the query: {error}")))
}

/// Decodes a part of a query: `+` is a space, and `%` begins a byte in hexadecimal.
fn decoded(text: &str) -> Result<String, ApiProblem> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit =
                    || rest.next().and_then(|following| char::from(following).to_digit(16));
                let (Some(high), Some(low)) = (digit(), digit()) else {
                    return Err(ApiProblem::bad(format!(
                        "`{text}` in the query is cut off after a %"
                    )));
                };
                u8::try_from(high * 16 + low).unwrap_or_default()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| ApiProblem::bad("the query is not text in UTF-8"))
}

/// Reads a JSON body. An empty body counts as an empty object, because every field of it may be missing.
fn body_of<B: DeserializeOwned>(parts: &Parts, bytes: &Bytes) -> Result<B, ApiProblem> {
    if bytes.is_empty() {
        return serde_json::from_str("null")
            .or_else(|_| serde_json::from_str("{}"))
            .map_err(|error| ApiProblem::bad(format!("the body is empty: {error}")));
    }
    // A form on another page can send plain text without the browser's permission, but not JSON. So the content type
    // has to be JSON.
    let kind = content_type(&parts.headers);
    if !is_media_type(kind, "application/json") {
        return Err(ApiProblem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "media-type",
            format!("the body is `{kind}`"),
        )
        .hint("send JSON, with the header `content-type: application/json`"));
    }
    // serde would read a list as the fields of an object in order, which nobody means.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(ApiProblem::bad("the body is no JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| ApiProblem::bad(format!("the body: {error}")))
}

/// A number of a query, checked against its bounds; `usual` if it is missing.
pub(super) fn within(
    name: &str,
    given: Option<u64>,
    usual: u64,
    bounds: std::ops::RangeInclusive<u64>,
) -> Result<u64, ApiProblem> {
    let number = given.unwrap_or(usual);
    if bounds.contains(&number) {
        return Ok(number);
    }
    let (least, most) = (bounds.start(), bounds.end());
    Err(ApiProblem::bad(format!("`{name}` is {number}, and has to be from {least} to {most}")))
}

/// Parses numbers and flags, which are texts in a query.
pub(super) mod text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};

    /// Reads a number; `None` if it is missing.
    pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| D::Error::custom(format!("`{text}` is no number")))
    }

    /// Reads a flag: `true` or an empty value is true; `false` or a missing value is false.
    pub fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        match text.as_deref() {
            None | Some("false") => Ok(false),
            Some("true" | "") => Ok(true),
            Some(text) => Err(D::Error::custom(format!("`{text}` is neither true nor false"))),
        }
    }
}
