//! What the measures find where it is known what they have to find.

mod engine;
mod paper;
mod passages;
mod suites;
