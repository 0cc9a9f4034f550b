//! Errors of the API, as problem details (RFC 9457) with the hints that the command line prints.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use midfold::store::recall::RecallError;
use midfold::store::{Store, StoreError, StoredError};
use midfold::{AdvisedError, Door, Failure, advise_in, advise_recall};
use schemars::JsonSchema;
use serde::Serialize;

/// An error of the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiProblem(Box<ProblemDetails>);

/// The description of an error (RFC 9457).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ProblemDetails {
    /// The URI of the kind of problem: `urn:midfold:` and its code.
    #[serde(rename = "type")]
    kind: String,
    /// The kind of problem, in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// The fault, and where it is.
    detail: String,
    /// The code of the kind of problem.
    code: String,
    /// Advice on what to do.
    hints: Vec<String>,
    /// The number of messages that the session was expected to have. Left out unless another append came first.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<u64>,
    /// The number of messages that the session has.
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<u64>,
    /// Seconds to wait.
    #[serde(skip)]
    wait: Option<u64>,
}

impl ApiProblem {
    /// An error of this kind.
    pub fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self(Box::new(ProblemDetails {
            kind: format!("urn:midfold:{code}"),
            title: title(code).to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            ..ProblemDetails::default()
        }))
    }

    /// The request is wrong (400).
    pub fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", detail)
    }

    /// Something does not exist (404).
    pub fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds the seconds after which the client may ask again.
    pub fn wait(mut self, seconds: u64) -> Self {
        self.0.wait = Some(seconds);
        self
    }

    fn of(status: StatusCode, code: &str, failure: Failure) -> Self {
        failure.hints.into_iter().fold(Self::new(status, code, failure.message), Self::hint)
    }

    /// The error of work on a session of this store.
    pub async fn stored(store: &dyn Store, error: StoredError) -> Self {
        let (status, code) = kind(&error);
        let (expected, actual) = match &error {
            StoredError::Store(StoreError::Conflict { expected, actual }) => {
                (Some(*expected), Some(*actual))
            }
            _ => (None, None),
        };
        if status.is_server_error() {
            tracing::warn!(%error, "a request for a session failed");
        }
        // The hints must not list the ids of other owners' sessions.
        let failure = match &error {
            StoredError::Store(StoreError::NoSession(_)) => error.advise(Door::Http),
            _ => advise_in(store, error, Door::Http).await,
        };
        let mut problem = Self::of(status, code, failure);
        (problem.0.expected, problem.0.actual) = (expected, actual);
        problem
    }

    /// The error of a recall.
    pub async fn recall(store: &dyn Store, error: RecallError, session: &str) -> Self {
        let (status, code) = match error {
            RecallError::Store(error) => return Self::stored(store, error.into()).await,
            RecallError::NoEvent(..) | RecallError::NoFold(_) => {
                (StatusCode::NOT_FOUND, "not-found")
            }
            RecallError::Unfolded | RecallError::Empty => (StatusCode::CONFLICT, "nothing-folded"),
            _ => (StatusCode::BAD_REQUEST, "bad-request"),
        };
        Self::of(status, code, advise_recall(store, error, session, Door::Http).await)
    }
}

/// A failure of the facade is a wrong request (400).
impl From<Failure> for ApiProblem {
    fn from(failure: Failure) -> Self {
        Self::of(StatusCode::BAD_REQUEST, "bad-request", failure)
    }
}

/// The status and the code of an error of a session.
fn kind(error: &StoredError) -> (StatusCode, &'static str) {
    match error {
        StoredError::Store(error) => stored_kind(error),
        StoredError::Plan(_) | StoredError::Recover(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, "cannot-fit")
        }
        StoredError::Undo(_) => (StatusCode::CONFLICT, "nothing-folded"),
        StoredError::Inject(_) => (StatusCode::UNPROCESSABLE_ENTITY, "injection"),
        StoredError::NoEvent { .. } | StoredError::NoNumber { .. } => {
            (StatusCode::NOT_FOUND, "not-found")
        }
        StoredError::Unknown { .. } => (StatusCode::NOT_IMPLEMENTED, "other-build"),
        StoredError::Busy(_) => (StatusCode::CONFLICT, "busy"),
    }
}

/// The status and the code of an error of the store.
fn stored_kind(error: &StoreError) -> (StatusCode, &'static str) {
    match error {
        StoreError::NoSession(_) => (StatusCode::NOT_FOUND, "no-session"),
        StoreError::BadId(_) | StoreError::Url(_) | StoreError::Query(_) => {
            (StatusCode::BAD_REQUEST, "bad-request")
        }
        StoreError::Exists(_) => (StatusCode::CONFLICT, "exists"),
        StoreError::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
        StoreError::KeyReused(_) => (StatusCode::UNPROCESSABLE_ENTITY, "key-reused"),
        StoreError::NoFold(_) | StoreError::NoCall(_) => (StatusCode::NOT_FOUND, "not-found"),
        StoreError::Settled(_) => (StatusCode::CONFLICT, "settled"),
        StoreError::StaleFold { .. }
        | StoreError::StaleState { .. }
        | StoreError::StaleCall { .. }
        | StoreError::OtherJob
        | StoreError::Changed(_) => (StatusCode::CONFLICT, "busy"),
        StoreError::Foreign(_) | StoreError::Damaged(_) | StoreError::Json(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "damaged")
        }
        StoreError::Backend { .. } => (StatusCode::SERVICE_UNAVAILABLE, "store"),
    }
}

/// What a code of a problem says.
pub(crate) fn title(code: &str) -> &'static str {
    match code {
        "bad-request" => "The request is invalid",
        "not-found" => "Not found",
        "no-session" => "There is no such session",
        "exists" => "A session with this id exists",
        "conflict" => "Another request changed the session first",
        "key-reused" => "The key was used for another append",
        "cannot-fit" => "No context that fits can be made",
        "nothing-folded" => "Nothing is folded",
        "injection" => "A hook cannot add this",
        "settled" => "The cost of this call is known already",
        "busy" => "The session is being changed by another request",
        "no-key" => "A key is required",
        "wrong-scope" => "This key does not allow this operation",
        "forbidden" => "This is forbidden",
        "rate" => "Too many requests",
        "too-large" => "The request is too large",
        "timeout" => "The body did not come in time",
        "media-type" => "The body has to be JSON",
        "no-overflow" => "The request was not too long",
        "memory" => "This server keeps no sessions",
        "method" => "This path does not have this method",
        "other-build" => "Another build of midfold made this",
        "damaged" => "The stored data cannot be read",
        "store" => "The store failed",
        _ => "A fault of midfold's own",
    }
}

impl IntoResponse for ApiProblem {
    fn into_response(self) -> Response {
        let details = *self.0;
        let status = StatusCode::from_u16(details.status).unwrap_or(StatusCode::BAD_REQUEST);
        let body = serde_json::to_string(&details).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = details.wait {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
