//! What a call did, as a statement: a change, a run, a look-up, a failure, a refusal.

use crate::calls::CallSite;
use crate::recap::checks::Check;
use crate::recap::gathered::{Gathered, Quote};
use crate::recap::statement::{Kind, Part, Statement};
use crate::salient::{lines as salient_lines, shorten};
use crate::tools::{CallFacts, Change, Line, Outcome, ToolKind, ToolTable, Verdict};

/// Longest command in a statement, in characters.
const COMMAND_CHARS: usize = 140;
/// Telling lines of a failure, in characters.
const FAILURE_CHARS: usize = 420;
/// Bytes of a failure and of what a look-up showed that are looked at.
const FAILURE_BYTES: usize = 64_000;
const SHOWN_BYTES: usize = 16_000;
/// Most lines of one change.
const CHANGED_LINES: usize = 40;
/// Longest line of a change, in characters.
const LINE_CHARS: usize = 200;
/// Longest text that a changed line had before, in characters.
const WAS_CHARS: usize = 80;

/// One call with its result, on the way into what is gathered.
pub(super) struct Deeds<'a, 'e> {
    pub gathered: &'a mut Gathered,
    pub call: &'a CallSite<'e>,
    pub facts: &'a CallFacts,
    pub tools: &'a ToolTable,
}

impl Deeds<'_, '_> {
    /// Takes in the result.
    pub fn add(mut self, text: &str, flagged: Option<bool>) {
        let outcome = self.tools.outcome(self.facts, text, flagged);
        let message = self.gathered.number(self.call.event);
        match outcome.verdict {
            Some(Verdict::Rejected) => self.refused(message, Kind::Rejected, &outcome),
            Some(Verdict::Interrupted) => self.refused(message, Kind::Stopped, &outcome),
            Some(Verdict::Failed) => self.failed(message, text, &outcome),
            Some(Verdict::Ok) | None => self.done(message, text, &outcome),
        }
    }

    fn refused(&mut self, message: u32, kind: Kind, outcome: &Outcome) {
        let said = outcome.reason.as_deref().map(|reason| format!("the user said: {reason}"));
        let parts = said.iter().map(|said| Part::new(said, 200)).collect();
        self.gathered.push(Statement::new(message, kind, self.brief() + ":", parts));
    }

    fn failed(&mut self, message: u32, text: &str, outcome: &Outcome) {
        let change = self.tools.change(&self.call.tool(), &self.call.arguments());
        if self.facts.kind == ToolKind::Shell && change.whole.is_some() {
            // A script was written, and then run: the writing did not fail.
            self.changed(message, &change);
        }
        self.check(message, false, outcome);
        let telling = outcome.telling.as_deref();
        let mut parts: Vec<Part> = telling.map(|line| Part::new(line, 160)).into_iter().collect();
        let more = salient_lines(&self.tools.shown(text, FAILURE_BYTES).join("\n"), FAILURE_CHARS);
        let more = more.iter().filter(|line| telling.is_none_or(|telling| !line.contains(telling)));
        parts.extend(more.map(|line| Part::new(line, 90)));
        self.gathered.push(Statement::new(message, Kind::Failed, self.brief() + ":", parts));
    }

    fn done(&mut self, message: u32, text: &str, outcome: &Outcome) {
        let Self { facts, tools, call, .. } = self;
        for path in &facts.reads {
            self.gathered.use_file(path, false, Some(message));
        }
        let looks = !facts.reads.is_empty()
            || matches!(facts.kind, ToolKind::Read | ToolKind::Search | ToolKind::List);
        if facts.kind == ToolKind::Todo {
            self.gathered.add_todo(message, &call.arguments(), tools);
        } else if !facts.writes.is_empty() {
            let change = tools.change(&call.tool(), &call.arguments());
            self.changed(message, &change);
        } else if facts.kind == ToolKind::Shell && !looks {
            if outcome.verdict == Some(Verdict::Ok) {
                self.check(message, true, outcome);
            }
            let mut parts = Vec::new();
            if outcome.verdict == Some(Verdict::Ok) {
                parts.push(Part::new("ok", 100));
            }
            // Without a verdict a line of output says little.
            let weight = if parts.is_empty() { 40 } else { 120 };
            parts.extend(outcome.telling.as_deref().map(|line| Part::new(line, weight)));
            self.gathered.push(Statement::new(message, Kind::Ran, self.brief() + ":", parts));
            self.found(message, text, 0);
        } else {
            let weight = match facts.kind {
                ToolKind::Task => 60,
                ToolKind::Other | ToolKind::Web if !looks => 20,
                _ => 0,
            };
            self.found(message, text, weight);
        }
    }

    fn found(&mut self, message: u32, text: &str, weight: u32) {
        let lines = self.tools.shown(text, SHOWN_BYTES);
        self.gathered.add_found(message, self.brief() + ":", &lines, weight);
    }

    fn changed(&mut self, message: u32, change: &Change) {
        for path in &self.facts.writes {
            self.gathered.use_file(path, true, Some(message));
        }
        let lead = changed_lead(self.facts, change);
        let parts = change_parts(change);
        self.gathered.push(Statement::new(message, Kind::Changed, lead, parts));
    }

    /// Notes how a command ended that checks the work: one that shows no file and changes none.
    fn check(&mut self, message: u32, passed: bool, outcome: &Outcome) {
        let facts = self.facts;
        let checks = facts.kind == ToolKind::Shell && facts.reads.is_empty();
        if let (true, Some(command)) = (checks && facts.writes.is_empty(), &facts.command) {
            self.gathered.add_check(Check {
                command: first_line(command),
                message,
                passed,
                telling: outcome.telling.clone().unwrap_or_default(),
                watched: false,
            });
        }
    }

    /// The call on one line.
    fn brief(&self) -> String {
        let Self { facts, call, .. } = self;
        let name = call.tool();
        if let Some(command) = &facts.command {
            return format!("`{}`", first_line(command));
        }
        if let Some(path) = facts.writes.first().or(facts.reads.first()) {
            return format!("{name} {}", shorten(path, COMMAND_CHARS));
        }
        if let Some(query) = &facts.query {
            return format!("{name} `{}`", shorten(query, COMMAND_CHARS));
        }
        let arguments = call.arguments();
        let arguments = crate::view::plain_arguments(&arguments);
        shorten(&format!("{name} {arguments}"), COMMAND_CHARS)
    }
}

impl Gathered {
    fn add_todo(&mut self, message: u32, arguments: &str, tools: &ToolTable) {
        let items = tools.todo(arguments);
        if items.is_empty() {
            return;
        }
        let mark = |state: &str| match state {
            "completed" | "done" | "complete" => "[x] ",
            "in_progress" | "in-progress" | "active" => "[>] ",
            "" => "",
            "cancelled" | "canceled" => "[-] ",
            _ => "[ ] ",
        };
        let lines: Vec<String> = items
            .iter()
            .map(|item| format!("{}{}", mark(&item.state), shorten(&item.text, LINE_CHARS)))
            .collect();
        self.todo = Some(Quote { message, text: lines.join("\n") });
    }
}

/// A command on one line. What follows its first line is data more often than not: the body of a
/// script or of a file.
fn first_line(command: &str) -> String {
    let command = command.trim();
    match command.split_once('\n') {
        Some((first, _)) if first.len() < command.len() => {
            shorten(first, COMMAND_CHARS - 2).trim_end_matches('…').to_owned() + " …"
        }
        _ => shorten(command, COMMAND_CHARS),
    }
}

fn changed_lead(facts: &CallFacts, change: &Change) -> String {
    let paths = shorten(&facts.writes.join(", "), COMMAND_CHARS);
    let in_place = facts.command.as_deref().filter(|_| change.lines.is_empty());
    match (change.whole, in_place) {
        (_, Some(command)) => format!("{paths}: `{}`", first_line(command)),
        (Some(lines), None) => format!("{paths} (written, {lines} lines):"),
        (None, None) => format!("{paths}:"),
    }
}

fn change_parts(change: &Change) -> Vec<Part> {
    let mut parts: Vec<Part> = change.lines.iter().take(CHANGED_LINES).map(line_part).collect();
    if let Some(first) = parts.first_mut() {
        first.weight += 20;
    }
    parts
}

fn line_part(line: &Line) -> Part {
    match line {
        Line::Added(text) => Part::new(&shorten(text, LINE_CHARS), weigh_line(text)),
        Line::Removed(text) => Part::new(&format!("- {}", shorten(text, LINE_CHARS)), 40),
        Line::Replaced(text, was) if was.is_empty() => {
            Part::new(&shorten(text, LINE_CHARS), weigh_line(text) + 30)
        }
        Line::Replaced(text, was) => {
            let text = format!("{} (was `{}`)", shorten(text, LINE_CHARS), shorten(was, WAS_CHARS));
            Part::new(&text, weigh_line(&text) + 30)
        }
    }
}

/// What a line of code tells: what is declared at the outside says more than what is deep inside.
fn weigh_line(text: &str) -> u32 {
    let indent =
        text.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 });
    let depth = u32::try_from(indent.sum::<usize>() / 4).unwrap_or(8).min(8);
    let named = u32::try_from(crate::ids::identifiers(text).take(4).count()).unwrap_or(0);
    90 + named * 8 - depth * 6
}
