//! Forwards one request. One with a history is made to fit ([`crate::generate`]); all others, and those with which
//! something fails in midfold, are sent unchanged.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::Body as _;
use hyper::header::{CONTENT_LENGTH, HeaderValue};
use hyper::http::request::Parts;
use midfold::formats::answer::is_media_type;
use midfold::formats::request as wire;
use midfold_proxy::vendor::RequestPurpose;

use crate::answers::respond;
use crate::app::SharedApp;
use crate::body::{BodyRead, content_length};
use crate::broken_answers::BreakingBody;
use crate::guard::{BodyEnd, GuardedBody};
use crate::headers;
use crate::keys::KeyHolder;
use crate::logged::{log_unfolded, note_sender};
use crate::metric_labels::RequestLabels;
use crate::pass_cause::PassCause;
use crate::proxy_request::{ProxyRequest, no_answer, no_key, not_folded};
use crate::route::{RequestRoute, RouteWork};
use crate::route_hints::RouteHints;
use crate::unpack::{BodyPacking, PackedBody};
use crate::upstream::content_type;

/// Forwards a request, and returns the response for the client.
pub(crate) async fn forward(
    app: Arc<SharedApp>,
    request: Request,
    route: RequestRoute,
) -> Response {
    let (parts, body) = request.into_parts();
    let aim = RouteHints::new(&route, &parts.uri);
    // A body that stays unread names no model, so each request gets the goal of its path alone. `generate` chooses
    // again once it knows the model.
    let goal = match aim.goal(&app, None) {
        Ok(goal) => goal,
        Err(error) => return no_answer(&app, &error),
    };
    let (body, watch) =
        match GuardedBody::around(body, app.limits.idle, KeyHolder::longest_body(&parts)) {
            Ok(guarded) => guarded,
            Err(ended) => return ended.response(),
        };
    let trace = app.traces.as_ref().map(|traces| traces.request(&parts)).unwrap_or_default();
    let labels = Arc::new(RequestLabels {
        model: String::new(),
        upstream: goal.target.name.clone(),
        key: KeyHolder::name(&parts),
    });
    note_sender(&labels);
    let proxied = ProxyRequest { app, parts, aim, goal, watch, trace: trace.clone(), labels };
    let answer = proxied.go(route.work, body).await;
    trace.add_head(&answer);
    answer
}

fn is_json_post(parts: &Parts) -> bool {
    parts.method == hyper::Method::POST
        && is_media_type(content_type(&parts.headers), "application/json")
        && BodyPacking::of(&parts.headers) == BodyPacking::None
}

impl ProxyRequest {
    /// Handles the request according to its route.
    async fn go(self, work: RouteWork, body: Body) -> Response {
        match work {
            RouteWork::Generate(history) if !headers::is_off(&self.parts.headers) => {
                self.generate(history, body, RequestPurpose::Answer).await
            }
            RouteWork::Count(history) if !headers::is_off(&self.parts.headers) => {
                self.generate(history, body, RequestPurpose::Count).await
            }
            RouteWork::Compact(history) if !headers::is_off(&self.parts.headers) => {
                self.generate(history, body, RequestPurpose::Compact).await
            }
            RouteWork::Signed => self.open(body, PassCause::Signed).await,
            RouteWork::Pass
                if is_json_post(&self.parts) && !headers::is_off(&self.parts.headers) =>
            {
                self.look(body).await
            }
            _ => {
                self.app.metrics.count_passed();
                self.pass(body, None).await
            }
        }
    }

    /// Handles a request to an unknown path. If its body has messages, it is counted as one that midfold should have
    /// read.
    async fn look(self, body: Body) -> Response {
        match self.app.rooms.read(body, content_length(&self.parts)).await {
            BodyRead::Whole(body, _room) if wire::lists_messages(&body) => {
                self.open(Body::from(body), PassCause::Path).await
            }
            BodyRead::Whole(body, _room) => {
                self.app.metrics.count_passed();
                self.pass(Body::from(body), None).await
            }
            BodyRead::Large(body) => {
                self.app.metrics.count_passed();
                self.pass(body, None).await
            }
            BodyRead::Broken => self.broken(),
        }
    }

    /// The response to a body that ended too early.
    pub fn broken(&self) -> Response {
        let closed = || StatusCode::BAD_REQUEST.into_response();
        self.watch.ended().map_or_else(closed, BodyEnd::response)
    }

    /// Forwards a request unchanged that midfold should have folded but cannot read; with `--strict` it is refused
    /// instead.
    pub async fn open(self, body: Body, cause: PassCause) -> Response {
        self.app.metrics.count_passed();
        self.app.metrics.count_passed_unread(cause);
        log_unfolded(self.parts.uri.path(), None, cause);
        if self.app.is_strict && cause.is_strict() {
            return not_folded(cause);
        }
        self.pass(body, Some(cause)).await
    }

    /// Forwards a body that is in memory, unchanged.
    pub async fn pass_whole(mut self, body: Bytes, packed: Option<PackedBody>) -> Response {
        self.app.metrics.count_passed();
        let body = PackedBody::again(packed.as_ref(), body, &mut self.parts.headers);
        self.parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        self.pass(Body::from(body), None).await
    }

    /// Forwards a body and its answer as streams.
    async fn pass(mut self, body: Body, cause: Option<PassCause>) -> Response {
        if let Err(no) = self.aim.give_key(&self.app, &self.goal, &mut self.parts) {
            return no_key(&self.app, no);
        }
        let mut out = headers::for_upstream(&self.parts.headers, false);
        // `for_upstream` drops the length with the other headers of the connection. The body goes on unchanged, so the
        // length still holds.
        if let Some(length) = self.parts.headers.get(CONTENT_LENGTH) {
            out.insert(CONTENT_LENGTH, length.clone());
        }
        self.trace.goes_on(&mut out);
        let (method, address) = (self.parts.method.clone(), self.goal.address.clone());
        let upstream = &self.app.upstream;
        // A streamed body cannot be sent twice, and another method may do something that should be done once.
        let outcome = if method.is_safe() && body.is_end_stream() {
            upstream.send_whole(method, address, out, Bytes::new()).await
        } else {
            upstream.send(method, address, out, body).await
        };
        match outcome {
            Ok(answer) => {
                let (head, body) = answer.into_parts();
                self.app.metrics.count_answer(&self.labels, head.status.as_u16());
                let mut headers = headers::for_client(&head.headers);
                if let Some(cause) = cause {
                    headers.insert(headers::FAULT, HeaderValue::from_static(cause.name()));
                }
                respond(head.status, headers, Body::new(BreakingBody::new(body)))
            }
            // The upstream got only a part of the body, so the client's error is reported, not the upstream's.
            Err(_) if self.watch.ended().is_some() => self.broken(),
            Err(error) => no_answer(&self.app, &error),
        }
    }
}
