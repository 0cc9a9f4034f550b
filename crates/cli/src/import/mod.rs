//! `midfold import`: turns transcripts into sessions. A second import adds only the new messages.

mod file;
mod memory;
pub mod plan;
mod summary;
pub mod watch;

use std::path::Path;

use midfold::formats::read::TranscriptFormat;
use midfold::{FailureArea, Setup};
use midfold_args::ImportArgs;

use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::input::InputFile;
use crate::output::Output;
use crate::paths::{FolderContent, FoundFile, is_folder, transcripts};
use crate::prepare;
use crate::runtime::block_on;

use file::{ImportSelection, importer};
use summary::ImportSummary;

pub use memory::in_memory;

pub fn run(args: &ImportArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    if args.watch {
        return watch::run(args, json, output);
    }
    let from = prepare::format(args.from.as_deref())?;
    let setup = prepare::setup(&args.start.measure, args.to.as_deref())?;
    // A wrong policy fails here, before anything is stored.
    prepare::narrated(&args.start.folding)?;
    match args.files.as_slice() {
        [path] if !is_folder(path) => one(args, path, from, setup, json, output),
        _ => several(args, from, setup, json, output),
    }
}

/// Imports one file. An error in the file is the error of the command.
fn one(
    args: &ImportArgs,
    path: &Path,
    from: Option<TranscriptFormat>,
    mut setup: Setup,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let input = InputFile::load(path)?;
    let mut transcript = input.recordings(from)?;
    let wanted = ImportSelection::of(args, false);
    wanted.check(&input.name, transcript.recordings.len())?;
    let notes = wanted.notes(&mut transcript);
    let sessions = block_on(async {
        let host = OpenStore::open(&args.at, StoreCreation::Yes).await?;
        let mut import = importer(&host, &args.start, &mut setup, path)?;
        Ok(wanted.bring(&mut import, path, &transcript).await?)
    })?;
    let mut summary = ImportSummary::default();
    summary.add(None, &notes, sessions);
    summary.tell(json, output)
}

/// Imports several files and the transcripts in folders. An error in one file does not stop the others.
fn several(
    args: &ImportArgs,
    from: Option<TranscriptFormat>,
    mut setup: Setup,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    if args.only.is_some() {
        return Err(CommandError::usage("--only chooses a conversation of one file")
            .hint("name that file alone"));
    }
    let FolderContent { files, closed } = transcripts(&args.files)?;
    let wanted = ImportSelection::of(args, true);
    let mut summary = ImportSummary::default();
    for text in closed {
        summary.fail(&CommandError::failed(text), output);
    }
    let summary = block_on(async {
        let mut host = None;
        for FoundFile { path, .. } in files {
            let input = match InputFile::load(&path) {
                Ok(input) => input,
                Err(error) => {
                    summary.fail(&error, output);
                    continue;
                }
            };
            let mut transcript = match input.recordings(from) {
                Ok(transcript) => transcript,
                Err(error) if args.files.contains(&path) => {
                    summary.fail(&error, output);
                    continue;
                }
                // A folder may hold other files, so one that is no transcript is only counted.
                Err(_) => {
                    summary.no_transcripts += 1;
                    continue;
                }
            };
            let notes = wanted.notes(&mut transcript);
            // The store is opened, and made, only when there is something to import.
            let host = match &mut host {
                Some(host) => host,
                none => none.insert(OpenStore::open(&args.at, StoreCreation::Yes).await?),
            };
            let mut import = importer(host, &args.start, &mut setup, &path)?;
            // Two files may want the same session id. The later one gets a numbered id.
            import.numbered = true;
            match wanted.bring(&mut import, &path, &transcript).await {
                Ok(sessions) => summary.add(Some(&path), &notes, sessions),
                // A store that fails would fail for every other file, too.
                Err(failure) if failure.area == FailureArea::Store => return Err(failure.into()),
                Err(failure) => {
                    summary.fail(&failure.at(format_args!("{}: ", path.display())).into(), output);
                }
            }
        }
        Ok(summary)
    })?;
    summary.tell(json, output)
}
