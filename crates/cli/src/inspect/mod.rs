//! `midfold inspect`: shows what a transcript holds, and what each preset would do to it.

mod inspection;
mod many;
mod reading;
mod several;

use std::path::Path;

use midfold::Policy;
use midfold_args::InspectArgs;

use crate::error::CommandError;
use crate::fabric;
use crate::input::InputFile;
use crate::output::Output;
use crate::page::LabelledPage;
use crate::paths::is_folder;
use inspection::Inspection;
use reading::{InspectReader, NotedConversation};
use several::several;

pub fn run(args: &InspectArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let reading = InspectReader::new(args)?;
    match args.files.as_slice() {
        [file] if !is_folder(file) => one(file, reading, args, json, output),
        _ => many::run(reading, args, json, output),
    }
}

/// Inspects one file and shows all facts about its conversations.
fn one(
    file: &Path,
    mut reading: InspectReader,
    args: &InspectArgs,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let input = InputFile::load(file)?;
    let conversations = reading.conversations(&input)?;
    let count = conversations.len();
    let chosen = chosen(args.only, conversations, &input.name)?;
    if let Some(fold) = args.fold {
        return folds(chosen, reading, fold, &input.name, output);
    }
    // Each line of a list of several conversations has room for only one forecast.
    let has_room = json || chosen.len() == 1;
    let presets = if has_room { with_presets(&reading.policy) } else { Vec::new() };
    let mut all = Vec::with_capacity(chosen.len());
    for (number, (conversation, notes)) in chosen {
        let prepared = reading.prepare(conversation, &input.name)?;
        all.push((number, Inspection::new(prepared, notes, &reading.policy, &presets)));
    }
    if json {
        let lines = all.iter().map(|(at, one)| format!("{}\n", one.to_json(*at)));
        return output.stdout(lines.collect::<String>());
    }
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    match all.as_slice() {
        [(at, only)] => {
            let place =
                if count == 1 { String::new() } else { format!(", conversation {at} of {count}") };
            only.show(&mut page, &format!("{}{place}", input.name));
        }
        _ => several(&mut page, &input.name, &all),
    }
    page.notes(all.iter().flat_map(|(_, one)| &one.notes));
    output.stdout(page.text)
}

/// All presets. If the policy is no preset, it comes first, under a name that no preset has.
fn with_presets(policy: &Policy) -> Vec<Policy> {
    let presets = Policy::preset_names().into_iter().filter_map(|name| Policy::preset(name).ok());
    let mut all: Vec<Policy> = presets.collect();
    if !all.contains(policy) {
        let name = format!("{} (yours)", policy.name);
        all.insert(0, Policy { name, ..policy.clone() });
    }
    all
}

/// Shows the folds of one conversation. `fold` is the number of one of them; 0 means all.
fn folds(
    chosen: Vec<NumberedConversation>,
    mut reading: InspectReader,
    fold: usize,
    name: &str,
    output: &Output,
) -> Result<(), CommandError> {
    let count = chosen.len();
    let Ok([(_, (conversation, _))]) = <[NumberedConversation; 1]>::try_from(chosen) else {
        let error = format!("{name} holds {count} conversations, and --fold draws one");
        return Err(CommandError::usage(error).hint("--only N chooses one"));
    };
    let prepared = reading.prepare(conversation, name)?;
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    let fold = Some(fold).filter(|fold| *fold > 0);
    fabric::show(&mut page, name, &prepared, &reading.policy, fold)?;
    output.stdout(page.text)
}

/// A conversation with its number in the file, from 1.
type NumberedConversation = (usize, NotedConversation);

fn chosen(
    only: Option<usize>,
    all: Vec<NotedConversation>,
    name: &str,
) -> Result<Vec<NumberedConversation>, CommandError> {
    let count = all.len();
    let all = (1..).zip(all);
    let Some(only) = only else { return Ok(all.collect()) };
    let matching: Vec<_> = all.filter(|(at, _)| *at == only).collect();
    if matching.is_empty() {
        let error = format!("there is no conversation {only} in {name}: it holds {count}");
        return Err(
            CommandError::usage(error).hint(format!("--only takes a number from 1 to {count}"))
        );
    }
    Ok(matching)
}
