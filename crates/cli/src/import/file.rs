//! The conversations of one file, imported: which of them, and under which ids.

use std::collections::BTreeSet;
use std::path::Path;

use midfold::formats::read::Conversation;
use midfold::{Door, Extent, Import as Importer, Imported, Recorded, Setup};
use midfold_args::Import;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::host::Host;
use crate::paths::is_stdin;
use crate::prepare;
use crate::runtime;

/// What imports a file of this name.
pub fn importer<'a>(
    host: &Host,
    args: &Import,
    setup: &'a mut Setup,
    name: &str,
) -> Result<Importer<'a>, CommandError> {
    Ok(Importer {
        store: host.store.clone(),
        setup,
        policy: prepare::narrated(&args.start.folding)?,
        output_reserve: args.start.output_reserve.unwrap_or(0),
        source: (!is_stdin(&args.file)).then(|| name.to_owned()),
        extent: Extent::Live,
        numbered: false,
        door: Door::Command,
    })
}

/// `--only` has to be one of the conversations of the file.
pub fn check_only(args: &Import, name: &str, count: usize) -> Result<(), CommandError> {
    match args.only.filter(|only| *only == 0 || *only > count) {
        None => Ok(()),
        Some(only) => Err(CommandError::usage(format!("{name} has no conversation {only}"))
            .hint(format!("it has {count}, numbered from 1"))),
    }
}

/// Imports the conversations that were asked for.
pub async fn bring(
    import: &mut Importer<'_>,
    args: &Import,
    name: &str,
    found: &Recorded,
) -> Result<Vec<Imported>, CommandError> {
    let count = found.recordings.len();
    let mut ids = Ids::new(args, name, count);
    let mut done = Vec::new();
    for (at, recording) in found.recordings.iter().enumerate() {
        let id = ids.of(at, recording.live());
        if args.only.is_none_or(|only| only == at + 1) && !recording.is_empty() {
            done.push(import.bring(recording, &id, runtime::now()).await?);
        }
    }
    Ok(done)
}

/// What came of a conversation, for programs.
pub fn to_json(done: &Imported) -> Value {
    json!({
        "id": done.id, "made": done.made, "messages": done.messages, "new": done.new,
        "dialect": done.dialect,
    })
}

/// Ids of the sessions: as asked for, as the file says, or after the file.
struct Ids {
    given: Option<String>,
    stem: String,
    several: bool,
    taken: BTreeSet<String>,
}

impl Ids {
    fn new(args: &Import, name: &str, count: usize) -> Self {
        let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
        let stem = stem.filter(|_| !is_stdin(&args.file)).unwrap_or("import");
        // `run.traj.json` is `run`.
        let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or("import").to_owned();
        let several = count > 1 && args.only.is_none();
        Self { given: args.id.clone(), stem, several, taken: BTreeSet::new() }
    }

    fn of(&mut self, at: usize, conversation: &Conversation) -> String {
        // Numbers of rows are unique in their file alone.
        let own = conversation.id.as_ref().filter(|id| id.len() >= 8 && id.len() <= 180);
        let wish = match (&self.given, own) {
            (Some(given), _) if !self.several => given.clone(),
            (Some(given), _) => format!("{given}-{}", at + 1),
            (None, Some(own)) => own.clone(),
            (None, None) if self.several => format!("{}-{}", self.stem, at + 1),
            (None, None) => self.stem.clone(),
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
