//! A request whose history is known, on its way: sent, sent again where the provider found it too long, and what its
//! answer is for the client.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue};
use midfold::DialectKind;
use midfold::formats::answer::{Framing, Seen, Tee, Verdict};
use midfold::formats::overflow::Diagnosis;
use midfold::proxy::vendor::Insert;
use midfold::proxy::{Awaited, Turn};
use tokio::time::timeout_at;

use crate::answers::respond;
use crate::app::App;
use crate::body::Room;
use crate::breaking::{Breaking, Part};
use crate::headers;
use crate::logged::{folded, overflowed, truncated};
use crate::refusal::Refusal;
use crate::tee::Teed;
use crate::unpack::Packed;
use crate::upstream::{NoAnswer, content_type, told};
use crate::vendor::Inserted;
use crate::way::Way;

/// Bytes of a stream that are held back until it is clear that it is no refusal.
const LONGEST_PRELUDE: usize = 64 << 10;

/// A request whose history is known.
pub(crate) struct Trip {
    pub way: Way,
    pub turn: Turn,
    pub room: Room,
    pub packed: Option<Packed>,
    pub stream: bool,
    pub is_answered: bool,
    /// The insertion into the answer.
    pub insert: Option<Insert>,
}

/// What the provider answered.
pub(crate) struct Answer {
    pub head: hyper::http::response::Parts,
    pub body: Said,
    /// What its refusal means, where it refused.
    pub refused: Option<Diagnosis>,
}

/// The body of an answer.
pub(crate) enum Said {
    /// It is on its way: what was held of it, the rest, and who has read what was held.
    Passing(Vec<Bytes>, Incoming, Box<Tee>),
    /// It refused, and this is what it said.
    Refused(Refusal),
}

impl Trip {
    /// Sends it, and a shorter one in its place where the provider found it too long.
    pub async fn asked(&mut self) -> Result<Answer, NoAnswer> {
        let answer = self.ask().await?;
        match answer.refused {
            // The rest of the first answer is dropped with its connection.
            Some(diagnosis) if self.has_shorter(diagnosis) => self.ask().await,
            _ => Ok(answer),
        }
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
            app.note_window(&self.turn, &self.way.goal.target.name);
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
        let is_read = self.turn.wants_output() || self.turn.recalls();
        let tee = if is_read { tee } else { tee.without_output() };
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

    /// The headers of the answer, with what was done to its request.
    pub fn told(&self, head: &hyper::http::response::Parts) -> HeaderMap {
        let mut headers = headers::for_client(&head.headers);
        headers::tell(&mut headers, self.turn.sent());
        headers
    }

    /// The provider's refusal, for the client.
    pub fn refused(&self, head: &hyper::http::response::Parts, refusal: Refusal) -> Response {
        let body = match refusal {
            Refusal { text, cut: None } => Body::from(text),
            Refusal { text, cut: Some(why) } => {
                self.way.app.metrics.broken();
                Body::new(Breaking::new(Part::new(text, why)))
            }
        };
        respond(head.status, self.told(head), body)
    }

    /// An answer that passes as it comes.
    pub fn passed(
        mut self,
        head: &hyper::http::response::Parts,
        held: Vec<Bytes>,
        body: Incoming,
        tee: Tee,
    ) -> Response {
        let mut headers = self.told(head);
        let insert = self.insert.take();
        let ending = self.ending();
        let done = move |seen: Seen, is_broken: bool| ending.end(&seen, is_broken);
        let teed = Teed::new(held, body, tee, Box::new(done));
        // A packed answer cannot be read, and so it passes.
        let body = match insert.filter(|_| !head.headers.contains_key(CONTENT_ENCODING)) {
            Some(insert) => {
                headers.remove(CONTENT_LENGTH);
                let is_stream = content_type(&head.headers).starts_with("text/event-stream");
                Body::new(Breaking::new(Inserted::new(teed, insert, is_stream)))
            }
            None => Body::new(Breaking::new(teed)),
        };
        respond(head.status, headers, body)
    }

    /// The work that is left when the answer has passed. It holds nothing of the request, unless a later request may
    /// name the answer; it holds the request's room then.
    pub fn ending(self) -> Ending {
        let Self { way: Way { app, .. }, turn, room, is_answered, .. } = self;
        let room = turn.wants_output().then_some(room);
        Ending { app, awaited: turn.taken(), is_answered, room }
    }
}

/// A request whose answer passes.
pub(crate) struct Ending {
    app: Arc<App>,
    awaited: Awaited,
    is_answered: bool,
    room: Option<Room>,
}

impl Ending {
    /// The answer has passed, or broke off.
    pub fn end(self, seen: &Seen, is_broken: bool) {
        let Self { app, awaited, is_answered, room } = self;
        if is_broken {
            app.metrics.broken();
        }
        if is_answered {
            seen.usage.iter().for_each(|usage| app.metrics.usage(*usage));
            let narratable = awaited.narratable();
            if let Some(truncation) = awaited.answered(seen, app.now()) {
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
    }
}

/// What kind of body an answer has, by its type.
pub(crate) fn framing(kind: &str, stream: bool) -> Framing {
    match kind.split(';').next().unwrap_or_default().trim() {
        "text/event-stream" => Framing::Sse,
        "application/x-ndjson" => Framing::NdJson,
        _ if stream => Framing::JsonArray,
        _ => Framing::Json,
    }
}
