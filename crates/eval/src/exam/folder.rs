//! Reads exams from a folder, and midfold's own exams.

use std::path::{Path, PathBuf};

use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};
use crate::exam::sitting::Sitting;

/// midfold's own exams: name, questions, conversation.
const OWN: [(&str, &str, &str); 1] = [(
    "tidelog",
    include_str!("../../data/exam/tidelog.json"),
    include_str!("../../data/exam/messages/tidelog.jsonl"),
)];

/// midfold's own exams, over conversations that were recorded for them.
///
/// # Errors
/// One of them is not a valid exam.
pub fn own() -> ExamResult<Vec<Sitting>> {
    let one = |(name, questions, messages): &(&str, &str, &str)| {
        Sitting::of(name, questions.as_bytes(), messages.as_bytes()).at(name)
    };
    OWN.iter().map(one).collect()
}

/// The names of the exams of a folder: those that `exams.tsv` lists, or else those of all files `NAME.json`.
///
/// # Errors
/// The folder cannot be read, or has no exams.
pub fn names(folder: &Path) -> ExamResult<Vec<String>> {
    let list = folder.join("exams.tsv");
    let mut names: Vec<String> = if list.exists() {
        let text = std::fs::read_to_string(&list).at(list.display())?;
        text.lines().skip(1).filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
    } else {
        let entries = std::fs::read_dir(folder).at(folder.display())?;
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let exams = files.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
        let mut names: Vec<String> = exams
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    };
    names.retain(|name| !name.is_empty());
    match names.is_empty() {
        true => Err(ExamError(format!("{}: there is no exam in this folder", folder.display()))),
        false => Ok(names),
    }
}

/// Reads `NAME.json`, and `messages/NAME.json` or `messages/NAME.jsonl`, of a folder.
///
/// # Errors
/// A file is missing or is no exam.
pub fn open(folder: &Path, name: &str) -> ExamResult<Sitting> {
    let bytes = |path: &PathBuf| std::fs::read(path).at(path.display());
    let questions = folder.join(format!("{name}.json"));
    let messages = folder.join("messages");
    let [list, lines] = ["json", "jsonl"].map(|kind| messages.join(format!("{name}.{kind}")));
    let conversation = if lines.exists() { lines } else { list };
    Sitting::of(name, &bytes(&questions)?, &bytes(&conversation)?).at(questions.display())
}

/// All exams of a folder.
///
/// # Errors
/// The errors of [`names`] and [`open`].
pub fn all(folder: &Path) -> ExamResult<Vec<Sitting>> {
    names(folder)?.iter().map(|name| open(folder, name)).collect()
}
