//! Suites that no list of words can be tuned to: what a user ordered, what was decided, what was named, and what somebody
//! else would have liked to be forgotten. All texts are made up, all conversations are seeded.

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

/// The suites, by the names that they are asked for by.
pub const NAMES: [&str; 3] = ["standing", "small", "attack"];

/// What one strategy kept.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SuiteMarks {
    /// What it is called.
    pub strategy: String,
    /// Standing instructions, a row a carrier.
    pub standing: Vec<standing_instructions::InstructionRow>,
    /// Small cases, a row a family and ratio.
    pub small: Vec<small::SmallRow>,
    /// Rules under attack, a row a carrier.
    pub attack: Vec<attack::AttackRow>,
}

impl SuiteMarks {
    /// Nothing yet.
    #[must_use]
    pub fn of(strategy: &str) -> Self {
        Self { strategy: strategy.to_owned(), ..Self::default() }
    }

    /// Takes what was kept in other suites.
    pub fn join(&mut self, other: Self) {
        self.standing.extend(other.standing);
        self.small.extend(other.small);
        self.attack.extend(other.attack);
    }
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct SuiteRequest {
    /// The suites; all where none is named.
    pub suites: Vec<String>,
    /// A third of the standing instructions (each wording in one position), of the small cases and of the attacks.
    pub quick: bool,
    /// A folder for the contexts, as a person reads them.
    pub contexts: Option<PathBuf>,
}

/// Puts a strategy through suites.
///
/// # Errors
/// When a suite cannot be made, an engine outside cannot do anything, or a context cannot be written.
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
