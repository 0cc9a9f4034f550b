//! The windows of a replay: those of the flags, or the window of the recorded model.

use std::path::PathBuf;

use midfold::formats::read::Conversation;
use midfold_args::ReplayMeasure;

use crate::config;
use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::Output;
use crate::paths;
use crate::prepare::{self, HOST};
use crate::report::window_from;

/// The windows in tokens. Where the flags name none, the one that is used is printed.
pub fn windows(
    files: &[PathBuf],
    measure: &ReplayMeasure,
    output: &Output,
) -> Result<Vec<u64>, CommandError> {
    if !measure.window.is_empty() {
        return Ok(measure.window.clone());
    }
    let settings = config::settings()?;
    let first = first(files, measure)?;
    let model = first.and_then(|first| first.envelope.model).or(settings.default_model.clone());
    let (window, from) = settings.setup(&HOST)?.window_for(model);
    output.stderr(&format!("window: {}\n", window_from(window, &from)));
    Ok(vec![window])
}

/// The first conversation that has a message. Its model sets the window for all, because strategies can only be
/// compared in the same window.
fn first(files: &[PathBuf], measure: &ReplayMeasure) -> Result<Option<Conversation>, CommandError> {
    let from = prepare::format(measure.from.as_deref())?;
    // An unreadable file is reported later, when it is replayed. Standard input is left out: it can be read only once.
    let read = |path: &PathBuf| InputFile::load(path).and_then(|input| input.recorded(from)).ok();
    let mut files = paths::transcripts(files)?.files;
    files.retain(|file| !crate::stdin::is_stdin(&file.path));
    let mut all =
        files.iter().filter_map(|file| read(&file.path)).flat_map(|outcome| outcome.conversations);
    Ok(all.find(|conversation| !conversation.events.is_empty()))
}
