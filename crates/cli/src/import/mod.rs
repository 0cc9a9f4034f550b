//! `midfold import`: transcripts become sessions. Importing them again adds what is new.

mod file;
mod memory;
mod told;
pub mod watch;

use std::path::Path;

use midfold::formats::read::{Conversation, Format};
use midfold::{Recorded, Setup};
use midfold_args::Import;

use crate::error::CommandError;
use crate::host::{Host, Make};
use crate::input::Input;
use crate::note::Note;
use crate::output::Output;
use crate::paths::{Found, Walked, is_folder, transcripts};
use crate::prepare;
use crate::runtime::block_on;

use file::{Wanted, importer};
use told::Told;

pub use memory::in_memory;

pub fn run(args: &Import, json: bool, output: &Output) -> Result<(), CommandError> {
    if args.watch {
        return watch::run(args, json, output);
    }
    let from = prepare::format(args.from.as_deref())?;
    let setup = prepare::setup(&args.start.measure, args.to.as_deref())?;
    // A wrong policy is told before anything is stored.
    prepare::narrated(&args.start.folding)?;
    match args.files.as_slice() {
        [path] if !is_folder(path) => one(args, path, from, setup, json, output),
        _ => several(args, from, setup, json, output),
    }
}

/// One file: what is wrong with it is what is wrong with the command.
fn one(
    args: &Import,
    path: &Path,
    from: Option<Format>,
    mut setup: Setup,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let input = Input::load(path)?;
    let mut found = input.recordings(from)?;
    let wanted = Wanted::of(args, false);
    wanted.check(&input.name, found.recordings.len())?;
    let notes = notes(&mut found);
    let done = block_on(async {
        let host = Host::open(&args.at, Make::Yes).await?;
        let mut import = importer(&host, &args.start, &mut setup, path)?;
        wanted.bring(&mut import, path, &found).await
    })?;
    let mut told = Told::default();
    told.add(None, &notes, done);
    told.tell(json, output)
}

/// Several files, and what folders hold.
fn several(
    args: &Import,
    from: Option<Format>,
    mut setup: Setup,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    if args.only.is_some() {
        return Err(CommandError::usage("--only chooses a conversation of one file")
            .hint("name that file alone"));
    }
    let Walked { files, closed } = transcripts(&args.files)?;
    let wanted = Wanted::of(args, true);
    let mut told = Told::default();
    for text in closed {
        told.fail(&CommandError::failed(text), output);
    }
    let told = block_on(async {
        let mut host = None;
        for Found { path, .. } in files {
            let input = match Input::load(&path) {
                Ok(input) => input,
                Err(error) => {
                    told.fail(&error, output);
                    continue;
                }
            };
            let mut found = match input.recordings(from) {
                Ok(found) => found,
                Err(error) if args.files.contains(&path) => {
                    told.fail(&error, output);
                    continue;
                }
                // Whoever names a folder does not know each file in it.
                Err(_) => {
                    told.no_transcripts += 1;
                    continue;
                }
            };
            let notes = notes(&mut found);
            // Where nothing can be imported, no store is made.
            let host = match &mut host {
                Some(host) => host,
                none => none.insert(Host::open(&args.at, Make::Yes).await?),
            };
            let mut import = importer(host, &args.start, &mut setup, &path)?;
            // Two files may have one name.
            import.numbered = true;
            let done = wanted.bring(&mut import, &path, &found).await?;
            told.add(Some(&path), &notes, done);
        }
        Ok(told)
    })?;
    told.tell(json, output)
}

/// What the reader could not carry.
fn notes(found: &mut Recorded) -> Vec<Note> {
    let live: Vec<Conversation> = found.recordings.iter().map(|it| it.live().clone()).collect();
    let problems = std::mem::take(&mut found.problems);
    Note::by_conversation(problems, &live).into_iter().flatten().collect()
}
