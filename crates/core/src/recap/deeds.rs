//! Turns a call with its result into a statement: a change, a run, a look-up, a failure or a refusal. Each call
//! gives one statement; the files that it changed are noted besides.

use crate::calls::CallSite;
use crate::recap::checks::all_covered;
use crate::recap::gathered_facts::{GatheredFacts, Quote, TRIFLE};
use crate::recap::open_failures::OpenFailure;
use crate::recap::standing::EndedCall;
use crate::recap::statement::{Statement, StatementKind, StatementSentence};
use crate::recap::tasks::{TaskList, is_finished};
use crate::recap::verdicts;
use crate::salient::{lines as salient_lines, shorten};
use crate::tools::command::{
    CommandDeeds, CommandPurpose, CommandRun, SimpleStep, cut_at_word, label, script_label,
    versions,
};
use crate::tools::{
    CallFacts, CallFailure, CallResult, CallVerdict, ChangeLine, ChangedFiles, FileChange,
    TodoChange, ToolKind, ToolTable, unwrapped,
};

/// Longest command in a statement, in characters.
const COMMAND_CHARS: usize = 140;
/// Limit for the lines of a failure that are quoted, in characters.
const FAILURE_CHARS: usize = 420;
/// How many bytes of a failed call's output are read.
const FAILURE_BYTES: usize = 64_000;
/// How many bytes of a look-up's output are read.
const SHOWN_BYTES: usize = 16_000;
/// At most this many lines of one change are kept.
const CHANGED_LINES: usize = 40;
/// Longest line of a change, in characters.
const LINE_CHARS: usize = 200;
/// Longest quotation of a changed line's former text, in characters.
const WAS_CHARS: usize = 80;

/// One call, while its result is added to the gathered facts.
pub(super) struct CallDeeds<'a, 'e> {
    pub gathered: &'a mut GatheredFacts,
    pub call: &'a CallSite<'e>,
    pub facts: &'a CallFacts,
    pub tools: &'a ToolTable,
    /// Whether the call only asks for the output of a command that an earlier call started.
    pub polls: bool,
}

/// A call's result, as it was understood.
pub(super) struct DeedOutcome<'a> {
    /// Number of the message with the result.
    pub message: u32,
    /// The text of the result.
    pub text: &'a str,
    pub outcome: CallResult,
    /// The shell command that it ran.
    pub command: CommandDeeds<'a>,
    /// The call on one line.
    label: String,
}

impl CallDeeds<'_, '_> {
    /// Adds the result to the gathered facts. `flagged` is what the client's error flag says, if it sent one.
    pub fn add(mut self, text: &str, flagged: Option<bool>) {
        let Self { facts, tools, .. } = self;
        let shell = facts.kind == ToolKind::Shell;
        let outcome = match self.gathered.flags_each && shell {
            true => tools.outcome_unless_flagged(facts, text, flagged),
            false => tools.outcome(facts, text, flagged),
        };
        let nonzero = outcome.exit.is_some_and(|code| code != 0);
        let flags = flagged == Some(true) || text.trim_start().starts_with("Exit code ");
        if shell && nonzero && flags && !self.gathered.flags_each {
            self.gathered.client_flags();
        }
        // Code in another language is no command of a shell.
        let written = facts.command.as_deref().filter(|_| !facts.is_code).map(unwrapped);
        let mut command = written.as_deref().map(CommandDeeds::of).unwrap_or_default();
        self.gathered.note_shown_check(&mut command, &outcome);
        let label = self.label(&command, written.as_deref());
        let message = self.gathered.number(self.call.event);
        let came = DeedOutcome { message, text, outcome, command, label };
        self.note_standing(&came);
        if came.outcome.runs_on {
            // The state says what runs, and a later call shows its end.
            return self.history(&came, None);
        }
        match came.outcome.verdict {
            Some(CallVerdict::Rejected) => self.note_rejected(&came),
            Some(CallVerdict::Blocked) => self.note_blocked(&came),
            Some(CallVerdict::Interrupted) => self.note_stopped(&came),
            Some(CallVerdict::Failed) => self.note_failed(&came),
            Some(CallVerdict::Ok) | None => self.note_done(&came),
        }
    }

    /// Notes a call that a person answered, such as one that brought a plan.
    pub fn note_answered(mut self, text: &str) {
        let message = self.gathered.number(self.call.event);
        let (outcome, command) = (CallResult::default(), CommandDeeds::default());
        self.note_standing(&DeedOutcome { message, text, outcome, command, label: String::new() });
    }

    /// Notes what the call began, ended or showed of what holds on.
    fn note_standing(&mut self, came: &DeedOutcome<'_>) {
        let (tool, arguments) = (self.call.tool(), self.call.arguments());
        self.gathered.standing.note_call(&EndedCall {
            message: came.message,
            tool: &tool,
            arguments: &arguments,
            facts: self.facts,
            command: &came.command,
            label: &came.label,
            outcome: &came.outcome,
            text: came.text,
            polls: self.polls,
        });
    }

    /// Adds a failed call: the checks that passed in it, the failing step, and an open failure that may be settled
    /// later.
    fn note_failed(&mut self, came: &DeedOutcome<'_>) {
        let Some(failure) = came.outcome.failure() else { return };
        let blamed = verdicts::blamed(&came.command, came.outcome.failing_tools);
        // A command that writes a script and then runs it may fail in the run: the writing still counts as a change.
        if self.facts.kind == ToolKind::Shell
            && !came.outcome.unread
            && blamed.spares_writing(&came.command)
            && let Some(changed) = self.facts.changed()
        {
            let change = self.tools.change(&self.call.tool(), &self.call.arguments());
            self.note_changed(came, changed, &change);
        }
        self.history(came, Some(false).filter(|_| !self.polls));
        let passed = verdicts::passed_beside(&came.command, &came.outcome, &blamed);
        self.note_passed(came, &passed, "");
        self.note_passed(came, &blamed.passed, "");
        self.note_installed(came, blamed.first());
        let checks: Vec<&SimpleStep<'_>> = came.command.checks().collect();
        self.learn(came, &checks);
        let absent = came.outcome.absent;
        if blamed.is_check() && !absent {
            let line = failure.with_totals().unwrap_or_default();
            self.gathered.add_check(blamed.check(came.message, false, &line));
        }
        let lead = match blamed.is_empty() || absent {
            // Where a program does not exist, that may be a wrapper such as `timeout`, so the whole command is quoted.
            _ if absent => match self.facts.command.as_deref() {
                Some(text) => format!("`{}`:", cut_at_word(&text.replace('`', "'"), COMMAND_CHARS)),
                None => came.lead(),
            },
            true => came.lead(),
            false => format!("`{}{}`:", blamed.inside(), blamed.label()),
        };
        let runs = blamed.runs();
        self.ran_at_all(&came.command);
        // A file that the call would have written is open until it is written.
        let unwritten = came.outcome.unread && self.facts.changed().is_some();
        let cost = match absent {
            true => FailureCost::Nothing,
            false if unwritten => FailureCost::Much,
            false => self.cost(&came.command, blamed.is_empty()),
        };
        let parts = self.failure_parts(came, &failure, cost);
        let error = self.error_of(&failure);
        let before = error.and_then(|error| self.gathered.told_error(error));
        let again = cost != FailureCost::Nothing && before.is_some();
        let text = self.text();
        // The same command failed before for another reason: only its newest failure stays open.
        if cost != FailureCost::Nothing {
            self.gathered.settle(|open| {
                open.refused.is_none()
                    && (all_covered(&runs, &open.runs) || text.is_some() && open.text == text)
            });
        }
        let kind = if cost == FailureCost::Much || again {
            StatementKind::Failed
        } else {
            StatementKind::Ran
        };
        let mut statement = Statement::new(came.message, kind, lead, parts);
        if let Some(before) = before.filter(|_| again) {
            statement.times += self.gathered.forget(before, &statement.lead);
        }
        let at = self.gathered.push(statement);
        if let Some(error) = error.filter(|_| cost != FailureCost::Nothing) {
            self.gathered.tells_error(error, at);
        }
        if kind == StatementKind::Failed {
            let path = self.facts.changed().and_then(|changed| changed.paths().first().cloned());
            let open = OpenFailure { statement: at, runs, path, text, ..OpenFailure::default() };
            let scratch = blamed.only().and_then(|step| self.scratch(step));
            let missing = failure.missing();
            self.gathered.add_open(OpenFailure { scratch, missing, ..open });
        }
    }

    /// How much a failure of this call matters. `unsure` says that the failing step is unknown.
    pub(super) fn cost(&self, command: &CommandDeeds<'_>, unsure: bool) -> FailureCost {
        match self.facts.kind {
            ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Todo | ToolKind::Web => {
                FailureCost::Nothing
            }
            ToolKind::Shell if command.steps.is_empty() => FailureCost::Little,
            ToolKind::Shell => match command.purpose() {
                CommandPurpose::LookUp | CommandPurpose::Prepare => FailureCost::Nothing,
                // The failing step of the command is unknown.
                _ if unsure => FailureCost::Little,
                CommandPurpose::Script | CommandPurpose::Edit => FailureCost::Little,
                CommandPurpose::Check(_)
                | CommandPurpose::Versions
                | CommandPurpose::Install
                | CommandPurpose::Other => FailureCost::Much,
            },
            ToolKind::Write | ToolKind::Edit | ToolKind::Task | ToolKind::Other => {
                FailureCost::Much
            }
        }
    }

    /// The parts of a failure's statement: the line that says most, and further telling lines.
    fn failure_parts(
        &self,
        came: &DeedOutcome<'_>,
        failure: &CallFailure,
        cost: FailureCost,
    ) -> Vec<StatementSentence> {
        let weigh = |weight: u32| if cost == FailureCost::Nothing { TRIFLE } else { weight };
        let telling = failure.line();
        let mut parts: Vec<StatementSentence> =
            telling.map(|line| StatementSentence::new(line, weigh(160))).into_iter().collect();
        let more = salient_lines(
            &self.tools.telling_lines(came.text, FAILURE_BYTES).join("\n"),
            FAILURE_CHARS,
        );
        let more = more.iter().filter(|line| telling.is_none_or(|telling| !line.contains(telling)));
        parts.extend(more.map(|line| StatementSentence::new(line, weigh(90))));
        parts
    }

    /// A hash by which the same error is known when it comes again: of its line without digits and, for a tool that
    /// runs no command, of the file. `None` where there is no line beside the exit code.
    fn error_of(&self, failure: &CallFailure) -> Option<u64> {
        use std::hash::BuildHasher;
        let line = failure.line().filter(|line| !line.starts_with("exit "))?;
        let line: String = line.chars().filter(|c| !c.is_ascii_digit()).collect();
        let path = match self.facts.kind {
            ToolKind::Shell => "",
            _ => self.facts.writes.first().map_or("", String::as_str),
        };
        Some(rustc_hash::FxBuildHasher.hash_one((line, path)))
    }

    /// Adds a call that did not fail: changes of the to-do list and of files, commands, and look-ups.
    fn note_done(&mut self, came: &DeedOutcome<'_>) {
        let (facts, tools, call) = (self.facts, self.tools, self.call);
        let message = came.message;
        for path in &facts.reads {
            self.gathered.use_file(path, false, Some(message));
        }
        self.note_allowed();
        if facts.kind == ToolKind::Todo {
            self.gathered.add_todo(message, tools.todo_change(&call.arguments(), came.text));
            return;
        }
        if let Some(change) = tools.todo_beside(&call.arguments()) {
            self.gathered.add_todo(message, change);
        }
        let changed = facts.changed();
        if let Some(changed) = changed {
            let change = tools.change(&call.tool(), &call.arguments());
            self.note_changed(came, changed, &change);
        }
        if facts.kind == ToolKind::Shell {
            self.note_shell_done(came, changed.is_some());
        } else if changed.is_none() {
            let looks = matches!(facts.kind, ToolKind::Read | ToolKind::Search | ToolKind::List)
                || !facts.reads.is_empty();
            let weight = match facts.kind {
                ToolKind::Task => 60,
                ToolKind::Other | ToolKind::Web if !looks => 20,
                _ => 0,
            };
            self.note_found(came, weight);
        }
    }

    /// Adds a command that did not fail, and settles what it proves.
    fn note_shell_done(&mut self, came: &DeedOutcome<'_>, changed: bool) {
        let ok = came.outcome.verdict == Some(CallVerdict::Ok);
        self.history(came, Some(true).filter(|_| ok && !self.polls));
        self.ran_at_all(&came.command);
        self.settles(came, ok);
        let telling = came.outcome.telling.as_deref().unwrap_or_default();
        let passed = verdicts::passed(&came.command, &came.outcome);
        self.note_passed(came, &passed, telling);
        if !ok && came.outcome.own_exit && came.outcome.exit.is_none() {
            for step in came.command.checks() {
                self.gathered.add_silent(verdicts::check_of(step, came.message, true, telling));
            }
        }
        match came.command.purpose() {
            CommandPurpose::Edit | CommandPurpose::Prepare | CommandPurpose::LookUp if changed => {}
            CommandPurpose::LookUp | CommandPurpose::Prepare => self.note_found(came, 0),
            _ => self.note_run(came, ok),
        }
    }

    /// Adds a command that ran, with its verdict and its telling line where they are known.
    fn note_run(&mut self, came: &DeedOutcome<'_>, ok: bool) {
        let mut parts = Vec::new();
        if ok {
            parts.push(StatementSentence::new("ok", 100));
        }
        // Without a verdict, an output line is weak evidence, so it weighs less.
        let weight = if ok { 120 } else { 40 };
        let telling =
            came.outcome.telling.as_deref().filter(|line| !line.eq_ignore_ascii_case("ok"));
        parts.extend(telling.map(|line| StatementSentence::new(line, weight)));
        // The state section already lists the newest passed checks and the commits.
        let commit = self.gathered.history.commits.last();
        let committed = commit.is_some_and(|commit| commit.message == came.message);
        if ok && (committed || came.command.checks().next().is_some()) {
            parts.iter_mut().for_each(|part| part.weight = 0);
        }
        let lines = self.tools.shown(came.text, SHOWN_BYTES);
        let statement = Statement::new(came.message, StatementKind::Ran, came.lead(), parts);
        self.gathered.push_seen(statement, &lines);
    }

    /// Adds checks that passed, and settles the failures that this proves to be over.
    fn note_passed(&mut self, came: &DeedOutcome<'_>, steps: &[&SimpleStep<'_>], telling: &str) {
        // Failures of these runs are over; a refusal is settled elsewhere, because it only needs the call to be
        // allowed.
        let runs: Vec<CommandRun> = steps.iter().map(|step| step.run.clone()).collect();
        self.gathered.settle(|open| open.refused.is_none() && all_covered(&runs, &open.runs));
        self.learn(came, steps);
        self.gathered.settle_inner(&runs);
        for step in steps {
            self.gathered.add_check(verdicts::check_of(step, came.message, true, telling));
        }
    }

    /// Adds commits, pushes and merge requests of a command.
    fn history(&mut self, came: &DeedOutcome<'_>, ended: Option<bool>) {
        let Some(text) = self.facts.command.as_deref() else { return };
        let lines = || self.tools.shown(came.text, SHOWN_BYTES);
        for deed in versions::deeds(&unwrapped(text), &came.command, lines, ended) {
            self.gathered.history.add(came.message, deed);
        }
    }

    /// Adds the output of a look-up.
    fn note_found(&mut self, came: &DeedOutcome<'_>, weight: u32) {
        let lines = self.tools.shown(came.text, SHOWN_BYTES);
        self.gathered.add_found(came.message, came.lead(), &lines, weight);
    }

    /// Adds a change of files: notes each file, settles failed changes of it, and states the changed lines.
    fn note_changed(
        &mut self,
        came: &DeedOutcome<'_>,
        changed: ChangedFiles<'_>,
        change: &FileChange,
    ) {
        let replaces = || change.lines.iter().any(|line| matches!(line, ChangeLine::Replaced(..)));
        let in_place = || came.command.steps.iter().any(|step| step.run.key() == "sed");
        let there = self.facts.kind == ToolKind::Edit || replaces() || in_place();
        let removes_first = came
            .command
            .steps
            .first()
            .is_some_and(|step| matches!(step.run.key(), "rm" | "git rm"));
        for path in changed.paths() {
            let known = self.gathered.files.contains_key(path);
            self.gathered.use_file(path, true, Some(came.message));
            // A file that the same call made before it removed it did not exist before.
            let removed = removes_first && self.facts.removes.contains(path);
            if !known && (removed || there && change.whole.is_none()) {
                self.gathered.was_there(path);
            }
        }
        self.gathered
            .settle(|open| open.path.as_ref().is_some_and(|path| changed.paths().contains(path)));
        for path in &self.facts.removes {
            self.gathered.remove_file(path);
        }
        let is_there = |path: &&String| !self.facts.removes.contains(path);
        let written: Vec<&str> =
            changed.paths().iter().filter(is_there).map(String::as_str).collect();
        if written.is_empty() && !self.facts.removes.is_empty() {
            let paths = shorten(&self.facts.removes.join(", "), COMMAND_CHARS);
            let lead = format!("{paths} (removed)");
            self.gathered.push(Statement::new(
                came.message,
                StatementKind::Changed,
                lead,
                Vec::new(),
            ));
            return;
        }
        let paths = shorten(&written.join(", "), COMMAND_CHARS);
        let lead = match change.whole.filter(|_| written.len() == 1) {
            _ if change.lines.is_empty() && self.facts.command.is_some() => {
                format!("{paths}: `{}`", came.label)
            }
            Some(lines) => format!("{paths} (written, {lines} lines):"),
            None => format!("{paths}:"),
        };
        let parts = change_parts(change);
        self.gathered.push(Statement::new(came.message, StatementKind::Changed, lead, parts));
    }

    /// The call on one line.
    fn label(&self, command: &CommandDeeds<'_>, written: Option<&str>) -> String {
        let Self { facts, call, .. } = self;
        if let Some(written) = written {
            return label(command, written, COMMAND_CHARS);
        }
        let name = call.tool();
        if name.is_empty() {
            // Only the provider has this call (`item_reference`).
            return "a call that is not in the log".to_owned();
        }
        if let Some(code) = &facts.command {
            return script_label(&name, code, COMMAND_CHARS);
        }
        if let Some(path) = facts.writes.first().or(facts.reads.first()) {
            return format!("{name} {}", shorten(path, COMMAND_CHARS));
        }
        if let Some(query) = &facts.query {
            return format!("{name} `{}`", cut_at_word(query, COMMAND_CHARS));
        }
        let arguments = call.arguments();
        let arguments = crate::view::plain_arguments(&arguments);
        cut_at_word(&format!("{name} {arguments}"), COMMAND_CHARS)
    }
}

impl DeedOutcome<'_> {
    /// How a statement about this call begins.
    pub(super) fn lead(&self) -> String {
        match self.command.steps.is_empty() {
            true => format!("{}:", self.label),
            false => format!("`{}`:", self.label),
        }
    }
}

/// How much a failure matters to the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureCost {
    /// The failure is an answer in itself: a file that is not there, a search without hits.
    Nothing,
    /// Something of the agent's own failed once. It matters only where it fails again.
    Little,
    /// It is a failure of the work.
    Much,
}

impl GatheredFacts {
    /// Applies a change to the to-do list. A list that an earlier recap holds is read first.
    fn add_todo(&mut self, message: u32, change: TodoChange) {
        if self.tasks.is_empty()
            && let Some(told) = &self.todo
        {
            self.tasks = TaskList::read(&told.text);
        }
        if self.tasks.change(change) {
            let text = self.tasks.text();
            if is_finished(&text) {
                self.standing.note_finished();
            }
            self.todo = Some(Quote { message, text });
        }
    }
}

fn change_parts(change: &FileChange) -> Vec<StatementSentence> {
    let mut parts: Vec<StatementSentence> =
        change.lines.iter().take(CHANGED_LINES).map(line_part).collect();
    if let Some(first) = parts.first_mut() {
        first.weight += 20;
    }
    parts
}

/// A changed line as a part of a statement, weighed by what kind of change it is.
fn line_part(line: &ChangeLine) -> StatementSentence {
    match line {
        ChangeLine::Added(text) => {
            StatementSentence::new(&shorten(text, LINE_CHARS), weigh_line(text))
        }
        ChangeLine::Removed(text) => {
            StatementSentence::new(&format!("- {}", shorten(text, LINE_CHARS)), 40)
        }
        ChangeLine::Replaced(text, was) if was.is_empty() => {
            StatementSentence::new(&shorten(text, LINE_CHARS), weigh_line(text) + 30)
        }
        ChangeLine::Replaced(text, was) => {
            let text = format!("{} (was `{}`)", shorten(text, LINE_CHARS), shorten(was, WAS_CHARS));
            StatementSentence::new(&text, weigh_line(&text) + 30)
        }
    }
}

/// Weighs a line of code. Declarations at the outer level say more than deeply indented lines.
fn weigh_line(text: &str) -> u32 {
    let indent =
        text.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 });
    let depth = u32::try_from(indent.sum::<usize>() / 4).unwrap_or(8).min(8);
    let named = u32::try_from(crate::ids::identifiers(text).take(4).count()).unwrap_or(0);
    90 + named * 8 - depth * 6
}
