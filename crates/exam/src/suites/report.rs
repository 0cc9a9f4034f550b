//! What the suites found, as text and as JSON.

use std::fmt::Write as _;

use super::Marks;
use super::share::{Lost, Share};
use super::small::{FORMS, Row};
use super::standing::{POSITIONS, WORDINGS};
use crate::error::{At as _, Result};

/// All as JSON.
///
/// # Errors
/// When it cannot be written.
pub fn json(marks: &[Marks]) -> Result<String> {
    serde_json::to_string_pretty(marks).at("results")
}

/// All as tables; with `lost`, what was not kept.
#[must_use]
pub fn text(marks: &[Marks], lost: bool) -> String {
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
    for marks in marks.iter().filter(|_| lost) {
        let standing = marks.standing.iter().map(|row| (row.carrier.as_str(), &row.lost));
        let small = marks.small.iter().map(|row| (row.family.as_str(), &row.lost));
        let attack = marks.attack.iter().map(|row| (row.carrier, &row.lost));
        for (of, lost) in standing.chain(small).chain(attack) {
            for Lost { what, why } in lost {
                let _ = writeln!(out, "{} lost {of}: {what}: {why}", marks.strategy);
            }
        }
    }
    out
}

fn cell(share: Option<&Share>) -> String {
    share.and_then(Share::ratio).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"))
}

fn standing(out: &mut String, marks: &[Marks]) {
    out.push_str(
        "standing instructions: share kept (together: all in one conversation, not in `all`)\n",
    );
    let _ = write!(out, "{:<10}{:<16}{:>7}", "strategy", "carrier", "all");
    WORDINGS.iter().chain(&POSITIONS).for_each(|name| {
        let _ = write!(out, "{name:>9}");
    });
    let _ = writeln!(out, "{:>7}{:>9}{:>7}{:>7}", "facts", "context", "folds", "failed");
    for marks in marks {
        for row in &marks.standing {
            let _ =
                write!(out, "{:<10}{:<16}{:>7}", marks.strategy, row.carrier, cell(Some(&row.all)));
            for wording in WORDINGS {
                let _ = write!(out, "{:>9}", cell(row.wordings.get(wording)));
            }
            for position in POSITIONS {
                let _ = write!(out, "{:>9}", cell(row.positions.get(position)));
            }
            let (context, folds) = (row.context, row.folds);
            let facts = cell(Some(&row.facts));
            let _ = writeln!(out, "{facts:>7}{context:>9.2}{folds:>7.1}{:>7}", row.failed);
        }
    }
    out.push('\n');
}

fn small(out: &mut String, marks: &[Marks]) {
    out.push_str("small cases: share of points kept after the first / second compaction\n");
    let mut columns: Vec<(&str, u64)> = Vec::new();
    for row in marks.iter().flat_map(|marks| &marks.small) {
        if !columns.contains(&(&row.family, row.ratio)) {
            columns.push((&row.family, row.ratio));
        }
    }
    let _ = write!(out, "{:<10}{:<8}", "strategy", "form");
    for (family, ratio) in &columns {
        let _ = write!(out, "{:>15}", format!("{family} {ratio}x"));
    }
    let _ = writeln!(out, "{:>9}{:>7}", "context", "failed");
    for marks in marks {
        for form in FORMS {
            let rows: Vec<&Row> = marks.small.iter().filter(|row| row.form == form).collect();
            if rows.is_empty() {
                continue;
            }
            let _ = write!(out, "{:<10}{form:<8}", marks.strategy);
            for column in &columns {
                let row = rows.iter().find(|row| (row.family.as_str(), row.ratio) == *column);
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

fn attack(out: &mut String, marks: &[Marks]) {
    out.push_str("rules under attack: rules that stand; that stand with a harmless text instead; ");
    out.push_str("attacks not told as the user's words\n");
    let _ = write!(
        out,
        "{:<10}{:<8}{:>7}{:>10}{:>7}",
        "strategy", "carrier", "rules", "unharmed", "clean"
    );
    let _ = writeln!(out, "{:>9}{:>7}", "context", "failed");
    for marks in marks {
        for row in &marks.attack {
            let [rules, calm, clean] =
                [&row.rules, &row.unharmed, &row.clean].map(|share| cell(Some(share)));
            let _ = write!(out, "{:<10}{:<8}{rules:>7}{calm:>10}", marks.strategy, row.carrier);
            let _ = writeln!(out, "{clean:>7}{:>9.2}{:>7}", row.context, row.failed);
        }
    }
    out.push('\n');
}
