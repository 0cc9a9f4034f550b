//! A shell command as a list of deeds: what each simple command of it is for, and what makes two of
//! them the same. `cd X && FOO=1 pytest -q 2>&1 | tail -5` is the check `pytest` in `X`.
//!
//! The lexer is our own (`tools/shell`): docs/SOURCES.md says why no bash parser is kept.

mod label;
mod run;
pub(crate) mod script;
pub(crate) mod versions;

use std::borrow::Cow;

use super::programs::programs;
use super::shell::{self, End, Part};
pub(crate) use label::{cut_at_word, label, script_label};
pub(crate) use run::Run;

/// What a simple command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    /// It checks the work.
    Check(Checks),
    /// It changes the history of the work, or hands it on: commits, pushes, opens a request.
    Versions,
    /// It installs something.
    Install,
    /// It changes files.
    Edit,
    /// It only shows something.
    LookUp,
    /// A program written into the command, or a file that an interpreter runs.
    Script,
    /// It prepares what comes next: `cd`, `export`.
    Prepare,
    /// Any other program.
    Other,
}

/// What a check checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Checks {
    /// Tests.
    Test,
    /// Style and known faults.
    Lint,
    /// Types.
    Types,
    /// That it builds.
    Build,
}

/// A simple command.
#[derive(Clone, Debug)]
pub(crate) struct Step<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// What it runs, as far as it is compared.
    pub run: Run,
    /// As it is written, without prefixes and redirections.
    pub text: &'a str,
    /// The script that it is given.
    pub script: Option<Cow<'a, str>>,
    /// What comes behind it.
    pub end: End,
}

/// The deeds of a command, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Command<'a> {
    /// Its simple commands.
    pub steps: Vec<Step<'a>>,
}

impl<'a> Command<'a> {
    /// Reads a command. Total: what is broken is read up to where it breaks.
    pub(crate) fn of(text: &'a str) -> Self {
        let mut folder: Option<String> = None;
        let mut steps = Vec::new();
        for part in shell::parts(text) {
            if part.words.first().is_some_and(|word| word == "cd" || word == "pushd") {
                folder = part.words.get(1).map(|to| joined(folder.as_deref(), to)).or(folder);
            }
            steps.push(step(&part, folder.as_deref()));
        }
        Self { steps }
    }

    /// The checks of the work in it.
    pub(crate) fn checks(&self) -> impl Iterator<Item = &Step<'a>> {
        self.steps.iter().filter(|step| step.is_check())
    }

    /// What the command as a whole is for: the purpose of what weighs most in it.
    pub(crate) fn purpose(&self) -> Purpose {
        let rank = |purpose: Purpose| match purpose {
            Purpose::Check(_) => 7,
            Purpose::Versions => 6,
            Purpose::Install => 5,
            Purpose::Other => 4,
            Purpose::Script => 3,
            Purpose::Edit => 2,
            Purpose::LookUp => 1,
            Purpose::Prepare => 0,
        };
        // What only takes what another shows is a part of that one.
        let purposes = self.steps.iter().map(|step| step.purpose);
        purposes.max_by_key(|purpose| rank(*purpose)).unwrap_or(Purpose::Other)
    }
}

impl Step<'_> {
    /// Whether it checks the work.
    pub(crate) fn is_check(&self) -> bool {
        matches!(self.purpose, Purpose::Check(_))
    }
}

/// The folder that `cd to` leads to from another.
fn joined(from: Option<&str>, to: &str) -> String {
    let to = to.trim_end_matches('/');
    match from {
        Some(from) if !to.starts_with(['/', '~', '$']) => format!("{from}/{to}"),
        _ => to.to_owned(),
    }
}

fn step<'a>(part: &Part<'a>, folder: Option<&str>) -> Step<'a> {
    let words = run::without_runners(&part.words);
    let mut run = Run::of(words, folder);
    let inline = script::given(words);
    let interprets = run.interprets();
    let fed = part.body.filter(|_| interprets && run.names_no_file());
    let script = inline.or(fed.map(Cow::Borrowed));
    let purpose = purpose_of(part, words, &mut run, script.is_some());
    Step { purpose, run, text: part.text.trim(), script, end: part.end }
}

fn purpose_of(part: &Part<'_>, words: &[String], run: &mut Run, script: bool) -> Purpose {
    let known = programs();
    let (program, both) = (run.program(), run.key());
    let has = |flag: &str| words.iter().any(|word| word == flag);
    // A question to a program, and no run of it.
    let asks = words.len() <= 3
        && ["--version", "-V", "--help", "-h", "version"].iter().any(|flag| has(flag));
    if script {
        return Purpose::Script;
    }
    if asks {
        return Purpose::LookUp;
    }
    let writes = !part.writes.is_empty();
    if writes && matches!(program, "cat" | "echo" | "printf" | "tee") {
        return Purpose::Edit;
    }
    if known.prepares.contains(program) && program != "mkdir" {
        return Purpose::Prepare;
    }
    let formats = [program, both].iter().any(|name| known.formats.programs.contains(*name));
    if formats {
        let checks = words.iter().any(|word| known.formats.checking.contains(word));
        return if checks { Purpose::Check(Checks::Lint) } else { Purpose::Edit };
    }
    if let Some(checks) = known.checks.of(both).or_else(|| known.checks.of(program)) {
        // `npm run x` says by its name what it checks; a target of `make` may as well be no check.
        let no_check = known.targets.contains(program) && run.is_no_check();
        return if no_check {
            Purpose::Other
        } else {
            Purpose::Check(run.named().unwrap_or(checks))
        };
    }
    let named = |list: &super::programs::Named| {
        list.programs.contains(both) || list.programs.contains(program)
    };
    if named(&known.installs) {
        return Purpose::Install;
    }
    if program == "sed" && words.iter().any(|word| shell::in_place(word)) {
        return Purpose::Edit;
    }
    if run.is_lookup(words) {
        return Purpose::LookUp;
    }
    if matches!(program, "git" | "gh" | "glab" | "hg" | "svn" | "jj") {
        return Purpose::Versions;
    }
    if named(&known.edits) {
        return Purpose::Edit;
    }
    if let Some(checks) = run.named() {
        return Purpose::Check(checks);
    }
    if run.interprets() { Purpose::Script } else { Purpose::Other }
}

#[cfg(test)]
mod tests;
