//! The tests of the store, in one binary: it links once.

mod change;
mod crash;
mod delete;
mod fsck;
mod identity;
mod live;
mod memory;
mod postgres;
mod queue;
mod reasoning;
mod recall;
mod recall_agent;
mod scrub;
mod sqlite;
