//! `midfold store`: checks, exports, imports and prunes a whole store.

use std::fs::File;
use std::io::{BufReader, BufWriter, IntoInnerError};
use std::path::Path;

use midfold::Door;
use midfold::store::transfer::{self, TransferCounts, TransferError};
use midfold::store::{Millis, StoreError, fsck};
use midfold_args::{ExportArgs, LoadArgs, PruneArgs, StoreAt, StoreCommand, StoreCommands};
use serde_json::{Value, json};

use crate::deletion;
use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::output::{Output, OutputColor, reason};
use crate::page::LabelledPage;
use crate::presets::pretty;
use crate::runtime::{block_on, now};
use crate::stdin::is_stdin;
use crate::visible::{ColourSource, VisibleStream};
use crate::whole_file::{FileReaders, WholeFile};
use crate::words::plural;

pub fn run(args: &StoreCommands, json: bool, output: &Output) -> Result<(), CommandError> {
    match &args.command {
        StoreCommand::Export(export) => block_on(async {
            let host = OpenStore::open(&args.at, StoreCreation::No).await?;
            write(export, &host, json, output).await
        }),
        StoreCommand::Prune(wanted) => {
            let age = age(wanted)?;
            block_on(async {
                let host = OpenStore::open(&args.at, StoreCreation::No).await?;
                prune(wanted, age, &host, json, output).await
            })
        }
        StoreCommand::Load(load) => {
            // The file is checked first, so that a wrong name does not make a store.
            let file = File::open(&load.file).and_then(|file| file.metadata());
            let meta = file.map_err(|error| unreadable(&load.file, &error))?;
            if meta.is_dir() {
                return Err(CommandError::failed(format!(
                    "{} is a directory",
                    load.file.display()
                ))
                .hint("name the file that `midfold store export` wrote"));
            }
            block_on(async {
                let host = OpenStore::open(&args.at, StoreCreation::Yes).await?;
                read(load, &host, json, output).await
            })
        }
    }
}

/// `midfold check store`.
pub fn check(at: &StoreAt, json: bool, output: &Output) -> Result<(), CommandError> {
    block_on(async {
        let host = OpenStore::open(at, StoreCreation::No).await?;
        findings(&host, json, output).await
    })
}

async fn findings(host: &OpenStore, json: bool, output: &Output) -> Result<(), CommandError> {
    let report = fsck(&*host.store).await?;
    let clean = report.is_clean();
    if json {
        let mut value = json!({ "ok": clean, "store": host.store.place() });
        if let (Value::Object(value), Ok(Value::Object(more))) =
            (&mut value, serde_json::to_value(&report))
        {
            value.extend(more);
        }
        output.stdout(pretty(&value)?)?;
    } else {
        let style = output.stdout_style();
        let mut page = LabelledPage { style: &style, text: String::new() };
        let count = report.findings.len() as u64;
        let (color, outcome) = match count {
            0 => (OutputColor::Green, "all is well".to_owned()),
            1 => (OutputColor::Red, "1 thing is wrong".to_owned()),
            many => (OutputColor::Red, format!("{} things are wrong", crate::words::number(many))),
        };
        page.title(color, &format!("{}: {outcome}", host.store.place()));
        let checked = [
            (report.sessions, "session"),
            (report.events, "message"),
            (report.folds, "fold"),
            (report.calls, "call"),
            (report.jobs, "job"),
        ];
        page.field("checked", &checked.map(|(count, noun)| plural(count, noun)).join(", "));
        let unknown = report.folds - report.projected.min(report.folds);
        if unknown > 0 && clean {
            page.field("", &format!("the figures of {} could not be computed again: this build does not know their counter or format", plural(unknown, "fold")));
        }
        for finding in &report.findings {
            page.field(
                "WRONG",
                &format!("session {}, {}: {}", finding.session, finding.place, finding.problem),
            );
            page.field("", &format!("→ {}", finding.advice));
        }
        output.stdout(page.text)?;
    }
    if clean { Ok(()) } else { Err(CommandError::silent(1)) }
}

async fn write(
    args: &ExportArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let only = args.session.as_deref();
    // A pipe or a device has nothing to lose.
    if !args.force && !is_stdin(&args.file) && args.file.is_file() {
        let file = args.file.display();
        return Err(CommandError::failed(format!("{file} exists already"))
            .hint("name another file, or replace it with --force"));
    }
    if let Some(id) = only {
        host.session(id).await?;
    }
    let moved = if is_stdin(&args.file) {
        let mut out = BufWriter::new(VisibleStream::new(std::io::stdout(), ColourSource::Own));
        transfer::export(&*host.store, only, &mut out).await
    } else {
        whole(args, host, only).await
    };
    let moved = match moved {
        Ok(moved) => moved,
        Err(TransferError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            return Err(CommandError::silent(0));
        }
        Err(error) => return Err(failed(host, &args.file, error)),
    };
    let to = if is_stdin(&args.file) {
        "standard output".to_owned()
    } else {
        args.file.display().to_string()
    };
    tell(&moved, &format!("written to {to}"), json && !is_stdin(&args.file), output)
}

/// Writes the file that the export names.
async fn whole(
    args: &ExportArgs,
    host: &OpenStore,
    only: Option<&str>,
) -> Result<TransferCounts, TransferError> {
    let mut out = BufWriter::new(WholeFile::open(&args.file, FileReaders::User)?);
    let moved = transfer::export(&*host.store, only, &mut out).await?;
    out.into_inner().map_err(IntoInnerError::into_error)?.finish()?;
    Ok(moved)
}

async fn read(
    args: &LoadArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let open = || File::open(&args.file).map(BufReader::new);
    match transfer::import(&*host.store, now(), open).await {
        Ok(moved) => tell(&moved, &format!("read into {}", host.store.place()), json, output),
        Err(error) => Err(failed(host, &args.file, error)),
    }
}

/// The age from which sessions are pruned. A text that is no age gets the same error as a wrong value of any other
/// option.
fn age(args: &PruneArgs) -> Result<Millis, CommandError> {
    midfold::age(&args.older_than).map_err(|why| {
        CommandError::usage(format!(
            "invalid value '{}' for '--older-than <AGE>': {why}\n\nFor more information, try '--help'.",
            args.older_than
        ))
    })
}

async fn prune(
    args: &PruneArgs,
    age: Millis,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let store = &*host.store;
    let answers = midfold::old_answers(store, age, now(), Door::Command).await?;
    let sessions = match args.yes {
        true => midfold::prune(store, age, now(), Door::Command).await?,
        false => midfold::idle(store, age, now(), Door::Command).await?,
    };
    if sessions.is_empty() && answers == 0 && !json {
        let place = store.place();
        return output.stdout(format!("nothing to delete: every session in {place} is newer\n"));
    }
    deletion::tell((&sessions, answers), args.yes, &store.place(), json, output)
}

fn failed(host: &OpenStore, file: &Path, error: TransferError) -> CommandError {
    match error {
        TransferError::Store(StoreError::Exists(id)) => CommandError::failed(format!(
            "a session `{id}` exists already in {}",
            host.store.place()
        ))
        .hint("nothing was imported: sessions of an export have to be new to the store"),
        TransferError::Store(error) => error.into(),
        TransferError::Deleted(_) => CommandError::failed(error.to_string()),
        TransferError::Io(error) => CommandError::failed(format!("{}: {}", file.display(), reason(&error))),
        TransferError::Line { line, problem } => {
            CommandError::failed(format!("{}, line {line}: {problem}", file.display()))
                .hint("name a file that `midfold store export` wrote; for transcripts there is `midfold import`")
        }
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> CommandError {
    let error =
        CommandError::failed(format!("{} cannot be read: {}", file.display(), reason(error)));
    error.maybe_hint(is_stdin(file).then(|| "import reads it twice: name a file".to_owned()))
}

fn tell(
    moved: &TransferCounts,
    verb: &str,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    if json {
        return output.stdout(format!("{}\n", serde_json::to_value(moved).unwrap_or_default()));
    }
    let TransferCounts { sessions, events, folds, calls } = moved;
    let counts = [(*sessions, "session"), (*events, "message"), (*folds, "fold"), (*calls, "call")];
    output.stderr(&format!(
        "{} {verb}\n",
        counts.map(|(count, noun)| plural(count, noun)).join(", ")
    ));
    Ok(())
}
