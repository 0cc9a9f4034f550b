//! Whose verdict it is: of the simple commands in a call, those that a pass or a failure speaks of.

use smallvec::SmallVec;

use crate::recap::checks::{Check, all_covered};
use crate::tools::Outcome;
use crate::tools::command::{Command, Purpose, Run, Step};
use crate::tools::shell::End;

/// The simple commands that a failure speaks of.
pub(super) struct Blamed<'c, 'a> {
    steps: Vec<&'c Step<'a>>,
    /// Checks before it that it proves to have passed.
    pub passed: Vec<&'c Step<'a>>,
}

/// Which part of a command failed: the only one that works, else the one whose tool wrote the line.
/// Where all are checks of one chain it is the chain. Nothing where it cannot be told.
pub(super) fn blamed<'c, 'a>(command: &'c Command<'a>, of: &str) -> Blamed<'c, 'a> {
    let works: Vec<&Step<'_>> = command.steps.iter().filter(|step| works(step)).collect();
    let named: Vec<&Step<'_>> = works.iter().filter(|step| wrote(of, step)).copied().collect();
    let chained = || works.iter().rev().skip(1).all(|step| step.end == End::And);
    // The same twice in one command: the last run counts.
    let same = named.windows(2).all(|two| two[0].run == two[1].run);
    let named = if same { &named[named.len().saturating_sub(1)..] } else { &named[..] };
    match (works.as_slice(), named) {
        ([_], _) => Blamed { steps: works, passed: Vec::new() },
        (_, &[only]) => {
            let before = works.iter().take_while(|step| !std::ptr::eq(**step, only)).copied();
            let before: Vec<&Step<'_>> = before.collect();
            let proven = before.iter().all(|step| step.end == End::And);
            let passed = before.into_iter().filter(|step| proven && step.is_check()).collect();
            Blamed { steps: vec![only], passed }
        }
        _ if works.iter().all(|step| step.is_check()) && chained() => {
            Blamed { steps: works, passed: Vec::new() }
        }
        _ => Blamed { steps: Vec::new(), passed: Vec::new() },
    }
}

impl<'c, 'a> Blamed<'c, 'a> {
    pub(super) fn is_check(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| step.is_check())
    }

    /// Whether what failed came behind all that writes files in the command.
    pub(super) fn spares_writing(&self, command: &Command<'_>) -> bool {
        let Some(first) = self.steps.first() else { return false };
        let writes = |step: &Step<'_>| step.script.is_some() || step.purpose == Purpose::Edit;
        let at = command.steps.iter().position(|step| std::ptr::eq(step, *first));
        at.is_some_and(|at| !command.steps[at..].iter().any(writes))
    }

    /// Whether nothing is told to have failed.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The first of what failed.
    pub(super) fn first(&self) -> Option<&'c Step<'a>> {
        self.steps.first().copied()
    }

    /// What failed, where it is one.
    pub(super) fn only(&self) -> Option<&'c Step<'a>> {
        self.first().filter(|_| self.steps.len() == 1)
    }

    /// `cd tests && `, where it ran in a folder inside of that of the session: that may be why it failed.
    pub(super) fn inside(&self) -> String {
        let folder = self.first().and_then(|step| step.run.folder());
        let inside = folder.filter(|folder| !folder.starts_with(['/', '~', '$']));
        inside.map_or(String::new(), |folder| format!("cd {folder} && "))
    }

    pub(super) fn label(&self) -> String {
        let texts: Vec<String> = self.steps.iter().map(|step| step.label(LABEL)).collect();
        texts.join(" && ")
    }

    pub(super) fn runs(&self) -> SmallVec<[Run; 1]> {
        self.steps.iter().map(|step| step.run.clone()).collect()
    }

    pub(super) fn check(&self, message: u32, passed: bool, telling: &str) -> Check {
        Check::of(self.label(), self.runs(), message, passed, telling)
    }
}

/// Longest label of a check, in characters.
const LABEL: usize = 120;

/// The verdict of one check.
pub(super) fn check_of(step: &Step<'_>, message: u32, passed: bool, telling: &str) -> Check {
    let runs = SmallVec::from_iter([step.run.clone()]);
    Check::of(step.label(LABEL), runs, message, passed, telling)
}

/// The checks of a command that passed. Where something hides an exit code, only the words of a tool
/// tell, and only of one check.
pub(super) fn passed<'c, 'a>(command: &'c Command<'a>, outcome: &Outcome) -> Vec<&'c Step<'a>> {
    if outcome.verdict != Some(crate::tools::Verdict::Ok) {
        return Vec::new();
    }
    let mut checks: Vec<&Step<'_>> = command.checks().collect();
    checks.dedup_by(|one, other| one.run == other.run);
    if outcome.own_exit || checks.len() == 1 && outcome.well {
        return checks;
    }
    // The exit code is that of what comes behind the last `;`.
    let ends = |step: &Step<'_>| matches!(step.end, End::Then | End::Background);
    let before = command.steps.len().saturating_sub(1);
    let from = command.steps[..before].iter().rposition(ends).map_or(0, |at| at + 1);
    let exit = outcome.exit == Some(0) && !outcome.masked;
    command.steps[from..].iter().filter(|step| exit && step.is_check()).collect()
}

/// The check that passed in a command of which something else failed, where one check alone can have
/// written the totals.
pub(super) fn passed_beside<'c, 'a>(
    command: &'c Command<'a>,
    outcome: &Outcome,
    blamed: &Blamed<'c, 'a>,
) -> Vec<&'c Step<'a>> {
    let mut found: Vec<&Step<'_>> = blamed.passed.clone();
    let spared = |step: &&Step<'_>| !blamed.steps.iter().any(|own| std::ptr::eq(*own, *step));
    let wrote: Vec<&Step<'_>> =
        command.checks().filter(spared).filter(|step| wrote(outcome.passed_of, step)).collect();
    if let [only] = wrote.as_slice()
        && !found.iter().any(|own| std::ptr::eq(*own, *only))
    {
        found.push(only);
    }
    found
}

/// What a command runs that can settle a failure.
pub(super) fn runs(command: &Command<'_>) -> SmallVec<[(Run, bool); 1]> {
    let works = command.steps.iter().filter(|step| works(step) && step.script.is_none());
    works.map(|step| (step.run.clone(), step.is_check())).collect()
}

/// Whether what was run settles what failed: a check that failed is settled by a pass alone, anything
/// else by a run that is not known to have failed.
pub(super) fn settles(runs: &[(Run, bool)], failed: &[Run]) -> bool {
    let own: SmallVec<[Run; 1]> =
        runs.iter().filter(|(_, check)| !check).map(|(run, _)| run.clone()).collect();
    all_covered(&own, failed)
}

/// Checks of which a look-up shows only a part, without a sign of failure: the end, where a runner of scripts
/// says how it went, or no line with a word, which an earlier failure had then.
pub(super) fn quiet(command: &Command<'_>, silent: impl Fn() -> bool) -> Vec<(Run, &'static str)> {
    let shows = |check: &Step<'_>, step: &Step<'_>| {
        let inverts = step.text.split_whitespace().any(|word| word.starts_with("-v"));
        match step.run.key() {
            "tail" => check.run.is_named_by_project().then_some(""),
            "grep" | "egrep" | "rg" if !inverts && silent() => {
                ["rror", "ail"].into_iter().find(|word| step.text.contains(word))
            }
            _ => None,
        }
    };
    let pairs = command.steps.windows(2);
    let pairs = pairs.filter(|two| two[0].is_check() && two[0].end == End::Pipe);
    pairs.filter_map(|two| Some((two[0].run.clone(), shows(&two[0], &two[1])?))).collect()
}

fn works(step: &Step<'_>) -> bool {
    !matches!(step.purpose, Purpose::Prepare | Purpose::LookUp | Purpose::Edit)
}

/// Whether a table of lines is that of the step's program.
fn wrote(of: &str, step: &Step<'_>) -> bool {
    let words = |text: &str, word: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|own| own.eq_ignore_ascii_case(word))
    };
    let key = step.run.key();
    let mut own = key.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 1);
    own.any(|word| words(of, word))
}
