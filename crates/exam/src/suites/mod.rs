//! Suites that no list of words can be tuned to: what a user ordered, what was decided, what was named, and what somebody
//! else would have liked to be forgotten. All texts are made up, all conversations are seeded.

pub mod attack;
pub mod carrier;
pub mod holder;
pub mod report;
pub mod small;
mod spread;
pub mod standing;

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{At as _, Result};
use crate::sitting::Candidate;

/// The suites, by the names that they are asked for by.
pub const NAMES: [&str; 3] = ["standing", "small", "attack"];

/// How much was kept of what was looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Kept.
    pub kept: u64,
    /// Looked for.
    pub of: u64,
}

impl Share {
    /// Counts one.
    pub fn add(&mut self, kept: bool) {
        self.kept += u64::from(kept);
        self.of += 1;
    }

    /// Counts what another counted.
    pub fn join(&mut self, other: Self) {
        self.kept += other.kept;
        self.of += other.of;
    }

    /// The share; nothing where nothing was looked for.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.of > 0).then(|| self.kept as f64 / self.of as f64)
    }
}

/// Something that was not kept.
#[derive(Clone, Debug, Serialize)]
pub struct Lost {
    /// Which one.
    pub what: String,
    /// Its text, or what went wrong.
    pub why: String,
}

/// What one strategy kept.
#[derive(Clone, Debug, Serialize)]
pub struct Marks {
    /// What it is called.
    pub strategy: String,
    /// Standing instructions, a row a carrier.
    pub standing: Vec<standing::Row>,
    /// Small cases, a row a family and ratio.
    pub small: Vec<small::Row>,
    /// Rules under attack.
    pub attack: Option<attack::Row>,
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The suites; all where none is named.
    pub suites: Vec<String>,
    /// A third of the standing instructions: each wording in one position.
    pub quick: bool,
    /// A folder for the contexts, as a person reads them.
    pub contexts: Option<PathBuf>,
}

/// Puts a strategy through suites.
///
/// # Errors
/// When a suite cannot be made, an engine outside cannot do anything, or a context cannot be written.
pub fn run(name: &str, candidate: &Candidate, wish: &Wish) -> Result<Marks> {
    let is_asked =
        |suite: &str| wish.suites.is_empty() || wish.suites.iter().any(|one| one == suite);
    let folder = wish.contexts.as_ref().map(|folder| folder.join(name));
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder).at(folder.display())?;
    }
    let folder = folder.as_deref();
    Ok(Marks {
        strategy: name.to_owned(),
        standing: if is_asked("standing") {
            standing::run(candidate, wish.quick, folder)?
        } else {
            Vec::new()
        },
        small: if is_asked("small") { small::run(candidate, folder)? } else { Vec::new() },
        attack: if is_asked("attack") { Some(attack::run(candidate, folder)?) } else { None },
    })
}
