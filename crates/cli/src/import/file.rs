//! The conversations of one file, imported: which of them, and under which ids.

use std::collections::BTreeSet;
use std::path::Path;

use midfold::Setup;
use midfold::formats::read::Conversation;
use midfold_args::{ImportArgs, StartArgs};
use serde_json::{Value, json};

use super::plan::{ImportExtent, ImportPlan, ImportedSession};
use crate::error::CommandError;
use crate::host::OpenStore;
use crate::paths::is_stdin;
use crate::prepare;
use crate::recordings::TranscriptRecordings;
use crate::runtime;

/// What imports the file of this path.
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

/// Which conversations of a file are wanted, and what their sessions are called.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportSelection<'a> {
    /// `--id`.
    pub id: Option<&'a str>,
    /// `--only`.
    pub only: Option<usize>,
    /// The file is one of several: `--id` is what the ids of all of them start with.
    pub is_one_of_several: bool,
}

impl<'a> ImportSelection<'a> {
    /// What the flags say of a file.
    pub fn of(args: &'a ImportArgs, is_one_of_several: bool) -> Self {
        Self { id: args.id.as_deref(), only: args.only, is_one_of_several }
    }

    /// `--only` has to be one of the conversations of the file.
    pub fn check(&self, name: &str, count: usize) -> Result<(), CommandError> {
        match self.only.filter(|only| *only == 0 || *only > count) {
            None => Ok(()),
            Some(only) => Err(CommandError::usage(format!("{name} has no conversation {only}"))
                .hint(format!("it has {count}, numbered from 1"))),
        }
    }

    /// Imports the conversations that were asked for.
    pub async fn bring(
        &self,
        import: &mut ImportPlan<'_>,
        path: &Path,
        found: &TranscriptRecordings,
    ) -> Result<Vec<ImportedSession>, CommandError> {
        let mut ids = SessionIds::new(*self, path, found.recordings.len());
        let mut done = Vec::new();
        for (at, recording) in found.recordings.iter().enumerate() {
            let id = ids.of(at, recording.live());
            if self.only.is_none_or(|only| only == at + 1) && !recording.is_empty() {
                done.push(import.bring(recording, &id, runtime::now()).await?);
            }
        }
        Ok(done)
    }
}

/// What came of a conversation, for programs.
pub fn to_json(done: &ImportedSession) -> Value {
    json!({
        "id": done.id, "made": done.made, "messages": done.messages, "new": done.new,
        "dialect": done.dialect,
    })
}

/// Ids of the sessions: as asked for, as the file says, or after the file.
struct SessionIds<'a> {
    wanted: ImportSelection<'a>,
    stem: String,
    several: bool,
    taken: BTreeSet<String>,
}

impl<'a> SessionIds<'a> {
    fn new(wanted: ImportSelection<'a>, path: &Path, count: usize) -> Self {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.filter(|_| !is_stdin(path)).unwrap_or("import");
        // `run.traj.json` is `run`.
        let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or("import").to_owned();
        let several = count > 1 && wanted.only.is_none();
        Self { wanted, stem, several, taken: BTreeSet::new() }
    }

    fn of(&mut self, at: usize, conversation: &Conversation) -> String {
        // Numbers of rows are unique in their file alone.
        let own = conversation.id.as_ref().filter(|id| id.len() >= 8 && id.len() <= 180);
        let own = || match own {
            Some(own) => own.clone(),
            None if self.several => format!("{}-{}", self.stem, at + 1),
            None => self.stem.clone(),
        };
        let wish = match (self.wanted.id, self.several) {
            // A number would be another one once there is one more file.
            (Some(given), _) if self.wanted.is_one_of_several => format!("{given}-{}", own()),
            (Some(given), true) => format!("{given}-{}", at + 1),
            (Some(given), false) => given.to_owned(),
            (None, _) => own(),
        };
        let mut id = wish.clone();
        let mut next = 2;
        while !self.taken.insert(id.clone()) {
            id = format!("{wish}-{next}");
            next += 1;
        }
        id
    }
}
