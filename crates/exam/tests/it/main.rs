//! What the measures find where it is known what they have to find.

mod passages;
mod suites;
