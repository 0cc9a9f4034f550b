//! The scripted model. It decides by the request alone, so that retries and forks work.

use serde_json::{Map, Value, json};

use super::copies::CopiedLines;
use super::lookups::LookUps;
use super::once::OneCall;
use super::reply::{FactUse, ReplyCall, ReplyKind, ScriptedReply};
use super::request_parts::{AskedParts, OfferedTool, array};
use super::shell::{code, command, fact, find_code, highest, mark};
use super::wishes::AgentWish;

/// The behaviour that the model plays.
#[derive(Clone, Debug)]
pub enum UpstreamScript {
    /// An agent that runs one numbered command after another with a tool.
    ShellLoop(StepLoop),
    /// The same loop for clients without tools: the commands are in code blocks of the text.
    TextLoop(StepLoop),
    /// One call of one tool, always with the same arguments.
    Once(OneCall),
    /// The same text in every reply.
    Fixed(String),
}

impl UpstreamScript {
    /// An agent with this many steps.
    #[must_use]
    pub fn shell_loop(steps: u32) -> Self {
        Self::ShellLoop(StepLoop { steps, ..StepLoop::default() })
    }

    /// An agent with this many steps that writes its commands as text.
    #[must_use]
    pub fn text_loop(steps: u32) -> Self {
        Self::TextLoop(StepLoop { steps, ..StepLoop::default() })
    }

    /// A model that always replies with this text.
    #[must_use]
    pub fn fixed(text: &str) -> Self {
        Self::Fixed(text.to_owned())
    }
}

impl Default for UpstreamScript {
    fn default() -> Self {
        Self::shell_loop(20)
    }
}

/// Added to a step's number to name a fact that the model made up in that step itself.
pub const DECIDED: u32 = 1_000;

/// A loop of numbered steps.
///
/// Calls carry the number of their step, as in `[step 7]`, and results repeat it. The next step is one more than the
/// highest number in the last message that has one. So the loop goes on at the right step even if older messages of the
/// request were folded.
#[derive(Clone, Debug)]
pub struct StepLoop {
    /// Steps until the final answer.
    pub steps: u32,
    /// The tokens that the output of one step has, roughly.
    pub result_tokens: u32,
    /// The number of calls in one reply.
    pub parallel: u32,
    /// The tool to call. `None` takes the offered tool that looks most like a shell.
    pub tool: Option<String>,
    /// The tool's argument for the command. `None` takes the one that looks most like a command.
    pub argument: Option<String>,
    /// Every so many steps a result has a fact, from step 3 on. 0 means never.
    pub plant_every: u32,
    /// Every so many steps the model states a fact of its own that is in no result, from step 2 on. 0 means never. The
    /// number of the fact's part is the step plus [`DECIDED`].
    pub decide_every: u32,
    /// Whether the final answer needs the code of part 0, which the client's task has to hold, as [`task`] does.
    pub task_fact: bool,
    /// The number of steps after which a command needs a fact. `None` means half of all steps.
    pub use_after: Option<u32>,
    /// The text before and after a command in a reply without calls.
    pub fence: (String, String),
    /// The text before and after the final answer in a reply without calls.
    pub last_fence: (String, String),
    /// When the model looks up folded messages, if it has the proxy's tool for that. `None` means never.
    pub look_ups: Option<LookUps>,
    /// Calls of the proxy's tools that say what should become of the conversation, if the model has these tools.
    pub wishes: Vec<AgentWish>,
    /// When the model writes a line of a recap into a file. `None` means never.
    pub copies: Option<CopiedLines>,
}

impl Default for StepLoop {
    fn default() -> Self {
        Self {
            steps: 20,
            result_tokens: 400,
            parallel: 1,
            tool: None,
            argument: None,
            plant_every: 5,
            decide_every: 0,
            task_fact: false,
            use_after: None,
            fence: ("```bash\n".to_owned(), "\n```".to_owned()),
            last_fence: (String::new(), String::new()),
            look_ups: None,
            wishes: Vec::new(),
            copies: None,
        }
    }
}

impl StepLoop {
    /// Whether the result of this step has a fact.
    #[must_use]
    pub fn plants(&self, step: u32) -> bool {
        // With an interval of 3 or less, 3 itself is no remainder.
        step > 0 && self.plant_every > 0 && step % self.plant_every == 3 % self.plant_every
    }

    /// Whether the model states a fact of its own with this step.
    #[must_use]
    pub fn decides(&self, step: u32) -> bool {
        // With an interval of 2 or less, 2 itself is no remainder.
        step > 0 && self.decide_every > 0 && step % self.decide_every == 2 % self.decide_every
    }

    /// The number of the part whose code this step needs. `None` where it needs none.
    fn needs(&self, step: u32) -> Option<u32> {
        let after = self.use_after.unwrap_or(self.steps / 2).max(1);
        let earlier = step.checked_sub(after)?;
        if self.plants(earlier) {
            return Some(earlier);
        }
        self.decides(earlier).then_some(earlier + DECIDED)
    }

    /// The numbers of the parts whose codes the final answer needs.
    fn all(&self) -> impl Iterator<Item = u32> {
        let planted = (1..=self.steps).filter(|step| self.plants(*step));
        let decided =
            (1..=self.steps).filter(|step| self.decides(*step)).map(|step| step + DECIDED);
        self.task_fact.then_some(0).into_iter().chain(planted).chain(decided)
    }
}

/// Phrases by which the compaction prompts of clients are recognised.
const SUMMARY_PHRASES: [&str; 9] = [
    "CONTEXT CHECKPOINT COMPACTION",
    "create a detailed summary of the conversation",
    "component that summarizes",
    "<state_snapshot>",
    "context summarization",
    "context checkpoint",
    "Context Extraction Assistant",
    "summarization agent",
    "summarize the conversation",
];

impl UpstreamScript {
    /// Answers a request.
    pub(crate) fn reply(&self, request: &AskedParts, phrases: &[String]) -> ScriptedReply {
        let tools = request.offered();
        if summarises(request, tools.is_empty(), phrases) {
            return summary(request);
        }
        match self {
            Self::Fixed(text) => ScriptedReply::of_text(ReplyKind::Turn, text.clone()),
            Self::ShellLoop(_) | Self::Once(_) if tools.is_empty() => {
                ScriptedReply::of_text(ReplyKind::Side, "A scripted run".to_owned())
            }
            Self::ShellLoop(script) => script.next(request, Some(&tools)),
            Self::TextLoop(script) => script.next(request, None),
            Self::Once(script) => script.next(request, &tools),
        }
    }
}

/// Everything in the request that the model reads, as JSON.
fn read(request: &AskedParts) -> String {
    let mut text = request.system.to_string();
    for item in &request.items {
        text.push('\n');
        text.push_str(&item.to_string());
    }
    text
}

fn summarises(request: &AskedParts, toolless: bool, phrases: &[String]) -> bool {
    let has = |value: &Value| {
        let text = value.to_string().to_ascii_lowercase();
        let mut all = SUMMARY_PHRASES.iter().copied().chain(phrases.iter().map(String::as_str));
        all.any(|phrase| text.contains(&phrase.to_ascii_lowercase()))
    };
    // The instructions of an agent with tools may mention summaries, so they count only where the request has no tools.
    request.items.last().is_some_and(has)
        || toolless && (has(&request.system) || request.items.first().is_some_and(has))
}

fn summary(request: &AskedParts) -> ScriptedReply {
    let read = read(request);
    let step = highest(&read);
    let mut text = "Summary of the work so far. ".to_owned();
    if let Some(step) = step {
        text.push_str(&format!("{} is done. ", mark(step)));
    }
    let steps = step.unwrap_or(0);
    for part in (0..=steps).chain(DECIDED..=DECIDED + steps) {
        if let Some(code) = find_code(&read, part) {
            text.push_str(&format!("The code of part {part} is {code}. "));
        }
    }
    ScriptedReply { step, ..ScriptedReply::of_text(ReplyKind::Summary, text.trim_end().to_owned()) }
}

impl StepLoop {
    fn next(&self, request: &AskedParts, tools: Option<&[OfferedTool]>) -> ScriptedReply {
        let steps_done = self.steps_done(request);
        let read = read(request);
        let step = steps_done + 1;
        let looked_up = self.look_ups.and_then(|planned| planned.uses(step, request, &read));
        let mut uses: Vec<_> = looked_up.into_iter().collect();
        let turn = |calls, uses, text| ScriptedReply {
            calls,
            uses,
            ..ScriptedReply::of_text(ReplyKind::Turn, text)
        };
        let looks_up = self
            .look_ups
            .zip(tools)
            .and_then(|(planned, tools)| planned.call(step, request, tools));
        if let Some((call, true)) = looks_up {
            let text = format!("For part {step} I look something up. ");
            return turn(vec![call], uses, text);
        }
        let wished_calls = |beside: bool| -> Vec<ReplyCall> {
            let due = self.wishes.iter().filter(|wanted| wanted.beside == beside);
            due.filter_map(|wanted| wanted.call(step, request, tools?)).collect()
        };
        let first = wished_calls(false);
        if !first.is_empty() {
            let text = format!("Before part {step} I say what should become of this. ");
            return turn(first, uses, text);
        }
        let copies = self.copies.zip(tools).and_then(|(planned, tools)| {
            let call = self.call(step, &planned.command(step, request)?, tools)?;
            Some((call, planned.is_alone()))
        });
        if let Some((call, true)) = copies {
            let text = format!("Before part {step} I write something down. ");
            return turn(vec![call], uses, text);
        }
        let mut text = String::new();
        // Like a real agent, the model repeats facts of the last results in its own words.
        for step in (steps_done + 1).saturating_sub(self.parallel.max(1)).max(1)..=steps_done {
            if self.plants(step) && find_code(&read, step) == Some(code(step).as_str()) {
                text.push_str(&format!("Noted: {}. ", fact(step)));
            }
        }
        if steps_done >= self.steps {
            return self.last(&read, text, tools.is_some());
        }
        let last = (steps_done + self.parallel.max(1)).min(self.steps);
        let mut calls: Vec<_> = looks_up.map(|(call, _)| call).into_iter().collect();
        calls.extend(wished_calls(true));
        calls.extend(copies.map(|(call, _)| call));
        for step in (steps_done + 1..=last).filter(|step| self.decides(*step)) {
            text.push_str(&format!("Decided: {}. ", fact(step + DECIDED)));
        }
        for step in steps_done + 1..=last {
            let needed = self.needs(step).map(|part| {
                let seen = find_code(&read, part);
                uses.push(FactUse { step, part, is_found: seen == Some(code(part).as_str()) });
                seen.unwrap_or("UNKNOWN")
            });
            let command = command(step, self.result_tokens, self.plants(step), needed);
            match tools {
                Some(tools) => calls.extend(self.call(step, &command, tools)),
                None => {
                    let (before, after) = &self.fence;
                    text.push_str(&format!("\n{before}{command}{after}\n"));
                }
            }
        }
        if tools.is_some() {
            text.push_str(&format!("Next comes part {}.", steps_done + 1));
        }
        let text = text.trim().to_owned();
        ScriptedReply { step: Some(last), ..turn(calls, uses, text) }
    }

    /// The highest step that is done. Look-ups and wishes bring up earlier steps later on; with them the highest step
    /// of all messages counts.
    fn steps_done(&self, request: &AskedParts) -> u32 {
        let end = self.end();
        let step = |item: &Value| {
            let text = item.to_string();
            // Whoever reads that all is done needs no number of a step.
            if text.contains(&end) { Some(self.steps) } else { highest(&text) }
        };
        let mut steps = request.items.iter().rev().filter_map(step);
        let calls_others =
            self.look_ups.is_some() || !self.wishes.is_empty() || self.copies.is_some();
        let steps_done = if calls_others { steps.max() } else { steps.next() };
        steps_done.unwrap_or(0)
    }

    /// The sentence that begins the final answer.
    fn end(&self) -> String {
        format!("All {} steps are done.", self.steps)
    }

    fn last(&self, read: &str, noted: String, tools: bool) -> ScriptedReply {
        let mut uses = Vec::new();
        let mut codes = Vec::new();
        for part in self.all() {
            let seen = find_code(read, part);
            let is_found = seen == Some(code(part).as_str());
            uses.push(FactUse { step: self.steps + 1, part, is_found });
            codes.push(format!("part {part}: {}", seen.unwrap_or("UNKNOWN")));
        }
        let (before, after) =
            if tools { (String::new(), String::new()) } else { self.last_fence.clone() };
        let text = format!("{noted}{before}{} Codes: {}.{after}", self.end(), codes.join(", "));
        ScriptedReply {
            uses,
            step: Some(self.steps),
            done: true,
            ..ScriptedReply::of_text(ReplyKind::Turn, text)
        }
    }

    /// The call of a step, in the form that the tool's schema asks for. `None` where no tool is offered.
    fn call(&self, step: u32, command: &str, tools: &[OfferedTool]) -> Option<ReplyCall> {
        let tool = match &self.tool {
            Some(name) => tools.iter().find(|tool| tool.name == *name),
            None => tools.iter().filter(|tool| takes_text(tool)).max_by_key(|tool| likeness(tool)),
        };
        let tool = tool.or_else(|| tools.first())?;
        let (name, custom) = (tool.name.clone(), tool.custom);
        if custom {
            return Some(ReplyCall { name, arguments: Value::String(command.to_owned()), custom });
        }
        let properties = tool.schema["properties"].as_object().cloned().unwrap_or_default();
        let argument = self.argument.clone().or_else(|| argument(&tool.schema, &properties));
        let argument = argument.unwrap_or_else(|| "command".to_owned());
        let mut arguments = Map::new();
        for name in array(&tool.schema["required"]).iter().filter_map(Value::as_str) {
            let schema = properties.get(name).cloned().unwrap_or_default();
            arguments.insert(name.to_owned(), filler(name, &schema, step));
        }
        let list = kind(&properties.get(&argument).cloned().unwrap_or_default()) == "array";
        let value = if list { json!(["bash", "-lc", command]) } else { json!(command) };
        arguments.insert(argument, value);
        Some(ReplyCall { name, arguments: Value::Object(arguments), custom })
    }
}

/// The type in a schema, in lower case, because Gemini writes `STRING`. Of several types it is the first that is not
/// null.
fn kind(schema: &Value) -> String {
    let named = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
        Value::Null => {
            array(&schema["anyOf"]).iter().map(|s| s["type"].clone()).find(|k| k != "null")
        }
        other => Some(other.clone()),
    };
    named.as_ref().and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase()
}

fn takes_text(tool: &OfferedTool) -> bool {
    let Some(properties) = tool.schema["properties"].as_object() else { return tool.custom };
    properties.values().any(|schema| matches!(kind(schema).as_str(), "string" | "array"))
}

/// How much a tool looks like a shell; larger is more.
fn likeness(tool: &OfferedTool) -> u32 {
    let name = tool.name.to_ascii_lowercase();
    let exact = [
        "bash",
        "shell",
        "terminal",
        "run_shell_command",
        "exec_command",
        "execute_bash",
        "execute",
        "exec",
        "run_command",
        "execute_command",
        "run_commands",
    ];
    if exact.contains(&name.as_str()) {
        return 4;
    }
    if ["bash", "shell", "terminal"].iter().any(|part| name.contains(part)) {
        return 3;
    }
    let runs = ["command", "exec", "run"].iter().any(|part| name.contains(part));
    let stays = ["write_stdin", "kill", "output", "status"].iter().any(|part| name.contains(part));
    u32::from(runs && !stays) * 2 + u32::from(!tool.custom)
}

/// The argument that takes the command. `None` where no argument takes text.
fn argument(schema: &Value, properties: &Map<String, Value>) -> Option<String> {
    let fits = |name: &&str| {
        properties.get(*name).is_some_and(|s| matches!(kind(s).as_str(), "string" | "array"))
    };
    let known = ["command", "cmd", "commands", "script", "code", "input"];
    let required = array(&schema["required"]).iter().filter_map(Value::as_str);
    let mut candidates =
        known.into_iter().chain(required).chain(properties.keys().map(String::as_str));
    candidates.find(fits).map(str::to_owned)
}

/// A value for an argument that is required.
fn filler(name: &str, schema: &Value, step: u32) -> Value {
    if let Some(first) = array(&schema["enum"]).first() {
        return first.clone();
    }
    match kind(schema).as_str() {
        "boolean" => json!(false),
        // A timeout of 1 could mean a millisecond in some tools.
        "integer" | "number" if name.contains("timeout") => json!(60_000),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!(format!("part {step}")),
    }
}

/// The task of a run, for clients without a task of their own.
#[must_use]
pub fn task(steps: u32) -> String {
    format!(
        "Read all {steps} parts, one after the other, and tell me their codes at the end. Also keep in mind: {}.",
        fact(0)
    )
}
