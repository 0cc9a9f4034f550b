//! The work of the plug-in for Claude Code: the event `session.compact` comes on standard input, the messages that take
//! the place of the client's summary go to standard output.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midfold::blocking::{HandedContext, Session, Sessions, Start};
use midfold::core::inject::Injections;
use midfold::{DialectKind, PlanOutcome, Settings};
use midfold_args::StoreAt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client_rows::{ClientRow, RowMessages, answer_rows};
use crate::config;
use crate::error::CommandError;
use crate::host::url_of;
use crate::input::HOST;
use crate::runtime;
use crate::words::{number, plural, quoted};

/// The event, as the plug-in passes it on.
#[derive(Debug, Deserialize)]
pub struct CompactionEvent {
    /// The id of the client's session.
    pub session: String,
    /// The id of the subagent whose transcript is compacted.
    #[serde(default)]
    pub agent: Option<String>,
    /// The reason: `manual`, `auto` or `plugin`.
    pub trigger: String,
    /// The words behind `/compact`.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The model of the session.
    #[serde(default)]
    pub model: Option<String>,
    /// The tokens of the model's window.
    #[serde(default)]
    pub window: Option<u64>,
    /// The transcript.
    pub messages: Vec<ClientRow>,
}

/// The window while messages are only counted: so large that nothing folds.
const WIDE: u64 = 1 << 40;
/// The fewest tokens of a room to fold into. Below it, the reserves of a policy may leave nothing.
const LEAST: u64 = 2_000;
/// The window where the client says none.
const WINDOW: u64 = 200_000;

impl CompactionEvent {
    /// Reads the event.
    ///
    /// # Errors
    /// If it is not the event that this version knows.
    pub fn read(bytes: &[u8]) -> Result<Self, CommandError> {
        let event: Self = serde_json::from_slice(bytes).map_err(|error| {
            CommandError::failed(format!("the event of session.compact cannot be read: {error}"))
                .hint("Claude Code 2.1.332 was tried; update midfold, or the client's plug-in by `midfold hooks install claude`")
        })?;
        if event.messages.is_empty() {
            return Err(CommandError::failed("the event of session.compact has no messages"));
        }
        Ok(event)
    }

    /// The id of the stored session. A subagent has its own.
    #[must_use]
    pub fn id(&self) -> String {
        match &self.agent {
            Some(agent) => format!("{}-agent-{agent}", self.session),
            None => self.session.clone(),
        }
    }

    fn focus(&self) -> Option<&str> {
        self.instructions.as_deref().map(str::trim).filter(|words| !words.is_empty())
    }
}

/// A session that the facade shares out.
#[derive(Clone)]
struct SharedSession(Arc<Mutex<Session>>);

impl AsRef<Mutex<Session>> for SharedSession {
    fn as_ref(&self) -> &Mutex<Session> {
        &self.0
    }
}

impl SharedSession {
    fn lock(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores the messages of the event, folds them, and returns the answer for the client: `messages` with a `receipt`, or
/// `skip` with a reason.
///
/// # Errors
/// If the store fails, or nothing smaller can be made where the client needs room.
pub fn fold(event: &CompactionEvent, at: &StoreAt) -> Result<Value, CommandError> {
    let RowMessages { events, places } = RowMessages::of(&event.messages);
    let sessions = sessions(event, at)?;
    let id = event.id();
    if let Some(known) = sessions.find(Some(&id), &[])? {
        event.give_room(&mut known.lock(), WIDE)?;
    }
    let (shared, before) = sessions.project(Some(&id), &events, None)?;
    let mut session = shared.lock();
    // A compaction always makes the conversation smaller, whatever share of the window it takes.
    let room = before.context.tokens().clamp(LEAST, event.window.unwrap_or(WINDOW).max(LEAST));
    event.give_room(&mut session, room)?;
    let folded = session.compact(event.focus(), false);
    let outcome = match folded {
        Ok((PlanOutcome::Nothing(reason), _)) => Err(reason.to_string()),
        Ok((PlanOutcome::Folded(_), _)) => Ok(session.context(Injections::default(), &[])?),
        Err(error) => {
            event.give_room(&mut session, event.window.unwrap_or(WINDOW))?;
            return Err(error.into());
        }
    };
    event.give_room(&mut session, event.window.unwrap_or(WINDOW))?;
    match outcome {
        Ok(after) => event.answer(session.id(), &before, &after, &places),
        // The client needs room, so it has to make it by itself.
        Err(reason) if event.trigger == "auto" => {
            Err(CommandError::failed(format!("nothing can be folded: {reason}")))
        }
        Err(reason) => Ok(json!({ "skip": format!("midfold: {reason}") })),
    }
}

fn sessions(event: &CompactionEvent, at: &StoreAt) -> Result<Sessions<SharedSession>, CommandError> {
    let settings = Settings {
        store: Some(url_of(at)?),
        model: event.model.clone(),
        window: Some(WIDE),
        ..config::settings()?
    };
    let start = Start {
        kind: DialectKind::Anthropic,
        settings,
        ..Start::new(config::policy(Settings::default())?, HOST, runtime::now)
    };
    Ok(Sessions::new(start, 1, |session| SharedSession(Arc::new(Mutex::new(session)))))
}

impl CompactionEvent {
    fn give_room(&self, session: &mut Session, window: u64) -> Result<(), CommandError> {
        let model = self.model.as_deref().unwrap_or("claude");
        Ok(session.update_model(model, Some(window))?)
    }

    fn answer(
        &self,
        id: &str,
        before: &HandedContext,
        after: &HandedContext,
        places: &[std::ops::Range<usize>],
    ) -> Result<Value, CommandError> {
        let origins = after.origins.as_deref().ok_or_else(|| {
            CommandError::failed("the folded messages have no place in the client's transcript")
        })?;
        let messages = answer_rows(&after.context, origins, &self.messages, places);
        let kept = messages.iter().filter(|row| row.get("handle").is_some()).count();
        let gone = (self.messages.len() - kept) as u64;
        let receipt = format!(
            "midfold folded {} of {} without a model, about {} → {} tokens; {} stayed word for word. \
             The rest comes back: the recall tools, or `midfold recall grep {} WORDS`.",
            number(gone),
            plural(self.messages.len() as u64, "message"),
            number(before.context.tokens()),
            number(after.context.tokens()),
            number(kept as u64),
            quoted(id),
        );
        Ok(json!({ "messages": messages, "receipt": receipt, "session": id }))
    }
}
