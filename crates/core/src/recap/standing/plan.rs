//! The plan that the agent works by: one that the client says was approved, or one that the user answered.

use super::ended_call::{APPROVED_PLAN, EXIT_PLAN_MODE, EndedCall, inside};
use crate::recap::numbers::MessageNumbers;
use crate::recap::prose::QUESTION_MARKS;
use crate::recap::{escape, state};
use crate::salient::shorten;
use crate::tools::ToolKind;

/// At most this many steps are written. A line says how many more there are.
const STEPS: usize = 24;
/// Longest step, in characters.
const STEP: usize = 200;
/// A plan in a message without a mark of its own has at least this many numbered steps.
const LEAST_STEPS: usize = 3;
/// Longest answer by which the user accepts such a plan, in bytes.
const LONGEST_ANSWER: usize = 160;

/// A plan, as a recap has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PlanText {
    message: u32,
    /// What became of it, and the file that holds it.
    status: String,
    /// The message in which the user answered it.
    answered_at: Option<u32>,
    /// Its title and its steps.
    steps: Vec<String>,
    /// Whether the message marks it as a plan.
    marked: bool,
}

/// The plan that holds.
#[derive(Clone, Debug, Default)]
pub(super) struct ApprovedPlan {
    plan: Option<PlanText>,
    /// A plan that the user has not answered yet.
    proposed: Option<PlanText>,
}

impl ApprovedPlan {
    pub(super) fn note_call(&mut self, call: &EndedCall<'_>) {
        const TOOLS: [&str; 5] =
            [EXIT_PLAN_MODE, "planmoderespond", "submitplan", "presentplan", "proposeplan"];
        if !call.went_well() {
            return;
        }
        if call.is_named(&TOOLS) {
            let given = call.arguments(&["plan", "response", "plan_content"]).into_iter().next();
            let shown = || call.text.split_once(APPROVED_PLAN).map(|(_, plan)| plan.to_owned());
            let plan = given.or_else(shown).unwrap_or_default();
            let named =
                call.arguments(&["plan_path", "plan_filename", "planFilePath", "plan_file"]);
            let file = named.into_iter().next().or_else(|| file_in(call.text));
            let steps = steps(&plan);
            if !steps.is_empty() || file.is_some() {
                let file = file.map_or(String::new(), |file| format!(", in {file}"));
                let (message, marked) = (call.message, true);
                let plan = |status| PlanText { message, status, answered_at: None, steps, marked };
                if call.approved_plan() {
                    self.plan = Some(plan(format!(", approved{file}")));
                    self.proposed = None;
                } else {
                    self.proposed = Some(plan(file));
                }
            }
            return;
        }
        let written = call.facts.writes.first().filter(|_| call.facts.kind == ToolKind::Write);
        if let Some(path) = written.filter(|path| is_plan(path)) {
            let known = self.plan.as_ref().is_some_and(|plan| !plan.steps.is_empty());
            if !known {
                let status = format!(", in {path}");
                self.plan = Some(PlanText { message: call.message, status, ..PlanText::default() });
            }
        }
    }

    pub(super) fn note_said(&mut self, message: u32, text: &str, ends_turn: bool) {
        let marked = inside(text, "proposed_plan");
        let asks = || ends_turn && is_question(text);
        let is_step = |line: &&str| is_numbered(line) && !is_question(line);
        if let Some(plan) = marked {
            self.proposed =
                Some(PlanText { message, steps: steps(plan), marked: true, ..PlanText::default() });
        } else if asks() && text.lines().filter(is_step).count() >= LEAST_STEPS {
            self.proposed = Some(PlanText { message, steps: steps(text), ..PlanText::default() });
        } else if ends_turn && self.proposed.as_ref().is_some_and(|plan| !plan.marked) {
            self.proposed = None;
        }
    }

    /// Notes the user's words in the result of the call in message `call`. They are an answer only to that call.
    pub(super) fn note_answered(&mut self, call: u32, message: u32, text: &str) {
        if self.proposed.as_ref().is_some_and(|plan| plan.message == call) {
            self.note_asked(message, text);
        }
    }

    /// Notes the user's next words. They are quoted beside the plan, so that nobody has to judge what they mean.
    pub(super) fn note_asked(&mut self, message: u32, text: &str) {
        if text.is_empty() {
            return;
        }
        let Some(proposed) = self.proposed.take() else { return };
        // A longer answer, a question or a choice by number is no word on the plan as a whole.
        let chooses = text.contains(|c: char| QUESTION_MARKS.contains(&c) || c.is_ascii_digit());
        if proposed.marked || text.len() <= LONGEST_ANSWER && !chooses {
            let answer = shorten(text, 100);
            let status = format!("{}, to which the user said \"{answer}\"", proposed.status);
            self.plan = Some(PlanText { status, answered_at: Some(message), ..proposed });
        }
    }

    pub(super) fn lines(&self, later: Option<&Self>, numbers: MessageNumbers) -> Vec<String> {
        let still_holds =
            |plan: &&PlanText| later.is_none_or(|later| later.plan.as_ref() == Some(plan));
        let Some(plan) = self.plan.as_ref().filter(still_holds) else { return Vec::new() };
        let status = escape::inline(&plan.status, 300);
        // `inline` trims nothing but white space, and the status begins with a comma.
        let answer_number = plan.answered_at.map_or(String::new(), |at| numbers.after(at));
        let head = numbers.labelled(state::PLAN, plan.message);
        let head = format!("{head}{status}{answer_number}\n");
        let steps = plan.steps.iter().map(|step| format!("  {}\n", escape::inline(step, STEP)));
        std::iter::once(head).chain(steps).collect()
    }

    /// Reads a line of an earlier recap; `starts` says that it is the first one of the plan.
    pub(super) fn read(&mut self, text: &str, starts: bool) {
        if starts {
            let (message, status) = text.split_at(leading_digits(text));
            let (message, status) = (message.parse().unwrap_or(0), status.to_owned());
            self.plan = Some(PlanText { message, status, marked: true, ..PlanText::default() });
        } else if let Some(plan) = &mut self.plan {
            plan.steps.push(text.to_owned());
        }
    }
}

/// The title and the steps of a plan: its numbered lines and list items, or the numbered lines alone where there are too
/// many, or else all lines.
fn steps(plan: &str) -> Vec<String> {
    let mut lines: Vec<&str> =
        plan.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let title = lines.first().and_then(|line| line.strip_prefix("# "));
    lines.drain(..usize::from(title.is_some()));
    let is_item = |line: &&str| line.starts_with(['-', '*', '•']) || is_numbered(line);
    let numbered = lines.iter().filter(|line| is_numbered(line)).count();
    match lines.iter().filter(|line| is_item(line)).count() {
        ..2 => {}
        STEPS.. if numbered > 1 => lines.retain(|line| is_numbered(line)),
        _ => lines.retain(is_item),
    }
    let all: Vec<&str> = title.map(str::trim).into_iter().chain(lines).collect();
    let mut steps: Vec<String> = all.iter().take(STEPS).map(|line| shorten(line, STEP)).collect();
    if let Some(more) = all.len().checked_sub(STEPS).filter(|more| *more > 0) {
        steps.push(format!("… {more} more"));
    }
    steps
}

fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(QUESTION_MARKS)
}

/// Whether a line is a numbered step: `1. …`, `2) …`, `### Step 3: …`, but not `1.5 GB`.
fn is_numbered(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['#', '*', ' ']);
    let second =
        line.split_once(' ').filter(|(word, _)| word.bytes().all(|b| b.is_ascii_alphabetic()));
    let has_number = |text: &str| {
        let behind = text[leading_digits(text)..].strip_prefix(['.', ')', ':']);
        leading_digits(text) > 0
            && behind.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_labelled =
        line.starts_with(char::is_uppercase) && second.is_some_and(|(_, rest)| has_number(rest));
    has_number(line) || is_labelled
}

/// The number of bytes of the digits at the start of a text.
fn leading_digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

/// The file of notes that a text names.
fn file_in(text: &str) -> Option<String> {
    let head = &text[..text.floor_char_boundary(1_000)];
    let words = head
        .split_whitespace()
        .map(|word| word.trim_matches(['`', '"', '\'', '.', ',', ':', '(', ')']));
    words.into_iter().find(|word| word.ends_with(".md") && word.contains('/')).map(str::to_owned)
}

/// Whether a file is a plan by its name (`PLAN.md`, `lock-plan.md`) or its folder (`plans/lock.md`).
fn is_plan(path: &str) -> bool {
    let Some(path) = path.strip_suffix(".md") else { return false };
    let is_name = |word: &str| matches!(&*word.to_ascii_lowercase(), "plan" | "plans");
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let ends = [name.split(['-', '_', '.']).next(), name.rsplit(['-', '_', '.']).next()];
    ends.into_iter().flatten().chain(parts.next()).any(is_name)
}
