//! Reads figures of the reading exam, as `midfold measure exam --json` prints them, for the report page.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::input::InputFile;

#[derive(Deserialize)]
struct ExamFigure {
    strategy: String,
    score: f64,
    /// The mean context, in windows.
    context: f64,
    cost: f64,
    #[serde(default)]
    exams: BTreeMap<String, ExamFaults>,
}

#[derive(Deserialize)]
struct ExamFaults {
    #[serde(default)]
    over: u64,
    #[serde(default)]
    invalid: u64,
}

/// A file of figures: those of all exams, or of the reading exam alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum ExamFile {
    Reading(Vec<ExamFigure>),
    All { reading: Vec<ExamFigure> },
}

/// The figures of the reading exam in a file, one object for each strategy.
pub fn read(path: &Path) -> Result<Value, CommandError> {
    let file: ExamFile = serde_json::from_str(&InputFile::text(path)?).map_err(|error| {
        CommandError::usage(format!(
            "{}: these are no figures of the exam: {error}",
            path.display()
        ))
        .hint("`midfold measure exam --suite reading --json` prints them")
    })?;
    let (ExamFile::Reading(figures) | ExamFile::All { reading: figures }) = file;
    let one = |figure: &ExamFigure| {
        let sum = |of: fn(&ExamFaults) -> u64| figure.exams.values().map(of).sum::<u64>();
        json!({
            "strategy": figure.strategy, "score": figure.score, "context": figure.context,
            "cost": figure.cost, "over": sum(|exam| exam.over), "invalid": sum(|exam| exam.invalid),
        })
    };
    Ok(figures.iter().map(one).collect())
}
