//! Decides whether a result shows anything beside the files that its call reads, and whether a failed call may have
//! changed a file. A rule that replaces the result of a read asks here, so that nothing else is lost with it.

use super::command::{CommandDeeds, CommandPurpose, SimpleStep};
use super::facts::{CallFacts, ToolKind};
use super::outcome::{CallResult, CallVerdict};
use super::programs::programs;
use super::shell::{self, SimpleCommand};
use super::words::{ShellWord, file_name, skip_prefixes};

impl CallFacts {
    /// Whether the result shows nothing but the files among `reads`. False for a command with a step that shows or does
    /// something else, such as `cat a.rs && cargo test`.
    pub(crate) fn shows_only_reads(&self) -> bool {
        let is_pure = |command: &String| !self.is_code && only_reads(command, &self.reads);
        !self.reads.is_empty()
            && self.writes.is_empty()
            && self.command.as_ref().is_none_or(is_pure)
    }

    /// Whether the call shows nothing but files, lines of them, or their names, so that the same call shows it again.
    pub(crate) fn shows_files(&self, command: &CommandDeeds<'_>) -> bool {
        let of_files = |step: &SimpleStep<'_>| match step.purpose {
            CommandPurpose::Prepare => true,
            CommandPurpose::LookUp => programs().shows_files(step.run.program(), step.run.key()),
            _ => false,
        };
        match self.kind {
            ToolKind::Read | ToolKind::Search | ToolKind::List => true,
            ToolKind::Shell => !command.steps.is_empty() && command.steps.iter().all(of_files),
            _ => false,
        }
    }

    /// Whether the files among `writes` may have changed. A command that failed may have changed them before: in an
    /// earlier step, in a script, or by a redirection.
    pub(crate) fn may_have_written(&self, outcome: &CallResult) -> bool {
        let may_be_half = || {
            let command = self.command.as_deref().unwrap_or_default();
            let parts = shell::parts(command);
            let only = parts.first().filter(|_| parts.len() == 1 && !self.is_code);
            let is_whole = only.is_some_and(|part| {
                let program = part.words.first().map(String::as_str).unwrap_or_default();
                part.writes.is_empty() && !programs().interpreters.contains(file_name(program))
            });
            !parts.is_empty() && !is_whole
        };
        match outcome.verdict {
            _ if outcome.cancelled => false,
            None | Some(CallVerdict::Ok) => true,
            Some(CallVerdict::Rejected | CallVerdict::Blocked) => false,
            Some(CallVerdict::Failed | CallVerdict::Interrupted) => may_be_half(),
        }
    }
}

impl CallResult {
    /// Whether the call may have shown what it reads. A call that failed or did not run shows an error.
    pub(crate) fn may_show(&self) -> bool {
        !self.cancelled && matches!(self.verdict, None | Some(CallVerdict::Ok))
    }
}

/// Whether every step of a command shows only these files, or does no work.
fn only_reads(command: &str, reads: &[String]) -> bool {
    let mut fed = false;
    shell::simple(command).iter().all(|step| {
        // Behind a pipe, a program shows parts of its input.
        let behind = std::mem::replace(&mut fed, step.piped);
        is_pure(step, behind, reads)
    })
}

/// Whether a step shows only these files, or does no work. `behind` says that it gets the output of the step before.
fn is_pure(step: &SimpleCommand, behind: bool, reads: &[String]) -> bool {
    let words = skip_prefixes(&step.words);
    let Some((program, rest)) = words.split_first() else { return step.words.is_empty() };
    let runs_another = |word: &ShellWord| word.text.contains("$(") || word.text.contains('`');
    let program = file_name(&program.text);
    if step.fed.is_some() || words.iter().any(runs_another) {
        return false;
    }
    if !behind && programs().idle.contains(program) {
        return true;
    }
    let is_read = |word: &&ShellWord| reads.contains(&word.text);
    let given = rest.iter().filter(|word| !word.text.starts_with('-'));
    let (files, others): (Vec<_>, Vec<_>) = given.partition(is_read);
    // One word may be the pattern or the number of lines. More of them may be files that are not known as reads.
    let most = usize::from(!WHOLE.contains(&program));
    let shows = programs().shows.contains(program) && !BEYOND.contains(&program);
    shows && (behind || !files.is_empty()) && others.len() <= most
}

/// Programs that show whole files, so each of their words is a file.
const WHOLE: [&str; 5] = ["cat", "nl", "less", "more", "bat"];
/// Programs among those that show content that take it from elsewhere, whatever their input is.
const BEYOND: [&str; 2] = ["xargs", "curl"];

#[cfg(test)]
mod tests {
    use crate::tools::ToolTable;

    fn shows_only_reads(command: &str) -> bool {
        let arguments = serde_json::json!({"command": command}).to_string();
        ToolTable::builtin().facts("Bash", &arguments).shows_only_reads()
    }

    #[test]
    fn a_command_that_does_more_is_no_pure_read() {
        for command in [
            "cat a.rs",
            "cat a.rs b.rs",
            "cd src && cat a.rs",
            "echo '--- a'; sed -n '1,5p' a.rs",
            "head -n 5 a.rs",
            "sudo cat a.rs | grep -n fold | head -3",
            "grep -n fold a.rs",
        ] {
            assert!(shows_only_reads(command), "{command}");
        }
        for command in [
            "cat a.rs && cargo test",
            "cargo test; cat a.rs",
            "cat a.rs; ls",
            "cat a.rs *.toml",
            "cat a.rs $MORE",
            "cat a.rs | xargs cat",
            "cat a.rs | python3 count.py",
            "echo \"$(cargo test)\"; cat a.rs",
            "grep -n fold a.rs src",
            "cat a.rs > b.rs",
            "for f in a b; do cat a.rs; done",
            "cargo test",
        ] {
            assert!(!shows_only_reads(command), "{command}");
        }
    }
}
