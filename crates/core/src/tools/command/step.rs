//! Splits a command into simple commands, and finds the purpose of each.

use std::borrow::Cow;

use super::purpose::{CheckKind, CommandPurpose};
use super::run::CommandRun;
use super::work_folder::WorkFolders;
use super::{runners, script};
use crate::tools::programs::{NamedPrograms, programs};
use crate::tools::shell::{self, CommandEnd, CommandPart};

/// One simple command of a longer command.
#[derive(Clone, Debug)]
pub(crate) struct SimpleStep<'a> {
    /// Its purpose.
    pub purpose: CommandPurpose,
    /// What it runs, in a form that can be compared.
    pub run: CommandRun,
    /// Its words as they are written, without prefixes and redirections.
    pub text: &'a str,
    /// The script that it runs, where the command holds one.
    pub script: Option<Cow<'a, str>>,
    /// The operator behind it.
    pub end: CommandEnd,
}

/// A command, read as a list of simple commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandDeeds<'a> {
    /// The simple commands, in order.
    pub steps: Vec<SimpleStep<'a>>,
}

impl<'a> CommandDeeds<'a> {
    /// Reads a command. Never fails: a broken command is read up to where it breaks.
    pub(crate) fn of(text: &'a str) -> Self {
        Self::within(text, NESTED)
    }

    /// Reads a command, and commands within it down to this depth.
    fn within(text: &'a str, depth: u8) -> Self {
        let mut folders = WorkFolders::new();
        let parts = shell::parts(text);
        Self { steps: parts.iter().map(|part| step(part, folders.next(part), depth)).collect() }
    }

    /// The steps that check the work.
    pub(crate) fn checks(&self) -> impl Iterator<Item = &SimpleStep<'a>> {
        self.steps.iter().filter(|step| step.is_check())
    }

    /// Purpose and run of the last check; `None` where there is none.
    fn into_check(self) -> Option<(CommandPurpose, CommandRun)> {
        let check = self.steps.into_iter().rfind(SimpleStep::is_check)?;
        Some((check.purpose, check.run))
    }

    /// Whether the same check runs twice.
    pub(crate) fn repeats_check(&self) -> bool {
        let runs: Vec<&CommandRun> = self.checks().map(|step| &step.run).collect();
        runs.iter().enumerate().any(|(at, run)| runs[..at].contains(run))
    }

    /// The index of the only step that does any work, where its name does not show whether it checks the work. `None`
    /// where the command has a check, or several steps that work.
    pub(crate) fn unnamed_check(&self) -> Option<usize> {
        let works = |step: &SimpleStep<'_>| {
            use CommandPurpose::{Edit, LookUp, Prepare};
            !matches!(step.purpose, Prepare | LookUp | Edit)
        };
        let mut working = self.steps.iter().enumerate().filter(|(_, step)| works(step));
        let (at, step) = working.next().filter(|_| working.next().is_none())?;
        let unnamed = matches!(step.purpose, CommandPurpose::Other | CommandPurpose::Script);
        (unnamed && step.script.is_none()).then_some(at)
    }

    /// Takes the step at this index for a check, because its output shows that it is one.
    pub(crate) fn note_check(&mut self, at: usize) {
        if let Some(step) = self.steps.get_mut(at) {
            step.purpose = CommandPurpose::Check(CheckKind::Test);
            step.run.set_kind(Some(CheckKind::Test));
        }
    }

    /// The purpose of the whole command: the most important purpose of its steps.
    pub(crate) fn purpose(&self) -> CommandPurpose {
        let rank = |purpose: CommandPurpose| match purpose {
            CommandPurpose::Check(_) => 7,
            CommandPurpose::Versions => 6,
            CommandPurpose::Install => 5,
            CommandPurpose::Other => 4,
            CommandPurpose::Script => 3,
            CommandPurpose::Edit => 2,
            CommandPurpose::LookUp => 1,
            CommandPurpose::Prepare => 0,
        };
        // A step that only shows another's output has a low rank, so the other one decides.
        let purposes = self.steps.iter().map(|step| step.purpose);
        purposes.max_by_key(|purpose| rank(*purpose)).unwrap_or(CommandPurpose::Other)
    }
}

impl SimpleStep<'_> {
    /// Whether the step checks the work.
    pub(crate) fn is_check(&self) -> bool {
        matches!(self.purpose, CommandPurpose::Check(_))
    }
}

/// How deep commands within commands are read, as in `ssh host "docker exec web bash -c '…'"`. Each level takes stack,
/// and a hostile command has thousands.
const NESTED: u8 = 4;

fn step<'a>(part: &CommandPart<'a>, folder: Option<&str>, depth: u8) -> SimpleStep<'a> {
    let words = runners::without_runners(&part.words);
    // A check inside `bash -c '…'` is the check of the step.
    let inner = depth.checked_sub(1).and_then(|depth| {
        runners::given(words).map(|text| CommandDeeds::within(&text, depth).into_check())
    });
    if let Some((purpose, run)) = inner.flatten() {
        let (text, end) = (part.text.trim(), part.end);
        return SimpleStep { purpose, run: run.within(folder), text, script: None, end };
    }
    let mut run = CommandRun::of(words, folder);
    let inline = script::given(words);
    let interprets = run.interprets();
    let fed = part.body.filter(|_| interprets && run.names_no_file());
    let script = inline.or(fed.map(Cow::Borrowed));
    let purpose = purpose_of(part, words, &mut run, script.is_some());
    if let CommandPurpose::Check(kind) = purpose {
        run.set_kind(Some(kind));
    }
    SimpleStep { purpose, run, text: part.text.trim(), script, end: part.end }
}

/// The purpose of a simple command. The order of the tests matters: the first one that fits decides.
fn purpose_of(
    part: &CommandPart<'_>,
    words: &[String],
    run: &mut CommandRun,
    script: bool,
) -> CommandPurpose {
    let known = programs();
    let (program, both) = (run.program(), run.key());
    let has = |flag: &str| words.iter().any(|word| word == flag);
    // Asking a program for its version or help is not a run of it.
    let asks = words.len() <= 3
        && ["--version", "-V", "--help", "-h", "version"].iter().any(|flag| has(flag));
    if script {
        return CommandPurpose::Script;
    }
    if asks {
        return CommandPurpose::LookUp;
    }
    let writes = !part.writes.is_empty();
    if writes && matches!(program, "cat" | "echo" | "printf" | "tee") {
        return CommandPurpose::Edit;
    }
    if known.prepares.contains(program) && program != "mkdir" {
        return CommandPurpose::Prepare;
    }
    let formats = [program, both].iter().any(|name| known.formats.programs.contains(*name));
    if formats {
        let checks = words.iter().any(|word| known.formats.checking.contains(word));
        return if checks { CommandPurpose::Check(CheckKind::Lint) } else { CommandPurpose::Edit };
    }
    if let Some(checks) = known.checks.of(both).or_else(|| known.checks.of(program)) {
        // The name of an `npm run x` says what it checks; a target of `make` may be no check at all.
        let no_check = known.targets.contains(program) && run.is_no_check();
        return if no_check {
            CommandPurpose::Other
        } else {
            CommandPurpose::Check(run.named().unwrap_or(checks))
        };
    }
    let named =
        |list: &NamedPrograms| list.programs.contains(both) || list.programs.contains(program);
    if named(&known.installs) {
        return CommandPurpose::Install;
    }
    if program == "sed" && words.iter().any(|word| shell::in_place(word)) {
        return CommandPurpose::Edit;
    }
    if run.is_lookup(words) {
        return CommandPurpose::LookUp;
    }
    if matches!(program, "git" | "gh" | "glab" | "hg" | "svn" | "jj") {
        return CommandPurpose::Versions;
    }
    if named(&known.edits) {
        return CommandPurpose::Edit;
    }
    if let Some(checks) = run.named() {
        return CommandPurpose::Check(checks);
    }
    if run.interprets() { CommandPurpose::Script } else { CommandPurpose::Other }
}
