//! What a call says of earlier ones: it was allowed, it ran at all, it installed what was missing.

use crate::recap::checks::all_covered;
use crate::recap::deeds::{CallDeeds, DeedOutcome, FailureCost};
use crate::recap::open_failures::OpenFailure;
use crate::recap::prose;
use crate::recap::statement::{Statement, StatementKind, StatementSentence};
use crate::recap::verdicts;
use crate::tools::command::{CommandDeeds, CommandPurpose, CommandRun, SimpleStep};
use crate::tools::shell::CommandEnd;
use crate::tools::{CallVerdict, ToolKind};

/// Bytes of an output in which a runner of scripts tells what it runs, and an installer what it installed.
const TOLD_BYTES: usize = 16_000;

/// Why the user rejected a call: the first sentence says it, and the others belong to it.
pub(super) fn reason_parts(text: &str) -> Vec<StatementSentence> {
    let mut parts = prose::asked(text);
    for (at, part) in parts.iter_mut().enumerate() {
        part.weight = part.weight.max(if at == 0 { 200 } else { 150 });
    }
    parts
}

impl CallDeeds<'_, '_> {
    /// The user said no. What would only have looked at something is told where the user said why.
    pub(super) fn rejected(&mut self, came: &DeedOutcome<'_>) {
        let reason = came.outcome.reason.clone();
        let looks = self.cost(&came.command, false) == FailureCost::Nothing;
        // Of a batch the first one was rejected, and the others with it.
        let with_it = self.gathered.refused_at.replace(came.message) == Some(came.message);
        if reason.is_none() && (looks || with_it) {
            return;
        }
        let mut parts = reason.as_deref().map(reason_parts).unwrap_or_default();
        if let Some(first) = parts.first_mut() {
            first.text.insert_str(0, "the user said: ");
        }
        let statement = Statement::new(came.message, StatementKind::Rejected, came.lead(), parts);
        let at = self.gathered.push(statement);
        self.gathered.awaits = reason.is_none().then_some(at);
        self.add_refused(came, at, reason);
    }

    /// The client did not let it run, and no user said anything.
    pub(super) fn blocked(&mut self, came: &DeedOutcome<'_>) {
        if self.cost(&came.command, false) != FailureCost::Much {
            return;
        }
        let line = came.outcome.telling.as_deref().unwrap_or_default();
        // What comes behind it is the command again.
        let line = line.split_once(": ").map_or(line, |(line, _)| line);
        let parts = vec![StatementSentence::new(&format!("blocked: {line}"), 160)];
        let mut statement = Statement::new(came.message, StatementKind::Failed, came.lead(), parts);
        statement.times += self.gathered.settle_blocked(&statement.lead);
        let at = self.gathered.push(statement);
        self.add_refused(came, at, None);
    }

    /// It was stopped. What was dropped with another call of its batch is not told.
    pub(super) fn stopped(&mut self, came: &DeedOutcome<'_>) {
        if came.outcome.cancelled || self.gathered.refused_at == Some(came.message) {
            return;
        }
        self.gathered.push(Statement::new(
            came.message,
            StatementKind::Stopped,
            came.lead(),
            Vec::new(),
        ));
    }

    fn add_refused(&mut self, came: &DeedOutcome<'_>, statement: usize, reason: Option<String>) {
        let runs = verdicts::runs(&came.command).into_iter().map(|(run, _)| run).collect();
        let path = self.facts.changed().and_then(|changed| changed.paths().first().cloned());
        let refused = Some(self.call.tool().into_owned());
        self.gathered.add_open(OpenFailure {
            statement,
            runs,
            path,
            refused,
            reason,
            ..OpenFailure::default()
        });
    }

    /// A call like one that was rejected or blocked was allowed.
    pub(super) fn allowed(&mut self) {
        if self.facts.kind == ToolKind::Shell {
            return;
        }
        let tool = self.call.tool();
        let path = self.facts.changed().and_then(|changed| changed.paths().first());
        let same = |open: &OpenFailure| {
            let named = open.refused.as_deref() == Some(&*tool);
            named && open.path.as_ref() == path && open.runs.is_empty()
        };
        self.gathered.settle(same);
    }

    /// A command that was rejected or blocked ran, whatever came of it.
    pub(super) fn ran_at_all(&mut self, command: &CommandDeeds<'_>) {
        let runs: Vec<CommandRun> =
            verdicts::runs(command).into_iter().map(|(run, _)| run).collect();
        self.gathered.settle(|open| open.refused.is_some() && all_covered(&runs, &open.runs));
    }

    /// A command that is not known to have failed settles failures.
    pub(super) fn settles(&mut self, came: &DeedOutcome<'_>, ok: bool) {
        let command = &came.command;
        let runs = verdicts::runs(command);
        self.gathered.settle(|open| open.refused.is_none() && verdicts::settles(&runs, &open.runs));
        if let Some(text) = self.text().filter(|_| !came.outcome.runs_on) {
            let checks: Vec<CommandRun> = command.checks().map(|step| step.run.clone()).collect();
            self.gathered.settle_same(text, &checks);
            let shown = || self.tools.shown(came.text, TOLD_BYTES);
            let silent = || shown().iter().all(|line| line == "(no output)");
            let quiet = verdicts::quiet(command, silent);
            self.gathered.settle_quiet(&quiet);
        }
        let scratch: Vec<String> =
            command.steps.iter().filter_map(|step| self.scratch(step)).collect();
        if !scratch.is_empty() {
            self.gathered.settle_scratch(&scratch);
        }
        if ok {
            self.installed(came, None);
        }
    }

    /// The interpreter of a script that the agent wrote for one look.
    pub(super) fn scratch(&self, step: &SimpleStep<'_>) -> Option<String> {
        let (interpreter, file) =
            step.run.script().filter(|_| step.purpose == CommandPurpose::Script)?;
        let own = step.script.is_some() || file.is_some_and(|file| self.gathered.is_own(file));
        own.then(|| interpreter.to_owned())
    }

    /// What scripts of the project run, as far as the output tells.
    pub(super) fn learn(&mut self, came: &DeedOutcome<'_>, steps: &[&SimpleStep<'_>]) {
        let mut named = steps.iter().filter(|step| step.run.is_named_by_project());
        // Of several it cannot be told which wrote a line.
        if let (Some(step), None) = (named.next(), named.next()) {
            let lines = self.tools.shown(came.text, TOLD_BYTES);
            self.gathered.learn(step, &lines);
        }
    }

    /// What the command installed: all installs of one that ended well, those in front of what failed.
    pub(super) fn installed(&mut self, came: &DeedOutcome<'_>, failed: Option<&SimpleStep<'_>>) {
        let steps = &came.command.steps;
        let before = match failed {
            None if came.outcome.verdict == Some(CallVerdict::Failed) => return,
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
            let bare = packages.is_empty() && !step.run.key().starts_with("pip");
            for line in self.tools.shown(came.text, TOLD_BYTES) {
                // Each with its version: `pytz-2023.3`.
                let named = line.strip_prefix("Successfully installed ").unwrap_or_default();
                let names = named.split_whitespace().filter_map(|name| name.rsplit_once('-'));
                packages.extend(names.map(|(name, _)| name.to_owned()));
            }
            self.gathered.installed(&packages, bare);
        }
    }

    /// The command, to know it again.
    pub(super) fn text(&self) -> Option<u64> {
        use std::hash::BuildHasher;
        let text = self.facts.command.as_deref()?.trim();
        Some(rustc_hash::FxBuildHasher.hash_one(text))
    }
}
