//! `midfold import`: a transcript becomes sessions. Importing it again adds what is new.

use std::collections::BTreeSet;
use std::path::Path;

use bytes::Bytes;
use midfold::formats::read::Conversation;
use midfold::store::{StoreError, Stored, StoredError};
use midfold::{Prepared, RawEvent, events_of};
use serde_json::json;

use crate::args::Import;
use crate::error::CommandError;
use crate::host::{self, Host, Make, block_on};
use crate::input::Input;
use crate::note::Note;
use crate::output::{Color, Output};
use crate::paths::is_stdin;
use crate::prepare;
use crate::presets::pretty;
use crate::session::create;
use crate::table::Table;
use crate::words::{number, plural};

/// Messages that are compared at once.
const AT_ONCE: u64 = 256;
/// Problems that are told about.
const SHOWN: usize = 3;

/// A conversation that is to be a session.
struct Wanted {
    id: String,
    prepared: Prepared,
}

/// What came of it.
struct Done {
    id: String,
    messages: u64,
    new: u64,
    made: bool,
    dialect: &'static str,
    tokens: u64,
}

pub fn run(args: &Import, json: bool, output: &Output) -> Result<(), CommandError> {
    let from = prepare::format(args.from.as_deref())?;
    let mut setup = prepare::setup(&args.start.measure, args.to.as_deref())?;
    // A wrong policy is told before anything is stored.
    args.start.folding.policy()?;
    let input = Input::load(&args.file)?;
    let mut found = input.conversations(from)?;
    let notes = Note::by_conversation(std::mem::take(&mut found.problems), &found.conversations);
    let count = found.conversations.len();
    if let Some(only) = args.only.filter(|only| *only == 0 || *only > count) {
        return Err(CommandError::usage(format!("{} has no conversation {only}", input.name))
            .hint(format!("it has {count}, numbered from 1")));
    }
    let mut ids = Ids::new(args, &input.name, count);
    let mut wanted = Vec::new();
    for (at, conversation) in found.conversations.into_iter().enumerate() {
        let id = ids.of(at, &conversation);
        if args.only.is_none_or(|only| only == at + 1) && !conversation.events.is_empty() {
            wanted.push(Wanted { id, prepared: setup.prepare(conversation)? });
        }
    }
    warn(&notes, &wanted, output);
    let source = (!is_stdin(&args.file)).then(|| input.name.clone());
    let done = block_on(async {
        let host = Host::open(&args.at, Make::Yes).await?;
        let mut done = Vec::new();
        for wanted in wanted {
            done.push(load(&host, args, wanted, source.clone()).await?);
        }
        Ok(done)
    })?;
    tell(&done, json, output)
}

/// What the reader could not carry, in short.
fn warn(notes: &[Vec<Note>], wanted: &[Wanted], output: &Output) {
    let problems = wanted.iter().flat_map(|wanted| &wanted.prepared.problems);
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

async fn load(
    host: &Host,
    args: &Import,
    wanted: Wanted,
    source: Option<String>,
) -> Result<Done, CommandError> {
    let Wanted { id, prepared } = wanted;
    let events = events_of(&prepared.log);
    let (mut stored, made) = match Stored::open(host.store.clone(), &id).await {
        Ok(stored) => (stored, false),
        Err(StoredError::Store(StoreError::NoSession(_))) => {
            (create(host, &id, &args.start, &prepared, source).await?, true)
        }
        Err(error) => return Err(error.into()),
    };
    let there = same(host, &stored, &id, &events).await?;
    let new: Vec<RawEvent> = events.iter().skip(there).cloned().collect();
    let count = new.len() as u64;
    if count > 0 {
        // Somebody who appends meanwhile is not to be mixed in.
        let expected = stored.row().head;
        stored.append_at(expected, new, host::now()).await?;
    }
    Ok(Done {
        id,
        messages: stored.row().head,
        new: count,
        made,
        dialect: prepared.kind.name(),
        tokens: prepared.log.tokens(),
    })
}

/// How many messages of the file the session has already. One must be the beginning of the other.
async fn same(
    host: &Host,
    stored: &Stored,
    id: &str,
    events: &[RawEvent],
) -> Result<usize, CommandError> {
    let both = stored.row().head.min(events.len() as u64);
    let mut at = 0;
    while at < both {
        let rows = host.store.events(id, at..both.min(at + AT_ONCE)).await;
        let rows = rows?;
        for row in &rows {
            let file: Option<&Bytes> = usize::try_from(row.seq)
                .ok()
                .and_then(|at| events.get(at))
                .map(|event| &event.bytes);
            if file != Some(&row.event.bytes) {
                return Err(CommandError::failed(format!(
                    "session `{id}` exists and holds another conversation: message {} differs",
                    number(row.seq)
                ))
                .hint("choose another id: --id NAME"));
            }
        }
        at += AT_ONCE;
    }
    Ok(usize::try_from(both).unwrap_or(usize::MAX))
}

fn tell(done: &[Done], json: bool, output: &Output) -> Result<(), CommandError> {
    if json {
        let value = |done: &Done| {
            json!({
                "id": done.id, "made": done.made, "messages": done.messages, "new": done.new,
                "dialect": done.dialect,
            })
        };
        return output.stdout(pretty(&done.iter().map(value).collect::<Vec<_>>())?);
    }
    let style = output.stdout_style();
    let table = Table::new(["id", "messages", "new", "tokens", "format"]).right([1, 2, 3]);
    let mut table = table.color(0, Color::Bold);
    for Done { id, messages, new, dialect, tokens, .. } in done {
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
