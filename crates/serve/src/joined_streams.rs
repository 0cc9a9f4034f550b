//! Joins streamed answers: if midfold answers the calls of its tools in one answer, the next answer continues the
//! client's stream. Text is passed on at once.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::header::CONTENT_LENGTH;
use hyper::http::response::Parts;
use midfold::formats::answer::{AnswerFacts, AnswerTee};
use midfold::formats::recall_tool::JoinedStream;

use crate::answers::respond;
use crate::broken_answers::BreakingBody;
use crate::upstream_call::{ResponseBody, UpstreamAnswer, UpstreamCall};
use crate::vendor::InsertedAnswer;

/// Why a stream breaks off: asking the upstream again failed.
#[derive(Debug, thiserror::Error)]
enum StreamStop {
    #[error("the upstream did not go on with what was looked up: {0}")]
    NoAnswer(String),
    #[error("the upstream refused to go on with what was looked up: {0}")]
    Refused(hyper::StatusCode),
}

/// The answers to one request, as one stream.
pub(crate) struct StreamedAnswer {
    /// The request, and the reader of its present answer; `None` after the last one ended.
    asking: Option<(UpstreamCall, AnswerTee)>,
    /// Pieces that were held back until it was clear that the answer is no refusal. The tee has read them already.
    pieces: VecDeque<Bytes>,
    body: Incoming,
    joined: JoinedStream,
    /// The id of the first answer, by which the client knows the whole.
    id: Option<String>,
}

impl StreamedAnswer {
    /// Makes the response for the client.
    pub fn answer(
        mut call: UpstreamCall,
        head: &Parts,
        pieces: Vec<Bytes>,
        body: Incoming,
        tee: AnswerTee,
    ) -> Response {
        let mut headers = call.client_headers(head);
        // Calls are hidden and further answers join the stream, so the length of the first answer does not hold.
        headers.remove(CONTENT_LENGTH);
        let insert = call.insert.take();
        let mut joined = JoinedStream::new(call.turn.request().kind());
        // A call that copies what a fold printed must not reach the client, and only its end shows that.
        joined.hold_calls(call.turn.guards_calls());
        let streamed =
            Self { asking: Some((call, tee)), pieces: pieces.into(), body, joined, id: None };
        let pulled = PulledBody(PullState::Next(Box::new(streamed)));
        let body = match insert {
            Some(insert) => Body::new(BreakingBody::new(InsertedAnswer::new(pulled, insert, true))),
            None => Body::new(BreakingBody::new(pulled)),
        };
        respond(head.status, headers, body)
    }

    /// The next bytes for the client; `None` at the end.
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        let mut out = Vec::new();
        // A frame with hidden calls, or with calls that are held back, leaves nothing for the client, so the next one is read.
        while out.is_empty() && self.asking.is_some() {
            if let Some(piece) = self.pieces.pop_front() {
                self.joined.push(&piece, &mut out);
                continue;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let (Some(data), Some((_, tee))) = (frame.data_ref(), &mut self.asking) {
                        tee.push(data);
                        self.joined.push(data, &mut out);
                    }
                }
                Some(Err(error)) => {
                    self.end(true);
                    return Some(Err(error.into()));
                }
                None => {
                    if let Err(stopped) = self.finish_answer(&mut out).await {
                        return Some(Err(stopped.into()));
                    }
                }
            }
        }
        (!out.is_empty()).then(|| Ok(out.into()))
    }

    /// Handles the end of an answer: asks the upstream again, or ends the stream.
    async fn finish_answer(&mut self, out: &mut Vec<u8>) -> Result<(), StreamStop> {
        let Some((mut call, tee)) = self.asking.take() else { return Ok(()) };
        let mut seen = tee.finish();
        self.id = self.id.take().or_else(|| seen.id.clone());
        // The answer is recorded before its end is sent, because the client may send its next request right after that.
        let round = call.hear(&mut seen);
        self.joined.leave_out(&round.unrun);
        if !round.asks_again {
            seen.id.clone_from(&self.id);
            call.ending().end(&seen, false);
            self.joined.finish(out);
            return Ok(());
        }
        self.joined.next(out);
        let stopped = match call.ask_and_recover().await {
            Ok(UpstreamAnswer { body: ResponseBody::Passing(pieces, body, tee), .. }) => {
                (self.pieces, self.body) = (pieces.into(), body);
                // The request may have been folded only now.
                self.joined.hold_calls(call.turn.guards_calls());
                self.asking = Some((call, *tee));
                return Ok(());
            }
            Ok(UpstreamAnswer { head, .. }) => StreamStop::Refused(head.status),
            Err(error) => StreamStop::NoAnswer(error.to_string()),
        };
        // `hear` has counted the usage of the answers before, so there are no facts to add.
        call.ending().end(&AnswerFacts::default(), true);
        Err(stopped)
    }

    /// Records the end of the answer. A stream that broke off counts as incomplete, whatever it contained.
    fn end(&mut self, is_broken: bool) {
        if let Some((call, tee)) = self.asking.take() {
            let mut seen = tee.finish();
            seen.is_complete &= !is_broken;
            call.ending().end(&seen, is_broken);
        }
    }
}

impl Drop for StreamedAnswer {
    /// The client may stop reading; what was read until then is recorded.
    fn drop(&mut self) {
        self.end(false);
    }
}

type PullFuture =
    dyn Future<Output = (Box<StreamedAnswer>, Option<Result<Bytes, BoxError>>)> + Send;

/// A body that only reads from the upstream when the client asks for more, so that a slow client slows the upstream
/// down.
struct PulledBody(PullState);

enum PullState {
    Next(Box<StreamedAnswer>),
    Under(Pin<Box<PullFuture>>),
    Ended,
}

impl hyper::body::Body for PulledBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // Taken out of `self`, because the future owns the answer while it runs.
        let mut under: Pin<Box<PullFuture>> = match std::mem::replace(&mut self.0, PullState::Ended)
        {
            PullState::Ended => return Poll::Ready(None),
            PullState::Under(under) => under,
            PullState::Next(mut streamed) => Box::pin(async move {
                let next = streamed.next().await;
                (streamed, next)
            }),
        };
        let Poll::Ready((streamed, next)) = under.as_mut().poll(context) else {
            self.0 = PullState::Under(under);
            return Poll::Pending;
        };
        // After an error or the end, the state stays `Ended`, and dropping the stream records what was not recorded
        // yet.
        if matches!(next, Some(Ok(_))) {
            self.0 = PullState::Next(streamed);
        }
        Poll::Ready(next.map(|next| next.map(Frame::data)))
    }
}
