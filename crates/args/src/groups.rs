//! The commands in groups, for help.

use clap::Command;
use clap::builder::StyledStr;

/// The groups of commands, in the order of the help text.
pub const GROUPS: [(&str, &[&str]); 5] = [
    ("Commands", &["run", "serve", "compact", "recall", "explain", "doctor"]),
    ("Sessions", &["session", "import", "store", "top", "check"]),
    ("Agents and servers", &["connect", "mcp", "worker"]),
    ("Transcripts", &["inspect", "measure", "trajectories"]),
    ("Others", &["print"]),
];

/// The command with its subcommands in [`GROUPS`]. By itself, `clap` lists them in one.
pub(crate) fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{}\n{{options}}{{after-help}}",
        lists(&command),
        heading(&command, "Options"),
    );
    command.help_template(StyledStr::from(template))
}

fn lists(command: &Command) -> String {
    let mut text = String::new();
    let style = command.get_styles().get_literal();
    for (group, names) in GROUPS {
        text += &format!("\n{}\n", heading(command, group));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &format!("  {}{name:14}{} {about}\n", style.render(), style.render_reset());
        }
    }
    text
}

fn heading(command: &Command, text: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{}{text}:{}", style.render(), style.render_reset())
}
