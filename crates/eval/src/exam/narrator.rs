//! A model that narrates, behind a command: one line of JSON for each request, and one for its answer.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use midfold::core::narrate::{
    FailureClass, FinishReason, SummaryFailure, SummaryReply, SummaryRequest,
};
use serde_json::{Value, json};

use crate::exam::engine::NoEngine;
use crate::exam::process::ChildProcess;
use crate::replay;

/// A command that is asked for narrations. It runs as one process, which is started again when it ends.
#[derive(Debug)]
pub struct ExamNarrator {
    words: Vec<String>,
    /// The time limit for one answer.
    limit: Duration,
    running: Mutex<Option<ChildProcess>>,
    counts: Mutex<NarratorCounts>,
}

/// The number of requests, and how they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NarratorCounts {
    /// The number of requests.
    pub asked: u64,
    /// The number of requests that were answered with a text.
    pub answered: u64,
    /// The newest error. `None` where there was none.
    pub failed: Option<String>,
}

impl std::fmt::Display for NarratorCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "narrations: {} asked for, {} answered", self.asked, self.answered)?;
        self.failed.iter().try_for_each(|why| write!(f, "; the newest failure: {why}"))
    }
}

impl ExamNarrator {
    /// Starts a command line, which is split into words as a shell does it.
    ///
    /// # Errors
    /// The command line cannot be split, or the program does not start.
    pub fn start(command: &str, limit: Duration) -> Result<Self, NoEngine> {
        let words = shlex::split(command).ok_or(NoEngine::Quote)?;
        if words.is_empty() {
            return Err(NoEngine::Empty);
        }
        let running = Mutex::new(Some(ChildProcess::start(&words).map_err(NoEngine::Start)?));
        Ok(Self { words, limit, running, counts: Mutex::default() })
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> NarratorCounts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(&self, request: &SummaryRequest) -> Result<SummaryReply, String> {
        let mut slot = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = match slot.take() {
            Some(running) => running,
            None => ChildProcess::start(&self.words)?,
        };
        let answer = running.ask(question(request), self.limit)?;
        // A process that failed is not put back: its late answer would go to the next question.
        *slot = Some(running);
        drop(slot);
        reply(&answer)
    }
}

impl replay::ReplayNarrator for ExamNarrator {
    fn narrate(&self, request: &SummaryRequest) -> Result<SummaryReply, SummaryFailure> {
        let answer = self.ask(request);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.asked += 1;
        match &answer {
            Ok(_) => counts.answered += 1,
            Err(why) => counts.failed = Some(why.clone()),
        }
        answer.map_err(|detail| SummaryFailure::new(FailureClass::Garbage, detail))
    }
}

/// The line with a question: the two messages of a prompt. All sources of the request are in one prompt, because models
/// with a smaller window are not what is measured here.
fn question(request: &SummaryRequest) -> Vec<u8> {
    let prompt = request.prompt(&request.sources, request.previous.as_deref());
    let line = json!({
        "id": request.id.to_hex(),
        "system": prompt.system,
        "user": prompt.user,
        "max_tokens": request.max_tokens,
    });
    format!("{line}\n").into_bytes()
}

/// Reads an answer: `{"text": "…"}`, or `{"error": "…"}`.
fn reply(line: &[u8]) -> Result<SummaryReply, String> {
    let value: Value = serde_json::from_slice(line).map_err(
        |_| "it does not answer with one line of JSON, {\"text\": \"…\"} or {\"error\": \"…\"}",
    )?;
    let field = |name: &str| value.get(name).and_then(Value::as_str);
    let Some(text) = field("text") else {
        return Err(field("error").unwrap_or("its answer has no `text`").to_owned());
    };
    Ok(SummaryReply {
        text: text.to_owned(),
        finish: FinishReason::Stop,
        model: field("model").unwrap_or("model").to_owned(),
        usage: None,
        calls: 1,
    })
}
