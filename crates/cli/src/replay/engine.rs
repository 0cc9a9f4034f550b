//! An engine outside: processes that read and write one JSON line a fold.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use midfold::DialectKind;
use midfold::core::replay::Outside;
use midfold::formats::read::{Format, read};
use serde_json::Value;

use crate::error::CommandError;
use crate::replay::process::Running;

/// An engine: its command. It has a process for each replay, of one conversation in one window, so
/// that what it holds from one question to the next is of that conversation, whatever runs beside.
pub struct Engine {
    name: String,
    words: Vec<String>,
    /// How long it may take for an answer.
    limit: Duration,
    /// Started to see that it can be, for the first replay that asks.
    spare: Mutex<Option<Running>>,
}

impl Engine {
    /// Starts a command line, which is split as a shell would.
    pub fn start(command: &str, limit: Duration) -> Result<Self, CommandError> {
        let words = shlex::split(command).ok_or_else(|| {
            CommandError::usage(format!("--engine {command}: a quote in it is never closed"))
        })?;
        Self::of(words, limit)
    }

    /// Starts a program with its arguments.
    pub fn of(words: Vec<String>, limit: Duration) -> Result<Self, CommandError> {
        let Some(program) = words.first() else {
            return Err(CommandError::usage("--engine is given no command"));
        };
        let name = words.iter().rev().find(|word| !word.starts_with('-')).unwrap_or(program);
        let name = std::path::Path::new(name).file_stem().unwrap_or(name.as_ref());
        let name = name.to_string_lossy().into_owned();
        let running = Running::start(&words).map_err(|text| {
            CommandError::failed(text)
                .hint("an engine is a program and its arguments: 'python engine.py'")
        })?;
        Ok(Self { name, words, limit, spare: Mutex::new(Some(running)) })
    }

    /// What it is called in tables: its script or program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A process that was asked nothing.
    fn process(&self) -> Result<Running, String> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.map_or_else(|| Running::start(&self.words), Ok)
    }
}

/// One replay's process, from the first question on.
pub struct Asking<'a> {
    engine: &'a Engine,
    running: Option<Running>,
    dialect: DialectKind,
}

impl<'a> Asking<'a> {
    pub fn new(engine: &'a Engine, dialect: DialectKind) -> Self {
        Self { engine, running: None, dialect }
    }
}

impl Outside for Asking<'_> {
    fn compact(&mut self, messages: &[Bytes], window: u64) -> Result<Vec<Bytes>, String> {
        let mut request = b"{\"messages\":[".to_vec();
        for (at, message) in messages.iter().enumerate() {
            if at > 0 {
                request.push(b',');
            }
            request.extend(crate::transcript::flat(message));
        }
        request.extend(format!("],\"window\":{window}}}\n").into_bytes());
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(self.engine.process()?),
        };
        let answer = running.ask(request, self.engine.limit)?;
        answered(&Bytes::from(answer), messages, self.dialect)
    }
}

/// The messages of an answer. Those that say the same as one that was sent are that one, byte for
/// byte: an engine may write JSON otherwise.
pub fn answered(line: &Bytes, sent: &[Bytes], dialect: DialectKind) -> Result<Vec<Bytes>, String> {
    let start = String::from_utf8_lossy(&line[..line.len().min(120)]).into_owned();
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| format!("its answer is not JSON ({error}): {start}"))?;
    if let Some(error) = value.get("error") {
        return Err(error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    }
    let Some(messages) = value.get("messages").and_then(Value::as_array) else {
        return Err(format!("its answer has no list `messages`: {start}"));
    };
    let known: Vec<Option<Value>> =
        sent.iter().map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    let list = Bytes::from(serde_json::to_vec(messages).unwrap_or_default());
    let format = Format::from_name(dialect.name());
    let written = read(&list, format).map_err(|error| format!("its messages: {error}"))?;
    let written = written.conversations.into_iter().flat_map(|c| c.events);
    let mut at = 0;
    Ok(written
        .zip(messages)
        .map(|(event, value)| {
            let same = |known: &Option<Value>| known.as_ref() == Some(value);
            match known[at..].iter().position(same) {
                Some(skip) => {
                    at += skip + 1;
                    sent[at - 1].clone()
                }
                None => event.bytes,
            }
        })
        .collect())
}
