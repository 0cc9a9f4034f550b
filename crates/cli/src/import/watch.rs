//! `midfold import --watch`: follows a transcript while its client writes it.
//!
//! Twice a second it asks for the size and time of the file. That is one system call, and it works on every file
//! system. It also notices a file that was cut or replaced, not only one that grew. Notifications of the system would
//! need the same calls after each event.

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
use crate::paths::{is_folder, transcripts_below};
use crate::prepare;
use crate::recordings::TranscriptRecordings;
use crate::runtime::block_on;
use crate::session_folder::SessionFolder;
use crate::signals::told_to_end;
use crate::stdin::is_stdin;
use crate::words::{number, plural};

/// The time between two looks at the file.
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
    // A wrong name would be waited for without end.
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
                // The step runs in the arm: as a branch of its own, the signal would drop it in the middle of an
                // import.
                _ = ticks.tick() => tell(&follower.step().await?, json, output)?,
            }
            if let Some(trouble) = follower.trouble.take() {
                let note = output.stderr_style().paint(OutputColor::Yellow, "note:");
                output.stderr(&format!("{note} {trouble}: waiting for more\n"));
            }
        }
        // The client may have written since the last look.
        tell(&follower.last().await?, json, output)?;
        if follower.waiting > 0 {
            let messages = plural(follower.waiting as u64, "message");
            let note = output.stderr_style().paint(OutputColor::Yellow, "note:");
            output.stderr(&format!(
                "{note} {messages} at the end may not be finished; once it is: midfold import {}\n",
                follower.at.as_deref().unwrap_or(named).display()
            ));
        }
        Ok(())
    })
}

/// Prints a line for each session that got new messages.
fn tell(sessions: &[ImportedSession], json: bool, output: &Output) -> Result<(), CommandError> {
    for session in sessions.iter().filter(|session| session.new > 0) {
        let line = match json {
            true => to_json(session).to_string(),
            false => {
                let new = plural(session.new, "new message");
                format!("{}: {new}, {} in all", session.id, number(session.messages))
            }
        };
        output.stdout(line + "\n")?;
    }
    Ok(())
}

/// The size and time of a file. If both are the same as before, nobody wrote to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

/// Follows a file, or the newest file of a folder. It has no clock: each call of [`Self::step`] looks once.
pub struct FileFollower<'a> {
    host: &'a OpenStore,
    args: &'a ImportArgs,
    setup: &'a mut Setup,
    from: Option<TranscriptFormat>,
    /// The path of the followed file. `None` as long as the folder holds no transcript.
    at: Option<PathBuf>,
    seen: Option<FileStamp>,
    /// The file has not changed since all of it was taken, so nothing needs to be read until it changes.
    is_done: bool,
    /// The reason why the file cannot be read, if it still cannot while nobody writes to it.
    trouble: Option<Failure>,
    /// The number of messages at the end that are left out, because the client may not have finished them.
    pub waiting: usize,
}

impl<'a> FileFollower<'a> {
    /// A follower that has read nothing yet.
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

    /// Looks once, and imports the messages that are complete.
    pub async fn step(&mut self) -> Result<Vec<ImportedSession>, CommandError> {
        let mut sessions = Vec::new();
        let newest = self.newest();
        if newest.is_some() && newest != self.at {
            // The client started another file, so the messages at the end of the old one are complete.
            sessions = self.last().await?;
            (self.at, self.seen, self.waiting) = (newest, None, 0);
        }
        let Some(path) = self.at.clone() else { return Ok(sessions) };
        // A file that is being replaced may not exist for a moment.
        let Some(stamp) = stamp(&path) else { return Ok(sessions) };
        // A change is imported at once, without the last message, which may not be complete. The first look without a
        // change imports that too. Then nothing is read until the file changes again.
        // The stamp is taken before the bytes are read, so a write in between counts as a change at the next look.
        let is_quiet = self.seen.replace(stamp) == Some(stamp);
        if !is_quiet || !self.is_done {
            self.is_done = is_quiet;
            sessions.extend(self.take(&path, is_quiet).await?);
        }
        Ok(sessions)
    }

    /// Imports the messages that are complete now, as the last step.
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
        let transcript = match input::bytes(path) {
            Ok(bytes) => {
                TranscriptRecordings::so_far(&bytes.into(), self.from, is_quiet).map_err(|error| {
                    error.advise(Door::Command).at(format_args!("{}: ", path.display()))
                })
            }
            Err(error) => Err(error),
        };
        // A file that was just made or is being replaced may be empty or cut. It is an error only if it stays so.
        self.trouble = None;
        let transcript = match transcript {
            Ok(transcript) => transcript,
            Err(error) => {
                self.trouble = is_quiet.then_some(error);
                return Ok(Vec::new());
            }
        };
        self.waiting = transcript.waiting;
        let mut import = importer(self.host, &self.args.start, self.setup, path)?;
        // If the client rewrites its file, the import goes on in another session instead of failing.
        import.numbered = true;
        Ok(ImportSelection::of(self.args, false).bring(&mut import, path, &transcript).await?)
    }

    /// The file that was named, or the newest file in the folder that was named.
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
    // A file that was deleted between the two calls is skipped.
    let files = folder.files().ok()?.into_iter().filter_map(|path| of_file(&path));
    files.reduce(|all, one| FileStamp {
        bytes: all.bytes + one.bytes,
        changed: all.changed.max(one.changed),
    })
}
