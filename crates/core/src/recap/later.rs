//! Effects of a call on earlier ones: a refused call was allowed, a blocked command ran, a missing package was
//! installed.

use crate::recap::checks::all_covered;
use crate::recap::deed::{CallDeed, CallEnding, Deed, DeedKind, DeedPart, PartKind};
use crate::recap::deeds::{CallDeeds, DeedOutcome, FailureCost};
use crate::recap::open_failures::OpenFailure;
use crate::recap::settle::{packaged, reason_part};
use crate::recap::verdicts;
use crate::tools::command::{CommandDeeds, CommandPurpose, CommandRun, SimpleStep};
use crate::tools::shell::CommandEnd;
use crate::tools::{CallVerdict, ToolKind};

/// Bytes of output that are searched for the commands of a script, and for the packages of an installer.
const TOLD_BYTES: usize = 16_000;

impl CallDeeds<'_, '_> {
    /// Adds a rejection by the user.
    pub(super) fn note_rejected(&mut self, end: &DeedOutcome<'_>) {
        let reason = end.outcome.reason.clone();
        // Where the user rejects one call of a batch, the client rejects the others, too: only the first is reported.
        let with_it = self.gathered.refused_at.replace(end.message) == Some(end.message);
        if reason.is_none() && with_it {
            return;
        }
        let parts = reason.as_deref().map(reason_part).into_iter().collect();
        let at = self.push_call(end, CallEnding::Rejected, parts);
        // Nobody explains why a look-up was rejected.
        let looks = self.cost(&end.command, false) == FailureCost::Nothing;
        self.gathered.awaits = (reason.is_none() && !looks).then_some(at);
        self.add_refused(end, at, reason);
    }

    /// Adds a call that the client blocked without asking the user.
    pub(super) fn note_blocked(&mut self, end: &DeedOutcome<'_>) {
        let line = end.outcome.telling.as_deref().unwrap_or_default();
        // Behind the colon the client repeats the command.
        let line = line.split_once(": ").map_or(line, |(line, _)| line);
        let parts = vec![DeedPart::new(&format!("blocked: {line}"), PartKind::Verdict)];
        let at = self.push_call(end, CallEnding::Failed, parts);
        self.add_refused(end, at, None);
    }

    /// Adds a call that was stopped. Calls that were cancelled with another call of the batch are not reported.
    pub(super) fn note_stopped(&mut self, end: &DeedOutcome<'_>) {
        if end.outcome.cancelled || self.gathered.refused_at == Some(end.message) {
            return;
        }
        self.push_call(end, CallEnding::Stopped, Vec::new());
    }

    /// Adds a call, and returns the index of its deed.
    pub(super) fn push_call(
        &mut self,
        end: &DeedOutcome<'_>,
        ending: CallEnding,
        parts: Vec<DeedPart>,
    ) -> usize {
        let call = CallDeed::new(end.subject.clone(), ending);
        self.gathered.push(Deed::new(end.message, DeedKind::Call(call), parts))
    }

    /// Notes a refused call, whose refusal later calls may settle.
    fn add_refused(&mut self, end: &DeedOutcome<'_>, deed: usize, reason: Option<String>) {
        let runs = verdicts::runs(&end.command).into_iter().map(|(run, _)| run).collect();
        let path = self.facts.changed().and_then(|changed| changed.paths().first().cloned());
        let refused = Some(self.call.tool().into_owned());
        self.gathered.add_open(OpenFailure {
            deed,
            runs,
            path,
            refused,
            reason,
            ..OpenFailure::default()
        });
    }

    /// Settles the refusal of a call with the same tool and file, because this one was allowed.
    pub(super) fn note_allowed(&mut self, at: u32) {
        if self.facts.kind == ToolKind::Shell {
            return;
        }
        let tool = self.call.tool();
        let path = self.facts.changed().and_then(|changed| changed.paths().first());
        let same = |open: &OpenFailure| {
            let named = open.refused.as_deref() == Some(&*tool);
            named && open.path.as_ref() == path && open.runs.is_empty()
        };
        self.gathered.settle(at, same);
    }

    /// Settles the refusals of a command, because it ran this time, with whatever outcome.
    pub(super) fn note_started(&mut self, at: u32, command: &CommandDeeds<'_>) {
        let runs: Vec<CommandRun> =
            verdicts::runs(command).into_iter().map(|(run, _)| run).collect();
        self.gathered.settle(at, |open| open.refused.is_some() && all_covered(&runs, &open.runs));
    }

    /// Settles the earlier failures that a command makes obsolete. It must not be known to have failed.
    pub(super) fn settle_obsolete(&mut self, end: &DeedOutcome<'_>, ok: bool) {
        let (command, at) = (&end.command, end.message);
        let runs = verdicts::runs(command);
        self.gathered
            .settle(at, |open| open.refused.is_none() && verdicts::settles(&runs, &open.runs));
        // A command that still runs has not passed.
        if let Some(text) = self.command_hash().filter(|_| !end.outcome.runs_on) {
            let checks: Vec<CommandRun> = command.checks().map(|step| step.run.clone()).collect();
            self.gathered.settle_same(at, text, &checks);
            let shown = || self.tools.shown(end.text, TOLD_BYTES);
            let silent = || shown().iter().all(|line| line == "(no output)");
            let quiet = verdicts::quiet(command, silent);
            self.gathered.settle_quiet(at, &quiet);
        }
        let scratch: Vec<String> =
            command.steps.iter().filter_map(|step| self.scratch(step)).collect();
        if !scratch.is_empty() {
            self.gathered.settle_scratch(at, &scratch);
        }
        if ok {
            self.note_installed(end, None);
        }
    }

    /// The interpreter of a script that the agent wrote for one look; `None` for any other step.
    pub(super) fn scratch(&self, step: &SimpleStep<'_>) -> Option<String> {
        let (interpreter, file) =
            step.run.script().filter(|_| step.purpose == CommandPurpose::Script)?;
        let is_throwaway =
            step.script.is_some() || file.is_some_and(|file| self.gathered.is_own(file));
        is_throwaway.then(|| interpreter.to_owned())
    }

    /// Notes which commands a script of the project runs, as far as its output shows them.
    pub(super) fn learn_script_commands(
        &mut self,
        end: &DeedOutcome<'_>,
        steps: &[&SimpleStep<'_>],
    ) {
        let mut named = steps.iter().filter(|step| step.run.is_named_by_project());
        // Where several scripts ran, nothing says which of them wrote a line.
        if let (Some(step), None) = (named.next(), named.next()) {
            let lines = self.tools.shown(end.text, TOLD_BYTES);
            self.gathered.learn(step, &lines);
        }
    }

    /// Settles failures for want of a package that this command installed. After a failed command, the installs
    /// before the failing step count.
    pub(super) fn note_installed(
        &mut self,
        end: &DeedOutcome<'_>,
        failed: Option<&SimpleStep<'_>>,
    ) {
        let steps = &end.command.steps;
        let before = match failed {
            None if end.outcome.verdict == Some(CallVerdict::Failed) => return,
            None => &steps[..],
            Some(failed) => {
                let at = steps.iter().position(|step| std::ptr::eq(step, failed));
                let before = &steps[..at.unwrap_or_default()];
                let chained = before.iter().all(|step| step.end == CommandEnd::And);
                if chained { before } else { &[] }
            }
        };
        let installs = before.iter().filter(|step| step.purpose == CommandPurpose::Install);
        for step in installs.filter(|step| {
            !step.run.key().contains("remove") && !step.run.key().contains("uninstall")
        }) {
            let mut packages: Vec<String> = step.run.over().map(str::to_owned).collect();
            // Without names, npm and its like install all that the project needs.
            let verb = step.run.key().split(' ').nth(1).unwrap_or_default();
            let is_bare = packages.is_empty() && matches!(verb, "install" | "i" | "ci" | "sync");
            let all = packaged(&step.run).filter(|_| is_bare);
            let lines = self.tools.shown(end.text, TOLD_BYTES);
            packages.extend(lines.iter().flat_map(|line| installed(line)));
            self.gathered.note_installed(end.message, &packages, all);
        }
    }

    /// A hash of the command, by which a repetition is recognised; `None` for a call without a command.
    pub(super) fn command_hash(&self) -> Option<u64> {
        use std::hash::BuildHasher;
        let text = self.facts.command.as_deref()?.trim();
        Some(rustc_hash::FxBuildHasher.hash_one(text))
    }
}

/// The packages that a line of pip or uv names as installed: `pytz-2023.3 six-1.16`, ` + pytz==2023.3`.
fn installed(line: &str) -> Vec<String> {
    let pip = line.strip_prefix("Successfully installed ").unwrap_or_default();
    let names = pip.split_whitespace().filter_map(|name| name.rsplit_once('-'));
    let uv = line.trim_start().strip_prefix("+ ").and_then(|package| package.split_once("=="));
    names.chain(uv).map(|(name, _)| name.to_owned()).collect()
}
