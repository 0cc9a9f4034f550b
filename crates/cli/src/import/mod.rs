//! `midfold import`: a transcript becomes sessions. Importing it again adds what is new.

mod file;
pub mod watch;

use midfold::Imported;
use midfold::formats::read::Conversation;
use midfold_args::Import;

use crate::error::CommandError;
use crate::host::{Host, Make};
use crate::input::Input;
use crate::note::Note;
use crate::output::{Color, Output};
use crate::prepare;
use crate::presets::pretty;
use crate::runtime::block_on;
use crate::table::Table;
use crate::words::{number, plural};

use file::{bring, check_only, importer, to_json};

/// Problems that are told about.
const SHOWN: usize = 3;

pub fn run(args: &Import, json: bool, output: &Output) -> Result<(), CommandError> {
    if args.watch {
        return watch::run(args, json, output);
    }
    let from = prepare::format(args.from.as_deref())?;
    let mut setup = prepare::setup(&args.start.measure, args.to.as_deref())?;
    // A wrong policy is told before anything is stored.
    prepare::narrated(&args.start.folding)?;
    let input = Input::load(&args.file)?;
    let mut found = input.recordings(from)?;
    check_only(args, &input.name, found.recordings.len())?;
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
