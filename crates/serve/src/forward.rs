//! One request on its way: read, made to fit, sent, its answer passed on. What goes wrong in midfold is
//! no reason for a request to fail: it goes on as it came.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use hyper::http::request::Parts;
use midfold::DialectKind;
use midfold::formats::answer::{Framing, Seen, Tee, Verdict};
use midfold::formats::overflow::Diagnosis;
use midfold::formats::request as wire;
use midfold::proxy::vendor::{Done, Insert, Purpose, Wish};
use midfold::proxy::{Fault, Turn, Who};
use tokio::time::timeout_at;

use crate::admit::Refused;
use crate::aim::{Aim, Goal, NoKey};
use crate::answers::{error, json, respond};
use crate::app::App;
use crate::body::{Read, Room};
use crate::breaking::{Breaking, Part};
use crate::compute::{caught, compute};
use crate::guard::{Ended, Guarded, Watch};
use crate::headers;
use crate::keys::Holder;
use crate::logged::{folded, overflowed, truncated, unfolded, unknown_window};
use crate::metrics::Cause;
use crate::reading::{self, Unread, beside};
use crate::refusal::Refusal;
use crate::route::{Asked, Route, Work};
use crate::tee::Teed;
use crate::unpack::{Packed, Packing};
use crate::upstream::{NoAnswer, content_type, told};
use crate::vendor::{self, Inserted};

/// Bytes of a stream that are held back until it is clear that it is no refusal.
const LONGEST_PRELUDE: usize = 64 << 10;

/// Takes a request through.
pub(crate) async fn forward(app: Arc<App>, request: Request, route: Route) -> Response {
    let (parts, body) = request.into_parts();
    let aim = Aim::new(&route, &parts.uri);
    let goal = match aim.goal(&app, None) {
        Ok(goal) => goal,
        Err(error) => return no_answer(&app, &error),
    };
    let (body, watch) = match Guarded::around(body, app.limits.idle, Holder::longest_body(&parts)) {
        Ok(guarded) => guarded,
        Err(ended) => return ended.response(),
    };
    let way = Way { app, parts, aim, goal, watch };
    match route.work {
        Work::Generate(asked) if !headers::is_off(&way.parts.headers) => {
            way.generate(asked, body, Purpose::Answer).await
        }
        Work::Count(asked) if !headers::is_off(&way.parts.headers) => {
            way.generate(asked, body, Purpose::Count).await
        }
        Work::Compact(asked) if !headers::is_off(&way.parts.headers) => {
            way.generate(asked, body, Purpose::Compact).await
        }
        Work::Signed => way.open(body, Cause::Signed).await,
        Work::Pass if is_json_post(&way.parts) && !headers::is_off(&way.parts.headers) => {
            way.look(body).await
        }
        _ => {
            way.app.metrics.passed();
            way.pass(body, None).await
        }
    }
}

fn is_json_post(parts: &Parts) -> bool {
    parts.method == hyper::Method::POST
        && content_type(&parts.headers).starts_with("application/json")
        && Packing::of(&parts.headers) == Packing::None
}

/// A request's head, and where it goes.
struct Way {
    app: Arc<App>,
    parts: Parts,
    aim: Aim,
    goal: Goal,
    /// Why the request's body ended, where it had to.
    watch: Watch,
}

/// A request with a history, as it came.
struct Came {
    /// Its bytes, perhaps packed.
    body: Bytes,
    plain: Bytes,
    packed: Option<Packed>,
    room: Room,
    /// Room that is taken until it is known what is sent.
    working: Room,
    stream: bool,
    purpose: Purpose,
    who: Who,
    start: Instant,
}

impl Way {
    /// A request to a path that nothing is known of: whether it has a history that should have been read.
    async fn look(self, body: Body) -> Response {
        match self.app.rooms.read(body, content_length(&self.parts)).await {
            Read::Whole(body, _room) if wire::lists_messages(&body) => {
                self.open(Body::from(body), Cause::Path).await
            }
            Read::Whole(body, _room) => {
                self.app.metrics.passed();
                self.pass(Body::from(body), None).await
            }
            Read::Large(body) => {
                self.app.metrics.passed();
                self.pass(body, None).await
            }
            Read::Broken => self.broken(),
        }
    }

    /// A request with a history.
    async fn generate(mut self, asked: Asked, body: Body, purpose: Purpose) -> Response {
        let packing = Packing::of(&self.parts.headers);
        if packing == Packing::Other {
            return self.open(body, Cause::Encoded).await;
        }
        let (body, mut room) = match self.app.rooms.read(body, content_length(&self.parts)).await {
            Read::Whole(body, room) => (body, room),
            Read::Large(body) => return self.open(body, Cause::TooLarge).await,
            Read::Broken => return self.broken(),
        };
        let start = Instant::now();
        let longest = Holder::longest_body(&self.parts);
        let read = packing.unpack(&body, &self.app.rooms, &mut room, longest).and_then(|plain| {
            let read = reading::read(&self.app, &self.parts, &asked, &plain, purpose)?;
            Ok((plain, read))
        });
        let (plain, (request, working)) = match read {
            Ok(read) => read,
            Err(Unread::Open(cause)) => return self.open(Body::from(body), cause).await,
            Err(Unread::Ended(ended)) => return ended.response(),
        };
        let stream = asked.stream || request.stream;
        let scope = Holder::name(&self.parts);
        let mut who = headers::who(&self.parts.headers, scope, asked.model);
        let model = request.model.clone().or_else(|| who.model.clone());
        match self.aim.goal(&self.app, model.as_deref()) {
            Ok(goal) => self.goal = goal,
            Err(error) => return no_answer(&self.app, &error),
        }
        if let Err(no) = self.aim.give_key(&self.app, &self.goal, &mut self.parts) {
            return no_key(&self.app, no);
        }
        who.upstream.clone_from(&self.goal.target.name);
        if self.app.proxy.wants_window(model.as_deref(), &who, self.goal.target.is_usual) {
            let (app, target, headers) = (&self.app, &self.goal.target, &self.parts.headers);
            let asked = app.windows.of(&app.upstream, target, model.as_deref(), headers, app.now());
            who.window = asked.await;
        }
        let packed = (packing != Packing::None).then(|| Packed::new(&body, plain.clone()));
        match caught(|| self.app.proxy.wish(request, &who, purpose)) {
            Some(Ok(wish)) => {
                let came = Came { body, plain, packed, room, working, stream, purpose, who, start };
                self.fulfil(wish, came).await
            }
            Some(Err(refused)) => vendor::refused(refused),
            None => self.open(Body::from(body), Cause::Panic).await,
        }
    }

    /// A request whose vendor's members were read.
    async fn fulfil(mut self, wish: Wish, came: Came) -> Response {
        let Wish { request, work, is_replay, strips_betas } = wish;
        let Came { body, plain, packed, mut room, working, stream, purpose, who, start } = came;
        if purpose == Purpose::Compact && work.is_none() {
            return self.pass_whole(request.body().clone(), packed).await;
        }
        let keep = work.as_ref().and_then(|work| work.standing().map(str::to_owned));
        let mut turn = match self.turn(request, is_replay, keep, &who, working).await {
            Ok(turn) => turn,
            Err(cause) => return self.open(Body::from(body), cause).await,
        };
        if let (Some(narrator), Some(work)) = (&self.app.narrator, &work) {
            let told = narrator.before(&turn, work).await;
            told.into_iter().for_each(|is_accepted| self.app.metrics.narration(is_accepted));
        }
        let now = self.app.now();
        let done = match work {
            Some(work) => compute(|| turn.work(work, stream, now)),
            None => Some(Done::Ask(None)),
        };
        let Some(done) = done else {
            return self.open(Body::from(body), Cause::Panic).await;
        };
        if !self.app.rooms.take(&mut room, beside(&turn, &plain)) {
            return self.open(Body::from(body), Cause::TooLarge).await;
        }
        self.app.keep();
        self.app.metrics.sent(turn.sent(), start.elapsed());
        folded(turn.sent());
        if turn.sent().is_window_unknown() && self.app.windows.is_news(&who.upstream, turn.model())
        {
            unknown_window(&turn, &who.upstream);
        }
        let insert = match done {
            Done::Ask(insert) => insert,
            Done::Refused(refused) => return vendor::refused(refused),
            Done::Answer(made) => {
                turn.accept();
                self.written(&turn).await;
                return vendor::made(made, turn.sent());
            }
        };
        if let Some(fault) = turn.sent().fault {
            let cause = cause(fault);
            self.app.metrics.open(cause);
            unfolded(self.parts.uri.path(), turn.sent().session.as_deref(), cause);
            if self.app.is_strict {
                return strict(cause);
            }
        }
        if strips_betas {
            vendor::strip_betas(&mut self.parts.headers);
        }
        let is_answered = purpose == Purpose::Answer;
        let trip = Trip { way: self, turn, room, packed, stream, is_answered, insert };
        trip.go().await
    }

    /// The body did not come to its end.
    fn broken(&self) -> Response {
        let gone = || StatusCode::BAD_REQUEST.into_response();
        self.watch.ended().map_or_else(gone, Ended::response)
    }

    /// What is to be sent for a request, or why midfold cannot say it.
    async fn turn(
        &self,
        request: wire::Request,
        is_replay: bool,
        keep: Option<String>,
        who: &Who,
        mut working: Room,
    ) -> Result<Turn, Cause> {
        let (proxy, now) = (Arc::clone(&self.app.proxy), self.app.now());
        let came = request.body().len() + request.memory();
        let begun = caught(|| proxy.begin_wish(request, is_replay, keep, who));
        let begun = begun.ok_or(Cause::Panic)?;
        // A history that the provider was to have takes room as well.
        let more = begun.memory().saturating_sub(came);
        if !self.app.rooms.take(&mut working, more) || proxy.is_full_for(&begun) {
            return Err(Cause::TooLarge);
        }
        if let Some(keeper) = &self.app.keeper {
            keeper.bring_back(&begun).await;
        }
        let turn = compute(|| proxy.finish(begun, now)).ok_or(Cause::Panic)?;
        self.written(&turn).await;
        Ok(turn)
    }

    /// Waits until what others have to know of a conversation is written.
    async fn written(&self, turn: &Turn) {
        if let Some(keeper) = self.app.keeper.as_ref().filter(|_| !turn.is_written()) {
            keeper.first(turn).await;
        }
    }

    /// A request that midfold should have looked at, and cannot.
    async fn open(self, body: Body, cause: Cause) -> Response {
        self.app.metrics.passed();
        self.app.metrics.open(cause);
        unfolded(self.parts.uri.path(), None, cause);
        if self.app.is_strict && cause.is_strict() {
            return strict(cause);
        }
        self.pass(body, Some(cause)).await
    }

    /// Sends a body that is known.
    async fn pass_whole(mut self, body: Bytes, packed: Option<Packed>) -> Response {
        self.app.metrics.passed();
        let body = Packed::again(packed.as_ref(), body, &mut self.parts.headers);
        self.parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        self.pass(Body::from(body), None).await
    }

    /// Sends a body as it comes, and its answer too.
    async fn pass(mut self, body: Body, cause: Option<Cause>) -> Response {
        if let Err(no) = self.aim.give_key(&self.app, &self.goal, &mut self.parts) {
            return no_key(&self.app, no);
        }
        let mut out = headers::for_upstream(&self.parts.headers, false);
        if let Some(length) = self.parts.headers.get(CONTENT_LENGTH) {
            out.insert(CONTENT_LENGTH, length.clone());
        }
        let sent = self
            .app
            .upstream
            .send(self.parts.method.clone(), self.goal.address.clone(), out, body)
            .await;
        match sent {
            Ok(answer) => {
                let (head, body) = answer.into_parts();
                let mut headers = headers::for_client(&head.headers);
                if let Some(cause) = cause {
                    headers.insert(headers::FAULT, HeaderValue::from_static(cause.name()));
                }
                respond(head.status, headers, Body::new(Breaking::new(body)))
            }
            // The provider cannot answer what it did not get.
            Err(_) if self.watch.ended().is_some() => self.broken(),
            Err(error) => no_answer(&self.app, &error),
        }
    }
}

/// A request whose history is known.
struct Trip {
    way: Way,
    turn: Turn,
    room: Room,
    packed: Option<Packed>,
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
    /// It refused, and this is what it said.
    Refused(Refusal),
}

impl Trip {
    async fn go(mut self) -> Response {
        let Way { app, parts, aim, goal, .. } = &mut self.way;
        if let Err(no) = aim.give_key(app, goal, parts) {
            return no_key(app, no);
        }
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
        if let Said::Passing(..) = &answer.body {
            self.turn.accept();
            self.way.written(&self.turn).await;
        }
        self.respond(answer)
    }

    /// Whether there is a shorter request to send in place of the one that was refused.
    fn has_shorter(&mut self, diagnosis: Diagnosis) -> bool {
        let app = &self.way.app;
        let is_sent_again = self.turn.refused(diagnosis, app.now()).is_some();
        if diagnosis.exceeds_window() {
            let again = is_sent_again.then(|| self.turn.sent());
            app.metrics.overflow(again);
            again.into_iter().for_each(folded);
            overflowed(&self.turn, again);
        }
        is_sent_again
    }

    async fn ask(&self) -> Result<Answer, NoAnswer> {
        let Way { app, parts, goal, .. } = &self.way;
        let mut out = headers::for_upstream(&parts.headers, true);
        let body = self.turn.sent().body.clone();
        let body = Packed::again(self.packed.as_ref(), body, &mut out);
        out.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        let body = Body::from(body);
        let answer =
            app.upstream.send(parts.method.clone(), goal.address.clone(), out, body).await?;
        let (head, body) = answer.into_parts();
        if !head.status.is_success() {
            return Ok(self.refusal(head, body).await);
        }
        let framing = framing(content_type(&head.headers), self.stream);
        let tee = Tee::new(self.turn.request().kind(), framing);
        let tee = if self.turn.wants_output() { tee } else { tee.without_output() };
        self.watched(head, body, tee).await
    }

    /// An answer that has begun. The provider says so before it knows whether it can give one: where
    /// the request may have been too long, nothing passes until something was said, or it has taken too long
    /// to say it. What breaks off before is no answer.
    async fn watched(
        &self,
        head: hyper::http::response::Parts,
        mut body: Incoming,
        mut tee: Tee,
    ) -> Result<Answer, NoAnswer> {
        let mut held = Vec::new();
        let mut bytes = 0;
        // Responses report it in the stream, whatever anybody thought of the window.
        let is_watched = self.stream
            && (self.turn.may_overflow()
                || self.turn.request().kind() == DialectKind::OpenAiResponses);
        let end = tokio::time::Instant::now() + self.way.app.limits.held;
        while is_watched && tee.verdict() == Verdict::Undecided && bytes < LONGEST_PRELUDE {
            let Ok(Some(frame)) = timeout_at(end, body.frame()).await else { break };
            let frame = frame.map_err(|error| NoAnswer::Broken(told(&error)))?;
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
        Ok(Answer { head, body: Said::Passing(held, body, Box::new(tee)), refused })
    }

    /// What a refusal says. What it means is looked for only where that is all of it: a number that was cut off
    /// is another number.
    async fn refusal(&self, mut head: hyper::http::response::Parts, body: Incoming) -> Answer {
        let said = Refusal::read(body, self.way.app.limits.idle).await;
        // It is as long as what was read.
        head.headers.remove(CONTENT_LENGTH);
        let diagnose = || self.turn.diagnose(Some(head.status.as_u16()), &said.text);
        let refused = said.cut.is_none().then(diagnose);
        Answer { head, body: Said::Refused(said), refused }
    }

    fn respond(self, answer: Answer) -> Response {
        let Answer { head, body, .. } = answer;
        let mut headers = headers::for_client(&head.headers);
        headers::tell(&mut headers, self.turn.sent());
        let body = match body {
            Said::Refused(Refusal { text, cut: None }) => Body::from(text),
            Said::Refused(Refusal { text, cut: Some(why) }) => {
                self.way.app.metrics.broken();
                Body::new(Breaking::new(Part::new(text, why)))
            }
            Said::Passing(held, body, tee) => {
                let Self { way: Way { app, .. }, turn, room, is_answered, insert, .. } = self;
                // Nothing of the request is held while the answer comes, but for what a later request may
                // name; its room is held then.
                let room = turn.wants_output().then_some(room);
                let awaited = turn.taken();
                let done = move |seen: Seen, is_broken: bool| {
                    if is_broken {
                        app.metrics.broken();
                    }
                    if is_answered {
                        seen.usage.iter().for_each(|usage| app.metrics.usage(*usage));
                        let narratable = awaited.narratable();
                        if let Some(truncation) = awaited.answered(&seen, app.now()) {
                            app.metrics.truncated();
                            truncated(&truncation);
                        }
                        app.keep();
                        if let Some((narrator, it)) = app.narrator.clone().zip(narratable) {
                            narrator.offer(it, move |is_accepted| {
                                app.metrics.narration(is_accepted);
                                app.keep();
                            });
                        }
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
                        Body::new(Breaking::new(Inserted::new(teed, insert, is_stream)))
                    }
                    None => Body::new(Breaking::new(teed)),
                }
            }
        };
        respond(head.status, headers, body)
    }
}

/// How long a request says that its body is.
fn content_length(parts: &Parts) -> Option<usize> {
    parts.headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn framing(kind: &str, stream: bool) -> Framing {
    match kind.split(';').next().unwrap_or_default().trim() {
        "text/event-stream" => Framing::Sse,
        "application/x-ndjson" => Framing::NdJson,
        _ if stream => Framing::JsonArray,
        _ => Framing::Json,
    }
}

fn cause(fault: Fault) -> Cause {
    match fault {
        Fault::Floor => Cause::Floor,
        Fault::Fixed => Cause::Fixed,
        _ => Cause::Named,
    }
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

fn no_key(app: &App, NoKey(name): NoKey) -> Response {
    app.metrics.refused();
    let refused = Refused::NoProviderKey(name);
    tracing::info!(why = %refused, "a request was not let in");
    refused.response()
}

fn no_answer(app: &App, no: &NoAnswer) -> Response {
    if let NoAnswer::Unknown(unknown) = no {
        return error(StatusCode::NOT_FOUND, "midfold_upstream", &format!("midfold: {unknown}"));
    }
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
