//! Imports the conversations of one file: chooses which, and gives their sessions ids.

use std::collections::BTreeSet;
use std::path::Path;

use midfold::formats::read::Conversation;
use midfold::view::CarriedProblem;
use midfold::{Failure, Setup};
use midfold_args::{ImportArgs, StartArgs};
use serde_json::{Value, json};

use super::plan::{ImportExtent, ImportPlan, ImportedSession};
use crate::error::CommandError;
use crate::host::OpenStore;
use crate::note::by_conversation;
use crate::prepare;
use crate::recordings::{TranscriptPart, TranscriptRecordings};
use crate::runtime;
use crate::stdin::is_stdin;

/// The import plan for the file at this path.
pub fn importer<'a>(
    host: &OpenStore,
    start: &StartArgs,
    setup: &'a mut Setup,
    path: &Path,
) -> Result<ImportPlan<'a>, CommandError> {
    Ok(ImportPlan {
        store: host.store.clone(),
        setup,
        policy: prepare::narrated(&start.folding)?,
        output_reserve: start.output_reserve.unwrap_or(0),
        source: (!is_stdin(path)).then(|| path.display().to_string()),
        extent: ImportExtent::Live,
        numbered: false,
    })
}

/// Chooses the conversations of a file to import, and the ids of their sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportSelection<'a> {
    /// The value of `--id`.
    pub id: Option<&'a str>,
    /// The value of `--only`: a conversation's number, from 1.
    pub only: Option<usize>,
    /// Whether the file is one of several. The ids of all their sessions then start with `--id`.
    pub is_one_of_several: bool,
}

impl<'a> ImportSelection<'a> {
    /// The selection that the flags make for a file.
    pub fn of(args: &'a ImportArgs, is_one_of_several: bool) -> Self {
        Self { id: args.id.as_deref(), only: args.only, is_one_of_several }
    }

    /// Fails where `--only` is not the number of a conversation in the file.
    pub fn check(&self, name: &str, count: usize) -> Result<(), CommandError> {
        match self.only.filter(|only| *only == 0 || *only > count) {
            None => Ok(()),
            Some(only) => Err(CommandError::usage(format!("{name} has no conversation {only}"))
                .hint(format!("it has {count}, numbered from 1"))),
        }
    }

    fn has(&self, at: usize) -> bool {
        self.only.is_none_or(|only| only == at + 1)
    }

    /// Takes the reader's notes about content of the chosen conversations that it could not carry over.
    pub fn notes(&self, transcript: &mut TranscriptRecordings) -> Vec<CarriedProblem> {
        let problems = std::mem::take(&mut transcript.problems);
        let all = transcript.recordings.iter().map(TranscriptPart::live);
        let notes = by_conversation(problems, all).into_iter().enumerate();
        notes.filter(|(at, _)| self.has(*at)).flat_map(|(_, notes)| notes).collect()
    }

    /// Imports the chosen conversations into sessions. Empty ones are skipped.
    pub async fn bring(
        &self,
        import: &mut ImportPlan<'_>,
        path: &Path,
        transcript: &TranscriptRecordings,
    ) -> Result<Vec<ImportedSession>, Failure> {
        let mut ids = SessionIds::new(*self, path, transcript.recordings.len());
        let mut sessions = Vec::new();
        for (at, recording) in transcript.recordings.iter().enumerate() {
            let id = ids.of(at, recording.live());
            if self.has(at) && !recording.is_empty() {
                sessions.push(import.bring(recording, &id, runtime::now()).await?);
            }
        }
        Ok(sessions)
    }
}

/// The outcome of one import as JSON.
pub fn to_json(session: &ImportedSession) -> Value {
    json!({
        "id": session.id, "made": session.is_made, "messages": session.messages, "new": session.new,
        "dialect": session.dialect,
    })
}

/// Makes the ids of sessions: from `--id`, from the transcript's own id, or from the name of the file.
struct SessionIds<'a> {
    wanted: ImportSelection<'a>,
    stem: String,
    several: bool,
    used: BTreeSet<String>,
}

impl<'a> SessionIds<'a> {
    fn new(wanted: ImportSelection<'a>, path: &Path, count: usize) -> Self {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.filter(|_| !is_stdin(path)).unwrap_or("import");
        // The stem ends at the first dot: `run.traj.json` becomes `run`.
        let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or("import").to_owned();
        let several = count > 1 && wanted.only.is_none();
        Self { wanted, stem, several, used: BTreeSet::new() }
    }

    fn of(&mut self, at: usize, conversation: &Conversation) -> String {
        // A short id of a conversation is often the number of a row, which is unique only in its file. So it is not
        // used.
        let own = conversation.id.as_ref().filter(|id| id.len() >= 8 && id.len() <= 180);
        // A client's file gets conversations of agents while it grows. The first one keeps its name.
        let is_first = at == 0 && conversation.format.is_session();
        let own = || match own {
            Some(own) => own.clone(),
            None if self.several && !is_first => format!("{}-{}", self.stem, at + 1),
            None => self.stem.clone(),
        };
        let preferred = match (self.wanted.id, self.several) {
            // The id keeps the file's name. A running number would change whenever a file is added.
            (Some(given), _) if self.wanted.is_one_of_several => format!("{given}-{}", own()),
            (Some(given), true) if !is_first => format!("{given}-{}", at + 1),
            (Some(given), _) => given.to_owned(),
            (None, _) => own(),
        };
        let mut id = preferred.clone();
        let mut next = 2;
        while !self.used.insert(id.clone()) {
            id = format!("{preferred}-{next}");
            next += 1;
        }
        id
    }
}
