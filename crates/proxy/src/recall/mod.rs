//! Tools that the proxy adds to a request, unknown to its client. The proxy answers the model's calls of them (in
//! `rounds`), and puts these exchanges back into every later request.

mod hidden;
mod offered;
mod shown_messages;
mod spelling;
mod stored;

pub(super) use hidden::{HiddenExchange, HiddenExchanges};
pub(super) use offered::{MOST_ROUNDS, RecallOffer, put_back};
pub(super) use shown_messages::{answered, chain};
pub(super) use stored::read_back;
