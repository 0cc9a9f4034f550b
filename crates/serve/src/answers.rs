//! Responses that midfold makes itself.

use axum::body::Body;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

/// An error of midfold, in the form that clients of every provider read.
pub(crate) fn error(status: StatusCode, kind: &str, text: &str) -> Response {
    let body = serde_json::json!({
        "type": "error",
        "error": { "type": kind, "code": kind, "message": text },
    });
    json(status, &body)
}

/// A response with a JSON body.
pub(crate) fn json(status: StatusCode, body: &serde_json::Value) -> Response {
    let mut headers = HeaderMap::new();
    let json = HeaderValue::from_static("application/json");
    headers.insert(CONTENT_TYPE, json);
    respond(status, headers, Body::from(body.to_string()))
}

/// A response of these parts.
pub(crate) fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
