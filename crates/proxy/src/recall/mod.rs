//! Tools that the proxy adds to a request, unknown to its client. The proxy answers the model's calls of them and calls
//! that it does not let run (in `rounds`), and puts these exchanges back into every later request of the same history.
//!
//! `midfold_core::exchanges` has the rule for the place of an exchange. Here `asked` reads a request as its client has
//! it, `hidden` keeps exchanges by their places, and `put_back` writes them into a request.

mod asked;
mod hidden;
mod offered;
mod owner;
mod put_back;

pub(super) use asked::AskedHistory;
pub(super) use hidden::{HiddenExchanges, StoredHistory};
pub(super) use offered::{MOST_ROUNDS, RecallOffer};
pub(super) use put_back::with_exchanges;
