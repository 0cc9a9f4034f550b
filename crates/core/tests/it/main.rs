//! The tests of the engine, in one binary: it links once.

mod ledger;
mod quarter;
mod replay;
