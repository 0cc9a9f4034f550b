//! The tests of the engine, in one binary: it links once.

mod deeds;
mod exchanges;
mod held;
mod law;
mod ledger;
mod quarter;
mod room;
mod seam;
mod settled;
mod spent;
mod stale;
mod standing;
mod told;
mod usage;
