//! Tools inside of a request: the model calls one that its client does not know, and `rounds` answers. What was said so
//! stays a part of the conversation, although no client ever sends it: with each later request it is put back in its
//! place.

mod hidden;
mod offered;
mod shown_messages;
mod spelling;
mod stored;

pub(super) use hidden::{HiddenExchange, HiddenExchanges};
pub(super) use offered::{MOST_ROUNDS, RecallOffer, put_back};
pub(super) use shown_messages::{answered, chain};
pub(super) use stored::read_back;
