//! Figures of the reading exam, as `benches`' `exam --json` prints them, for the page.

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

/// The figures of a file, one a strategy.
pub fn read(path: &Path) -> Result<Value, CommandError> {
    let figures: Vec<Figure> = serde_json::from_str(&Input::text(path)?).map_err(|error| {
        CommandError::usage(format!(
            "{}: these are no figures of the exam: {error}",
            path.display()
        ))
        .hint("`cargo run -p midfold-benches --bin exam -- FOLDER --json` prints them")
    })?;
    let one = |figure: &Figure| {
        let sum = |of: fn(&Faults) -> u64| figure.exams.values().map(of).sum::<u64>();
        json!({
            "strategy": figure.strategy, "score": figure.score, "context": figure.context,
            "cost": figure.cost, "over": sum(|exam| exam.over), "invalid": sum(|exam| exam.invalid),
        })
    };
    Ok(figures.iter().map(one).collect())
}
