//! Finds the simple commands in a call that a pass or a failure is about.

use smallvec::SmallVec;

use crate::recap::checks::{CheckResult, all_covered};
use crate::recap::gathered_facts::GatheredFacts;
use crate::tools::CallResult;
use crate::tools::command::{CommandDeeds, CommandPurpose, CommandRun, SimpleStep};
use crate::tools::shell::CommandEnd;

/// The simple commands that a failure is about.
pub(super) struct BlamedCommands<'c, 'a> {
    steps: Vec<&'c SimpleStep<'a>>,
    /// Checks that the failure proves to have passed, because they came before it in a chain with `&&`.
    pub passed: Vec<&'c SimpleStep<'a>>,
}

/// Finds the step of a command that failed: the only one that does any work, or else the one whose tool wrote the
/// failing line `of`. Where all steps are checks of one chain, the whole chain is blamed. No step is blamed where the
/// output does not show which one failed.
pub(super) fn blamed<'c, 'a>(command: &'c CommandDeeds<'a>, of: &str) -> BlamedCommands<'c, 'a> {
    let works: Vec<&SimpleStep<'_>> = command.steps.iter().filter(|step| works(step)).collect();
    let named: Vec<&SimpleStep<'_>> =
        works.iter().filter(|step| wrote(of, step)).copied().collect();
    // The operator behind the last step leads out of the chain.
    let chained = || works.iter().rev().skip(1).all(|step| step.end == CommandEnd::And);
    // Where one command runs the same step twice, the last run counts.
    let same = named.windows(2).all(|two| two[0].run == two[1].run);
    let named = if same { &named[named.len().saturating_sub(1)..] } else { &named[..] };
    match (works.as_slice(), named) {
        // Behind a `;`, another step decides the exit code: a look for a file that is not there fails, too.
        (&[only], []) if !decides(command, only) => {
            BlamedCommands { steps: Vec::new(), passed: Vec::new() }
        }
        ([_], _) => BlamedCommands { steps: works, passed: Vec::new() },
        (_, &[only]) => {
            let before = works.iter().take_while(|step| !std::ptr::eq(**step, only)).copied();
            let before: Vec<&SimpleStep<'_>> = before.collect();
            let proven = before.iter().all(|step| step.end == CommandEnd::And);
            let passed = before.into_iter().filter(|step| proven && step.is_check()).collect();
            BlamedCommands { steps: vec![only], passed }
        }
        _ if works.iter().all(|step| step.is_check()) && chained() => {
            BlamedCommands { steps: works, passed: Vec::new() }
        }
        _ => BlamedCommands { steps: Vec::new(), passed: Vec::new() },
    }
}

/// Whether the exit code of a command is that of this step, or of a chain with it.
fn decides(command: &CommandDeeds<'_>, step: &SimpleStep<'_>) -> bool {
    let at = command.steps.iter().position(|other| std::ptr::eq(other, step));
    // The operator behind the last step leads out of the command.
    let inner = command.steps.split_last().map_or(&[][..], |(_, inner)| inner);
    !inner.iter().skip(at.unwrap_or(0)).any(|other| other.end == CommandEnd::Then)
}

impl<'c, 'a> BlamedCommands<'c, 'a> {
    pub(super) fn is_check(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| step.is_check())
    }

    /// Whether the failing step came after all steps of the command that write files. Where it is unknown which step
    /// failed, a text that the command writes before its other steps is written, because that seldom fails.
    pub(super) fn spares_writing(&self, command: &CommandDeeds<'_>) -> bool {
        let writes =
            |step: &SimpleStep<'_>| step.script.is_some() || step.purpose == CommandPurpose::Edit;
        let at = match self.steps.first() {
            Some(first) => command.steps.iter().position(|step| std::ptr::eq(step, *first)),
            None => command.steps.iter().position(works),
        };
        at.is_some_and(|at| !command.steps[at..].iter().any(writes))
    }

    /// Whether it is unknown which step failed.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The first failing step; `None` where it is unknown.
    pub(super) fn first(&self) -> Option<&'c SimpleStep<'a>> {
        self.steps.first().copied()
    }

    /// The failing step, where there is exactly one.
    pub(super) fn only(&self) -> Option<&'c SimpleStep<'a>> {
        self.first().filter(|_| self.steps.len() == 1)
    }

    /// The prefix `cd tests && `, where the step ran in a folder below the session's folder, because the failure may
    /// be due to that. Empty otherwise.
    pub(super) fn inside(&self) -> String {
        let folder = self.first().and_then(|step| step.run.folder());
        let inside = folder.filter(|folder| !folder.starts_with(['/', '~', '$']));
        inside.map_or(String::new(), |folder| format!("cd {folder} && "))
    }

    pub(super) fn label(&self) -> String {
        let texts: Vec<String> = self.steps.iter().map(|step| step.label(LABEL)).collect();
        texts.join(" && ")
    }

    pub(super) fn runs(&self) -> SmallVec<[CommandRun; 1]> {
        self.steps.iter().map(|step| step.run.clone()).collect()
    }

    pub(super) fn check(&self, message: u32, passed: bool, telling: &str) -> CheckResult {
        CheckResult::of(self.label(), self.runs(), message, passed, telling)
    }
}

impl GatheredFacts {
    /// Notes the end of a command in the background, which the client reported.
    pub(super) fn note_ended(&mut self, message: u32, command: &str, code: i64) {
        if CommandDeeds::of(command).checks().next().is_none() {
            return;
        }
        let telling = if code == 0 { String::new() } else { format!("exit {code}") };
        let check = CheckResult::new(command, message, code == 0, &telling);
        if code == 0 {
            self.settle(message, |open| open.refused.is_none() && check.covers(&open.runs));
        }
        self.add_check(check);
    }

    /// Takes a step for a check where its output shows that it is one, or an earlier run of it did.
    pub(super) fn note_shown_check(&self, command: &mut CommandDeeds<'_>, outcome: &CallResult) {
        let Some(at) = command.unnamed_check() else { return };
        let run = &command.steps[at].run;
        let same = |known: &CommandRun| known.covers(run) && run.covers(known);
        let known = || self.checks.iter().any(|check| check.runs().iter().any(same));
        if outcome.shows_check || known() {
            command.note_check(at);
        }
    }
}

/// Longest label of a check, in characters.
const LABEL: usize = 120;

/// Makes the verdict of one check.
pub(super) fn check_of(
    step: &SimpleStep<'_>,
    message: u32,
    passed: bool,
    telling: &str,
) -> CheckResult {
    let runs = SmallVec::from_iter([step.run.clone()]);
    CheckResult::of(step.label(LABEL), runs, message, passed, telling)
}

/// The checks of a command that passed. Where the exit code is hidden, as behind a pipe, only the tool's own words
/// prove a pass, and only where the command has a single check.
pub(super) fn passed<'c, 'a>(
    command: &'c CommandDeeds<'a>,
    outcome: &CallResult,
) -> Vec<&'c SimpleStep<'a>> {
    if outcome.verdict != Some(crate::tools::CallVerdict::Ok) {
        return Vec::new();
    }
    let mut checks: Vec<&SimpleStep<'_>> = command.checks().collect();
    checks.dedup_by(|one, other| one.run == other.run);
    if outcome.own_exit || checks.len() == 1 && outcome.reports_success {
        return checks;
    }
    // The exit code belongs to the steps behind the last `;`.
    let ends =
        |step: &SimpleStep<'_>| matches!(step.end, CommandEnd::Then | CommandEnd::Background);
    let before = command.steps.len().saturating_sub(1);
    let from = command.steps[..before].iter().rposition(ends).map_or(0, |at| at + 1);
    let exit = outcome.exit == Some(0) && !outcome.masked;
    command.steps[from..].iter().filter(|step| exit && step.is_check()).collect()
}

/// Of several checks of one command, the one that wrote the totals, which no other one has: the only one, or the only one
/// that runs tests.
pub(super) fn wrote_totals<'s, 'a>(steps: &[&'s SimpleStep<'a>]) -> Option<&'s SimpleStep<'a>> {
    let mut tests = steps.iter().filter(|step| steps.len() == 1 || step.text.contains("test"));
    tests.next().filter(|_| tests.next().is_none()).copied()
}

/// The checks that passed in a command of which another step failed. Totals in the output prove a pass where only
/// one check can have written them.
pub(super) fn passed_beside<'c, 'a>(
    command: &'c CommandDeeds<'a>,
    outcome: &CallResult,
    blamed: &BlamedCommands<'c, 'a>,
) -> Vec<&'c SimpleStep<'a>> {
    let mut passed_steps: Vec<&SimpleStep<'_>> = blamed.passed.clone();
    let spared = |step: &&SimpleStep<'_>| !blamed.steps.iter().any(|own| std::ptr::eq(*own, *step));
    let wrote: Vec<&SimpleStep<'_>> =
        command.checks().filter(spared).filter(|step| wrote(outcome.passing_tools, step)).collect();
    if let [only] = wrote.as_slice()
        && !passed_steps.iter().any(|own| std::ptr::eq(*own, *only))
    {
        passed_steps.push(only);
    }
    passed_steps
}

/// The runs of a command that can settle a failure, each with whether it is a check.
pub(super) fn runs(command: &CommandDeeds<'_>) -> SmallVec<[(CommandRun, bool); 1]> {
    let works = command.steps.iter().filter(|step| works(step) && step.script.is_none());
    works.map(|step| (step.run.clone(), step.is_check())).collect()
}

/// Whether these runs settle a failure. A failed check is settled only by a pass, which is handled elsewhere; any
/// other failure is settled by a run that is not known to have failed.
pub(super) fn settles(runs: &[(CommandRun, bool)], failed: &[CommandRun]) -> bool {
    let own: SmallVec<[CommandRun; 1]> =
        runs.iter().filter(|(_, check)| !check).map(|(run, _)| run.clone()).collect();
    all_covered(&own, failed)
}

/// Checks of which only a part of the output was shown, and that part has no sign of failure. Either a `tail` shows
/// the end, where a runner of scripts reports failures, or a `grep` for a word found no line. Beside each check is the
/// word that an earlier failure of it must contain to be settled.
pub(super) fn quiet(
    command: &CommandDeeds<'_>,
    silent: impl Fn() -> bool,
) -> Vec<(CommandRun, &'static str)> {
    let shows = |check: &SimpleStep<'_>, step: &SimpleStep<'_>| {
        let inverts = step.text.split_whitespace().any(|word| word.starts_with("-v"));
        match step.run.key() {
            "tail" => check.run.is_named_by_project().then_some(""),
            "grep" | "egrep" | "rg" if !inverts && silent() => {
                // Without the first letter, which may be a capital: `Error`, `fail`.
                ["rror", "ail"].into_iter().find(|word| step.text.contains(word))
            }
            _ => None,
        }
    };
    let pairs = command.steps.windows(2);
    let pairs = pairs.filter(|two| two[0].is_check() && two[0].end == CommandEnd::Pipe);
    pairs.filter_map(|two| Some((two[0].run.clone(), shows(&two[0], &two[1])?))).collect()
}

fn works(step: &SimpleStep<'_>) -> bool {
    !matches!(step.purpose, CommandPurpose::Prepare | CommandPurpose::LookUp | CommandPurpose::Edit)
}

/// Whether a step's program is among the tools `of`, which are known to write a line.
fn wrote(of: &str, step: &SimpleStep<'_>) -> bool {
    let words = |text: &str, word: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|own| own.eq_ignore_ascii_case(word))
    };
    let key = step.run.key();
    let mut own = key.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 1);
    own.any(|word| words(of, word))
}
