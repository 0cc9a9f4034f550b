//! The work of the plug-in for Claude Code: the event `session.compact` comes on standard input, the messages that take
//! the place of the client's summary go to standard output.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midfold::blocking::{HandedContext, Session, Sessions, Start};
use midfold::core::inject::Injections;
use midfold::store::recall::{ToolListShape, tools};
use midfold::{DialectKind, PlanOutcome, Settings};
use midfold_args::StoreAt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client_rows::{AnswerRows, ClientRow, RowMessages};
use crate::config;
use crate::error::CommandError;
use crate::host::url_of;
use crate::input::HOST;
use crate::runtime;
use crate::words::{number, plural, quoted};

/// The event, as the plug-in passes it on.
#[derive(Debug, Deserialize)]
pub struct CompactionEvent {
    /// The id of the stored session: the client's own, and that of the subagent whose transcript is compacted.
    pub session: String,
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

/// The fewest tokens of a room to fold into. A recap takes a quarter of it at most, and below 4,000 tokens it loses
/// words of the user. The client's own prompt is larger.
const LEAST: u64 = 16_000;
/// A window in tokens that every conversation fits.
const TAKEN: u64 = 10_000_000;
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
                .hint("Claude Code 2.1.332 was tried; update midfold, or the client's plug-in by `midfold connect claude`")
        })?;
        if event.messages.is_empty() {
            return Err(CommandError::failed("the event of session.compact has no messages"));
        }
        Ok(event)
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
    let (shared, before) = sessions(event, at)?.project(Some(&event.session), &events, None)?;
    let mut session = shared.lock();
    event.keep_window(&mut session)?;
    // A compaction makes the conversation smaller, however little of the window it takes.
    let room = before.context.tokens().max(LEAST);
    match session.compact_within(Some(room), event.focus())?.0 {
        PlanOutcome::Folded(_) => {
            let after = session.context(Injections::default(), &[])?;
            event.answer(session.id(), &before, &after, &places)
        }
        // The client needs room, so it has to make it by itself.
        PlanOutcome::Nothing(reason) if event.trigger == "auto" => {
            Err(CommandError::failed(format!("nothing can be folded: {reason}")))
        }
        PlanOutcome::Nothing(reason) => Ok(json!({ "skip": format!("midfold: {reason}") })),
    }
}

fn sessions(
    event: &CompactionEvent,
    at: &StoreAt,
) -> Result<Sessions<SharedSession>, CommandError> {
    let settings = Settings {
        store: Some(url_of(at)?),
        model: event.model.clone(),
        // All of it is taken: midfold may count more than the client does. `keep_window` sets the client's own.
        window: Some(TAKEN),
        ..config::settings()?
    };
    // The plug-in brings the recall tool.
    let mut policy = config::policy(Settings { looks_up: true, ..Settings::default() })?;
    // The client decides when it compacts.
    policy.trigger.on = false;
    let start = Start {
        kind: DialectKind::Anthropic,
        settings,
        // The plug-in brings them, and the recap says that numbers of messages are for them.
        tools: Some(tools(ToolListShape::Anthropic).into()),
        ..Start::new(policy, HOST, runtime::now)
    };
    Ok(Sessions::new(start, 1, |session| SharedSession(Arc::new(Mutex::new(session)))))
}

impl CompactionEvent {
    fn window(&self) -> u64 {
        self.window.filter(|window| *window > 0).unwrap_or(WINDOW)
    }

    /// Sets the window that the client has for its model.
    fn keep_window(&self, session: &mut Session) -> Result<(), CommandError> {
        let status = session.status()?;
        if status.context_length == self.window() {
            return Ok(());
        }
        let model = self.model.as_deref().unwrap_or(&status.model);
        Ok(session.update_model(model, Some(self.window()))?)
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
        let AnswerRows { rows, unchanged } =
            AnswerRows::of(&after.context, origins, &self.messages, places);
        let folded = self.messages.len().saturating_sub(unchanged) as u64;
        // The client writes the plug-in's name before it.
        let receipt = format!(
            "{} of {} folded without a model, about {} → {} tokens; {} stayed word for word. The rest \
             comes back: the recall tools, or `midfold recall find {} WORDS`.",
            number(folded),
            plural(self.messages.len() as u64, "message"),
            number(before.context.tokens()),
            number(after.context.tokens()),
            number(unchanged as u64),
            quoted(id),
        );
        Ok(json!({ "messages": rows, "receipt": receipt, "session": id }))
    }
}
