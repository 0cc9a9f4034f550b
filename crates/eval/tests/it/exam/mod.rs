//! What the measures find where it is known what they have to find.

mod engine;
mod narrator;
mod paper;
mod passages;
mod suites;
