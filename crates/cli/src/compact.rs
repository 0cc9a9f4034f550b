//! `midfold compact`.

pub mod cache;
mod emit;
mod outside;

use std::path::Path;

use midfold::core::policy::EngineName;
use midfold::{Compacted, Compaction, Door, Prepared, Told};
use regex::Regex;

use crate::args::Compact;
use crate::done::Done;
use crate::error::CommandError;
use crate::input::Input;
use crate::narrator::{Narrator, warning};
use crate::note::Note;
use crate::output::{Color, Output};
use crate::prepare;
use emit::Sending;

pub fn run(args: &Compact, json: bool, output: &Output) -> Result<(), CommandError> {
    let from = prepare::format(args.from.as_deref())?;
    let mut setup = prepare::setup(&args.measure, args.to.as_deref())?;
    let policy = args.folding.policy()?;
    if let (Some(output), Some(record)) = (&args.output, &args.record)
        && same_file(output, record)
    {
        let error = format!("-o and --record both write {}", output.display());
        return Err(CommandError::usage(error).hint("give the record a file of its own"));
    }
    let pins = args.pin.iter().map(|pin| regex(pin)).collect::<Result<Vec<_>, _>>()?;
    let input = Input::load(&args.file)?;
    let found = input.conversations(from)?;
    if let EngineName::Command { command } = &policy.engine {
        let name = &input.name;
        let prepared = found.conversations.into_iter().enumerate().map(|(at, conversation)| {
            Ok((setup.prepare(conversation)?, format!("{name}: conversation {}: ", at + 1)))
        });
        let prepared = prepared.collect::<Result<Vec<_>, CommandError>>()?;
        return outside::run(command, prepared, args, output);
    }
    let narrator = if args.preview { None } else { Narrator::of(&args.narrator)? };
    let compaction = Compaction {
        focus: args.focus.clone(),
        target: args.target,
        keep_last: args.keep_last,
        if_needed: args.if_needed,
        policy,
    };
    let wish = Wish { compaction, pins, narrator, output };
    if args.cache_check {
        let conversations = found.conversations.into_iter();
        let prepared = conversations.map(|conversation| setup.prepare(conversation));
        return cache::run(
            prepared.collect::<Result<_, _>>()?,
            &wish.compaction.policy,
            json,
            output,
        );
    }
    let count = found.conversations.len();
    let notes = Note::by_conversation(found.problems, &found.conversations);
    let mut all = Vec::with_capacity(count);
    for (at, (conversation, notes)) in found.conversations.into_iter().zip(notes).enumerate() {
        let place = if count == 1 {
            String::new()
        } else {
            format!("conversation {} of {count}: ", at + 1)
        };
        let prepared = setup.prepare(conversation)?;
        all.push(wish.compact(prepared, notes, &format!("{}: {place}", input.name))?);
    }
    let sending =
        Sending { args, json, output, name: &input.name, policy: &wish.compaction.policy.name };
    sending.emit(&all)
}

fn regex(pattern: &str) -> Result<Regex, CommandError> {
    Regex::new(pattern).map_err(|error| {
        CommandError::usage(format!("--pin: {error}")).hint(
            "a pin is a regular expression; put a \\ before characters that should be literal",
        )
    })
}

/// What is to be done to each conversation.
struct Wish<'a> {
    compaction: Compaction,
    pins: Vec<Regex>,
    narrator: Option<Narrator>,
    output: &'a Output,
}

impl Wish<'_> {
    fn compact(
        &self,
        mut prepared: Prepared,
        mut notes: Vec<Note>,
        place: &str,
    ) -> Result<Done, CommandError> {
        let pins = self.pinned(&prepared);
        notes.extend(prepared.problems.drain(..).map(Note::of_conversion));
        let mut made = self.made(&prepared, &pins, place, &Told::default())?;
        if let (Some(narrator), Some(fold)) = (&self.narrator, made.fold()) {
            let told = narrator.tell(&prepared, &self.compaction, fold)?;
            made = self.made(&prepared, &pins, place, &told)?;
            if let Some(warning) = warning(&told, made.fold()) {
                let style = self.output.stderr_style();
                let line = style.paint(Color::Yellow, &format!("warning: {place}{warning}"));
                self.output.stderr(&format!("{line}\n"));
            }
        }
        Ok(Done { prepared, made, notes })
    }

    fn made(
        &self,
        prepared: &Prepared,
        pins: &[u32],
        place: &str,
        told: &Told,
    ) -> Result<Compacted, CommandError> {
        let made = self.compaction.run(prepared, pins, told, Door::Command);
        Ok(made.map_err(|failure| failure.at(place))?)
    }

    fn pinned(&self, prepared: &Prepared) -> Vec<u32> {
        if self.pins.is_empty() {
            return Vec::new();
        }
        let matches = |text: &str| self.pins.iter().any(|pin| pin.is_match(text));
        let events = prepared.log.events().iter();
        events.filter(|event| matches(&event.text())).map(|event| event.seq).collect()
    }
}

/// Whether two paths name one file, there or not.
fn same_file(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    a == b || whole(a).is_ok_and(|a| whole(b).is_ok_and(|b| a == b))
}
