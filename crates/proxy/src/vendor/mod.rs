//! The compaction that vendors offer in their own APIs, done here for any backend: what a request asks of
//! it is read and taken out, and the answer is what the vendor's own would be.
//!
//! What a compaction leaves travels with the client, sealed ([`Seal`]). When it comes back, it is
//! replaced by the messages that it stands for, byte for byte those that were sent, so that the next prompt
//! extends the one before; and the request then goes the way of every other one.

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

/// What a request was sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestPurpose {
    /// A model's answer.
    Answer,
    /// A count of its tokens.
    Count,
    /// A compaction and nothing else: `/v1/responses/compact`.
    Compact,
}

/// A request, and what of it is done here.
pub struct VendorRequest {
    /// Without what is done here, and with the messages that blocks of ours stand for.
    pub request: Request,
    /// What is to be done; nothing where the request is like every other one.
    pub work: Option<VendorWork>,
    /// A block of ours was in it.
    pub is_replay: bool,
    /// The betas of the vendor's compaction are not for the provider: none of it is left in the request.
    pub strips_betas: bool,
}

/// What is to be done for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VendorWork {
    /// `/v1/responses/compact`: the answer is the next input.
    Compact,
    /// A `compaction_trigger`: the answer is one compaction item.
    Trigger,
    /// `context_management` of Responses: above so many tokens, an item before the reply.
    Threshold(Option<u64>),
    /// `compaction` of Messages: the answer is a summary, made with these instructions in mind.
    OnDemand(Option<String>),
    /// `context_management` of Messages.
    Edited(Box<EditedRequest>),
    /// The same, for a count of tokens.
    Count {
        /// Tokens that edits took.
        cleared: u64,
    },
}

impl VendorWork {
    /// What a client wants kept of whatever is folded: it says so with each request, also where nothing is to
    /// be folded yet. A model that narrates ahead has to know it by then.
    #[must_use]
    pub fn standing(&self) -> Option<&str> {
        let Self::Edited(edited) = self else { return None };
        edited.compact.as_ref()?.instructions.as_deref()
    }
}

/// What edits of Messages did, and what is still to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedRequest {
    /// What was cleared.
    pub applied: Vec<AppliedEdit>,
    /// Above so many tokens, a summary before the reply.
    pub compact: Option<CompactEdit>,
}

/// A request that is refused as the vendor would refuse it.
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
    /// When it is none.
    pub fn read(
        &self,
        kind: DialectKind,
        body: Bytes,
        purpose: RequestPurpose,
        bounds: Bounds,
    ) -> Result<Request, RequestError> {
        // Most of a body was in the request before it.
        let known = |text: &[u8]| lock(&self.index).identities().length(text);
        match Request::read_knowing(kind, body.clone(), &known, bounds) {
            // A compaction may name an answer and nothing else.
            Err(RequestError::NoMessages(_)) if purpose == RequestPurpose::Compact => {
                Request::read(kind, midfold_formats::vendor::openai::with_input(&body))
            }
            read => read,
        }
    }

    /// Reads what a request asks of its vendor's compaction. A request that asks for nothing stays as it is.
    ///
    /// # Errors
    /// A [`VendorRefusal`] where the vendor would refuse the request, and for a block of ours that does not open.
    pub fn wish(
        &self,
        request: Request,
        who: &RequestSender,
        purpose: RequestPurpose,
    ) -> Result<VendorRequest, VendorRefusal> {
        if purpose != RequestPurpose::Compact && !concerns(request.body()) {
            return Ok(VendorRequest::plain(request));
        }
        let body = request.body().clone();
        let wish = self.wish_of(request, who, purpose)?;
        // What goes on is the provider's to judge; what is answered here has to be text.
        if wish.work.is_some() && std::str::from_utf8(&body).is_err() {
            return Err(VendorRefusal { status: 400, body: NO_TEXT.to_vec() });
        }
        Ok(wish)
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

/// What either vendor's SDK reads as an error of a body that is none.
const NO_TEXT: &[u8] = br#"{"type":"error","error":{"message":"The body is not valid JSON: it is not UTF-8.","type":"invalid_request_error","param":null,"code":null}}"#;

/// Whether a request may ask for compaction, or hold a block of it. Most do not, and are large.
fn concerns(body: &[u8]) -> bool {
    ["context_management", "\"compaction"]
        .iter()
        .any(|word| memmem::find(body, word.as_bytes()).is_some())
}

/// What a text of ours holds; none where it does not open.
fn opened(seal: &Seal, who: &RequestSender, kind: DialectKind, sealed: &str) -> Option<Blob> {
    let OpenedBlob::Ours(bytes) = seal.open(&who.scope, sealed) else { return None };
    Blob::decode(&bytes).ok().filter(|blob| blob.dialect == kind)
}

/// The messages that a blob stands for.
fn messages(blob: Blob) -> Vec<Bytes> {
    let bytes = Bytes::from(blob.context);
    scan::elements(&bytes, 0..bytes.len()).map(|at| bytes.slice(at)).collect()
}

/// A request with other messages, read again.
fn with(
    request: &Request,
    messages: impl IntoIterator<Item = Bytes>,
) -> Result<Request, RequestError> {
    Request::read(request.kind(), request.with_messages(messages))
}
