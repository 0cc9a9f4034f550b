//! What the parts of the validator are handed, and where they write what they find.

use midfold_core::{Profile, View};

/// A message in its place.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub profile: &'a Profile,
    pub index: usize,
    pub bytes: &'a [u8],
    pub view: &'a View,
}

/// Rules in the order in which violations of one message are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Pairs,
    Unanswered,
    Roles,
    Place,
    Content,
}

/// What was found, as it was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found(pub Vec<(Rank, usize, &'static str, String)>);

impl Found {
    pub fn report(&mut self, rank: Rank, rule: &'static str, index: usize, detail: String) {
        self.0.push((rank, index, rule, detail));
    }
}
