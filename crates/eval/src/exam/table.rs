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

/// The kinds of questions in any of the results.
fn kinds_in(results: &[StrategyOutcome]) -> BTreeSet<&str> {
    let rows = results.iter().flat_map(|result| &result.rows);
    rows.flat_map(|row| row.kinds.keys().map(String::as_str)).collect()
}

/// The mean score of a kind of question, over the exams that have it.
fn mean_of_kind(rows: &[SittingRow], kind: &str) -> f64 {
    mean(rows.iter().filter_map(|row| row.kinds.get(kind).copied()))
}

/// The results for a terminal. With `questions`, the score of each question is added. Each strategy needs a row for
/// every exam, in the order of `exams`.
///
/// The columns of the first table, as [`SittingRow`] defines them. Means over the exams:
///
/// - `score`: the mean score.
/// - `context`: the size of the context, as a share of the window.
/// - `cost`: the cost, as a share of the cost of sending everything.
/// - `recap`: the tokens in place of folded messages.
/// - `lists`: the share of those tokens in lists of names.
/// - `at risk`: the share of identifiers at risk that were held.
/// - `rules`: the share of rules that were held.
///
/// Sums over the exams: `folds` (requests that were folded anew), `over` (those above the window), and `invalid` (those
/// that no provider would take).
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
    let kinds = kinds_in(results);
    // One column per kind, with at least one blank before its name.
    let width = |kind: &str| (kind.chars().count() + 1).max(10);
    let _ = write!(out, "by kind of question\n{:<16}", "strategy");
    for kind in &kinds {
        let _ = write!(out, "{kind:>0$}", width(kind));
    }
    out.push('\n');
    for StrategyOutcome { name, rows } in results {
        let _ = write!(out, "{name:<16}");
        for kind in &kinds {
            let _ = write!(out, "{:>1$.2}", mean_of_kind(rows, kind), width(kind));
        }
        out.push('\n');
    }
    out.push_str("by conversation (mean context as a share of the window)\n");
    // The rows are in the order of the exams, and the scores of a row in the order of the exam's questions.
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

/// The results as values, one per strategy. `midfold measure replay --exam` reads them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_column_of_its_own() {
        let kinds = [("constraint", 0.5), ("file", 1.0), ("identifiers", 0.25)];
        let kinds = kinds.map(|(kind, score)| (kind.to_owned(), score)).into();
        let row = SittingRow { kinds, ..SittingRow::default() };
        let outcome = StrategyOutcome { name: "default".to_owned(), rows: vec![row] };
        let text = text(&[], &[outcome], false);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines().skip_while(|line| *line != "by kind of question").skip(1);
        let (head, scores) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        assert_eq!(words(head), ["strategy", "constraint", "file", "identifiers"]);
        assert_eq!(words(scores), ["default", "0.50", "1.00", "0.25"]);
        assert_eq!(head.len(), scores.len());
    }
}
