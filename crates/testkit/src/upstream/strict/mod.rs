//! What providers refuse, in their words.

mod chat;
mod gemini;
mod messages;
mod responses;

use super::errors::BrokenRule;
use super::request_parts::{AskedParts, WireDialect};

/// How much the server looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Nothing is refused.
    Off,
    /// The rules of the dialect's own provider.
    #[default]
    Provider,
    /// Also what chat templates of open models ask: roles alternate, and a user does not speak
    /// straight after a tool; what some messages have as `reasoning_content`, all have; in Responses, the results of calls follow them at once (`DeepSeek`).
    Templates,
}

/// The first rule that a request breaks.
pub(crate) fn check(asked: &AskedParts, strictness: Strictness) -> Result<(), BrokenRule> {
    if strictness == Strictness::Off {
        return Ok(());
    }
    match asked.dialect {
        WireDialect::Chat => {
            chat::check(asked)?;
            if strictness == Strictness::Templates { chat::alternates(asked) } else { Ok(()) }
        }
        WireDialect::Responses => {
            responses::check(asked)?;
            if strictness == Strictness::Templates { responses::adjacent(asked) } else { Ok(()) }
        }
        WireDialect::Messages => messages::check(asked),
        WireDialect::Gemini => {
            gemini::check(asked)?;
            if strictness == Strictness::Templates { gemini::alternates(asked) } else { Ok(()) }
        }
    }
}
