//! An engine outside of midfold: a process that reads and writes one JSON line per fold (the protocol of `midfold
//! replay --engine`).

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use midfold::DialectKind;
use midfold::formats::read::{TranscriptFormat, read};
use midfold::formats::transcript::flat;
use serde_json::Value;

use crate::exam::process::ChildProcess;
use crate::replay::OutsideEngine;

/// The default time limit for an engine's answer.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The reason why an engine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoEngine {
    /// The command line cannot be split into words.
    #[error("a quote in it is never closed")]
    Quote,
    /// The command line has no words.
    #[error("there is no command")]
    Empty,
    /// The program does not start.
    #[error("{0}")]
    Start(String),
}

/// An engine: its command. Each replay of one conversation in one window has its own process, so that the state of the
/// process belongs to that conversation, even when replays run in parallel.
#[derive(Debug)]
pub struct ExamEngine {
    name: String,
    words: Vec<String>,
    /// The time limit for one answer.
    limit: Duration,
    /// A process that was started to check the command. The first replay uses it.
    spare: Mutex<Option<ChildProcess>>,
    /// The error of the first answer that did not come in time.
    timeout_error: OnceLock<String>,
}

impl ExamEngine {
    /// Starts a command line, which is split into words as a shell does it.
    ///
    /// # Errors
    /// The command line cannot be split, or the program does not start.
    pub fn start(command: &str, limit: Duration) -> Result<Self, NoEngine> {
        Self::of(shlex::split(command).ok_or(NoEngine::Quote)?, limit)
    }

    /// Starts a program with its arguments.
    ///
    /// # Errors
    /// There is no program, or it does not start.
    pub fn of(words: Vec<String>, limit: Duration) -> Result<Self, NoEngine> {
        let program = words.first().ok_or(NoEngine::Empty)?;
        let name = name_of(program, &words);
        let running = ChildProcess::start(&words).map_err(NoEngine::Start)?;
        let (spare, timeout_error) = (Mutex::new(Some(running)), OnceLock::new());
        Ok(Self { name, words, limit, spare, timeout_error })
    }

    /// The name in tables: that of its script, module or program.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The error of the first answer that did not come in time. Such an engine should not be asked again, since each
    /// question would wait for the limit.
    #[must_use]
    pub fn late(&self) -> Option<&str> {
        self.timeout_error.get().map(String::as_str)
    }

    /// Asks a small question, so that an engine that cannot answer is found before hours of work. An engine that
    /// answers with an error passes: the question may be too small for it.
    ///
    /// # Errors
    /// The engine gives no answer in time, or not a valid one.
    pub fn check(&self) -> Result<(), String> {
        let one = |at: usize| {
            let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
            let text = "Said so that there is something to compact. ".repeat(8);
            Bytes::from(format!(r#"{{"role":"{role}","content":"{at}. {}"}}"#, text.trim()))
        };
        let messages: Vec<Bytes> = (0..9).map(one).collect();
        let line = self.process()?.ask(question(&messages, 600), self.limit)?;
        let answer: Option<Value> = serde_json::from_slice(&line).ok();
        if answer.is_some_and(|answer| answer.get("error").is_some()) {
            return Ok(());
        }
        match answered(&Bytes::from(line), &messages, DialectKind::OpenAiChat)?.is_empty() {
            true => Err("its list `messages` is empty".to_owned()),
            false => Ok(()),
        }
    }

    /// A process that was not asked anything.
    fn process(&self) -> Result<ChildProcess, String> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.map_or_else(|| ChildProcess::start(&self.words), Ok)
    }
}

/// The process of one replay, which starts with the first question.
#[derive(Debug)]
pub struct EngineProcess {
    engine: Arc<ExamEngine>,
    running: Option<ChildProcess>,
    dialect: DialectKind,
}

impl EngineProcess {
    /// A replay without a process so far.
    #[must_use]
    pub fn new(engine: Arc<ExamEngine>, dialect: DialectKind) -> Self {
        Self { engine, running: None, dialect }
    }
}

impl OutsideEngine for EngineProcess {
    fn compact(&mut self, messages: &[Bytes], window: u64) -> Result<Vec<Bytes>, String> {
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(self.engine.process()?),
        };
        let answer = running.ask(question(messages, window), self.engine.limit);
        if let (Err(why), true) = (&answer, running.hangs()) {
            self.engine.timeout_error.get_or_init(|| why.clone());
        }
        answered(&Bytes::from(answer?), messages, self.dialect)
    }
}

/// The line with a question.
fn question(messages: &[Bytes], window: u64) -> Vec<u8> {
    let mut line = b"{\"messages\":[".to_vec();
    for (at, message) in messages.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        line.extend(flat(message));
    }
    line.extend(format!("],\"window\":{window}}}\n").into_bytes());
    line
}

/// The name of an engine: the last word before its options (`python3 engine.py --keep 5`), or its Python module
/// (`python3 -m engine`).
fn name_of(program: &str, words: &[String]) -> String {
    let before = words.iter().take_while(|word| !word.starts_with('-'));
    let word = match words {
        [python, flag, module, ..] if flag == "-m" && file_stem(python).starts_with("python") => {
            module
        }
        _ => before.last().map_or(program, String::as_str),
    };
    file_stem(word)
}

fn file_stem(word: &str) -> String {
    let name = std::path::Path::new(word).file_stem().unwrap_or(word.as_ref());
    name.to_string_lossy().into_owned()
}

/// The messages of an answer. An engine may write JSON in another way, so a message that equals one that was sent gets
/// the bytes that were sent.
///
/// # Errors
/// The answer is not valid, or it is an error.
pub fn answered(
    line: &Bytes,
    original: &[Bytes],
    dialect: DialectKind,
) -> Result<Vec<Bytes>, String> {
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
        original.iter().map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    let list = Bytes::from(serde_json::to_vec(messages).unwrap_or_default());
    let format = TranscriptFormat::from_name(dialect.name());
    let written = read(&list, format).map_err(|error| format!("its messages: {error}"))?;
    let written = written.conversations.into_iter().flat_map(|c| c.events);
    let mut at = 0;
    Ok(written
        .zip(messages)
        .map(|(event, value)| {
            let same = |known: &Option<Value>| known.as_ref() == Some(value);
            // Equal messages are paired in order, so that a repeated one keeps its place.
            match known[at..].iter().position(same) {
                Some(skip) => {
                    at += skip + 1;
                    original[at - 1].clone()
                }
                None => event.bytes,
            }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_called_as_its_script_and_not_as_a_value_of_its_options() {
        for (command, name) in [
            ("python3 my/eng.py --keep 5", "eng"),
            ("python3 eng.py", "eng"),
            ("/usr/bin/eng", "eng"),
            ("eng --keep 5", "eng"),
            ("python3 -m eng --keep 5", "eng"),
            ("-eng", "-eng"),
        ] {
            let words = shlex::split(command).unwrap();
            assert_eq!(name_of(&words[0], &words), name, "{command}");
        }
    }
}
