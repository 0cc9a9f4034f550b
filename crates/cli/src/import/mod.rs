//! `midfold import`: a transcript becomes sessions. Importing it again adds what is new.

mod watch;

use std::collections::BTreeSet;
use std::path::Path;

use midfold::formats::read::Conversation;
use midfold::{Door, Extent, Import as Importer, Imported, Recorded, Setup};
use serde_json::{Value, json};

use crate::args::Import;
use crate::error::CommandError;
use crate::host::{self, Host, Make, block_on};
use crate::input::Input;
use crate::note::Note;
use crate::output::{Color, Output};
use crate::paths::is_stdin;
use crate::prepare;
use crate::presets::pretty;
use crate::table::Table;
use crate::words::{number, plural};

/// Problems that are told about.
const SHOWN: usize = 3;

pub fn run(args: &Import, json: bool, output: &Output) -> Result<(), CommandError> {
    if args.watch {
        return watch::run(args, json, output);
    }
    let from = prepare::format(args.from.as_deref())?;
    let mut setup = prepare::setup(&args.start.measure, args.to.as_deref())?;
    // A wrong policy is told before anything is stored.
    args.start.folding.policy()?;
    let input = Input::load(&args.file)?;
    let mut found = input.recordings(from)?;
    let live: Vec<Conversation> = found.recordings.iter().map(|it| it.live().clone()).collect();
    let notes = Note::by_conversation(std::mem::take(&mut found.problems), &live);
    let done = block_on(async {
        let host = Host::open(&args.at, Make::Yes).await?;
        let mut import = importer(&host, args, &mut setup, &input.name)?;
        bring(&mut import, args, &input.name, &found).await
    })?;
    warn(&notes, &done, output);
    tell(&done, json, output)
}

/// What imports a file of this name.
fn importer<'a>(
    host: &Host,
    args: &Import,
    setup: &'a mut Setup,
    name: &str,
) -> Result<Importer<'a>, CommandError> {
    Ok(Importer {
        store: host.store.clone(),
        setup,
        policy: args.start.folding.policy()?,
        output_reserve: args.start.output_reserve.unwrap_or(0),
        source: (!is_stdin(&args.file)).then(|| name.to_owned()),
        extent: Extent::Live,
        numbered: false,
        door: Door::Command,
    })
}

/// Imports the conversations that were asked for.
async fn bring(
    import: &mut Importer<'_>,
    args: &Import,
    name: &str,
    found: &Recorded,
) -> Result<Vec<Imported>, CommandError> {
    let count = found.recordings.len();
    if let Some(only) = args.only.filter(|only| *only == 0 || *only > count) {
        return Err(CommandError::usage(format!("{name} has no conversation {only}"))
            .hint(format!("it has {count}, numbered from 1")));
    }
    let mut ids = Ids::new(args, name, count);
    let mut done = Vec::new();
    for (at, recording) in found.recordings.iter().enumerate() {
        let id = ids.of(at, recording.live());
        if args.only.is_none_or(|only| only == at + 1) && !recording.is_empty() {
            done.push(import.bring(recording, &id, host::now()).await?);
        }
    }
    Ok(done)
}

/// What the reader could not carry, in short.
fn warn(notes: &[Vec<Note>], done: &[Imported], output: &Output) {
    let problems = done.iter().flat_map(|done| &done.problems);
    let converted = problems.map(|problem| Note::of_conversion(problem.clone()));
    let all: Vec<String> =
        notes.iter().flatten().map(Note::text).chain(converted.map(|note| note.text())).collect();
    let style = output.stderr_style();
    for text in all.iter().take(SHOWN) {
        output.stderr(&format!("{} {text}\n", style.paint(Color::Yellow, "note:")));
    }
    if let Some(more) = all.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        output.stderr(&format!("and {}\n", plural(more as u64, "more note")));
    }
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

/// What came of a conversation, for programs.
fn to_json(done: &Imported) -> Value {
    json!({
        "id": done.id, "made": done.made, "messages": done.messages, "new": done.new,
        "dialect": done.dialect,
    })
}

fn tell(done: &[Imported], json: bool, output: &Output) -> Result<(), CommandError> {
    if json {
        return output.stdout(pretty(&done.iter().map(to_json).collect::<Vec<_>>())?);
    }
    let style = output.stdout_style();
    let table = Table::new(["id", "messages", "new", "tokens", "format"]).right([1, 2, 3]);
    let mut table = table.color(0, Color::Bold);
    for Imported { id, messages, new, dialect, tokens, .. } in done {
        table.row([
            id.clone(),
            number(*messages),
            number(*new),
            number(*tokens),
            (*dialect).to_owned(),
        ]);
    }
    let made = done.iter().filter(|done| done.made).count() as u64;
    let new: u64 = done.iter().map(|done| done.new).sum();
    let what = match (made, new) {
        (0, 0) => "nothing new: all of it was there already".to_owned(),
        (0, new) => format!("{} added", plural(new, "message")),
        (made, new) => format!("{} made, {}", plural(made, "session"), plural(new, "message")),
    };
    output.stdout(table.render(&style, 0))?;
    output.stderr(&format!("{what}\n"));
    Ok(())
}
