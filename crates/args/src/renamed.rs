//! The names that commands had before 0.2. They are understood until 0.3.

use std::ffi::OsString;

/// A command of an earlier version: its words, and those of today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenamedCommand {
    /// The words before 0.2.
    pub old: &'static str,
    /// The words now.
    pub new: &'static str,
}

/// The commands that were renamed. CHANGELOG.md has the same table.
pub const RENAMED: [RenamedCommand; 16] = [
    RenamedCommand { old: "verify", new: "check file" },
    RenamedCommand { old: "audit", new: "check session" },
    RenamedCommand { old: "store fsck", new: "check store" },
    RenamedCommand { old: "store import", new: "store load" },
    RenamedCommand { old: "session preview", new: "session compact --dry-run" },
    RenamedCommand { old: "hooks install", new: "connect" },
    RenamedCommand { old: "hooks uninstall", new: "connect --remove" },
    RenamedCommand { old: "hooks status", new: "connect" },
    RenamedCommand { old: "replay", new: "measure replay" },
    RenamedCommand { old: "exam", new: "measure exam" },
    RenamedCommand { old: "presets", new: "print presets" },
    RenamedCommand { old: "schema", new: "print schema" },
    RenamedCommand { old: "config", new: "print config" },
    RenamedCommand { old: "completions", new: "print completions" },
    RenamedCommand { old: "man", new: "print man" },
    RenamedCommand { old: "key", new: "serve key" },
];

/// Options that may come before a command and have a value.
const WITH_VALUE: [&str; 3] = ["--color", "--log", "--store"];

/// The arguments with the words of today, and what was renamed in them.
///
/// ```
/// let args = ["midfold", "--json", "verify", "--before", "a.json"].map(Into::into).to_vec();
/// let (args, renamed) = midfold_args::present(args);
/// assert_eq!(args[2..4], ["check", "file"]);
/// assert_eq!(renamed.unwrap().old, "verify");
/// ```
#[must_use]
pub fn present(mut args: Vec<OsString>) -> (Vec<OsString>, Option<RenamedCommand>) {
    let words = words(&args);
    let spelled: Vec<_> = words.iter().map(|at| args[*at].to_string_lossy()).collect();
    let is_old = |command: &&RenamedCommand| {
        let old: Vec<_> = command.old.split(' ').collect();
        spelled.iter().take(old.len()).eq(old.iter())
    };
    let Some(renamed) = RENAMED.iter().find(is_old).copied() else { return (args, None) };
    for at in words.iter().take(renamed.old.split(' ').count()).skip(1).rev() {
        args.remove(*at);
    }
    let first = words[0];
    args.splice(first..=first, renamed.new.split(' ').map(OsString::from));
    (args, Some(renamed))
}

/// The places of the first two words that are no options: the command, and its subcommand.
fn words(args: &[OsString]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 1;
    while at < args.len() && places.len() < 2 {
        match args[at].to_string_lossy() {
            word if WITH_VALUE.contains(&&*word) => at += 1,
            word if word.starts_with('-') => {}
            _ => places.push(at),
        }
        at += 1;
    }
    places
}
