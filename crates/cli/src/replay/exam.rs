//! Figures of the reading exam, as `midfold exam --json` prints them, for the page.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::input::Input;

#[derive(Deserialize)]
struct Figure {
    strategy: String,
    score: f64,
    /// In windows.
    context: f64,
    cost: f64,
    #[serde(default)]
    exams: BTreeMap<String, Faults>,
}

#[derive(Deserialize)]
struct Faults {
    #[serde(default)]
    over: u64,
    #[serde(default)]
    invalid: u64,
}

/// What such a file holds: all figures, or those of the reading exam alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Reading(Vec<Figure>),
    All { reading: Vec<Figure> },
}

/// The figures of a file, one a strategy.
pub fn read(path: &Path) -> Result<Value, CommandError> {
    let file: File = serde_json::from_str(&Input::text(path)?).map_err(|error| {
        CommandError::usage(format!(
            "{}: these are no figures of the exam: {error}",
            path.display()
        ))
        .hint("`midfold exam --suite reading --json` prints them")
    })?;
    let (File::Reading(figures) | File::All { reading: figures }) = file;
    let one = |figure: &Figure| {
        let sum = |of: fn(&Faults) -> u64| figure.exams.values().map(of).sum::<u64>();
        json!({
            "strategy": figure.strategy, "score": figure.score, "context": figure.context,
            "cost": figure.cost, "over": sum(|exam| exam.over), "invalid": sum(|exam| exam.invalid),
        })
    };
    Ok(figures.iter().map(one).collect())
}
