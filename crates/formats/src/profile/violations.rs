//! What the parts of the validator are handed, and where they write what they find.

use midfold_core::{EventView, ProviderProfile};

/// A message in its place.
#[derive(Clone, Copy)]
pub(super) struct MessageAt<'a> {
    pub profile: &'a ProviderProfile,
    pub index: usize,
    pub bytes: &'a [u8],
    pub view: &'a EventView,
}

/// Rules in the order in which violations of one message are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleRank {
    Pairs,
    Unanswered,
    Roles,
    Place,
    Content,
}

/// What was found, as it was found.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundViolations(pub Vec<(RuleRank, usize, &'static str, String)>);

impl FoundViolations {
    pub fn report(&mut self, rank: RuleRank, rule: &'static str, index: usize, detail: String) {
        self.0.push((rank, index, rule, detail));
    }
}
