//! The rules of providers. A request that breaks one is refused in the provider's words.

mod chat;
mod gemini;
mod messages;
mod responses;

use super::errors::BrokenRule;
use super::request_parts::{AskedParts, WireDialect};

/// How strictly requests are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// No request is refused.
    Off,
    /// The rules of the dialect's own provider.
    #[default]
    Provider,
    /// Also the rules of chat templates of open models: roles alternate, and a user does not speak straight after a
    /// tool. If one message of the assistant has `reasoning_content`, all have it. In Responses, results follow their
    /// calls at once (`DeepSeek`).
    Templates,
}

/// Fails with the first rule that a request breaks.
pub(crate) fn check(request: &AskedParts, strictness: Strictness) -> Result<(), BrokenRule> {
    if strictness == Strictness::Off {
        return Ok(());
    }
    match request.dialect {
        WireDialect::Chat => {
            chat::check(request)?;
            if strictness == Strictness::Templates { chat::alternates(request) } else { Ok(()) }
        }
        WireDialect::Responses => {
            responses::check(request)?;
            if strictness == Strictness::Templates { responses::adjacent(request) } else { Ok(()) }
        }
        WireDialect::Messages => messages::check(request),
        WireDialect::Gemini => {
            gemini::check(request)?;
            if strictness == Strictness::Templates { gemini::alternates(request) } else { Ok(()) }
        }
    }
}
