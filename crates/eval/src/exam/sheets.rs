//! Writes contexts and questions for a reader. The reader's marks come back as another file.
//!
//! `EXAM/STRATEGY.context.md` and `.context.json` are the context at the cut, `EXAM/questions.md` are the questions for
//! the reader. `EXAM/key.json` has the answers, for whoever marks. `EXAM/STRATEGY.marks.json` is an object that maps
//! the number of a question to the share of its key points in the reader's answer, from 0 to 1.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use midfold::DialectKind;
use midfold::core::view::{BlockKind, Role};
use serde_json::{Value, json};

use crate::exam::error::{ErrorPlace as _, ExamResult};
use crate::exam::sitting::{Sitting, SittingRow};

/// Writes the context at the cut, and the questions.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path, sitting: &Sitting, strategy: &str, row: &SittingRow) -> ExamResult<()> {
    let folder = folder.join(&sitting.name);
    fs::create_dir_all(&folder).at(folder.display())?;
    let messages: Vec<Value> =
        row.last.iter().filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    let file = |name: String, bytes: Vec<u8>| {
        let path = folder.join(name);
        fs::write(&path, bytes).at(path.display())
    };
    let json = serde_json::to_vec_pretty(&messages).at("the context")?;
    file(format!("{strategy}.context.json"), json)?;
    file(format!("{strategy}.context.md"), readable(row).into_bytes())?;
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
    file("questions.md".to_owned(), questions.into_bytes())?;
    file("key.json".to_owned(), serde_json::to_vec_pretty(&key).at("the key")?)
}

/// The context for a person: one heading per message, and names at calls and results.
fn readable(row: &SittingRow) -> String {
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
