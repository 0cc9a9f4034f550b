//! Turns a call with its result into a deed: a change, a run, a look-up, a failure or a refusal. The files that it
//! changed are noted besides.

use crate::calls::CallSite;
use crate::recap::checks::all_covered;
use crate::recap::deed::{CallEnding, CallSubject, DeedPart, PartKind};
use crate::recap::gathered_facts::{GatheredFacts, OUTPUT_LINES, Quote, output};
use crate::recap::open_failures::OpenFailure;
use crate::recap::print::code;
use crate::recap::prose;
use crate::recap::standing::EndedCall;
use crate::recap::tasks::{TaskList, is_finished};
use crate::recap::verdicts;
use crate::salient::{lines as salient_lines, shorten};
use crate::tools::command::{
    CommandDeeds, CommandPurpose, CommandRun, SimpleStep, cut_at_word, label, script_label,
    versions,
};
use crate::tools::shell::CommandEnd;
use crate::tools::{
    CallFacts, CallFailure, CallResult, CallVerdict, TodoChange, ToolKind, ToolTable, missing_in,
    says_well, texts_of, unwrapped,
};

/// Longest command, in characters.
const COMMAND_CHARS: usize = 240;
/// Limit for the lines of a failure that are quoted, in characters.
const FAILURE_CHARS: usize = 420;
/// How many bytes of a failed call's output are read.
const FAILURE_BYTES: usize = 64_000;
/// How many bytes of a look-up's output are read.
const SHOWN_BYTES: usize = 16_000;

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
#[derive(Clone)]
pub(super) struct DeedOutcome<'a> {
    /// Number of the message with the result.
    pub message: u32,
    /// The text of the result.
    pub text: &'a str,
    pub outcome: CallResult,
    /// The shell command that it ran.
    pub command: CommandDeeds<'a>,
    /// The command or tool that was called.
    pub subject: CallSubject,
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
        let subject = self.subject(&command, written.as_deref());
        let message = self.gathered.number(self.call.event);
        let end = DeedOutcome { message, text, outcome, command, subject };
        self.note_standing(&end);
        if end.outcome.runs_on {
            // The state says what runs, and a later call shows its end. Steps before it may have changed files.
            let edits = |step: &SimpleStep<'_>| step.purpose == CommandPurpose::Edit;
            if let Some(changed) = facts.changed().filter(|_| end.command.steps.iter().any(edits)) {
                let change = tools.change(&self.call.tool(), &self.call.arguments());
                self.note_changed(&end, changed, &change);
            }
            return self.history(&end, None);
        }
        match end.outcome.verdict {
            Some(CallVerdict::Rejected) => self.note_rejected(&end),
            Some(CallVerdict::Blocked) => self.note_blocked(&end),
            Some(CallVerdict::Interrupted) => self.note_stopped(&end),
            Some(CallVerdict::Failed) => self.note_failed(&end),
            Some(CallVerdict::Ok) | None => self.note_done(&end),
        }
    }

    /// Notes a call that a person answered, such as one that brought a plan.
    pub fn note_answered(mut self, text: &str) {
        let message = self.gathered.number(self.call.event);
        let (outcome, command) = (CallResult::default(), CommandDeeds::default());
        let subject = CallSubject::Other(String::new());
        self.note_standing(&DeedOutcome { message, text, outcome, command, subject });
    }

    /// Notes what the call began, ended or showed of what holds on.
    fn note_standing(&mut self, end: &DeedOutcome<'_>) {
        let (tool, arguments) = (self.call.tool(), self.call.arguments());
        self.gathered.standing.note_call(&EndedCall {
            message: end.message,
            tool: &tool,
            arguments: &arguments,
            facts: self.facts,
            command: &end.command,
            label: &end.subject.text(),
            outcome: &end.outcome,
            text: end.text,
            polls: self.polls,
        });
    }

    /// Adds a failed call: the checks that passed in it, the failing step, and an open failure that may be settled
    /// later.
    fn note_failed(&mut self, end: &DeedOutcome<'_>) {
        let Some(failure) = end.outcome.failure() else { return };
        let blamed = verdicts::blamed(&end.command, end.outcome.failing_tools);
        // A command that writes a script and then runs it may fail in the run: the writing still counts as a change.
        if self.facts.kind == ToolKind::Shell
            && !end.outcome.unread
            && blamed.spares_writing(&end.command)
            && let Some(changed) = self.facts.changed()
        {
            let change = self.tools.change(&self.call.tool(), &self.call.arguments());
            self.note_changed(end, changed, &change);
        }
        self.history(end, Some(false).filter(|_| !self.polls));
        let passed = verdicts::passed_beside(&end.command, &end.outcome, &blamed);
        self.note_passed(end, &passed, "");
        self.note_passed(end, &blamed.passed, "");
        self.note_installed(end, blamed.first());
        let checks: Vec<&SimpleStep<'_>> = end.command.checks().collect();
        self.learn_script_commands(end, &checks);
        let absent = end.outcome.absent;
        if blamed.is_check() && !absent {
            let line = failure.with_totals().unwrap_or_default();
            self.gathered.add_check(blamed.check(end.message, false, &line));
        }
        let subject = match &self.facts.command {
            // Where a program does not exist, that may be a wrapper such as `timeout`, so the whole command is quoted.
            Some(text) if absent => CallSubject::Command(cut_at_word(text, COMMAND_CHARS)),
            _ if blamed.is_empty() || absent => self.failed_subject(end),
            _ => CallSubject::Command(format!("{}{}", blamed.inside(), blamed.label())),
        };
        let end = &DeedOutcome { subject, ..end.clone() };
        let runs = blamed.runs();
        self.note_started(end.message, &end.command);
        // A file that the call would have written is open until it is written.
        let unwritten = end.outcome.unread && self.facts.changed().is_some();
        let cost = match absent {
            true => FailureCost::Nothing,
            false if unwritten => FailureCost::Much,
            false => self.cost(&end.command, blamed.is_empty()),
        };
        let error = self.error_of(&failure);
        let again = error.is_some_and(|error| self.gathered.failed_with(error).is_some());
        let text = self.command_hash();
        let is_open = cost == FailureCost::Much || again && cost != FailureCost::Nothing;
        // The same command failed before for another reason: only its newest failure stays open. A failure that does not
        // stay open itself ends no other.
        if is_open {
            self.gathered.supersede(|open| {
                open.refused.is_none()
                    && (all_covered(&runs, &open.runs) || text.is_some() && open.text == text)
            });
        }
        let ending = if is_open { CallEnding::Failed } else { CallEnding::Ended };
        let deed = self.push_call(end, ending, self.failure_parts(end, &failure));
        if let Some(call) = self.gathered.deeds[deed].call_mut() {
            call.runs.clone_from(&runs);
        }
        if let Some(error) = error.filter(|_| cost != FailureCost::Nothing) {
            self.gathered.note_error(error, deed);
        }
        if is_open {
            let path = self.facts.changed().and_then(|changed| changed.named_in(end.text));
            let scratch = blamed.only().and_then(|step| self.scratch(step));
            let missing = failure.line().and_then(missing_in);
            let open = OpenFailure { deed, runs, path, text, ..OpenFailure::default() };
            self.gathered.add_open(OpenFailure { scratch, missing, ..open });
        }
    }

    /// What failed: of a change of several files, the one that the client names.
    fn failed_subject(&self, end: &DeedOutcome<'_>) -> CallSubject {
        let named = self.facts.changed().and_then(|changed| changed.named_in(end.text));
        match (&end.subject, named) {
            (CallSubject::File(tool, _), Some(path)) => {
                CallSubject::File(tool.clone(), shorten(&path, COMMAND_CHARS))
            }
            _ => end.subject.clone(),
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

    /// The parts of a failure: the line that says most, further telling lines, and the end of the output.
    fn failure_parts(&self, end: &DeedOutcome<'_>, failure: &CallFailure) -> Vec<DeedPart> {
        let telling = failure.line().unwrap_or("failed");
        let shown = self.tools.telling_lines(end.text, FAILURE_BYTES).join("\n");
        let more = salient_lines(&shown, FAILURE_CHARS);
        let more = more.iter().filter(|line| !line.contains(telling)).map(String::as_str);
        let verdicts = std::iter::once(telling).chain(more);
        let mut parts: Vec<DeedPart> =
            verdicts.map(|line| DeedPart::new(line, PartKind::Verdict)).collect();
        let exit = end.outcome.exit.map(|code| format!("Exit code {code}"));
        let mut lines = self.tools.first_shown(end.text, SHOWN_BYTES, OUTPUT_LINES);
        // A failure beside a line that says that all went well would contradict itself.
        lines.retain(|line| !says_well(line) && exit.as_deref() != Some(line.trim()));
        add_output(&mut parts, &lines);
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
    fn note_done(&mut self, end: &DeedOutcome<'_>) {
        let (facts, tools, call) = (self.facts, self.tools, self.call);
        let message = end.message;
        for path in &facts.reads {
            self.gathered.use_file(path, false, Some(message));
        }
        self.note_allowed(message);
        if facts.kind == ToolKind::Todo {
            self.gathered.add_todo(message, tools.todo_change(&call.arguments(), end.text));
            return;
        }
        if let Some(change) = tools.todo_beside(&call.arguments()) {
            self.gathered.add_todo(message, change);
        }
        let changed = facts.changed();
        if let Some(changed) = changed {
            let change = tools.change(&call.tool(), &call.arguments());
            self.note_changed(end, changed, &change);
        }
        if facts.kind == ToolKind::Shell {
            self.note_shell_done(end, changed.is_some());
        } else if changed.is_none() {
            self.note_shown(end);
        }
    }

    /// Adds a command that did not fail, and settles what it proves.
    fn note_shell_done(&mut self, end: &DeedOutcome<'_>, changed: bool) {
        let ok = end.outcome.verdict == Some(CallVerdict::Ok);
        self.history(end, Some(true).filter(|_| ok && !self.polls));
        self.note_started(end.message, &end.command);
        self.settle_obsolete(end, ok);
        let telling = end.outcome.telling.as_deref().unwrap_or_default();
        let passed = verdicts::passed(&end.command, &end.outcome);
        self.note_passed(end, &passed, telling);
        if !ok && end.outcome.own_exit && end.outcome.exit.is_none() {
            for step in end.command.checks() {
                self.gathered.add_silent(verdicts::check_of(step, end.message, true, telling));
            }
        }
        match end.command.purpose() {
            CommandPurpose::Edit | CommandPurpose::Prepare | CommandPurpose::LookUp if changed => {}
            CommandPurpose::LookUp | CommandPurpose::Prepare => self.note_shown(end),
            _ => self.note_run(end, ok),
        }
    }

    /// Adds a command that ran, with its verdict and its telling line where they are known.
    fn note_run(&mut self, end: &DeedOutcome<'_>, ok: bool) {
        let is_shown = !end.outcome.reports_success && ends_in_look_up(&end.command);
        let telling = end.outcome.telling.as_deref().filter(|_| !is_shown);
        let telling = telling.filter(|line| !line.eq_ignore_ascii_case("ok"));
        let verdict = ok.then_some("ok").into_iter().chain(telling);
        let mut parts: Vec<DeedPart> =
            verdict.map(|line| DeedPart::new(line, PartKind::Verdict)).collect();
        add_output(&mut parts, &self.tools.first_shown(end.text, SHOWN_BYTES, OUTPUT_LINES));
        self.push_call(end, CallEnding::Ended, parts);
    }

    /// Adds checks that passed, and settles the failures that this proves to be over.
    fn note_passed(&mut self, end: &DeedOutcome<'_>, steps: &[&SimpleStep<'_>], telling: &str) {
        // Failures of these runs are over; a refusal is settled elsewhere, because it only needs the call to be
        // allowed.
        let runs: Vec<CommandRun> = steps.iter().map(|step| step.run.clone()).collect();
        self.gathered
            .settle(end.message, |open| open.refused.is_none() && all_covered(&runs, &open.runs));
        self.learn_script_commands(end, steps);
        self.gathered.settle_inner(end.message, &runs);
        let teller = verdicts::wrote_totals(steps);
        for step in steps {
            let own = teller.is_some_and(|teller| std::ptr::eq(teller, *step));
            let telling = if own { telling } else { "" };
            self.gathered.add_check(verdicts::check_of(step, end.message, true, telling));
        }
    }

    /// Adds commits, pushes and merge requests of a command.
    fn history(&mut self, end: &DeedOutcome<'_>, ended: Option<bool>) {
        let Some(text) = self.facts.command.as_deref() else { return };
        let lines = || self.tools.shown(end.text, SHOWN_BYTES);
        for deed in versions::deeds(&unwrapped(text), &end.command, lines, ended) {
            self.gathered.history.add(end.message, deed);
        }
    }

    /// Adds a call that showed something.
    fn note_shown(&mut self, end: &DeedOutcome<'_>) {
        if self.facts.kind == ToolKind::Task {
            return self.note_report(end);
        }
        let lines = self.tools.first_shown(end.text, SHOWN_BYTES, OUTPUT_LINES);
        let mut parts = output(&lines);
        if self.facts.shows_files(&end.command) {
            parts.iter_mut().for_each(|part| part.kind = PartKind::FileLine);
        }
        self.gathered.add_shown(end.message, end.subject.clone(), parts);
    }

    /// Adds what another agent reported. Its sentences are conclusions, and nobody can read them again elsewhere.
    fn note_report(&mut self, end: &DeedOutcome<'_>) {
        let texts = texts_of(end.text, &["output", "result", "completed", "report"]).join("\n");
        if texts.is_empty() && end.text.trim_start().starts_with('{') {
            // The agent only began: the result holds its id.
            return self.gathered.add_shown(
                end.message,
                end.subject.clone(),
                output(&self.tools.first_shown(end.text, SHOWN_BYTES, OUTPUT_LINES)),
            );
        }
        let report = if texts.is_empty() { end.text } else { &texts };
        // Behind the report, a client counts tokens.
        let report = report.rsplit_once("\n<usage>").map_or(report, |(report, _)| report);
        self.push_call(end, CallEnding::Shown, prose::parts(report));
    }

    /// The command or tool that was called.
    fn subject(&self, command: &CommandDeeds<'_>, written: Option<&str>) -> CallSubject {
        let Self { facts, call, .. } = self;
        if let Some(written) = written {
            return CallSubject::Command(label(command, written, COMMAND_CHARS));
        }
        let name = call.tool();
        if name.is_empty() {
            // Only the provider has this call (`item_reference`).
            return CallSubject::Other("a call that is not in the log".to_owned());
        }
        if let Some(code) = &facts.command {
            return CallSubject::Other(script_label(&name, code, COMMAND_CHARS));
        }
        if let Some(path) = facts.writes.first().or(facts.reads.first()) {
            return CallSubject::File(name.into_owned(), shorten(path, COMMAND_CHARS));
        }
        if let Some(query) = &facts.query {
            let query = code(&cut_at_word(query, COMMAND_CHARS));
            return CallSubject::Other(format!("{name} {query}"));
        }
        let arguments = call.arguments();
        let arguments = crate::view::plain_arguments(&arguments);
        CallSubject::Other(cut_at_word(&format!("{name} {arguments}"), COMMAND_CHARS))
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
            && let Some(todo) = &self.todo
        {
            self.tasks = TaskList::read(&todo.text);
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

/// Whether the last pipe of a command only looks at something, so that the last line is what it showed.
fn ends_in_look_up(command: &CommandDeeds<'_>) -> bool {
    let before = command.steps.iter().rev().skip(1);
    let piped = before.take_while(|step| step.end == CommandEnd::Pipe).count();
    let from = command.steps.len().saturating_sub(piped + 1);
    from > 0 && command.steps[from..].iter().all(|step| step.purpose == CommandPurpose::LookUp)
}

/// Adds the lines of an output that the parts do not quote yet.
fn add_output(parts: &mut Vec<DeedPart>, lines: &[String]) {
    let more: Vec<DeedPart> = output(lines)
        .into_iter()
        .filter(|line| {
            let again =
                |own: &DeedPart| own.text.contains(&line.text) || line.text.contains(&own.text);
            line.text.len() > 2 && !parts.iter().any(again)
        })
        .collect();
    parts.extend(more);
}
