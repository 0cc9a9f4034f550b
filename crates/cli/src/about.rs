//! The command about itself: completions for a shell, man pages, and names of commands that were mistaken.

use std::fs;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap_mangen::Man;
use midfold::nearest;
use midfold_args::{CompletionsArgs, ManArgs, RenamedCommand, Shell};

use crate::error::CommandError;
use crate::output::{Output, OutputColor, reason};

pub fn completions(args: &CompletionsArgs, output: &Output) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(
        generator(args.shell),
        &mut midfold_args::command(),
        "midfold",
        &mut script,
    );
    output.stdout(String::from_utf8_lossy(&script).into_owned())
}

fn generator(shell: Shell) -> clap_complete::Shell {
    match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Elvish => clap_complete::Shell::Elvish,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::PowerShell => clap_complete::Shell::PowerShell,
        Shell::Zsh => clap_complete::Shell::Zsh,
    }
}

pub fn man(args: &ManArgs, output: &Output) -> Result<(), CommandError> {
    let mut command = midfold_args::command();
    command.build();
    let Some(folder) = &args.output else {
        let page = page(&command)?;
        return output.stdout(String::from_utf8_lossy(&page).into_owned());
    };
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let count = write(&command, folder)?;
    output.stderr(&format!("{count} man pages in {}\n", folder.display()));
    Ok(())
}

/// Writes the man page of a command and of all its subcommands into a folder. Returns the number of pages.
fn write(command: &clap::Command, folder: &Path) -> Result<usize, CommandError> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, page(command)?).map_err(|error| unwritable(&path, &error))?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below.map(|below| write(below, folder)).try_fold(1, |sum, count| Ok(sum + count?))
}

fn page(command: &clap::Command) -> Result<Vec<u8>, CommandError> {
    let mut page = Vec::new();
    let failed = |error: std::io::Error| CommandError::failed(error.to_string());
    Man::new(command.clone()).render(&mut page).map_err(failed)?;
    Ok(page)
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::failed(format!("{} cannot be written: {}", path.display(), reason(error)))
}

/// Says the present name of a command that was called by an old one.
pub fn say_renamed(renamed: RenamedCommand, output: &Output) {
    let note = output.stderr_style().paint(OutputColor::Yellow, "note:");
    let RenamedCommand { old, new } = renamed;
    output.stderr(&format!("{note} `midfold {old}` is now `midfold {new}`\n"));
}

/// The error with the command that was perhaps meant: one of this name below another command, or one that is spelled
/// almost so. By itself, `clap` only knows the commands of one level, and takes `run` for `undo`.
pub fn with_near_command(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand).cloned()
    else {
        return error;
    };
    let root = midfold_args::command();
    let command = asked_command(&error, &root);
    let subcommands = || command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let parents = subcommands().filter(|parent| parent.find_subcommand(&word).is_some());
    let mut suggestions: Vec<String> =
        parents.map(|parent| format!("{} {word}", parent.get_name())).collect();
    if suggestions.is_empty() {
        let near = nearest(&word, subcommands().map(clap::Command::get_name));
        suggestions.extend(near.map(str::to_owned));
    }
    match suggestions.is_empty() {
        true => error.remove(ContextKind::SuggestedSubcommand),
        false => error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(suggestions)),
    };
    error
}

/// The command that has no such subcommand. The usage in the error names it: `Usage: midfold store <COMMAND>`.
fn asked_command<'a>(error: &clap::Error, root: &'a clap::Command) -> &'a clap::Command {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return root };
    let usage = usage.to_string();
    let mut command = root;
    for word in usage.split_whitespace().skip(2) {
        let Some(subcommand) = command.find_subcommand(word) else { break };
        command = subcommand;
    }
    command
}
