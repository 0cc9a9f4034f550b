//! What the examples share: a session for one tool, and that tool.

use std::error::Error;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use midfold::formats::read::read;
use midfold::{Budget, Context, Policy, RawEvent, Refused, Session, Setup};
use serde_json::{Value, json};

/// Whatever went wrong.
pub type Failed = Box<dyn Error>;

/// Instructions of the agents.
pub const SYSTEM: &str = "You are an agent with a shell. Work step by step.";
/// Tokens that are left free for a reply.
pub const REPLY: u32 = 1_024;

/// The one tool, as Chat Completions has it.
pub fn tool() -> Value {
    json!({ "type": "function", "function": {
        "name": "bash", "description": "Runs a command and returns what it prints.",
        "parameters": { "type": "object", "properties": { "command": { "type": "string" } } } } })
}

/// A conversation that always fits.
pub struct Agent {
    /// The session.
    pub session: Session,
    /// What it has to fit.
    pub budget: Budget,
}

impl Agent {
    /// A conversation that begins with a task.
    pub fn new(model: &str, window: u64, task: &str) -> Result<Self, Failed> {
        // Read as a request, so that tools and instructions are counted.
        let request = json!({ "model": model, "tools": [tool()], "messages": [
            { "role": "system", "content": SYSTEM }, { "role": "user", "content": task }] });
        let conversation = read(&request.to_string().into(), None)?.conversations.remove(0);
        let prepared = Setup::new().window(window).prepare(conversation)?;
        let policy = Policy::preset("default")?;
        let session = Session::over("agent", prepared.log, policy, prepared.meter);
        let budget = Budget { output_reserve: REPLY.into(), ..Budget::new(window) };
        Ok(Self { session, budget })
    }

    /// The messages to send, folded first where that is due.
    pub fn context(&mut self) -> Result<Context, Failed> {
        Ok(self.session.context(&self.budget, now())?)
    }

    /// The messages to send after a refusal; an error where it was not that they are too long.
    pub fn recover(&mut self, status: u16, body: &str) -> Result<Context, Failed> {
        let refused = Refused { status: Some(status), body: body.as_bytes(), reply: REPLY.into() };
        let judged = refused.judge(&self.session.status(&self.budget, now()), REPLY.into());
        let overflow = judged.overflow.ok_or_else(|| format!("{status}: {body}"))?;
        Ok(self.session.recover(&self.budget, overflow, now())?)
    }

    /// What the provider counted for the last request.
    pub fn observe(&mut self, usage: midfold::core::Usage) {
        self.session.observe(usage, now());
    }

    /// Adds a message, as its bytes.
    pub fn append(&mut self, message: impl Into<bytes::Bytes>) {
        self.session.append(RawEvent::new(message.into()));
    }

    /// Runs a call, and adds what it returned.
    pub fn run(&mut self, id: &str, command: &str) -> Result<(), Failed> {
        let output = Command::new("sh").args(["-c", command]).output()?;
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let result = json!({ "role": "tool", "tool_call_id": id, "content": text });
        self.append(result.to_string());
        Ok(())
    }
}

/// Milliseconds since 1970: the engine has no clock of its own.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// URL, model, window and task of the command line.
pub fn arguments() -> Result<(String, String, u64, String), Failed> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args[..] {
        [url, model, window, task] => {
            Ok((url.clone(), model.clone(), window.parse()?, task.clone()))
        }
        _ => Err("usage: URL MODEL WINDOW TASK".into()),
    }
}
