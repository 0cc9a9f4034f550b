//! The input of the parts of the validator, and the list into which they write violations.

use midfold_core::{EventView, ProviderProfile};

/// A message with its index and the profile.
#[derive(Clone, Copy)]
pub(super) struct MessageAt<'a> {
    pub profile: &'a ProviderProfile,
    pub index: usize,
    pub bytes: &'a [u8],
    pub view: &'a EventView,
}

/// The order in which the violations of one message are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleRank {
    Pairs,
    Unanswered,
    Roles,
    Place,
    Content,
}

/// The violations in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundViolations(pub Vec<(RuleRank, usize, &'static str, String)>);

impl FoundViolations {
    pub fn report(&mut self, rank: RuleRank, rule: &'static str, index: usize, detail: String) {
        self.0.push((rank, index, rule, detail));
    }
}
