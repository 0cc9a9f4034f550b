//! Writes the results of the reading exam as text and as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::exam::error::{ErrorPlace as _, ExamResult};
use crate::exam::sitting::{Sitting, SittingRow, StrategyOutcome};

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    sum / f64::max(n, 1.0)
}

fn kinds(results: &[StrategyOutcome]) -> BTreeSet<&str> {
    let rows = results.iter().flat_map(|result| &result.rows);
    rows.flat_map(|row| row.kinds.keys().map(String::as_str)).collect()
}

/// The mean score of a kind of question, over the exams that have it.
fn kind(rows: &[SittingRow], kind: &str) -> f64 {
    mean(rows.iter().filter_map(|row| row.kinds.get(kind).copied()))
}

/// The results for a terminal. With `questions`, the score of each question is added.
#[must_use]
pub fn text(exams: &[Sitting], results: &[StrategyOutcome], questions: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<16}{:>7}{:>9}{:>7}{:>7}{:>7}{:>7}{:>6}{:>9}{:>9}{:>7}",
        "strategy",
        "score",
        "context",
        "cost",
        "recap",
        "lists",
        "folds",
        "over",
        "invalid",
        "at risk",
        "rules"
    );
    for StrategyOutcome { name, rows } in results {
        let of = |value: fn(&SittingRow) -> f64| mean(rows.iter().map(value));
        let _ = writeln!(
            out,
            "{name:<16}{:>7.3}{:>9.2}{:>7.3}{:>7.0}{:>7.2}{:>7}{:>6}{:>9}{:>9.3}{:>7.3}",
            of(|row| row.score),
            of(|row| row.context),
            of(|row| row.cost),
            of(|row| row.recap),
            of(|row| row.lists),
            rows.iter().map(|row| row.folds).sum::<u64>(),
            rows.iter().map(|row| row.over).sum::<u64>(),
            rows.iter().map(|row| row.invalid).sum::<u64>(),
            of(|row| row.at_risk),
            of(|row| row.rules),
        );
    }
    let kinds = kinds(results);
    let _ = write!(out, "by kind of question\n{:<16}", "strategy");
    kinds.iter().for_each(|kind| out.push_str(&format!("{kind:>10}")));
    out.push('\n');
    for StrategyOutcome { name, rows } in results {
        let _ = write!(out, "{name:<16}");
        for name in &kinds {
            let _ = write!(out, "{:>10.2}", kind(rows, name));
        }
        out.push('\n');
    }
    out.push_str("by conversation (mean context as a share of the window)\n");
    for (at, exam) in exams.iter().enumerate() {
        let _ = write!(out, "{:<28}{:>7}", exam.name, exam.exam.window);
        for StrategyOutcome { name, rows } in results {
            let _ = write!(out, "  {name} {:.2} ({:.2})", rows[at].score, rows[at].context);
        }
        out.push('\n');
        for (number, question) in exam.exam.questions.iter().enumerate().filter(|_| questions) {
            let _ = write!(out, "  {:>2} {:<9}", question.id, question.kind);
            for StrategyOutcome { rows, .. } in results {
                let _ = write!(out, " {:.2}", rows[at].questions[number]);
            }
            let _ = writeln!(out, "  {}", question.question);
        }
    }
    out
}

/// The results as values, one per strategy. `midfold replay --exam` reads them.
#[must_use]
pub fn values(exams: &[Sitting], results: &[StrategyOutcome]) -> Vec<Value> {
    let strategy = |StrategyOutcome { name, rows }: &StrategyOutcome| {
        let by_exam: BTreeMap<&str, &SittingRow> =
            exams.iter().map(|exam| exam.name.as_str()).zip(rows).collect();
        json!({
            "strategy": name,
            "score": mean(rows.iter().map(|row| row.score)),
            "context": mean(rows.iter().map(|row| row.context)),
            "cost": mean(rows.iter().map(|row| row.cost)),
            "exams": by_exam,
        })
    };
    results.iter().map(strategy).collect()
}

/// The results as JSON.
///
/// # Errors
/// The results cannot be written as JSON.
pub fn json(exams: &[Sitting], results: &[StrategyOutcome]) -> ExamResult<String> {
    serde_json::to_string_pretty(&values(exams, results)).at("results")
}
