//! The sheets that come back from a reader (`midfold_eval::exam::sheets`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use midfold_eval::exam::score::ReadingExam;

/// Prints the table of the marked sheets.
#[expect(clippy::print_stdout, reason = "a program for the terminal")]
pub fn print(folder: &Path, exams: &Path) -> Result<()> {
    let mut table: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let mut names = Vec::new();
    for name in midfold_eval::exam::folder::names(exams)? {
        let Ok(entries) = fs::read_dir(folder.join(&name)) else { continue };
        let exam: ReadingExam =
            serde_json::from_slice(&fs::read(exams.join(format!("{name}.json")))?)?;
        for entry in entries {
            let path = entry?.path();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(strategy) = file.strip_suffix(".marks.json") else { continue };
            let marks: BTreeMap<String, f64> = serde_json::from_slice(&fs::read(&path)?)
                .with_context(|| path.display().to_string())?;
            let of = |id: u32| marks.get(&id.to_string()).copied().unwrap_or(0.0);
            let sum: f64 = exam.questions.iter().map(|question| of(question.id)).sum();
            let mean = sum / exam.questions.len().max(1) as f64;
            table.entry(strategy.to_owned()).or_default().insert(name.clone(), mean);
        }
        names.push(name);
    }
    for (strategy, marks) in &table {
        let mean = marks.values().sum::<f64>() / marks.len().max(1) as f64;
        print!("{strategy:<16}{mean:>7.3}");
        for name in &names {
            if let Some(mark) = marks.get(name) {
                print!("  {name} {mark:.2}");
            }
        }
        println!();
    }
    Ok(())
}
