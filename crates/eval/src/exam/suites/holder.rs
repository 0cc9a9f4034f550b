//! Holds a conversation: in a session with a policy, or with an engine outside, which gets its own last answer.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use midfold::formats::profile;
use midfold::{
    Budget, CompactionRequest, DialectKind, Door, EventLog, Meter, ModelNarration, Policy,
    RawEvent, Session, Setup,
};

use super::carrier::CarrierMessage;
use crate::exam::engine::EngineProcess;
use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};
use crate::exam::reading::{conversation, counter};
use crate::exam::sitting::ExamCandidate;
use crate::replay::OutsideEngine as _;

/// The time between two requests, in milliseconds.
const PACE: u64 = 60_000;

/// The window in tokens for a compaction to a requested size.
const WINDOW: u64 = 128_000;

/// The holder of one conversation.
pub struct ConversationHolder {
    kind: HolderKind,
    /// The most tokens of a context.
    size: u64,
    /// The time of the last request, in milliseconds.
    now: u64,
}

/// The way in which the conversation is held.
enum HolderKind {
    Raw(EventLog),
    Session(Box<Session>),
    /// The last answer and the messages that followed, as repeated calls of `midfold compact --target` get them.
    Asked(EventLog, Box<Policy>, usize),
    Outside(EventLog, Box<EngineProcess>, usize),
}

/// The context of a request.
#[derive(Clone, Debug, Default)]
pub struct HeldRequest {
    /// The messages.
    pub messages: Vec<Bytes>,
    /// The tokens of the messages.
    pub tokens: u64,
    /// The number of folds so far.
    pub folds: usize,
}

impl ConversationHolder {
    /// An empty conversation, whose context may have `size` tokens.
    ///
    /// # Errors
    /// An engine outside has missed its time limit before.
    pub fn new(candidate: &ExamCandidate, size: u64) -> ExamResult<Self> {
        let kind = match candidate {
            ExamCandidate::Raw => HolderKind::Raw(empty_log()?),
            ExamCandidate::Policy(policy) => HolderKind::Session(Box::new(session(policy)?)),
            ExamCandidate::Engine(engine) => {
                if let Some(why) = engine.late() {
                    return Err(ExamError(format!("the engine: {why}, and is not asked again")));
                }
                let asking = EngineProcess::new(Arc::clone(engine), DialectKind::OpenAiChat);
                HolderKind::Outside(empty_log()?, Box::new(asking), 0)
            }
        };
        Ok(Self { kind, size, now: 0 })
    }

    /// An empty conversation that is compacted to the size on request, each time from its own last answer. For an
    /// engine outside it is the same as [`ConversationHolder::new`].
    ///
    /// # Errors
    /// The errors of [`ConversationHolder::new`].
    pub fn on_demand(candidate: &ExamCandidate, size: u64) -> ExamResult<Self> {
        match candidate {
            ExamCandidate::Policy(policy) => {
                Ok(Self { kind: HolderKind::Asked(empty_log()?, policy.clone(), 0), size, now: 0 })
            }
            ExamCandidate::Raw | ExamCandidate::Engine(_) => Self::new(candidate, size),
        }
    }

    /// Adds a message.
    pub fn say(&mut self, message: &Bytes) {
        let event = RawEvent::new(message.clone());
        match &mut self.kind {
            HolderKind::Raw(log) | HolderKind::Asked(log, ..) | HolderKind::Outside(log, ..) => {
                log.append(event);
            }
            HolderKind::Session(session) => {
                session.append(event);
            }
        }
    }

    /// The context of the next request. It is compacted first where that is due: by the policy's trigger, or for an
    /// engine outside when its messages exceed 0.8 of the size.
    ///
    /// # Errors
    /// The events that may not be folded do not fit, or the engine fails.
    pub fn ask(&mut self) -> ExamResult<HeldRequest> {
        // A session judges by the time between requests, so each request gets a later one.
        self.now += PACE;
        match &mut self.kind {
            HolderKind::Session(session) => {
                let context = session.context(&Budget::new(self.size), self.now);
                context.at("the session")?;
            }
            HolderKind::Outside(log, ..) if log.tokens() * 10 > self.size * 8 => self.compact()?,
            HolderKind::Raw(_) | HolderKind::Asked(..) | HolderKind::Outside(..) => {}
        }
        Ok(self.request())
    }

    /// Compacts to the size, as a user may request it.
    ///
    /// # Errors
    /// The errors of [`ConversationHolder::ask`].
    pub fn compact(&mut self) -> ExamResult<()> {
        match &mut self.kind {
            HolderKind::Raw(_) => {}
            HolderKind::Session(session) => {
                session.compact(&Budget::new(self.size), None).at("the session")?;
            }
            HolderKind::Asked(log, policy, folds) => {
                let answer = compacted_to(log, policy, self.size)?;
                take_answer(log, folds, answer)?;
            }
            HolderKind::Outside(log, process, folds) => {
                let messages: Vec<Bytes> = log.events().iter().map(|e| e.bytes.clone()).collect();
                let answer = process.compact(&messages, self.size).at("the engine")?;
                take_answer(log, folds, answer)?;
            }
        }
        Ok(())
    }

    /// Sets another size, in tokens.
    pub fn resize(&mut self, size: u64) {
        self.size = size;
    }

    /// The context as it is, without a compaction.
    #[must_use]
    pub fn request(&self) -> HeldRequest {
        match &self.kind {
            HolderKind::Raw(log) => request_of(log, 0),
            HolderKind::Asked(log, _, folds) | HolderKind::Outside(log, _, folds) => {
                request_of(log, *folds)
            }
            HolderKind::Session(session) => {
                let context = session.view();
                HeldRequest {
                    messages: context.pieces().map(|piece| piece.bytes.clone()).collect(),
                    tokens: context.tokens(),
                    folds: session.folds().len(),
                }
            }
        }
    }
}

impl HeldRequest {
    /// Writes the messages to a file in the folder. Does nothing without a folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: Option<&Path>, name: &str) -> ExamResult<()> {
        let Some(folder) = folder else { return Ok(()) };
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let path = folder.join(format!("{name}.txt"));
        let dialect = DialectKind::OpenAiChat.shared();
        let mut text = format!("{} tokens, {} folds\n", self.tokens, self.folds);
        for bytes in &self.messages {
            let view = dialect.view(bytes);
            let _ = writeln!(text, "=== {}\n{}", view.role.name(), view.plain(bytes));
        }
        std::fs::write(&path, text).at(path.display())
    }
}

/// Goes on with the answer of a compaction. One that is what was held has folded nothing.
fn take_answer(log: &mut EventLog, folds: &mut usize, answer: Vec<Bytes>) -> ExamResult<()> {
    if !answer.iter().eq(log.events().iter().map(|event| &event.bytes)) {
        *folds += 1;
        *log = log_of(answer)?;
    }
    Ok(())
}

fn request_of(log: &EventLog, folds: usize) -> HeldRequest {
    let messages = log.events().iter().map(|event| event.bytes.clone()).collect();
    HeldRequest { messages, tokens: log.tokens(), folds }
}

fn empty_log() -> ExamResult<EventLog> {
    let kind = DialectKind::OpenAiChat;
    Ok(EventLog::new(kind.shared(), profile::for_dialect(kind)[0], counter()?))
}

fn log_of(messages: Vec<Bytes>) -> ExamResult<EventLog> {
    let mut log = empty_log()?;
    messages.into_iter().for_each(|bytes| {
        log.append(RawEvent::new(bytes));
    });
    Ok(log)
}

/// The messages, compacted to a target in the window of a large model. A policy without a target gets the size as its
/// window.
fn compacted_to(log: &EventLog, policy: &Policy, size: u64) -> ExamResult<Vec<Bytes>> {
    let mut list = vec![b'['];
    for event in log.events() {
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(&event.bytes);
    }
    list.push(b']');
    let list = Bytes::from(list);
    let compacted = |window: u64, target: Option<u64>| {
        let read = conversation(&list)?;
        let mut setup = Setup::new().counter(counter()?).window(window);
        let prepared = setup.prepare(read).at("the conversation")?;
        let request = CompactionRequest { target, ..CompactionRequest::by(policy.clone()) };
        let outcome = request.run(&prepared, &[], &ModelNarration::default(), Door::Command);
        outcome.map_err(|failure| ExamError(failure.message))
    };
    // A policy may miss the target without an error, so the size of the result decides.
    let outcome = match compacted(WINDOW, Some(size)) {
        Ok(outcome) if outcome.context.tokens() <= size => outcome,
        _ => compacted(size, None)?,
    };
    Ok(outcome.context.pieces().map(|piece| piece.bytes.clone()).collect())
}

fn session(policy: &Policy) -> ExamResult<Session> {
    Ok(Session::over("exam", empty_log()?, policy.clone(), Meter::exact()))
}

/// The messages as they are sent.
#[must_use]
pub fn bytes(messages: &[CarrierMessage]) -> Vec<Bytes> {
    messages.iter().map(|message| Bytes::from(message.json())).collect()
}

/// The start of a message of the assistant.
const ASSISTANT: &[u8] = br#"{"role":"assistant""#;

/// Runs a whole conversation: makes a request before each message of the assistant but those that begin it, and one at
/// the end.
///
/// # Errors
/// The events that may not be folded do not fit, or the engine fails.
pub fn walk(candidate: &ExamCandidate, size: u64, messages: &[Bytes]) -> ExamResult<HeldRequest> {
    let mut holder = ConversationHolder::new(candidate, size)?;
    for (at, message) in messages.iter().enumerate() {
        if at > 1 && message.starts_with(ASSISTANT) {
            holder.ask()?;
        }
        holder.say(message);
    }
    holder.ask()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compaction_that_takes_nothing_out_is_no_fold() {
        let candidate = ExamCandidate::Policy(Box::new(Policy::preset("default").unwrap()));
        let mut holder = ConversationHolder::on_demand(&candidate, 100_000).unwrap();
        for role in ["user", "assistant"] {
            holder.say(&format!(r#"{{"role":"{role}","content":"Hello."}}"#).into());
        }
        let before = holder.request().messages;
        holder.compact().unwrap();
        assert_eq!((holder.request().folds, holder.request().messages), (0, before));
    }
}
