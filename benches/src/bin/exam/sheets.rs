//! Contexts and questions for a reader, and the sheets that come back.
//!
//! `EXAM/STRATEGY.context.md` and `.context.json` are what was sent at the cut,
//! `EXAM/questions.md` is what to ask. The answers stay in `EXAM/key.json`, for whoever marks:
//! `EXAM/STRATEGY.marks.json` is an object from the number of a question to the share of its key
//! points that the answer has, from 0 to 1.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use midfold::DialectKind;
use midfold::core::view::{BlockKind, Role};
use serde_json::{Value, json};

use midfold_exam::score::Exam;
use midfold_exam::sitting::{Row, Sitting};

/// Writes the context at the cut, and the questions.
pub fn write(folder: &Path, sitting: &Sitting, strategy: &str, row: &Row) -> Result<()> {
    let folder = folder.join(&sitting.name);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let messages: Vec<Value> =
        row.last.iter().filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    fs::write(
        folder.join(format!("{strategy}.context.json")),
        serde_json::to_vec_pretty(&messages)?,
    )?;
    fs::write(folder.join(format!("{strategy}.context.md")), readable(row))?;
    let mut questions = String::new();
    let mut key = Vec::new();
    for question in &sitting.exam.questions {
        let _ = writeln!(questions, "{}. {}\n", question.id, question.question);
        let points: Vec<&str> =
            question.key_points.iter().map(|point| point.says.as_str()).collect();
        key.push(json!({
            "id": question.id, "kind": question.kind, "question": question.question,
            "answer": question.answer, "key_points": points,
        }));
    }
    fs::write(folder.join("questions.md"), questions)?;
    fs::write(folder.join("key.json"), serde_json::to_vec_pretty(&key)?)?;
    Ok(())
}

/// The context as a person reads it: one heading a message, calls and results named.
fn readable(row: &Row) -> String {
    let dialect = DialectKind::OpenAiChat.shared();
    let mut out = String::new();
    for bytes in &row.last {
        let view = dialect.view(bytes);
        let role = if view.role == Role::Tool { "tool result" } else { view.role.name() };
        let _ = writeln!(out, "=== {role}");
        for block in &view.blocks {
            if let BlockKind::Call { name: Some(name), .. } = &block.kind {
                let _ = write!(out, "[call {}] ", name.decode(bytes));
            }
            let _ = writeln!(out, "{}", block.plain(bytes));
        }
    }
    out
}

/// Prints the table of the marked sheets.
#[expect(clippy::print_stdout, reason = "a program for the terminal")]
pub fn mark(folder: &Path, exams: &Path) -> Result<()> {
    let mut table: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let mut names = Vec::new();
    for name in crate::exam_names(exams)? {
        let Ok(entries) = fs::read_dir(folder.join(&name)) else { continue };
        let exam: Exam = serde_json::from_slice(&fs::read(exams.join(format!("{name}.json")))?)?;
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
