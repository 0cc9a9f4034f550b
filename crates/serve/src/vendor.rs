//! Requests for a vendor's compaction, over HTTP: answers that midfold makes, and insertions into a provider's answers.
//! [`midfold_proxy::vendor`] decides what is done, and in which form.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::response::Response;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::{Body, Frame};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use midfold::formats::vendor::anthropic::without_betas;
use midfold_proxy::OutgoingRequest;
use midfold_proxy::vendor::{AnswerInsert, MadeAnswer, VendorRefusal};

use crate::headers;

/// The header in which a client names the betas that its request uses.
const BETA: &str = "anthropic-beta";
/// The most bytes of an answer that is held back for an insertion. A longer one is passed on unchanged.
const LONGEST_ANSWER: usize = 32 << 20;

/// Removes the betas that midfold handles from a request's headers; others stay.
pub(crate) fn strip_betas(headers: &mut HeaderMap) {
    let lists = headers.get_all(BETA).iter().filter_map(|value| value.to_str().ok());
    let rest: Vec<_> = lists.map(without_betas).filter(|list| !list.is_empty()).collect();
    headers.remove(BETA);
    for value in rest.iter().filter_map(|list| HeaderValue::from_str(list).ok()) {
        headers.append(BETA, value);
    }
}

/// The response with an answer that midfold made.
pub(crate) fn answered(reply: MadeAnswer, outgoing: &OutgoingRequest) -> Response {
    let mut response = answer(StatusCode::OK, reply.content_type, reply.body);
    headers::tell(response.headers_mut(), outgoing);
    response
}

/// The response to a request that is refused as the vendor would refuse it.
pub(crate) fn refused(refused: VendorRefusal) -> Response {
    let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::BAD_REQUEST);
    answer(status, "application/json", refused.body)
}

fn answer(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response {
    let mut response = Response::new(axum::body::Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A provider's answer into which something is inserted.
pub(crate) struct InsertedAnswer<B: Body> {
    inner: B,
    insert: Option<AnswerInsert>,
    /// The bytes so far of an answer that is one document; `None` for a stream.
    whole: Option<Vec<u8>>,
    /// The error of an answer that broke off. It is reported after the held bytes were sent.
    broken: Option<B::Error>,
}

impl<B: Body> InsertedAnswer<B> {
    pub fn new(inner: B, insert: AnswerInsert, is_stream: bool) -> Self {
        Self { inner, insert: Some(insert), whole: (!is_stream).then(Vec::new), broken: None }
    }

    /// Takes bytes of the answer, and returns the bytes that can be passed on now.
    fn pass(&mut self, data: &Bytes) -> Vec<u8> {
        let mut out = Vec::new();
        match (&mut self.insert, &mut self.whole) {
            (None, _) => out.extend_from_slice(data),
            (Some(insert), None) => insert.push(data, &mut out),
            (Some(_), Some(whole)) => {
                whole.extend_from_slice(data);
                if whole.len() > LONGEST_ANSWER {
                    out = std::mem::take(whole);
                    // From here on the bytes pass by: the start of the document is gone, and nothing can be inserted
                    // any more.
                    self.insert = None;
                }
            }
        }
        out
    }

    /// The held bytes of an answer that broke off. Nothing is inserted into an incomplete document.
    fn take_whole(&mut self) -> Vec<u8> {
        match (&self.insert, self.whole.take()) {
            (Some(_), Some(whole)) => {
                self.insert = None;
                whole
            }
            _ => self.rest(),
        }
    }

    /// The bytes that are left at the end.
    fn rest(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        match (self.insert.take(), &self.whole) {
            (Some(insert), Some(whole)) => out = insert.whole(whole),
            (Some(insert), None) => insert.finish(&mut out),
            (None, _) => {}
        }
        out
    }
}

impl<B> Body for InsertedAnswer<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        loop {
            if let Some(error) = self.broken.take() {
                return Poll::Ready(Some(Err(error)));
            }
            let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
            let is_last = frame.is_none();
            let out = match frame {
                Some(Ok(frame)) => match frame.data_ref() {
                    Some(data) => self.pass(data),
                    None => continue,
                },
                Some(Err(error)) => {
                    // The client gets the bytes that came before the error, and the error behind them.
                    self.broken = Some(error);
                    self.take_whole()
                }
                None => self.rest(),
            };
            match (out.is_empty(), is_last) {
                (true, true) => return Poll::Ready(None),
                // All bytes so far are held back, or only the error is left: the loop goes on to either.
                (true, false) => {}
                (false, _) => return Poll::Ready(Some(Ok(Frame::data(out.into())))),
            }
        }
    }
}
