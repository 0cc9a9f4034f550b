//! Sends a request with a history, sends it again if the provider found it too long, and prepares the answer for the
//! client.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue};
use midfold::DialectKind;
use midfold::formats::answer::{
    AnswerFacts, AnswerFraming, AnswerTee, DeclaredFraming, PassVerdict,
};
use midfold::formats::overflow::Diagnosis;
use midfold_proxy::vendor::AnswerInsert;
use midfold_proxy::{MatchedRequest, PendingAnswer};
use tokio::time::timeout_at;
use tracing::Span;

use crate::answers::respond;
use crate::app::SharedApp;
use crate::body::BodyRoom;
use crate::broken_answers::{BodyStart, BreakingBody};
use crate::headers;
use crate::logged::{log_fold, log_overflow, log_placeholders, log_truncation};
use crate::metric_labels::RequestLabels;
use crate::proxy_request::ProxyRequest;
use crate::refusal::RefusalStart;
use crate::tee::TeedBody;
use crate::traces::RequestTrace;
use crate::unpack::PackedBody;
use crate::upstream::{NoAnswer, content_type, with_causes};
use crate::vendor::InsertedAnswer;

/// The most bytes of an answer that are held back until it is clear that it is no refusal.
const LONGEST_PRELUDE: usize = 64 << 10;

/// A request with a history that is matched to its conversation.
pub(crate) struct UpstreamCall {
    pub request: ProxyRequest,
    pub turn: MatchedRequest,
    pub room: BodyRoom,
    /// The body as the client compressed it; `None` if it was not compressed.
    pub packed: Option<PackedBody>,
    /// Whether the client asked for a stream.
    pub stream: bool,
    /// Whether a model answers; false for a count of tokens or a compaction.
    pub is_answered: bool,
    /// A part to insert into the answer.
    pub insert: Option<AnswerInsert>,
}

/// The answer of the provider.
pub(crate) struct UpstreamAnswer {
    pub head: hyper::http::response::Parts,
    pub body: ResponseBody,
    /// The meaning of a refusal; `None` if the provider did not refuse.
    pub refused: Option<Diagnosis>,
    /// Whether it counts as refused because its stream ended before it said anything.
    pub is_silent: bool,
}

/// The body of an answer.
pub(crate) enum ResponseBody {
    /// An answer that is being received: the pieces that were held back, the rest, and the reader, which has read those
    /// pieces.
    Passing(Vec<Bytes>, Incoming, Box<AnswerTee>),
    /// A refusal.
    Refused(RefusalStart),
}

impl UpstreamCall {
    /// Sends the request. If the provider refuses it for its length or its reasoning, sends another one instead, as long
    /// as the turn knows one.
    pub async fn ask_and_recover(&mut self) -> Result<UpstreamAnswer, NoAnswer> {
        let mut answer = self.ask().await?;
        if answer.is_silent {
            // A server that stops looks the same, and then the same request has an answer the next time.
            drop(answer);
            answer = self.ask().await?;
        }
        while let Some(diagnosis) = answer.refused
            && self.prepare_another(diagnosis)
        {
            // The rest of the answer is not read. That closes its connection, which a small upstream may need.
            drop(answer);
            answer = self.ask().await?;
        }
        Ok(answer)
    }

    /// Prepares another request after a refusal, and counts an overflow. Returns false if there is none.
    fn prepare_another(&mut self, diagnosis: Diagnosis) -> bool {
        let app = &self.request.app;
        let since = SystemTime::now();
        let is_sent_again = self.turn.answer_refusal(diagnosis, app.now()).is_some();
        if diagnosis.exceeds_window() {
            let again = is_sent_again.then(|| self.turn.sent());
            app.metrics.count_overflow(again);
            again.into_iter().for_each(log_fold);
            again.into_iter().for_each(|outgoing| self.request.trace.add_fold(outgoing, since));
            log_overflow(&self.turn, again);
            app.note_window(&self.turn, &self.request.goal.target.name);
        }
        is_sent_again
    }

    /// Sends the request once.
    async fn ask(&self) -> Result<UpstreamAnswer, NoAnswer> {
        let ProxyRequest { app, parts, goal, .. } = &self.request;
        let mut out = headers::for_upstream(&parts.headers, true);
        let body = self.turn.sent().body.clone();
        let body = PackedBody::again(self.packed.as_ref(), body, &mut out);
        out.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        self.request.trace.goes_on(&mut out);
        let (method, address) = (parts.method.clone(), goal.address.clone());
        let answer = app.upstream.send_whole(method, address, out, body).await?;
        let (head, body) = answer.into_parts();
        app.metrics.count_answer(&self.request.labels, head.status.as_u16());
        if !head.status.is_success() {
            return Ok(self.refusal(head, body).await);
        }
        let framing = DeclaredFraming::of(content_type(&head.headers), self.stream);
        let tee = AnswerTee::new(self.turn.request().kind(), framing);
        // The text of an answer takes memory. It is kept only if a later request may name it, if tools are offered, if it
        // may copy what a fold printed, or if it may be the last one.
        let turn = &self.turn;
        let is_read =
            turn.wants_output() || turn.recalls() || turn.may_copy_marks() || turn.keeps_step();
        let tee = if is_read { tee } else { tee.without_output() };
        self.watched(head, body, tee).await
    }

    /// Holds back the beginning of an answer, because some providers start it before they know whether the prompt fits,
    /// and some refuse with 200. Nothing of a stream is passed on until it has content or `limits.held` has passed. A
    /// stream that breaks off before that counts as no answer.
    async fn watched(
        &self,
        head: hyper::http::response::Parts,
        mut body: Incoming,
        mut tee: AnswerTee,
    ) -> Result<UpstreamAnswer, NoAnswer> {
        let mut pieces = Vec::new();
        let mut bytes = 0;
        let is_watched = self.stream || is_short_document(&head.headers);
        let mut is_whole = false;
        // One deadline for all frames. With one for each, a slow stream would be held back for much longer.
        let end = tokio::time::Instant::now() + self.longest_hold();
        while is_watched && tee.verdict() == PassVerdict::Undecided && bytes < LONGEST_PRELUDE {
            let Ok(frame) = timeout_at(end, body.frame()).await else { break };
            let Some(frame) = frame else {
                is_whole = true;
                break;
            };
            let frame = frame.map_err(|error| NoAnswer::Broken(with_causes(&error)))?;
            if let Ok(data) = frame.into_data() {
                tee.push(&data);
                bytes += data.len();
                pieces.push(data);
            }
        }
        let (refused, is_silent) = match tee.verdict() {
            PassVerdict::Overflow(diagnosis) => {
                (Some(self.turn.unless_echo(diagnosis, &pieces.concat())), false)
            }
            PassVerdict::Undecided if is_whole => self.judge_end(&tee.clone().finish()),
            PassVerdict::Fine | PassVerdict::Undecided => (None, false),
        };
        let body = ResponseBody::Passing(pieces, body, Box::new(tee));
        Ok(UpstreamAnswer { head, body, refused, is_silent })
    }

    /// How long the beginning of the answer may be held back. Where an overflow is unlikely, a model that thinks before
    /// its first word is not kept from the client for long.
    fn longest_hold(&self) -> Duration {
        let hold = self.request.app.limits.hold;
        let is_likely = self.turn.diagnose_silence().is_some()
            || self.turn.request().kind() == DialectKind::OpenAiResponses;
        if is_likely { hold } else { hold / 5 }
    }

    /// Judges an answer that ended undecided: its last event is an error, or it said nothing. Returns which of the two.
    fn judge_end(&self, seen: &AnswerFacts) -> (Option<Diagnosis>, bool) {
        if let Some(error) = seen.error.filter(Diagnosis::exceeds_window) {
            return (Some(error), false);
        }
        let is_silent = self.stream && !seen.is_complete && seen.finish.is_none();
        let silence = self.turn.diagnose_silence().filter(|_| is_silent);
        (silence, silence.is_some())
    }

    /// Reads a refusal. It is only diagnosed if all of it was read: a number that was cut off would be another number.
    async fn refusal(
        &self,
        mut head: hyper::http::response::Parts,
        body: Incoming,
    ) -> UpstreamAnswer {
        let start = RefusalStart::read(body, self.request.app.limits.idle).await;
        // Only a part may have been read, so the length is not forwarded.
        head.headers.remove(CONTENT_LENGTH);
        let diagnose = || self.turn.diagnose(Some(head.status.as_u16()), &start.text);
        let refused = start.cut.is_none().then(diagnose);
        UpstreamAnswer { head, body: ResponseBody::Refused(start), refused, is_silent: false }
    }

    /// The headers for the client, with those that say what midfold did with the request.
    pub fn client_headers(&self, head: &hyper::http::response::Parts) -> HeaderMap {
        let mut headers = headers::for_client(&head.headers);
        headers::tell(&mut headers, self.turn.sent());
        headers
    }

    /// Passes the provider's refusal to the client.
    pub fn pass_on_refusal(
        &self,
        head: &hyper::http::response::Parts,
        refusal: RefusalStart,
    ) -> Response {
        let body = match refusal {
            RefusalStart { text, cut: None } => Body::from(text),
            RefusalStart { text, cut: Some(why) } => {
                self.request.app.metrics.count_broken();
                Body::new(BreakingBody::new(BodyStart::new(text, why)))
            }
        };
        let mut headers = self.client_headers(head);
        if !self.turn.is_accepted() {
            // A conversation is not stored before a provider accepts it.
            [headers::SESSION, headers::FOLD].iter().for_each(|name| drop(headers.remove(name)));
        }
        respond(head.status, headers, body)
    }

    /// Passes an answer on as it comes.
    pub fn pass_on(
        mut self,
        head: &hyper::http::response::Parts,
        pieces: Vec<Bytes>,
        body: Incoming,
        tee: AnswerTee,
    ) -> Response {
        let mut headers = self.client_headers(head);
        let insert = self.insert.take();
        let framing = tee.framing();
        let ending = self.ending();
        let after = move |seen: AnswerFacts, is_broken: bool| ending.end(&seen, is_broken);
        let teed = TeedBody::new(pieces, body, tee, Box::new(after));
        // A compressed answer cannot be read, so nothing is inserted into it.
        let body = match insert.filter(|_| !head.headers.contains_key(CONTENT_ENCODING)) {
            Some(insert) => {
                headers.remove(CONTENT_LENGTH);
                let is_stream = framing == AnswerFraming::Sse;
                Body::new(BreakingBody::new(InsertedAnswer::new(teed, insert, is_stream)))
            }
            None => Body::new(BreakingBody::new(teed)),
        };
        respond(head.status, headers, body)
    }

    /// Takes the parts that are needed when the answer has ended. The request's bytes are dropped, unless a later
    /// request may name the answer; then the request also keeps its room in memory.
    pub fn ending(self) -> PassingAnswer {
        let Self {
            request: ProxyRequest { app, trace, labels, .. }, turn, room, is_answered, ..
        } = self;
        let room = turn.wants_output().then_some(room);
        let span = Span::current();
        PassingAnswer { app, trace, span, labels, awaited: turn.into_pending(), is_answered, room }
    }
}

/// A request whose answer is being passed on.
pub(crate) struct PassingAnswer {
    app: Arc<SharedApp>,
    trace: RequestTrace,
    /// The request in the log: a client that hangs up ends the answer from outside.
    span: Span,
    labels: Arc<RequestLabels>,
    awaited: PendingAnswer,
    is_answered: bool,
    room: Option<BodyRoom>,
}

impl PassingAnswer {
    /// Handles the end of the answer, complete or broken off.
    pub fn end(self, seen: &AnswerFacts, is_broken: bool) {
        let Self { app, trace, span, labels, awaited, is_answered, room } = self;
        let _in_request = span.enter();
        trace.add_answer(seen);
        if is_broken {
            app.metrics.count_broken();
        }
        if is_answered {
            seen.usage.iter().for_each(|usage| app.metrics.add_usage(&labels, *usage));
            let copied = awaited.copied_marks(seen);
            app.metrics.count_placeholders(0, copied);
            log_placeholders(awaited.session().as_deref(), 0, copied);
            // Taken first, because `take_facts` consumes the turn.
            let narratable = awaited.narratable();
            if let Some(truncation) = awaited.take_facts(seen, app.now()) {
                app.metrics.count_truncated();
                log_truncation(&truncation);
            }
            app.keep();
            if let Some((narrator, target)) = app.narrator.clone().zip(narratable) {
                narrator.offer(target, move |is_accepted| {
                    app.metrics.count_narration(is_accepted);
                    app.keep();
                });
            }
        }
        // Held until here, because `awaited` kept the bytes of the request.
        drop(room);
    }
}

/// Whether the answer is one document that is as short as an error. It arrives in one piece, so it is read before it is
/// passed on.
fn is_short_document(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    length.is_some_and(|length: usize| length <= LONGEST_PRELUDE)
}
