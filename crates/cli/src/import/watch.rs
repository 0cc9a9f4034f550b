//! `midfold import --watch`: a transcript is followed while its client writes it.
//!
//! The file is asked for its size and time twice a second. That is one call of the system, works on every
//! file system, and sees a file that was cut or replaced as it sees one that grew; events of the system
//! would have to be followed by the same questions.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use midfold::formats::read::TranscriptFormat;
use midfold::{AdvisedError, Door, Failure, Setup};
use midfold_args::ImportArgs;
use tokio::time::MissedTickBehavior;

use super::file::{ImportSelection, importer, to_json};
use super::plan::ImportedSession;
use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::input;
use crate::output::{Output, OutputColor};
use crate::paths::{is_folder, is_stdin, transcripts_below};
use crate::prepare;
use crate::recordings::TranscriptRecordings;
use crate::runtime::block_on;
use crate::session_folder::SessionFolder;
use crate::signals::told_to_end;
use crate::words::{number, plural};

/// How often the file is looked at.
const EVERY: Duration = Duration::from_millis(500);

pub fn run(args: &ImportArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let [named] = args.files.as_slice() else {
        return Err(CommandError::usage("--watch follows one file, or one folder")
            .hint("of a folder it is always the transcript that was written last"));
    };
    if is_stdin(named) {
        return Err(CommandError::usage("standard input cannot be watched")
            .hint("name the file of a running session, or the folder of sessions"));
    }
    let from = prepare::format(args.from.as_deref())?;
    let mut setup = prepare::setup(&args.start.measure, args.to.as_deref())?;
    prepare::narrated(&args.start.folding)?;
    // A name with a slip in it would be waited for until the end of time.
    fs::metadata(named).map_err(|_| {
        CommandError::failed(format!("{}: there is no such file", named.display()))
            .hint("name the folder that it will be in, to wait for the next session")
    })?;
    block_on(async {
        let host = OpenStore::open(&args.at, StoreCreation::Yes).await?;
        let mut follower = FileFollower::new(&host, args, &mut setup, from);
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let end = told_to_end();
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                _ = ticks.tick() => tell(&follower.step().await?, json, output)?,
            }
            if let Some(trouble) = follower.trouble.take() {
                let note = output.stderr_style().paint(OutputColor::Yellow, "note:");
                output.stderr(&format!("{note} {trouble}: waiting for more\n"));
            }
        }
        tell(&follower.last().await?, json, output)?;
        if follower.waiting > 0 {
            let what = plural(follower.waiting as u64, "message");
            let note = output.stderr_style().paint(OutputColor::Yellow, "note:");
            output.stderr(&format!(
                "{note} {what} at the end may not be finished; once it is: midfold import {}\n",
                follower.at.as_deref().unwrap_or(named).display()
            ));
        }
        Ok(())
    })
}

/// One line for each session that got something.
fn tell(done: &[ImportedSession], json: bool, output: &Output) -> Result<(), CommandError> {
    for done in done.iter().filter(|done| done.new > 0) {
        let line = match json {
            true => to_json(done).to_string(),
            false => {
                let new = plural(done.new, "new message");
                format!("{}: {new}, {} in all", done.id, number(done.messages))
            }
        };
        output.stdout(line + "\n")?;
    }
    Ok(())
}

/// What tells that a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

/// Follows a file, or the newest file of a folder. It moves when it is told to: it has no clock.
pub struct FileFollower<'a> {
    host: &'a OpenStore,
    args: &'a ImportArgs,
    setup: &'a mut Setup,
    from: Option<TranscriptFormat>,
    /// The file that is followed.
    at: Option<PathBuf>,
    seen: Option<FileStamp>,
    /// Nothing can be had of it before it changes again.
    is_done: bool,
    /// Why it cannot be read, although nobody writes it now.
    trouble: Option<Failure>,
    /// Messages at the end that its client may still write.
    pub waiting: usize,
}

impl<'a> FileFollower<'a> {
    /// Nothing is read yet.
    pub fn new(
        host: &'a OpenStore,
        args: &'a ImportArgs,
        setup: &'a mut Setup,
        from: Option<TranscriptFormat>,
    ) -> Self {
        Self {
            host,
            args,
            setup,
            from,
            at: None,
            seen: None,
            is_done: false,
            trouble: None,
            waiting: 0,
        }
    }

    /// Looks once, and imports what is there for good.
    pub async fn step(&mut self) -> Result<Vec<ImportedSession>, CommandError> {
        let mut done = Vec::new();
        let newest = self.newest();
        if newest.is_some() && newest != self.at {
            // The session before is over: what was waited for is finished.
            done = self.last().await?;
            (self.at, self.seen, self.waiting) = (newest, None, 0);
        }
        let Some(path) = self.at.clone() else { return Ok(done) };
        // It may be away for a moment while it is replaced.
        let Some(stamp) = stamp(&path) else { return Ok(done) };
        let is_quiet = self.seen.replace(stamp) == Some(stamp);
        if !is_quiet || !self.is_done {
            self.is_done = is_quiet;
            done.extend(self.take(&path, is_quiet).await?);
        }
        Ok(done)
    }

    /// Imports what is finished, as the last step.
    pub async fn last(&mut self) -> Result<Vec<ImportedSession>, CommandError> {
        match self.at.clone() {
            Some(path) if stamp(&path).is_some() => self.take(&path, true).await,
            _ => Ok(Vec::new()),
        }
    }

    async fn take(
        &mut self,
        path: &Path,
        is_quiet: bool,
    ) -> Result<Vec<ImportedSession>, CommandError> {
        let found = match input::bytes(path) {
            Ok(bytes) => {
                TranscriptRecordings::so_far(&bytes.into(), self.from, is_quiet).map_err(|error| {
                    error.advise(Door::Command).at(format_args!("{}: ", path.display()))
                })
            }
            Err(error) => Err(error),
        };
        // A file that was just made, or is replaced, has nothing yet: more may come.
        self.trouble = None;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.trouble = is_quiet.then_some(error);
                return Ok(Vec::new());
            }
        };
        self.waiting = found.waiting;
        let mut import = importer(self.host, &self.args.start, self.setup, path)?;
        // Whatever was cut or rewritten does not end the following.
        import.numbered = true;
        ImportSelection::of(self.args, false).bring(&mut import, path, &found).await
    }

    /// The file that was named, or the one of the folder that was written last.
    fn newest(&self) -> Option<PathBuf> {
        let named = self.args.files.first()?;
        if !is_folder(named) {
            return Some(named.clone());
        }
        let files = transcripts_below(named);
        let dated = files.into_iter().filter_map(|path| Some((stamp(&path)?.changed, path)));
        dated.max().map(|(_, path)| path)
    }
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let of_file = |path: &Path| {
        let meta = fs::metadata(path).ok()?;
        Some(FileStamp { bytes: meta.len(), changed: meta.modified().ok() })
    };
    let Some(folder) = SessionFolder::of(path) else { return of_file(path) };
    // A file that went away between the two calls is looked at the next time.
    let files = folder.files().ok()?.into_iter().filter_map(|path| of_file(&path));
    files.reduce(|all, one| FileStamp {
        bytes: all.bytes + one.bytes,
        changed: all.changed.max(one.changed),
    })
}
