//! Suites that no strategy can pass with a list of words made by hand, because their texts are generated from a seed.
//! They test whether a strategy keeps the user's orders, decisions and names, and rules that an attacker tries to have
//! dropped.

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

/// A suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExamSuite {
    /// Standing instructions of the user.
    Standing,
    /// Small cases: decisions, names, values.
    Small,
    /// Rules that an attacker wants to be forgotten.
    Attack,
}

impl ExamSuite {
    /// All suites, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Standing, Self::Small, Self::Attack];

    /// The name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Standing => "standing",
            Self::Small => "small",
            Self::Attack => "attack",
        }
    }

    /// The suite with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| suite.name() == name)
    }
}

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

/// How a suite is run.
#[derive(Clone, Debug, Default)]
pub struct SuiteRequest {
    /// Whether to run only a third of the standing instructions (each wording in one position), of the small cases and
    /// of the attacks.
    pub quick: bool,
    /// A folder to which the contexts are written for a person.
    pub contexts: Option<PathBuf>,
}

/// Runs one suite with a strategy. `name` is that of the strategy.
///
/// # Errors
/// A suite cannot be made, an engine outside cannot be used, or a context cannot be written.
pub fn run(
    suite: ExamSuite,
    name: &str,
    candidate: &ExamCandidate,
    request: &SuiteRequest,
) -> ExamResult<SuiteMarks> {
    let folder = request.contexts.as_ref().map(|folder| folder.join(name));
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder).at(folder.display())?;
    }
    let (quick, folder) = (request.quick, folder.as_deref());
    let mut marks = SuiteMarks::of(name);
    match suite {
        ExamSuite::Standing => {
            marks.standing = standing_instructions::run(candidate, quick, folder)?;
        }
        ExamSuite::Small => marks.small = small::run(candidate, quick, folder)?,
        ExamSuite::Attack => marks.attack = attack::run(candidate, quick, folder)?,
    }
    Ok(marks)
}
