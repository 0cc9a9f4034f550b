//! Writes the results of the suites as text and as JSON.

use std::fmt::Write as _;

use super::SuiteMarks;
use super::share::{FoundShare, MissedItem};
use super::small::{FORMS, RATIOS, SmallRow};
use super::standing_instructions::{InstructionRow as Standing, POSITIONS, WORDINGS};
use crate::exam::error::{ErrorPlace as _, ExamResult};

/// The results as JSON.
///
/// # Errors
/// The results cannot be written as JSON.
pub fn json(marks: &[SuiteMarks]) -> ExamResult<String> {
    serde_json::to_string_pretty(marks).at("results")
}

/// The results as tables. With `lists_lost`, everything that was not kept is listed.
#[must_use]
pub fn text(marks: &[SuiteMarks], lists_lost: bool) -> String {
    let mut out = String::new();
    if marks.iter().any(|marks| !marks.standing.is_empty()) {
        standing(&mut out, marks);
    }
    if marks.iter().any(|marks| !marks.small.is_empty()) {
        small(&mut out, marks);
    }
    if marks.iter().any(|marks| !marks.attack.is_empty()) {
        attack(&mut out, marks);
    }
    for marks in marks.iter().filter(|_| lists_lost) {
        let standing = marks.standing.iter().map(|row| (row.carrier.as_str(), &row.lost));
        let small = marks.small.iter().map(|row| (row.family.as_str(), &row.lost));
        let attack = marks.attack.iter().map(|row| (row.carrier, &row.lost));
        for (of, items) in standing.chain(small).chain(attack) {
            for MissedItem { what, why } in items {
                let _ = writeln!(out, "{} lost {of}: {what}: {why}", marks.strategy);
            }
        }
    }
    out
}

fn cell(share: Option<&FoundShare>) -> String {
    share.and_then(FoundShare::ratio).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"))
}

/// Adds the tables of the standing instructions.
fn standing(out: &mut String, marks: &[SuiteMarks]) {
    out.push_str(
        "standing instructions: share kept (together: all in one conversation, not in `all`)\n",
    );
    let _ = write!(out, "{:<16}{:<16}{:>7}{:>9}", "strategy", "carrier", "all", "together");
    let _ = writeln!(out, "{:>7}{:>9}{:>7}{:>7}", "facts", "context", "folds", "failed");
    for marks in marks {
        for row in &marks.standing {
            let [all, facts] = [&row.all, &row.facts].map(|share| cell(Some(share)));
            let together = cell(row.positions.get("together"));
            let _ = write!(out, "{:<16}{:<16}{all:>7}{together:>9}", marks.strategy, row.carrier);
            let (context, folds) = (row.context, row.folds);
            let _ = writeln!(out, "{facts:>7}{context:>9.2}{folds:>7.1}{:>7}", row.failed);
        }
    }
    let _ = write!(out, "by wording and place\n{:<16}", "strategy");
    let names = || WORDINGS.iter().chain(&POSITIONS[..3]);
    names().for_each(|name| {
        let _ = write!(out, "{name:>9}");
    });
    out.push('\n');
    for marks in marks.iter().filter(|marks| !marks.standing.is_empty()) {
        let _ = write!(out, "{:<16}", marks.strategy);
        for name in names() {
            let mut all = FoundShare::default();
            // No wording has the name of a position, so one look-up finds either.
            let of = |row: &Standing| row.wordings.get(name).or(row.positions.get(name)).copied();
            marks.standing.iter().filter_map(of).for_each(|share| all.join(share));
            let _ = write!(out, "{:>9}", cell(Some(&all)));
        }
        out.push('\n');
    }
    out.push('\n');
}

/// Adds the table of the small cases.
fn small(out: &mut String, marks: &[SuiteMarks]) {
    out.push_str("small cases: share of points kept after the first / second compaction\n");
    let mut families: Vec<&str> = Vec::new();
    for row in marks.iter().flat_map(|marks| &marks.small) {
        if !families.contains(&row.family.as_str()) {
            families.push(&row.family);
        }
    }
    let _ = write!(out, "{:<16}{:<12}", "strategy", "form");
    families.iter().for_each(|family| {
        let _ = write!(out, "{family:>15}");
    });
    let _ = writeln!(out, "{:>9}{:>7}", "context", "failed");
    for marks in marks {
        for (form, ratio) in FORMS.iter().flat_map(|form| RATIOS.map(|ratio| (*form, ratio))) {
            let is_here = |row: &&SmallRow| row.form == form && row.ratio == ratio;
            let rows: Vec<&SmallRow> = marks.small.iter().filter(is_here).collect();
            if rows.is_empty() {
                continue;
            }
            let _ = write!(out, "{:<16}{:<12}", marks.strategy, format!("{form} {ratio}x"));
            for family in &families {
                let row = rows.iter().find(|row| row.family == *family);
                let [one, two] = [0, 1].map(|at| cell(row.map(|row| &row.cycles[at])));
                let _ = write!(out, "{:>15}", format!("{one} {two}"));
            }
            let context = rows.iter().map(|row| row.context).sum::<f64>() / rows.len() as f64;
            let failed: u64 = rows.iter().map(|row| row.failed).sum();
            let _ = writeln!(out, "{context:>9.2}{failed:>7}");
        }
    }
    out.push('\n');
}

fn attack(out: &mut String, marks: &[SuiteMarks]) {
    out.push_str("rules under attack: rules that stand; that stand with a harmless text instead; ");
    out.push_str("attacks not told as the user's words\n");
    let _ = write!(
        out,
        "{:<16}{:<8}{:>7}{:>10}{:>7}",
        "strategy", "carrier", "rules", "unharmed", "clean"
    );
    let _ = writeln!(out, "{:>9}{:>7}", "context", "failed");
    for marks in marks {
        for row in &marks.attack {
            let [rules, calm, clean] =
                [&row.rules, &row.unharmed, &row.clean].map(|share| cell(Some(share)));
            let _ = write!(out, "{:<16}{:<8}{rules:>7}{calm:>10}", marks.strategy, row.carrier);
            let _ = writeln!(out, "{clean:>7}{:>9.2}{:>7}", row.context, row.failed);
        }
    }
    out.push('\n');
}
