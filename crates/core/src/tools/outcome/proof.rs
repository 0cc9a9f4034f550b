//! Judges by a command's text what its exit code proves.

use crate::tools::command::CommandDeeds;
use crate::tools::programs::programs;
use crate::tools::shell::{self, CommandEnd, CommandPart};
use crate::tools::words::file_name;

/// What the result of a command can prove.
#[derive(Clone, Debug, Default)]
pub(super) struct ResultProof {
    /// Whether the command only shows content. Then its output says nothing about its success.
    pub only_shows: bool,
    /// Whether the exit code belongs to another program, as in `… | tail`, `… || true` and `…; echo done`.
    pub masked: bool,
    /// Whether the exit code is that of the last of several commands.
    pub hides_earlier: bool,
    /// Whether the command prints its exit code at the end, as with `…; echo $?`.
    pub prints_exit_code: bool,
    /// Whether the exit code 1 is an answer instead of a failure, as for `grep`, `diff` and `test`.
    pub one_is_answer: bool,
    /// Whether the command checks the work. True as well where the command is unknown.
    pub checks: bool,
    /// Whether the command runs the same check twice, so that the last run counts.
    pub repeats_check: bool,
    /// Whether a single step of the command does the work, under a name that does not show whether it is a check.
    pub may_check: bool,
    /// The texts that the command prints itself with `echo`.
    pub echoes: Vec<String>,
    /// The names of the programs that the command runs.
    pub programs: Vec<String>,
}

/// The exit code of `xargs grep` without a match.
const XARGS: i64 = 123;
/// The exit code of a program whose output nobody reads any more.
const PIPE: i64 = 141;

impl ResultProof {
    /// Judges a command. Of several lists of commands, the last one decides the exit code.
    pub(super) fn of(command: &str) -> Self {
        // In `bash -c "…"`, the inner command counts.
        let command = shell::unwrapped(command);
        let parts = shell::parts(&command);
        let read = CommandDeeds::of(&command);
        let names = |name: &str| parts.iter().any(|p| program(p) == "set" && p.holds(name));
        let (pipefail, strict) = (names("pipefail"), parts.iter().any(is_strict));
        let mut lists: Vec<&[CommandPart<'_>]> = parts
            .split_inclusive(|part| matches!(part.end, CommandEnd::Then | CommandEnd::Background))
            .collect();
        let works = |part: &CommandPart<'_>| !is_idle(part) && !shows(part);
        let mut proof = Self {
            only_shows: !parts.is_empty() && !parts.iter().any(works),
            checks: read.checks().next().is_some(),
            repeats_check: read.repeats_check(),
            may_check: read.unnamed_check().is_some(),
            echoes: parts.iter().filter(|part| program(part) == "echo").map(echoed).collect(),
            prints_exit_code: parts.last().is_some_and(is_exit_code_printed),
            programs: parts.iter().map(|part| program(part).to_owned()).collect(),
            ..Self::default()
        };
        // An `echo $?` at the end is no work: the list before it decides.
        if proof.prints_exit_code && lists.len() > 1 {
            lists.pop();
        }
        let Some((last, before)) = lists.split_last() else { return proof };
        let worked = before.iter().any(|list| list.iter().any(works));
        proof.hides_earlier = worked && !strict;
        proof.one_is_answer = is_answer(last);
        proof.masked = (worked && !strict && !last.iter().any(works) && !leaves(last))
            || parts.iter().any(|part| part.control)
            || last.last().is_some_and(|part| part.end == CommandEnd::Background)
            || is_masked(last, pipefail);
        proof
    }

    /// Whether this exit code is an answer instead of a failure.
    pub(super) fn is_answer_code(&self, code: i64) -> bool {
        match code {
            1 => self.one_is_answer,
            XARGS => self.one_is_answer,
            PIPE => true,
            _ => false,
        }
    }
}

/// Whether the last list of commands hides the exit code of one of its steps.
fn is_masked(list: &[CommandPart<'_>], pipefail: bool) -> bool {
    list.iter().enumerate().any(|(at, part)| {
        let next = list.get(at + 1);
        match part.end {
            // The last program of a pipe decides its exit code, so that one must not be idle.
            CommandEnd::Pipe => {
                let end = list[at + 1..].iter().find(|part| part.end != CommandEnd::Pipe);
                !pipefail && end.or(list.last()).is_some_and(|end| shows(end) || is_idle(end))
            }
            // `|| exit 1` passes the failure on; any other step behind `||` hides it.
            CommandEnd::Or => !next.is_some_and(|next| {
                matches!(program(next), "exit" | "return" | "false") && !next.holds("0")
            }),
            _ => false,
        }
    })
}

/// Whether the list ends with `exit` and passes on a code, as in `exit $status`.
fn leaves(list: &[CommandPart<'_>]) -> bool {
    list.last().is_some_and(|part| program(part) == "exit" && !part.holds("0"))
}

/// Whether the step that decides the exit code of the list asks a question, as `grep` does.
fn is_answer(list: &[CommandPart<'_>]) -> bool {
    let asks = |part: &CommandPart<'_>| {
        let compares = program(part) == "git" && matches!(subcommand(part), Some("grep" | "diff"));
        programs().answers.contains(program(part)) || compares
    };
    let mut deciding = list.iter().rev().filter(|part| !is_idle(part) || asks(part));
    deciding.next().is_some_and(asks)
}

/// Whether a simple command does no work of its own, so that its exit code proves nothing.
fn is_idle(part: &CommandPart<'_>) -> bool {
    // `cat > f <<EOF` only writes text that the command holds.
    let writes = matches!(program(part), "cat" | "tee") && !part.writes.is_empty();
    programs().idle.contains(program(part))
        || part.words.is_empty()
        || writes
        || program(part) == "exit"
}

/// Whether a simple command only shows content.
fn shows(part: &CommandPart<'_>) -> bool {
    let name = program(part);
    if name == "sed" && part.words.iter().any(|word| shell::in_place(word)) {
        return false;
    }
    let known = programs();
    let listed = || {
        let words = known.showing.get(name);
        words.zip(subcommand(part)).is_some_and(|(words, word)| words.contains(word))
    };
    let executes = part.words.iter().position(|word| word == "-exec" || word == "-execdir");
    let inner = executes.and_then(|at| part.words.get(at + 1));
    match inner {
        Some(inner) if name == "find" => known.shows.contains(&**inner),
        _ => known.shows.contains(name) || listed(),
    }
}

/// Whether a step prints an exit code, such as `echo $?`.
fn is_exit_code_printed(part: &CommandPart<'_>) -> bool {
    matches!(program(part), "echo" | "printf")
        && part.words.iter().any(|word| word.contains("$?") || word.contains("PIPESTATUS"))
}

/// What an `echo` prints, without its flags.
fn echoed(part: &CommandPart<'_>) -> String {
    let words = part.words.iter().skip(1).skip_while(|word| word.starts_with('-'));
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Whether a step is `set -e`, after which the first failing step ends the list.
fn is_strict(part: &CommandPart<'_>) -> bool {
    program(part) == "set"
        && part.words.iter().any(|w| w.starts_with("-e") || w == "-xe" || w == "errexit")
}

/// The name of the program. Behind `xargs`, it is the program that xargs runs.
fn program<'p>(part: &'p CommandPart<'_>) -> &'p str {
    let mut words = part.words.iter();
    let name = words.next().map(|word| file_name(word)).unwrap_or_default();
    if name == "xargs" {
        let inner = words.find(|word| {
            !word.starts_with('-') && !word.bytes().all(|b| b.is_ascii_digit()) && *word != "{}"
        });
        return inner.map_or(name, |inner| file_name(inner));
    }
    name
}

/// The first word that is neither a flag nor the argument of one.
fn subcommand<'p>(part: &'p CommandPart<'_>) -> Option<&'p str> {
    let mut words = part.words.iter().skip(1);
    while let Some(word) = words.next() {
        if matches!(&**word, "-C" | "-c" | "-n" | "--namespace") {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}
