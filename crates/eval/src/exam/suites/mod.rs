//! Suites to which no list of words can be tuned. They test what a user ordered, what was decided, what was named, and
//! what an attacker wants to be forgotten. All texts are made up, and all conversations come from a seed.

pub mod attack;
pub mod attribution;
pub mod carrier;
pub mod holder;
pub mod report;
pub mod share;
pub mod small;
mod spread;
pub mod standing_instructions;

use std::path::PathBuf;

use serde::Serialize;

use crate::exam::error::{ErrorPlace as _, ExamResult};
use crate::exam::sitting::ExamCandidate;

/// The names of the suites.
pub const NAMES: [&str; 3] = ["standing", "small", "attack"];

/// The results of one strategy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SuiteMarks {
    /// The name of the strategy.
    pub strategy: String,
    /// The results for standing instructions, one row per carrier.
    pub standing: Vec<standing_instructions::InstructionRow>,
    /// The results for small cases, one row per family and ratio.
    pub small: Vec<small::SmallRow>,
    /// The results for rules under attack, one row per carrier.
    pub attack: Vec<attack::AttackRow>,
}

impl SuiteMarks {
    /// No results so far.
    #[must_use]
    pub fn of(strategy: &str) -> Self {
        Self { strategy: strategy.to_owned(), ..Self::default() }
    }

    /// Adds the results of other suites.
    pub fn join(&mut self, other: Self) {
        self.standing.extend(other.standing);
        self.small.extend(other.small);
        self.attack.extend(other.attack);
    }
}

/// The suites to run.
#[derive(Clone, Debug, Default)]
pub struct SuiteRequest {
    /// The names of the suites. All suites where the list is empty.
    pub suites: Vec<String>,
    /// Whether to run only a third of the standing instructions (each wording in one position), of the small cases and
    /// of the attacks.
    pub quick: bool,
    /// A folder to which the contexts are written for a person.
    pub contexts: Option<PathBuf>,
}

/// Runs suites with a strategy.
///
/// # Errors
/// A suite cannot be made, an engine outside cannot be used, or a context cannot be written.
pub fn run(name: &str, candidate: &ExamCandidate, wish: &SuiteRequest) -> ExamResult<SuiteMarks> {
    let is_asked =
        |suite: &str| wish.suites.is_empty() || wish.suites.iter().any(|one| one == suite);
    let folder = wish.contexts.as_ref().map(|folder| folder.join(name));
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder).at(folder.display())?;
    }
    let folder = folder.as_deref();
    Ok(SuiteMarks {
        strategy: name.to_owned(),
        standing: if is_asked("standing") {
            standing_instructions::run(candidate, wish.quick, folder)?
        } else {
            Vec::new()
        },
        small: if is_asked("small") {
            small::run(candidate, wish.quick, folder)?
        } else {
            Vec::new()
        },
        attack: if is_asked("attack") {
            attack::run(candidate, wish.quick, folder)?
        } else {
            Vec::new()
        },
    })
}
