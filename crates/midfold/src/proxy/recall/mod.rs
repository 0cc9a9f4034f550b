//! Tools inside of a request: the model calls one that its client does not know, and is answered here. It looks up what
//! was folded, or says what should become of its conversation. What was said so stays a part of the conversation,
//! although no client ever sends it: with each later request it is put back in its place.

mod hidden;
mod look_up;
mod offered;
mod rounds;
mod shown_messages;
mod spelling;
mod stored;
mod wishes;

pub(super) use hidden::HiddenExchanges;
pub(super) use offered::{RecallOffer, put_back};
pub use rounds::RecallRound;
pub(super) use stored::read_back;
