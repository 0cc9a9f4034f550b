//! Whose history a request is.

use bytes::Bytes;
use midfold_core::exchanges::{ClientChain, ExchangeWalk};
use midfold_formats::DialectKind;
use midfold_formats::request::without_marks;

use crate::sender::RequestSender;

/// Whose history a request is. Nothing is found from another owner: the sender's scope, its name for the session, the
/// format, and the instructions, which may be the only difference between two clients.
pub(super) fn owner(kind: DialectKind, who: &RequestSender, system: Option<&Bytes>) -> ClientChain {
    let hint = who.hint.as_deref().unwrap_or_default();
    let parts = [&who.scope, hint, kind.name()];
    let owner = ClientChain::begin(parts.map(str::as_bytes));
    system.map_or(owner, |system| owner.with_instructions(&without_marks(system)))
}

/// The walk from the first message of an owner's history on.
pub(super) fn walk(kind: DialectKind, owner: ClientChain) -> ExchangeWalk {
    ExchangeWalk::new(owner, kind == DialectKind::OpenAiResponses)
}
