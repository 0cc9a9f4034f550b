//! One request on its way: read, made to fit, sent, its answer passed on. What goes wrong in midfold is
//! no reason for a request to fail: it goes on as it came.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{StatusCode, Uri};
use midfold::DialectKind;
use midfold::formats::answer::{Framing, Seen, Tee, Verdict};
use midfold::formats::overflow::Diagnosis;
use midfold::formats::request as wire;
use midfold::proxy::vendor::{Done, Insert, Purpose, Wish};
use midfold::proxy::{Fault, Turn, Who};

use crate::app::App;
use crate::body::{Read, Room};
use crate::headers;
use crate::metrics::Cause;
use crate::route::{Asked, Route, Work, route};
use crate::tee::Teed;
use crate::upstream::{NoAnswer, content_type};
use crate::vendor::{self, Inserted};

/// Bytes of a refusal that are read to see what it means.
const LONGEST_REFUSAL: usize = 1 << 20;
/// Bytes of a stream that are held back until it is clear that it is no refusal.
const LONGEST_PRELUDE: usize = 64 << 10;

/// Takes a request through.
pub(crate) async fn forward(app: Arc<App>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Route { provider, work } = route(&parts.method, parts.uri.path(), &parts.headers);
    let address = match app.upstream.address(provider, &parts.uri) {
        Ok(address) => address,
        Err(error) => return no_answer(&app, &error),
    };
    let way = Way { app, parts, address };
    match work {
        Work::Generate(asked) if !headers::is_off(&way.parts.headers) => {
            way.generate(asked, body, Purpose::Answer).await
        }
        Work::Count(asked) if !headers::is_off(&way.parts.headers) => {
            way.generate(asked, body, Purpose::Count).await
        }
        Work::Compact(asked) if !headers::is_off(&way.parts.headers) => {
            way.generate(asked, body, Purpose::Compact).await
        }
        _ => {
            way.app.metrics.passed();
            way.pass(body, None).await
        }
    }
}

/// A request's head, and where it goes.
struct Way {
    app: Arc<App>,
    parts: Parts,
    address: Uri,
}

/// A request with a history, as it came.
struct Came {
    body: Bytes,
    room: Room,
    stream: bool,
    purpose: Purpose,
    who: Who,
    start: Instant,
}

impl Way {
    /// A request with a history.
    async fn generate(self, asked: Asked, body: Body, purpose: Purpose) -> Response {
        let packed = self.parts.headers.get(CONTENT_ENCODING);
        if packed.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
            return self.open(body, Cause::Encoded).await;
        }
        let length = self.parts.headers.get(CONTENT_LENGTH).map(HeaderValue::to_str);
        let length = length.and_then(Result::ok).and_then(|length| length.parse().ok());
        let (body, room) = match self.app.rooms.read(body, length).await {
            Read::Whole(body, room) => (body, room),
            Read::Large(body) => return self.open(body, Cause::TooLarge).await,
            Read::Broken => return StatusCode::BAD_REQUEST.into_response(),
        };
        let start = Instant::now();
        let Ok(request) = vendor::read(asked.kind, body.clone(), purpose) else {
            return self.open(Body::from(body), Cause::Unread).await;
        };
        let stream = asked.stream || request.stream;
        let who = headers::who(&self.parts.headers, asked.model);
        match vendor::wish(&self.app.proxy, request, &who, purpose) {
            Some(Ok(wish)) => {
                let came = Came { body, room, stream, purpose, who, start };
                self.fulfil(wish, came).await
            }
            Some(Err(refused)) => vendor::refused(refused),
            None => self.open(Body::from(body), Cause::Panic).await,
        }
    }

    /// A request whose vendor's members were read.
    async fn fulfil(mut self, wish: Wish, came: Came) -> Response {
        let Wish { request, work, is_replay, strips_betas } = wish;
        let Came { body, room, stream, purpose, who, start } = came;
        if purpose == Purpose::Compact && work.is_none() {
            return self.pass_whole(request.body().clone()).await;
        }
        let Some(mut turn) = self.turn(request, is_replay, &who).await else {
            return self.open(Body::from(body), Cause::Panic).await;
        };
        let Some(done) = vendor::work(&mut turn, work, stream, self.app.now()) else {
            return self.open(Body::from(body), Cause::Panic).await;
        };
        self.app.keep();
        self.app.metrics.sent(turn.sent(), start.elapsed());
        let insert = match done {
            Done::Ask(insert) => insert,
            Done::Refused(refused) => return vendor::refused(refused),
            Done::Answer(made) => return vendor::made(made, turn.sent()),
        };
        if let Some(fault) = turn.sent().fault {
            let cause = cause(fault);
            self.app.metrics.open(cause);
            if self.app.is_strict {
                return strict(cause);
            }
        }
        if strips_betas {
            vendor::strip_betas(&mut self.parts.headers);
        }
        let is_answered = purpose == Purpose::Answer;
        let trip = Trip { way: self, turn, room, stream, is_answered, insert };
        trip.go().await
    }

    /// What is to be sent for a request. Nothing where midfold failed.
    async fn turn(&self, request: wire::Request, is_replay: bool, who: &Who) -> Option<Turn> {
        let (proxy, now) = (Arc::clone(&self.app.proxy), self.app.now());
        let begin = std::panic::AssertUnwindSafe(|| proxy.begin_wish(request, is_replay, who));
        let begun = std::panic::catch_unwind(begin).ok()?;
        if let Some(keeper) = &self.app.keeper {
            keeper.bring_back(&begun).await;
        }
        let finish = std::panic::AssertUnwindSafe(|| proxy.finish(begun, now));
        std::panic::catch_unwind(finish).ok()
    }

    /// A request that midfold should have looked at, and cannot.
    async fn open(self, body: Body, cause: Cause) -> Response {
        self.app.metrics.passed();
        self.app.metrics.open(cause);
        if self.app.is_strict {
            return strict(cause);
        }
        self.pass(body, Some(cause)).await
    }

    /// Sends a body that is known.
    async fn pass_whole(mut self, body: Bytes) -> Response {
        self.app.metrics.passed();
        self.parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        self.pass(Body::from(body), None).await
    }

    /// Sends a body as it comes, and its answer too.
    async fn pass(self, body: Body, cause: Option<Cause>) -> Response {
        let mut out = headers::for_upstream(&self.parts.headers, false);
        if let Some(length) = self.parts.headers.get(CONTENT_LENGTH) {
            out.insert(CONTENT_LENGTH, length.clone());
        }
        let sent = self.app.upstream.send(self.parts.method, self.address, out, body).await;
        match sent {
            Ok(answer) => {
                let (head, body) = answer.into_parts();
                let mut headers = headers::for_client(&head.headers);
                if let Some(cause) = cause {
                    headers.insert(headers::FAULT, HeaderValue::from_static(cause.name()));
                }
                respond(head.status, headers, Body::new(body))
            }
            Err(error) => no_answer(&self.app, &error),
        }
    }
}

/// A request whose history is known.
struct Trip {
    way: Way,
    turn: Turn,
    room: Room,
    stream: bool,
    is_answered: bool,
    /// What is put into the answer.
    insert: Option<Insert>,
}

/// What the provider answered.
struct Answer {
    head: hyper::http::response::Parts,
    body: Said,
    /// What its refusal means, where it refused.
    refused: Option<Diagnosis>,
}

/// The body of an answer.
enum Said {
    /// It is on its way: what was held of it, the rest, and who has read what was held.
    Passing(Vec<Bytes>, Incoming, Box<Tee>),
    /// It refused, and this is all that it said.
    Whole(Bytes),
}

impl Trip {
    async fn go(mut self) -> Response {
        let mut answer = match self.ask().await {
            Ok(answer) => answer,
            Err(error) => return no_answer(&self.way.app, &error),
        };
        if let Some(diagnosis) = answer.refused
            && self.has_shorter(diagnosis)
        {
            // What is left of the first answer goes with its connection.
            match self.ask().await {
                Ok(second) => answer = second,
                Err(error) => return no_answer(&self.way.app, &error),
            }
        }
        let is_long = answer.refused.is_some_and(|found| found.exceeds_window());
        if is_long && self.turn.request().continues_thread {
            return thread_not_found();
        }
        self.respond(answer)
    }

    /// Whether there is a shorter request to send in place of the one that was refused.
    fn has_shorter(&mut self, diagnosis: Diagnosis) -> bool {
        let app = &self.way.app;
        let again = self.turn.refused(diagnosis, app.now());
        if diagnosis.exceeds_window() {
            app.metrics.overflow(again);
        }
        again.is_some()
    }

    async fn ask(&self) -> Result<Answer, NoAnswer> {
        let Way { app, parts, address } = &self.way;
        let body = self.turn.sent().body.clone();
        let mut out = headers::for_upstream(&parts.headers, true);
        out.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        let body = Body::from(body);
        let answer = app.upstream.send(parts.method.clone(), address.clone(), out, body).await?;
        let (head, body) = answer.into_parts();
        if !head.status.is_success() {
            return Ok(self.refusal(head, body).await);
        }
        let framing = framing(content_type(&head.headers), self.stream);
        let tee = Tee::new(self.turn.request().kind(), framing);
        let tee = if self.turn.wants_output() { tee } else { tee.without_output() };
        Ok(self.watched(head, body, tee).await)
    }

    /// An answer that has begun. The provider says so before it knows whether it can give one: where
    /// the request may have been too long, nothing passes until something was said.
    async fn watched(
        &self,
        head: hyper::http::response::Parts,
        mut body: Incoming,
        mut tee: Tee,
    ) -> Answer {
        let mut held = Vec::new();
        let mut bytes = 0;
        // Responses report it in the stream, whatever anybody thought of the window.
        let is_watched = self.stream
            && (self.turn.may_overflow()
                || self.turn.request().kind() == DialectKind::OpenAiResponses);
        while is_watched && tee.verdict() == Verdict::Undecided && bytes < LONGEST_PRELUDE {
            let Some(Ok(frame)) = body.frame().await else { break };
            if let Ok(data) = frame.into_data() {
                tee.push(&data);
                bytes += data.len();
                held.push(data);
            }
        }
        let refused = match tee.verdict() {
            Verdict::Overflow(diagnosis) => Some(diagnosis),
            Verdict::Fine | Verdict::Undecided => None,
        };
        Answer { head, body: Said::Passing(held, body, Box::new(tee)), refused }
    }

    /// All that a refusal says, within bounds.
    async fn refusal(&self, mut head: hyper::http::response::Parts, mut body: Incoming) -> Answer {
        let mut read = BytesMut::new();
        while let Some(Ok(frame)) = body.frame().await {
            if let Ok(data) = frame.into_data() {
                read.extend_from_slice(&data);
            }
            if read.len() > LONGEST_REFUSAL {
                break;
            }
        }
        // It is as long as what was read.
        head.headers.remove(CONTENT_LENGTH);
        let refused = Some(self.turn.diagnose(Some(head.status.as_u16()), &read));
        Answer { head, body: Said::Whole(read.freeze()), refused }
    }

    fn respond(self, answer: Answer) -> Response {
        let sent = self.turn.sent().clone();
        let Answer { head, body, .. } = answer;
        let mut headers = headers::for_client(&head.headers);
        let body = match body {
            Said::Whole(body) => Body::from(body),
            Said::Passing(held, body, tee) => {
                let Self { way: Way { app, .. }, turn, room, is_answered, insert, .. } = self;
                let done = move |seen: Seen| {
                    if is_answered {
                        seen.usage.iter().for_each(|usage| app.metrics.usage(*usage));
                        turn.answered(&seen, app.now());
                        app.keep();
                    }
                    drop(room);
                };
                let teed = Teed::new(held, body, *tee, Box::new(done));
                // What is packed cannot be read, and so it passes.
                match insert.filter(|_| !head.headers.contains_key(CONTENT_ENCODING)) {
                    Some(insert) => {
                        headers.remove(CONTENT_LENGTH);
                        let is_stream =
                            content_type(&head.headers).starts_with("text/event-stream");
                        Body::new(Inserted::new(teed, insert, is_stream))
                    }
                    None => Body::new(teed),
                }
            }
        };
        let mut response = respond(head.status, headers, body);
        headers::tell(response.headers_mut(), &sent);
        response
    }
}

fn framing(kind: &str, stream: bool) -> Framing {
    match kind.split(';').next().unwrap_or_default().trim() {
        "text/event-stream" => Framing::Sse,
        "application/x-ndjson" => Framing::NdJson,
        _ if stream => Framing::JsonArray,
        _ => Framing::Json,
    }
}

fn respond(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

fn cause(fault: Fault) -> Cause {
    match fault {
        Fault::Floor => Cause::Floor,
        _ => Cause::Named,
    }
}

/// An error of midfold's own, in the shape that clients of every provider can read.
fn error(status: StatusCode, kind: &str, text: &str) -> Response {
    let body = serde_json::json!({
        "type": "error",
        "error": { "type": kind, "code": kind, "message": text },
    });
    json(status, &body)
}

fn json(status: StatusCode, body: &serde_json::Value) -> Response {
    let mut headers = HeaderMap::new();
    let json = HeaderValue::from_static("application/json");
    headers.insert(hyper::header::CONTENT_TYPE, json);
    respond(status, headers, Body::from(body.to_string()))
}

/// The history of a thread is the provider's: what is too long there can be folded only where the client
/// sends all of it. That is what Anthropic's SDK does when a thread is gone.
fn thread_not_found() -> Response {
    let body = serde_json::json!({
        "type": "error",
        "error": {
            "type": "not_found_error",
            "message": "midfold: the thread is longer than the window; send its messages again",
            "details": { "error_code": "thread_not_found" },
        },
    });
    json(StatusCode::NOT_FOUND, &body)
}

fn no_answer(app: &App, no: &NoAnswer) -> Response {
    app.metrics.unanswered();
    tracing::warn!(error = %no, "no answer");
    error(StatusCode::BAD_GATEWAY, "midfold_upstream", &format!("midfold: {no}"))
}

fn strict(cause: Cause) -> Response {
    let text = format!(
        "midfold: the request cannot be folded ({}), and --strict sends nothing that is not",
        cause.name()
    );
    error(StatusCode::UNPROCESSABLE_ENTITY, "midfold_strict", &text)
}
