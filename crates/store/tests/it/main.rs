//! The tests of the store, in one binary: it links once.

mod change;
mod crash;
mod delete;
mod fsck;
mod identity;
mod live;
mod memory;
mod open;
mod packed;
mod postgres;
mod queue;
mod reasoning;
mod recall;
mod recall_agent;
mod recall_arguments;
mod recall_diff;
mod recall_expand;
mod recall_matches;
mod recall_numbers;
mod recall_outcome;
mod recall_render;
mod recall_what;
mod scrub;
mod sqlite;
mod text;
mod worker;
