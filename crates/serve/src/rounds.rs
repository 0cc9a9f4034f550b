//! Answers the model's calls of midfold's tools and asks the provider again. The client gets all answers as one.

use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue};
use hyper::http::response::Parts;
use midfold::DialectKind;
use midfold::formats::answer::{AnswerFacts, AnswerFraming, AnswerTee};
use midfold::formats::recall_tool::{answer_with_unrun, joined};
use midfold_proxy::RecallRound;

use crate::answers::respond;
use crate::broken_answers::{BodyStart, BreakingBody};
use crate::compute::compute;
use crate::headers;
use crate::logged::{log_look_ups, log_placeholders};
use crate::proxy_request::no_answer;
use crate::upstream_call::{ResponseBody, UpstreamAnswer, UpstreamCall};

/// The most bytes of an answer that is read as a whole. A longer one is passed on unchanged.
const LONGEST_ANSWER: usize = 32 << 20;

/// How an answer is read for calls of midfold's tools.
pub(crate) enum AnswerReads {
    Whole,
    Stream,
}

/// How an answer with this head and framing is read for calls; `None` if the model has no tools of midfold's, or if the
/// answer is compressed, so that it cannot be read.
pub(crate) fn reads(
    call: &UpstreamCall,
    head: &Parts,
    framing: AnswerFraming,
) -> Option<AnswerReads> {
    let may = call.is_answered && call.turn.recalls();
    if !may || head.headers.contains_key(CONTENT_ENCODING) {
        return None;
    }
    match framing {
        // Where a stream would be an array, no tools are offered. So this is one document: some servers answer a request
        // for a stream that way.
        AnswerFraming::Json | AnswerFraming::JsonArray => Some(AnswerReads::Whole),
        AnswerFraming::Sse => Some(AnswerReads::Stream),
        AnswerFraming::NdJson => None,
    }
}

/// The result of reading an answer to its end.
enum RoundAnswer {
    Whole(Bytes),
    /// It is longer than [`LONGEST_ANSWER`]: the bytes so far, and the rest.
    Long(Bytes, Incoming),
    Broken(Bytes, hyper::Error),
}

impl UpstreamCall {
    /// Handles the calls in an answer, before the client gets its end.
    pub fn hear(&mut self, seen: &mut AnswerFacts) -> RecallRound {
        // Read before `self.turn.hear`, which changes both.
        let (usage, length) = (seen.usage, self.turn.sent().body.len());
        let now = self.request.app.now();
        // If midfold panics here, no call is answered, and the answer is passed on.
        let round = compute(|| self.turn.hear(seen, now)).unwrap_or_default();
        let app = &self.request.app;
        if round.calls + round.wishes > 0 {
            app.metrics.count_look_ups(round.calls, round.wishes);
            log_look_ups(self.turn.sent(), &round);
        }
        let (unrun, handed_on) = (round.unrun.len(), round.handed_on);
        app.metrics.count_placeholders(unrun, handed_on);
        log_placeholders(self.turn.sent().session.as_deref(), unrun, handed_on);
        if round.asks_again {
            // At the end only the last answer is counted, so the one before a further request is counted here.
            usage.iter().for_each(|usage| app.metrics.add_usage(&self.request.labels, *usage));
            usage.iter().for_each(|usage| self.request.trace.add_usage(*usage));
            // The request and the sent body have grown by this much. The result is ignored, because the request is
            // already running.
            let more = self.turn.sent().body.len().saturating_sub(length);
            app.rooms.take(&mut self.room, 2 * more);
        }
        round
    }

    /// Handles answers that are one JSON document: each is read to its end, until one is the last.
    pub async fn join_whole(
        mut self,
        mut head: Parts,
        mut pieces: Vec<Bytes>,
        mut body: Incoming,
        mut tee: AnswerTee,
    ) -> Response {
        let mut answers = Vec::new();
        loop {
            let text = match read(pieces, body, &mut tee).await {
                RoundAnswer::Whole(text) => text,
                RoundAnswer::Long(text, rest) => return self.pass_on(&head, vec![text], rest, tee),
                RoundAnswer::Broken(text, why) => {
                    let headers = self.client_headers(&head);
                    self.ending().end(&tee.finish(), true);
                    let body = Body::new(BreakingBody::new(BodyStart::new(text, why)));
                    return respond(head.status, headers, body);
                }
            };
            let mut seen = tee.finish();
            let round = self.hear(&mut seen);
            answers.push(answer_with_unrun(self.turn.request().kind(), &text, &round.unrun));
            if !round.asks_again {
                return self.last(&head, &answers, &seen, &round);
            }
            let next = match self.ask_and_recover().await {
                Ok(next) => next,
                Err(error) => return no_answer(&self.request.app, &error),
            };
            let UpstreamAnswer { head: next_head, body: next_body, .. } = next;
            head = next_head;
            (pieces, body, tee) = match next_body {
                ResponseBody::Passing(pieces, body, tee) => (pieces, body, *tee),
                ResponseBody::Refused(refusal) => return self.pass_on_refusal(&head, refusal),
            };
        }
    }

    /// The response to the client when the last answer has come.
    fn last(
        mut self,
        head: &Parts,
        answers: &[Bytes],
        seen: &AnswerFacts,
        round: &RecallRound,
    ) -> Response {
        let kind = self.turn.request().kind();
        let mut own = self.client_headers(head);
        own.remove(CONTENT_LENGTH);
        if round.handed_on > 0 {
            own.insert(headers::PLACEHOLDERS, HeaderValue::from(round.handed_on));
        }
        let insert = self.insert.take();
        self.ending().end(seen, false);
        // An answer of Responses lists the tools of the request; midfold's have to be removed from the list.
        let is_other = answers.len() > 1
            || round.calls + round.wishes + round.unrun.len() > 0
            || kind == DialectKind::OpenAiResponses;
        // An answer in which nothing has to be hidden keeps its bytes.
        let body = match answers {
            [only] if !is_other => only.clone(),
            all => Bytes::from(joined(kind, all)),
        };
        let body = insert.map_or_else(|| body.clone(), |insert| insert.whole(&body).into());
        respond(head.status, own, Body::from(body))
    }
}

/// Reads an answer to its end, up to [`LONGEST_ANSWER`].
async fn read(pieces: Vec<Bytes>, mut body: Incoming, tee: &mut AnswerTee) -> RoundAnswer {
    let mut text = BytesMut::new();
    // The tee has read the held pieces already.
    pieces.iter().for_each(|data| text.extend_from_slice(data));
    while text.len() <= LONGEST_ANSWER {
        match body.frame().await {
            None => return RoundAnswer::Whole(text.freeze()),
            Some(Err(why)) => return RoundAnswer::Broken(text.freeze(), why),
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    tee.push(data);
                    text.extend_from_slice(data);
                }
            }
        }
    }
    RoundAnswer::Long(text.freeze(), body)
}
