//! What a search came to.

use midfold::Policy;
use midfold::core::replay::Measures;
use midfold::core::tune::{Found, Prefer, Verdict};
use midfold_args::Tune;

use crate::tune::work::{Bench, Half};

/// The preset that everything is held against.
pub const BASE: &str = "default";

/// Everything that is said about a search.
pub struct Tuned<'a> {
    pub args: &'a Tune,
    pub bench: &'a Bench<'a>,
    pub base: &'a Policy,
    /// What is wanted.
    pub prefer: Prefer,
    /// Cost is that by the chosen prices.
    pub priced: bool,
    pub searched: Half,
    pub held: Half,
    pub found: Found,
    /// The base and the chosen policy on the conversations held out.
    pub on_held: Option<(Measures, Option<Measures>)>,
    pub verdict: Verdict,
    /// Conversations that `default` cannot replay.
    pub left_out: Vec<String>,
}

impl Tuned<'_> {
    /// The policy to use.
    pub fn policy(&self) -> Policy {
        let mut policy = match self.verdict {
            Verdict::Better { .. } => self.found.trials[self.found.chosen].policy.clone(),
            _ => return self.base.clone(),
        };
        "tuned".clone_into(&mut policy.name);
        policy
    }

    pub fn is_better(&self) -> bool {
        matches!(self.verdict, Verdict::Better { .. })
    }
}
