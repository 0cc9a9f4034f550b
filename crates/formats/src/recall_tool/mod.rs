//! Tools that a proxy gives to the model and answers itself, so that the client never sees them. This module puts them
//! into a request, finds their calls in an answer, writes their results, and joins several answers to the one that the
//! client gets. One tool reads folded events again. With the others an agent says what is to happen to its own
//! conversation. A call of the client's own tools may be left unrun: then the proxy answers it in the client's place.
//!
//! The module does no recall itself and does not limit the number of calls. [`AnswerTee`](crate::answer::AnswerTee)
//! reads an answer first and returns the reply in the form in which it is sent back.

mod calls;
mod joined_answers;
mod offer;
mod result;
mod signature;
mod stream;
mod tool;
mod unrun;

pub use calls::{HiddenTool, RecallCall, RecallCalls, calls, may_be_models};
pub use joined_answers::joined;
pub use offer::{NoOffer, check, forbidden, offered, withheld};
pub use result::{AnsweredCall, in_front_of, results};
pub use stream::JoinedStream;
pub use tool::{ToolOffer, tools};
pub use unrun::{ClientCall, answer_with_unrun, client_calls, with_unrun};

pub use crate::own_tools::OwnTool;
