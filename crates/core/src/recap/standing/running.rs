//! Commands and agents that keep running after their result, and what agents reported at their end.

use super::ended_call::{EndedCall, inside, numbered};
use crate::recap::numbers::MessageNumbers;
use crate::recap::{escape, state};
use crate::salient::shorten;
use crate::tools::command::SimpleStep;
use crate::tools::shell::CommandEnd;
use crate::tools::{ToolKind, texts_of};

/// At most this many running tasks are remembered; the oldest is forgotten first.
const MOST: usize = 64;
/// At most this many running tasks are written, the newest ones.
const TOLD: usize = 8;
/// At most this many reports are kept.
const REPORTS: usize = 4;
/// Longest description of a task, in characters.
const WHAT: usize = 200;
/// Longest report, in characters.
const REPORT: usize = 400;

/// A command or an agent that still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RunningTask {
    /// The id by which the client asks for it; empty where none was shown.
    id: String,
    /// The command, or the agent's task.
    label: String,
    is_agent: bool,
    /// What the id is: `pid`, `session` or `id`.
    kind: &'static str,
    /// Number of the message that started it.
    message: u32,
}

/// What an agent said at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AgentReport {
    text: String,
    message: u32,
}

/// What still runs.
#[derive(Clone, Debug, Default)]
pub(in crate::recap) struct RunningWork {
    tasks: Vec<RunningTask>,
    reports: Vec<AgentReport>,
}

impl RunningWork {
    /// The running command whose id occurs in the arguments of a call that has no command of its own: the call asks for
    /// its output. `None` for any other call.
    pub(in crate::recap) fn polled(&self, tool: &str, arguments: &str) -> Option<&str> {
        let task = self.tasks.iter().rev().find(|task| names(arguments, &task.id))?;
        (!task.is_agent && !ends_things(tool, arguments)).then_some(&*task.label)
    }

    /// Notes what a call started or ended.
    pub(super) fn note_call(&mut self, call: &EndedCall<'_>) {
        let (arguments, text) = (call.arguments, call.text);
        let own = self.tasks.iter().rposition(|task| names(arguments, &task.id));
        match own.filter(|_| call.polls || call.facts.command.is_none()) {
            Some(at) if ends_things(call.tool, arguments) => {
                if call.went_well() {
                    self.tasks.remove(at);
                }
            }
            Some(_) if call.outcome.runs_on => {}
            Some(at) if self.tasks[at].is_agent => self.note_status(call.message, text, at),
            Some(at) => {
                let status = inside(text, "status").is_some_and(|status| status != "running");
                if call.outcome.exit.is_some() || call.outcome.is_over || status {
                    self.tasks.remove(at);
                }
            }
            None => self.note_started(call),
        }
        self.note_killed(call);
    }

    fn note_started(&mut self, call: &EndedCall<'_>) {
        let (facts, outcome) = (call.facts, call.outcome);
        if facts.kind == ToolKind::Task {
            let ended = texts_of(call.text, &["output", "result", "completed", "report"]);
            let named =
                || texts_of(call.text, &["agent_id", "agentId", "task_id"]).into_iter().next();
            let id = outcome.runs_as.clone().or_else(|| named().filter(|_| ended.is_empty()));
            if let Some(id) = id.filter(|_| call.went_well()) {
                let task = call.arguments(&["description", "goal", "task", "message", "prompt"]);
                self.begin(id, &task.join(": "), true, call);
            }
        } else if outcome.runs_on {
            let id = outcome.runs_as.clone().unwrap_or_default();
            self.begin(id, call.label, false, call);
        } else if call.went_well() {
            for (id, label) in daemons(call) {
                self.begin(id, &label, false, call);
            }
        }
    }

    /// Notes that something runs. Clients reuse ids, so an older task with the same id is forgotten.
    fn begin(&mut self, id: String, label: &str, is_agent: bool, call: &EndedCall<'_>) {
        let label = shorten(label, WHAT);
        let kind = match () {
            () if call.text.contains("PID") || !call.outcome.runs_on && is_pid(&id) => "pid",
            () if call.text.contains("session") => "session",
            () => "id",
        };
        self.tasks.retain(|known| match id.is_empty() {
            true => known.label != label,
            false => known.id != id,
        });
        if self.tasks.len() == MOST {
            self.tasks.remove(0);
        }
        self.tasks.push(RunningTask { id, label, is_agent, kind, message: call.message });
    }

    /// Ends the tasks that a command kills: by their id, by a word of their command, or by a container's name.
    fn note_killed(&mut self, call: &EndedCall<'_>) {
        const KILLERS: [&str; 11] = [
            "kill",
            "pkill",
            "killall",
            "fuser",
            "docker stop",
            "docker kill",
            "docker rm",
            "podman stop",
            "tmux",
            "docker compose",
            "docker-compose",
        ];
        const NO_TARGETS: [&str; 6] = ["kill", "stop", "rm", "tcp", "TERM", "KILL"];
        for step in &call.command.steps {
            let (text, key) = (step.text, step.run.key());
            let compose = key.contains("compose");
            let ends = match key {
                "tmux" => text.contains(" kill-"),
                _ if compose => text.contains(" down") || text.contains(" stop"),
                _ => true,
            };
            // Behind `xargs`, the steps before say what is killed.
            let piped = key == "xargs" && text.split_whitespace().any(|word| word == "kill");
            if self.tasks.is_empty() || !(KILLERS.contains(&key) && ends || piped) {
                continue;
            }
            let text = match piped {
                true => call.facts.command.as_deref().unwrap_or_default(),
                false => text,
            };
            let words = text.split_whitespace().skip(1).flat_map(|word| word.split(['/', ':']));
            let words =
                words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
            let targets: Vec<&str> =
                words.filter(|word| word.len() > 1 && !NO_TARGETS.contains(word)).collect();
            let pids = self.tasks.iter().filter(|task| is_pid(&task.id)).count();
            self.tasks.retain(|task| {
                let is = |target: &&str| task.id == **target || holds(&task.label, target);
                let only = text.contains('$') && pids == 1 && is_pid(&task.id);
                !(targets.iter().any(is) || only || compose && task.label.contains("compose"))
            });
        }
    }

    /// Notes a message of the client about the end of a task. Returns the command that ended, with its exit code.
    pub(super) fn note_client(&mut self, message: u32, text: &str) -> Option<(String, i64)> {
        let at = self.tasks.iter().rposition(|task| holds(text, &task.id))?;
        let label = self.tasks[at].label.clone();
        let is_command = !self.tasks[at].is_agent;
        let count = self.tasks.len();
        self.note_status(message, text, at);
        let (_, code) =
            text.split_once("exit code ").filter(|_| self.tasks.len() < count && is_command)?;
        let end = code.find(|c: char| !c.is_ascii_digit()).unwrap_or(code.len());
        Some((label, code[..end].parse().ok()?))
    }

    /// Notes what a text says about the task at this index. It ended unless the text says that it runs.
    fn note_status(&mut self, message: u32, text: &str, at: usize) {
        let status = inside(text, "status");
        let json = texts_of(text, &["completed", "errored", "result", "output"]);
        let report = ["result", "output", "summary"].iter().find_map(|name| inside(text, name));
        let report = report
            .map(str::to_owned)
            .or_else(|| json.into_iter().find(|report| !report.is_empty()));
        if matches!(status, Some("running" | "pending")) || status.is_none() && report.is_none() {
            return;
        }
        let task = self.tasks.remove(at);
        if let Some(report) = report.filter(|_| task.is_agent) {
            let line =
                format!("{} ({}): {}", shorten(&task.label, 60), task.id, shorten(&report, REPORT));
            self.reports.push(AgentReport { text: line, message });
            let over = self.reports.len().saturating_sub(REPORTS);
            self.reports.drain(..over);
        }
    }

    pub(super) fn lines(&self, later: Option<&Self>, numbers: MessageNumbers) -> Vec<String> {
        let runs = |task: &&RunningTask| later.is_none_or(|later| later.tasks.contains(task));
        let running = self.tasks.iter().rev().filter(runs).take(TOLD).map(|task| {
            let label = escape::inline(&task.label, WHAT);
            let label =
                if task.is_agent { format!("agent: {label}") } else { format!("`{label}`") };
            let (kind, at) = (task.kind, numbers.after(task.message));
            match task.id.is_empty() {
                true => label + &at,
                false => format!("{label} ({kind} {}){at}", escape::inline(&task.id, 80)),
            }
        });
        let reports = self.reports.iter().rev();
        let reports =
            reports.map(|one| escape::inline(&one.text, 500) + &numbers.after(one.message));
        let mut lines = state::listed(state::RUNNING, running);
        lines.extend(state::listed(state::REPORTED, reports));
        lines
    }

    /// Reads an entry of an earlier recap. A recap lists the newest first.
    pub(super) fn read(&mut self, label: &str, text: &str) {
        let Some((task, message)) = numbered(text) else { return };
        if label == state::REPORTED {
            self.reports.insert(0, AgentReport { text: task.to_owned(), message });
            return;
        }
        let handled = task.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
        let (task, handle) = handled.unwrap_or((task, ""));
        let (kind, id) = handle.split_once(' ').unwrap_or(("id", handle));
        let kind = ["pid", "session"].into_iter().find(|known| *known == kind).unwrap_or("id");
        let agent = task.strip_prefix("agent: ");
        let task = agent.unwrap_or_else(|| task.trim_matches('`')).to_owned();
        let (id, is_agent) = (id.to_owned(), agent.is_some());
        self.tasks.insert(0, RunningTask { id, label: task, is_agent, kind, message });
    }
}

/// Whether an id occurs in a text as a whole word: `bash_1` does not occur in `bash_12`.
fn holds(text: &str, id: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !id.is_empty()
        && text.match_indices(id).any(|(at, _)| {
            !text[..at].ends_with(is_part) && !text[at + id.len()..].starts_with(is_part)
        })
}

/// Whether the arguments of a call name an id. A short one counts only as the value of a member for ids, because
/// other members hold small numbers, too.
fn names(arguments: &str, id: &str) -> bool {
    const LONG: usize = 6;
    let is_member = |(at, _): (usize, &str)| {
        let before = arguments[..at].trim_end_matches(['"', ' ']).strip_suffix(':');
        let key = before.and_then(|before| before.trim_end().strip_suffix('"')).unwrap_or_default();
        let key = key.rsplit('"').next().unwrap_or_default().to_ascii_lowercase();
        ["id", "ids", "session", "name", "handle"].iter().any(|end| key.ends_with(end))
    };
    holds(arguments, id) && (id.len() >= LONG || arguments.match_indices(id).any(is_member))
}

/// Whether a call ends what its arguments name, by the name of the tool or of its action.
fn ends_things(tool: &str, arguments: &str) -> bool {
    const WORDS: [&str; 6] = ["kill", "stop", "close", "terminate", "cancel", "remove"];
    let says = |text: &str| WORDS.iter().any(|word| text.to_ascii_lowercase().contains(word));
    says(tool) || texts_of(arguments, &["action", "command"]).iter().any(|action| says(action))
}

fn is_pid(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())
}

/// What a command left running in the background: a step behind `&` with the process id that the output shows, a
/// container, a session of tmux.
fn daemons(call: &EndedCall<'_>) -> Vec<(String, String)> {
    const DETACHED: [&str; 2] = ["-d", "--detach"];
    let steps = &call.command.steps;
    let text = call.facts.command.as_deref().unwrap_or_default();
    // Where the command waits for the step or kills it, nothing is left.
    if steps.iter().any(|step| matches!(step.run.key(), "kill" | "pkill" | "wait" | "docker stop"))
    {
        return Vec::new();
    }
    let flag = |step: &SimpleStep<'_>, flags: &[&str]| {
        step.text.split_whitespace().any(|word| flags.contains(&word))
    };
    let behind = |step: &SimpleStep<'_>, name: &str| {
        let mut words = step.text.split_whitespace().skip_while(|word| *word != name).skip(1);
        words.next().unwrap_or_default().to_owned()
    };
    let daemon = |step: &SimpleStep<'_>| {
        let id = match step.run.key() {
            "tmux" if step.text.contains(" new") && flag(step, &["-d"]) => behind(step, "-s"),
            "docker run" | "podman run" if flag(step, &DETACHED) => behind(step, "--name"),
            "docker compose" | "docker-compose" if step.text.contains(" up") => {
                flag(step, &DETACHED).then(String::new)?
            }
            _ if step.end == CommandEnd::Background => pid(call, text).unwrap_or_default(),
            _ => return None,
        };
        Some((id, step.label(WHAT)))
    };
    steps.iter().filter_map(daemon).collect()
}

/// The process id that a shell shows for a step in the background: `[1] 4711`, or what `echo $!` prints.
fn pid(call: &EndedCall<'_>, command: &str) -> Option<String> {
    let asks = command.contains("$!");
    call.text.lines().take(20).find_map(|line| {
        let line = line.trim();
        let job = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let word = match job {
            Some((_, rest)) => rest.trim(),
            None => line.rsplit([' ', '=', ':']).next().filter(|_| asks)?,
        };
        (word.len() > 1 && is_pid(word)).then(|| word.to_owned())
    })
}
