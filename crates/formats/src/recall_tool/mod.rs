//! Tools that a proxy gives to the model and answers itself, so that the client never sees them: how they are put
//! into a request, how their calls are found in an answer, what goes back for them, and what of several answers
//! the client gets as one. One brings back what was folded; with the others an agent says what should become of its
//! own conversation.
//!
//! Nothing here looks anything up, and nothing decides how often. An answer is read by
//! [`AnswerTee`](crate::answer::AnswerTee) first: it gives the reply in the form in which it goes back.

mod calls;
mod joined_answers;
mod offer;
mod result;
mod signature;
mod stream;
mod tool;

pub use calls::{RecallCall, RecallCalls, calls, may_be_models};
pub use joined_answers::joined;
pub use offer::{NoOffer, check, forbidden, offered, withheld};
pub use result::{AnsweredCall, in_front_of, results};
pub use stream::JoinedStream;
pub use tool::{ToolOffer, tools};

pub use crate::own_tools::OwnTool;
