//! Forwards one request: reads it, makes it fit, sends it, and passes the answer on. If something fails in midfold, the
//! request is sent unchanged.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::Uri;
use hyper::body::Body as _;
use hyper::header::{CONTENT_LENGTH, HeaderValue};
use hyper::http::request::Parts;
use midfold::DialectKind;
use midfold::formats::answer::is_media_type;
use midfold::formats::request as wire;
use midfold_proxy::vendor::{RequestPurpose, VendorOutcome, VendorRequest, VendorWork};
use midfold_proxy::{MatchedRequest, RequestFault, RequestSender};

use crate::answers::{error, respond};
use crate::app::SharedApp;
use crate::body::{BodyRead, BodyRoom};
use crate::broken_answers::BreakingBody;
use crate::compute::{caught, compute};
use crate::guard::{BodyEnd, GuardedBody};
use crate::headers;
use crate::keys::KeyHolder;
use crate::logged::{log_cut, log_fold, log_unfolded, log_unknown_window, note_model, note_sender};
use crate::metric_labels::RequestLabels;
use crate::pass_cause::PassCause;
use crate::proxy_request::{ProxyRequest, no_answer, no_key};
use crate::reading::{self, UnreadReason, beside};
use crate::route::{HistoryRequest, RequestRoute, RouteWork};
use crate::route_hints::RouteHints;
use crate::unpack::{BodyPacking, PackedBody};
use crate::upstream::content_type;
use crate::upstream_call::UpstreamCall;
use crate::vendor;

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

/// A request with a history, as it came from the client.
struct BufferedRequest {
    /// The body's bytes, which may be compressed.
    body: Bytes,
    /// The decompressed body.
    plain: Bytes,
    /// The compressed body with its plain text; `None` if it was not compressed.
    packed: Option<PackedBody>,
    room: BodyRoom,
    /// Room for the values parsed from the body, until it is known what is sent.
    working: BodyRoom,
    /// Whether the client asked for a stream.
    stream: bool,
    purpose: RequestPurpose,
    who: RequestSender,
    /// When the body was complete.
    start: Instant,
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

    /// Handles a request with a history.
    async fn generate(
        mut self,
        history: HistoryRequest,
        body: Body,
        purpose: RequestPurpose,
    ) -> Response {
        let packing = BodyPacking::of(&self.parts.headers);
        if packing == BodyPacking::Other {
            return self.open(body, PassCause::Encoded).await;
        }
        let (body, mut room) = match self.app.rooms.read(body, content_length(&self.parts)).await {
            BodyRead::Whole(body, room) => (body, room),
            BodyRead::Large(body) => return self.open(body, PassCause::TooLarge).await,
            BodyRead::Broken => return self.broken(),
        };
        let start = Instant::now();
        let longest = KeyHolder::longest_body(&self.parts);
        let read = packing.unpack(&body, &self.app.rooms, &mut room, longest).and_then(|plain| {
            let read = reading::read(&self.app, &self.parts, &history, &plain, purpose)?;
            Ok((plain, read))
        });
        let (plain, (request, working)) = match read {
            Ok(read) => read,
            // The packed body, not `plain`: the headers still name its compression.
            Err(UnreadReason::Open(cause)) => return self.open(Body::from(body), cause).await,
            Err(UnreadReason::Ended(ended)) => return ended.response(),
        };
        // Gemini and Vertex ask for a stream in the path, all others in the body.
        let stream = history.stream || request.stream;
        let scope = KeyHolder::name(&self.parts);
        let mut who = headers::who(&self.parts.headers, scope, history.model);
        let model = request.model.clone().or_else(|| who.model.clone());
        match self.aim.goal(&self.app, model.as_deref()) {
            Ok(goal) => self.goal = goal,
            Err(error) => return no_answer(&self.app, &error),
        }
        // Only now is the upstream certain. `give_key` takes its mark away, so the call in `pass` adds nothing.
        if let Err(no) = self.aim.give_key(&self.app, &self.goal, &mut self.parts) {
            return no_key(&self.app, no);
        }
        who.upstream = self.goal.target.identity();
        self.labels = Arc::new(RequestLabels {
            model: self.app.model_names.label(model.as_deref().unwrap_or_default()),
            upstream: self.goal.target.name.clone(),
            key: self.labels.key.clone(),
        });
        note_model(&self.labels);
        who.is_local = self.goal.target.is_local();
        let to = (&self.goal.target, &self.goal.address);
        self.trace.add_request((self.aim.provider, purpose), to, model.as_deref());
        // The upstream is asked with the headers of this request, so its key has to be among them already.
        let is_usual = self.goal.target.is_usual;
        if self.app.proxy.wants_window(model.as_deref(), request.window, &who, is_usual) {
            let (app, target, headers) = (&self.app, &self.goal.target, &self.parts.headers);
            let window =
                app.windows.of(&app.upstream, target, model.as_deref(), headers, app.now());
            who.window = window.await;
        }
        let packed = (packing != BodyPacking::None).then(|| PackedBody::new(&body, plain.clone()));
        if let Some(keeper) = &self.app.keeper {
            keeper.bring_history(&request, &who).await;
        }
        match caught(|| self.app.proxy.vendor_request(request, &who, purpose)) {
            Some(Ok(vendor_request)) => {
                let buffered = BufferedRequest {
                    body,
                    plain,
                    packed,
                    room,
                    working,
                    stream,
                    purpose,
                    who,
                    start,
                };
                self.fulfil(vendor_request, buffered).await
            }
            Some(Err(refused)) => vendor::refused(refused),
            None => self.open(Body::from(body), PassCause::Panic).await,
        }
    }

    /// Continues after the fields of the vendor's compaction were read.
    async fn fulfil(
        mut self,
        vendor_request: VendorRequest,
        buffered: BufferedRequest,
    ) -> Response {
        let VendorRequest { request, work, is_replay, strips_betas } = vendor_request;
        let BufferedRequest { body, plain, packed, mut room, working, stream, purpose, who, start } =
            buffered;
        if purpose == RequestPurpose::Compact && work.is_none() {
            return self.pass_whole(request.body().clone(), packed).await;
        }
        let keep = work.as_ref().and_then(|work| work.standing().map(str::to_owned));
        // A compaction block belongs into one answer, so midfold's tools, which may join several answers, are left out.
        let is_plain = work.as_ref().is_none_or(VendorWork::only_reports);
        let recalls = is_plain && can_be_joined(&request, stream, &self.parts.uri);
        let mut turn = match self.turn(request, is_replay, keep, recalls, &who, working).await {
            Ok(turn) => turn,
            Err(cause) => return self.open(Body::from(body), cause).await,
        };
        // Before `turn.work`, which writes the summary and uses the narration that is there by then.
        if let (Some(narrator), Some(work)) = (&self.app.narrator, &work) {
            let verdicts = narrator.before(&turn, work).await;
            verdicts
                .into_iter()
                .for_each(|is_accepted| self.app.metrics.count_narration(is_accepted));
        }
        let now = self.app.now();
        let outcome = match work {
            Some(work) => compute(|| turn.work(work, stream, now)),
            None => Some(VendorOutcome::Ask(None)),
        };
        let Some(outcome) = outcome else {
            return self.open(Body::from(body), PassCause::Panic).await;
        };
        // The size of what is sent is known only now, after the fold.
        if !self.app.rooms.take(&mut room, beside(&turn, &plain)) {
            return self.open(Body::from(body), PassCause::TooLarge).await;
        }
        self.app.keep();
        self.app.metrics.count_sent(turn.sent(), start.elapsed());
        turn.sent().session.iter().for_each(|id| self.app.sessions.count(id));
        log_fold(turn.sent());
        log_cut(&turn);
        self.app.note_window(&turn, &self.goal.target.name);
        if turn.sent().is_window_unknown()
            && self.app.windows.is_news(&self.goal.target.name, turn.model())
        {
            log_unknown_window(&turn, &self.goal.target.name);
        }
        let insert = match outcome {
            VendorOutcome::Ask(insert) => insert,
            VendorOutcome::Refused(refused) => return vendor::refused(refused),
            VendorOutcome::Answer(answer) => {
                // No provider sees this request, so midfold's own answer counts as the acceptance.
                turn.accept();
                self.wait_until_written(&turn).await;
                return vendor::answered(answer, turn.sent());
            }
        };
        if let Some(fault) = turn.sent().fault {
            let cause = cause(fault);
            self.app.metrics.count_passed_unread(cause);
            log_unfolded(self.parts.uri.path(), turn.sent().session.as_deref(), cause);
            if self.app.is_strict {
                return strict(cause);
            }
        }
        if strips_betas {
            vendor::strip_betas(&mut self.parts.headers);
        }
        let is_answered = purpose == RequestPurpose::Answer;
        let call = UpstreamCall { request: self, turn, room, packed, stream, is_answered, insert };
        call.go().await
    }

    /// The response to a body that ended too early.
    fn broken(&self) -> Response {
        let closed = || StatusCode::BAD_REQUEST.into_response();
        self.watch.ended().map_or_else(closed, BodyEnd::response)
    }

    /// Matches the request to its conversation, and decides what is sent; or returns why that is not possible.
    async fn turn(
        &self,
        request: wire::Request,
        is_replay: bool,
        keep: Option<String>,
        recalls: bool,
        who: &RequestSender,
        mut working: BodyRoom,
    ) -> Result<MatchedRequest, PassCause> {
        let (proxy, now) = (Arc::clone(&self.app.proxy), self.app.now());
        let request_size = request.body().len() + request.memory();
        let begun = caught(|| proxy.begin_wish(request, is_replay, keep, who));
        let begun = begun.ok_or(PassCause::Panic)?;
        let offer = KeyHolder::offer(&self.parts, proxy.offer());
        let begun = if recalls { proxy.recalling(begun, offer) } else { begun };
        // A history that was left to the provider was added, and takes memory as well.
        let more = begun.memory().saturating_sub(request_size);
        if !self.app.rooms.take(&mut working, more) || proxy.is_full_for(&begun) {
            return Err(PassCause::TooLarge);
        }
        if let Some(keeper) = &self.app.keeper {
            keeper.bring_back(&begun).await;
        }
        let since = SystemTime::now();
        let turn = compute(|| proxy.finish(begun, now)).ok_or(PassCause::Panic)?;
        self.trace.add_fold(turn.sent(), since);
        self.wait_until_written(&turn).await;
        Ok(turn)
    }

    /// Forwards a request unchanged that midfold should have folded but cannot read; with `--strict` it is refused
    /// instead.
    async fn open(self, body: Body, cause: PassCause) -> Response {
        self.app.metrics.count_passed();
        self.app.metrics.count_passed_unread(cause);
        log_unfolded(self.parts.uri.path(), None, cause);
        if self.app.is_strict && cause.is_strict() {
            return strict(cause);
        }
        self.pass(body, Some(cause)).await
    }

    /// Forwards a body that is in memory, unchanged.
    async fn pass_whole(mut self, body: Bytes, packed: Option<PackedBody>) -> Response {
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

/// Whether several answers to a request can be joined into one. Gemini's streams cannot if they are JSON arrays instead
/// of events, and Bedrock's are binary.
fn can_be_joined(request: &wire::Request, stream: bool, uri: &Uri) -> bool {
    let is_event =
        || uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"));
    let is_binary = uri.path().ends_with("/invoke-with-response-stream");
    !is_binary && (request.kind() != DialectKind::Gemini || !stream || is_event())
}

/// The `content-length` of a request; `None` if it has none.
fn content_length(parts: &Parts) -> Option<usize> {
    parts.headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn cause(fault: RequestFault) -> PassCause {
    match fault {
        RequestFault::Floor => PassCause::Floor,
        RequestFault::Fixed => PassCause::Fixed,
        _ => PassCause::Named,
    }
}

fn strict(cause: PassCause) -> Response {
    let text = format!(
        "midfold: the request cannot be folded ({}), and --strict sends nothing that is not",
        cause.name()
    );
    error(StatusCode::UNPROCESSABLE_ENTITY, "midfold_strict", &text)
}
