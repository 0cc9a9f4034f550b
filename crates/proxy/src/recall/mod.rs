//! Tools that the proxy adds to a request. The client does not know them: the proxy answers the model's calls (in
//! `rounds`), and puts the exchanges back in their places in every later request.

mod hidden;
mod offered;
mod shown_messages;
mod spelling;
mod stored;

pub(super) use hidden::{HiddenExchange, HiddenExchanges};
pub(super) use offered::{MOST_ROUNDS, RecallOffer, put_back};
pub(super) use shown_messages::{answered, chain};
pub(super) use stored::read_back;
