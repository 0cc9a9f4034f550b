//! The tests of the proxy, in one binary: it links once.

mod agent;
mod asides;
mod counts;
mod fuzz_seeds;
mod held;
mod histories;
mod identities;
mod learned;
mod long_step;
mod named;
mod recall;
mod requests;
mod seal;
mod simulation;
mod sound;
mod vendor;
mod walls;
