//! The compaction that vendors offer in their APIs, done by midfold for any backend. A request's wish for it is read
//! and removed, and the answer has the vendor's own form.
//!
//! The client carries the result of a compaction, sealed ([`Seal`]). When it sends that back, the messages that are
//! sealed in it take its place, byte for byte as they were sent, so that the next prompt extends the one before. The
//! request is then handled like every other one.

mod answer;
mod anthropic;
mod insert;
mod openai;
mod summary;

use bytes::Bytes;
use memchr::memmem;
use midfold_formats::request::{Bounds, Request, RequestError};
use midfold_formats::vendor::anthropic::{AppliedEdit, CompactEdit};
use midfold_formats::vendor::blob::Blob;
use midfold_formats::{DialectKind, scan};

use super::lock::lock;
use super::seal::{OpenedBlob, Seal};
use super::sender::RequestSender;
use super::shared::Proxy;

pub use answer::{MadeAnswer, VendorOutcome};
pub use insert::AnswerInsert;

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestPurpose {
    /// A model's answer.
    Answer,
    /// A count of its tokens.
    Count,
    /// A compaction and nothing else: `/v1/responses/compact`.
    Compact,
}

/// A request, and the compaction that midfold carries out for it.
pub struct VendorRequest {
    /// The request without the parts that midfold handles, and with sealed messages put back.
    pub request: Request,
    /// The compaction to carry out; `None` if the request asks for none.
    pub work: Option<VendorWork>,
    /// Whether a compaction block of midfold's was in it.
    pub is_replay: bool,
    /// Whether to remove the header of the vendor's betas, because no part of the vendor's compaction is left in the
    /// request.
    pub strips_betas: bool,
}

/// A compaction to carry out for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VendorWork {
    /// `/v1/responses/compact`: the answer is the next input.
    Compact,
    /// A `compaction_trigger`: the answer is one compaction item.
    Trigger,
    /// `context_management` of Responses: above this many tokens, a compaction item before the answer.
    Threshold(Option<u64>),
    /// `compaction` of Messages: the answer is a summary that follows these instructions.
    OnDemand(Option<String>),
    /// `context_management` of Messages.
    Edited(Box<EditedRequest>),
    /// `context_management` of Messages, for a count of tokens.
    Count {
        /// Tokens that edits removed.
        cleared: u64,
    },
}

impl VendorWork {
    /// Whether only a report is inserted into the answer, and nothing else is done: `context_management` of Messages
    /// whose edits cleared nothing. Claude Code sends such a wish with every request.
    #[must_use]
    pub fn only_reports(&self) -> bool {
        let Self::Edited(edited) = self else { return false };
        edited.applied.is_empty() && edited.compact.is_none()
    }

    /// What a client wants kept in each fold. It says so with each request, even if nothing has to be folded yet, so
    /// that a model which narrates ahead knows it in time.
    #[must_use]
    pub fn standing(&self) -> Option<&str> {
        let Self::Edited(edited) = self else { return None };
        edited.compact.as_ref()?.instructions.as_deref()
    }
}

/// The result of the edits of a Messages request, and what is still to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedRequest {
    /// The edits that cleared something.
    pub applied: Vec<AppliedEdit>,
    /// Above its number of tokens, a summary before the answer.
    pub compact: Option<CompactEdit>,
}

/// A refusal in the form in which the vendor would refuse the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorRefusal {
    /// The HTTP status.
    pub status: u16,
    /// The body, in the vendor's shape.
    pub body: Vec<u8>,
}

impl VendorRequest {
    fn plain(request: Request) -> Self {
        Self { request, work: None, is_replay: false, strips_betas: false }
    }
}

impl Proxy {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// If the body is not a request of this wire format.
    pub fn read(
        &self,
        kind: DialectKind,
        body: Bytes,
        purpose: RequestPurpose,
        bounds: Bounds,
    ) -> Result<Request, RequestError> {
        // Most of a body was already in an earlier request: known messages need not be parsed again.
        let known = |text: &[u8]| lock(&self.index).identities().length(text);
        match Request::read_knowing(kind, body.clone(), &known, bounds) {
            // A compaction may have no messages, only the id of an answer.
            Err(RequestError::NoMessages(_)) if purpose == RequestPurpose::Compact => {
                Request::read(kind, midfold_formats::vendor::openai::with_input(&body))
            }
            read => read,
        }
    }

    /// Reads the compaction that a request asks for. A request that asks for none stays unchanged.
    ///
    /// # Errors
    /// A [`VendorRefusal`] if the vendor would refuse the request, or if a sealed block does not open.
    pub fn vendor_request(
        &self,
        request: Request,
        who: &RequestSender,
        purpose: RequestPurpose,
    ) -> Result<VendorRequest, VendorRefusal> {
        if purpose != RequestPurpose::Compact && !concerns(request.body()) {
            return Ok(VendorRequest::plain(request));
        }
        let body = request.body().clone();
        let outcome = self.wish_of(request, who, purpose)?;
        // The provider judges a body that is passed on. A body that midfold answers has to be valid UTF-8.
        if outcome.work.is_some() && std::str::from_utf8(&body).is_err() {
            return Err(VendorRefusal { status: 400, body: NO_TEXT.to_vec() });
        }
        Ok(outcome)
    }

    fn wish_of(
        &self,
        request: Request,
        who: &RequestSender,
        purpose: RequestPurpose,
    ) -> Result<VendorRequest, VendorRefusal> {
        match (request.kind(), &self.seal) {
            (DialectKind::OpenAiResponses, Some(seal)) => {
                self.openai_wish(request, who, purpose, seal)
            }
            (DialectKind::Anthropic, Some(seal)) => {
                self.anthropic_wish(request, who, purpose, seal)
            }
            _ => Ok(VendorRequest::plain(request)),
        }
    }
}

/// An error for a body that is not UTF-8, in a form that the SDKs of both vendors read.
const NO_TEXT: &[u8] = br#"{"type":"error","error":{"message":"The body is not valid JSON: it is not UTF-8.","type":"invalid_request_error","param":null,"code":null}}"#;

/// Whether a request may ask for compaction or contain a block of it. Most requests do neither and are large, so this
/// only searches for words.
fn concerns(body: &[u8]) -> bool {
    ["context_management", "\"compaction"]
        .iter()
        .any(|word| memmem::find(body, word.as_bytes()).is_some())
}

/// The content of a sealed text; `None` if it does not open, or belongs to another wire format.
fn opened(seal: &Seal, who: &RequestSender, kind: DialectKind, sealed: &str) -> Option<Blob> {
    let OpenedBlob::Ours(bytes) = seal.open(&who.scope, sealed) else { return None };
    Blob::decode(&bytes).ok().filter(|blob| blob.dialect == kind)
}

/// The messages that are sealed in a blob.
fn messages(blob: Blob) -> Vec<Bytes> {
    let bytes = Bytes::from(blob.context);
    scan::elements(&bytes, 0..bytes.len()).map(|at| bytes.slice(at)).collect()
}

/// The request with other messages, read again.
fn with(
    request: &Request,
    messages: impl IntoIterator<Item = Bytes>,
) -> Result<Request, RequestError> {
    Request::read(request.kind(), request.with_messages(messages))
}
