//! `midfold completions` and `midfold man`: print completions for a shell, and man pages.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;
use midfold_args::{Cli, CompletionsArgs, ManArgs, Shell};

use crate::error::CommandError;
use crate::output::{Output, reason};

pub fn completions(args: &CompletionsArgs, output: &Output) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(generator(args.shell), &mut Cli::command(), "midfold", &mut script);
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
    let mut command = Cli::command();
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
