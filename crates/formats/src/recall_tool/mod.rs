//! A tool that a proxy gives to the model and answers itself, so that the client never sees it: how it is put
//! into a request, how its calls are found in an answer, what goes back for them, and what of several answers
//! the client gets as one.
//!
//! Nothing here looks anything up, and nothing decides how often. An answer is read by
//! [`Tee`](crate::answer::Tee) first: it gives the reply in the form in which it goes back.

mod calls;
mod joined_answers;
mod offer;
mod result;
mod signature;
mod stream;

pub use calls::{RecallCall, RecallCalls, calls, may_be_models};
pub use joined_answers::joined;
pub use offer::{NoOffer, check, forbidden, offered, tool, withheld};
pub use result::{AnsweredCall, in_front_of, results};
pub use stream::JoinedStream;

/// The tool's name.
pub const NAME: &str = midfold_core::log::RECALL_TOOL;
