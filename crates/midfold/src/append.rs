//! Reads messages that are to be appended to a session, and checks that they fit its dialect. One part that is no
//! message refuses all of them: if it were left out silently, it would be lost.

use bytes::Bytes;
use midfold_core::RawEvent;
use midfold_core::log::EventLog;
use midfold_formats::read::{Conversation, MessageWrapper, ReadError, read};
use midfold_formats::{DialectKind, ReadProblem, role};
#[cfg(feature = "store")]
use midfold_store::{AppendOutcome, Millis, StoredError, StoredSession};

use crate::advice::{AdvisedError, MESSAGE};
use crate::failure::{Door, Failure, FailureArea};
use crate::given_messages::no_ai_sdk;

/// Messages that were read, and the format that they were read as.
///
/// ```
/// use midfold::{DialectKind, Door, IncomingMessages};
/// let bytes = bytes::Bytes::from(r#"{"role":"user","content":"hi"}"#);
/// let incoming = IncomingMessages::read(&bytes, "standard input", Door::Command)?;
/// let events = incoming.events_for(DialectKind::Anthropic, "my-session")?;
/// assert_eq!(events.len(), 1);
/// # Ok::<(), midfold::Failure>(())
/// ```
pub struct IncomingMessages {
    /// The name of the source in error messages: a file, or `standard input`.
    name: String,
    door: Door,
    conversation: Conversation,
}

impl IncomingMessages {
    /// Reads one message, a list of messages, or one message a line. `name` is the source in error messages.
    ///
    /// # Errors
    /// If any part is not a message, or the messages belong to more than one conversation.
    pub fn read(bytes: &Bytes, name: &str, door: Door) -> Result<Self, Failure> {
        let mut outcome = read(bytes, None).map_err(|error| unread(error, name, door))?;
        // A byte-order mark is no message, and a message that a client cleared is read as it was before. Any other
        // problem means that a message would be left out or changed.
        let harmless = ["byte-order-mark", "cleared-by-client"];
        let odd = outcome.problems.iter().find(|problem| !harmless.contains(&problem.code));
        if let Some(problem) = odd {
            return Err(left_out(problem, name, door));
        }
        let count = outcome.conversations.len();
        let (1, Some(conversation)) = (count, outcome.conversations.pop()) else {
            let text = format!("{name} holds {count} conversations, not one");
            return Err(Failure::new(FailureArea::Input, text).hint(
                door.says("`midfold import` makes a session of each", "pass one at a time"),
            ));
        };
        Ok(Self { name: name.to_owned(), door, conversation })
    }

    /// Whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conversation.events.is_empty()
    }

    /// The JSON around the messages; `None` for a bare list.
    #[must_use]
    pub fn wrapper(&self) -> Option<&MessageWrapper> {
        self.conversation.envelope.wrapper.as_ref()
    }

    /// The messages as they were read.
    #[must_use]
    pub fn messages(&self) -> &[RawEvent] {
        &self.conversation.events
    }

    /// Returns the messages as a session of this dialect keeps them.
    ///
    /// # Errors
    /// If they are in another dialect, or one has a role that the dialect does not know.
    pub fn events_for(&self, kind: DialectKind, session: &str) -> Result<Vec<RawEvent>, Failure> {
        let Conversation { format, events, .. } = &self.conversation;
        no_ai_sdk(&self.conversation, &format!("{}, ", self.name), self.door)?;
        let dialect = format.dialect();
        let messages = events.iter().map(|event| &event.bytes[..]);
        if let Some((at, role)) = role::unknown(dialect, messages) {
            let text = format!("{}, message {at}: {kind} has no role `{role}`", self.name);
            return Err(Failure::new(FailureArea::Input, text).hint(self.door.says(
                "nothing was appended; `midfold import` takes a transcript as it is",
                "nothing was appended",
            )));
        }
        if role::fits(&self.conversation, kind) {
            return Ok(events.iter().map(bare).collect());
        }
        let text = format!(
            "{}: these are {dialect} messages, and session `{session}` holds {kind}",
            self.name
        );
        let failure = Failure::new(FailureArea::Input, text);
        Err(match self.door {
            Door::Command => {
                let file = if self.name == "standard input" { "FILE" } else { &self.name };
                failure
                    .hint(format!("a session of their own: midfold import {file}"))
                    .hint(format!("converted: midfold import {file} --to {kind}"))
            }
            Door::Python => {
                failure.hint(format!("a session of their own: Session(dialect=\"{dialect}\")"))
            }
            Door::Node => failure
                .hint(format!("a session of their own: new Session({{ dialect: '{dialect}' }})")),
            Door::Http => failure.hint(format!(
                "a session of their own: POST /v1/sessions {{\"dialect\": \"{dialect}\"}}"
            )),
        })
    }
}

/// Returns the messages of a log in the form in which they can be appended to a session.
#[must_use]
pub fn events_of(log: &EventLog) -> Vec<RawEvent> {
    let event = |event: &midfold_core::log::Event| RawEvent {
        usage: event.usage,
        origin: event.known_origin,
        at: event.at,
        failed: event.view.has_failed_result(),
        ..RawEvent::new(Bytes::clone(&event.bytes))
    };
    log.events().iter().map(event).collect()
}

/// Appends to a stored session. With `expect`, appends only if the session has exactly that many messages. A retry with
/// the same `key` returns the first answer, and `expect` is then not checked.
///
/// # Errors
/// If somebody else appended meanwhile, if the key belongs to another append, or if the store fails.
#[cfg(feature = "store")]
pub async fn append(
    stored: &mut StoredSession,
    events: Vec<RawEvent>,
    key: Option<String>,
    expect: Option<u64>,
    now: Millis,
) -> Result<AppendOutcome, StoredError> {
    match expect {
        Some(expected) => stored.append_at(expected, events, key, now).await,
        None => stored.append(events, key, now).await,
    }
}

/// Drops the event's place in the input. What the reader found out about its origin stays, because the log has to be
/// read in the same way when it is loaded again.
fn bare(event: &RawEvent) -> RawEvent {
    // The place is a range of a file that the session does not have.
    RawEvent { source: Vec::new(), ..event.clone() }
}

/// The failure for input in which no messages could be read.
fn unread(error: ReadError, name: &str, door: Door) -> Failure {
    match error {
        ReadError::Empty => {
            Failure::new(FailureArea::Input, format!("{name} is empty: there is nothing to append"))
                .hint(
                    "give one message, a list of messages, or one message a line: \
                     {\"role\":\"user\",\"content\":\"…\"}",
                )
        }
        ReadError::Unrecognised { seen } => {
            Failure::new(FailureArea::Input, format!("{name}: no messages found in {seen}"))
                .hint(MESSAGE)
        }
        error => error.advise(door).at(format_args!("{name}: ")),
    }
}

/// The failure for a part of the input that is no message.
fn left_out(problem: &ReadProblem, name: &str, door: Door) -> Failure {
    let place = problem.at.map_or(String::new(), |line| format!(", line {line}"));
    let reason = match problem.code {
        "odd-message" => "not a message: it is no JSON object",
        _ => problem.detail.trim_start_matches("left out, ").trim_start_matches("left out "),
    };
    let import = "`midfold import` takes what can be read of a file, and says what it left out";
    Failure::new(FailureArea::Input, format!("{name}{place}: {reason}"))
        .hint("nothing was appended: all of it has to be messages, as they are to be sent")
        .maybe_hint((door == Door::Command).then(|| import.to_owned()))
}
