//! Hidden exchanges: the model's calls that a proxy answers with their results, which the client never sees. They are
//! calls of midfold's own tools, and calls of the client's tools that were not run, whose ids say so.
//!
//! This module has the one rule for the place of an exchange. A [`ClientChain`] hashes a history as its client has it:
//! every role, text, argument and result, and ids where there are ids. An exchange belongs behind the history in which
//! it took place, and nowhere else ([`ExchangePlace`]). [`ExchangeWalk`] reads a history with or without exchanges; both
//! ways give the same chain. So a proxy puts an exchange back where the chain is the same, and an audit proves from the
//! log alone that it did.

mod chain;
mod form;
mod tools;
mod walk;

pub use chain::{ClientChain, ExchangePlace};
pub use tools::{COMPACT_TOOL, NOTE_TOOL, PIN_TOOL, is_unrun, unrun_id};
pub(crate) use tools::{is_hidden, own_tool};
pub use walk::{ExchangeWalk, FoundExchange, HiddenCall, ShownReply};
