//! Transcripts become sessions, and what is new of a transcript is added to its session.

use std::sync::Arc;

use midfold::core::policy::Policy;
use midfold::core::{Hash, RawEvent};
use midfold::formats::ReadProblem;
use midfold::formats::read::Conversation;
use midfold::store::{Millis, Store, StoreError, StoredError, StoredSession};
use midfold::{
    AdvisedError, Door, Failure, FailureArea, PreparedConversation, PreparedSession, Setup, Start,
    events_of,
};

use crate::recordings::TranscriptPart;
use crate::words::number;

/// Messages that are compared at once.
const AT_ONCE: u64 = 256;
/// How often it is looked again at what others brought meanwhile.
const ROUNDS: u32 = 8;
/// Names that a conversation is looked for under: `run`, `run-2`, `run-3`, …
pub const MOST_NAMES: u32 = 1_000;

/// What a new session begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportExtent {
    /// What the client sends now.
    Live,
    /// Everything that the transcript has.
    All,
}

/// How transcripts become sessions.
pub struct ImportPlan<'a> {
    /// Where sessions are kept.
    pub store: Arc<dyn Store>,
    /// How messages are read and counted.
    pub setup: &'a mut Setup,
    /// When and how new sessions are folded.
    pub policy: Policy,
    /// Tokens of their windows that stay free for the reply.
    pub output_reserve: u64,
    /// What new sessions say of where they come from.
    pub source: Option<String>,
    /// What a new session begins with.
    pub extent: ImportExtent,
    /// A session that holds another conversation is left alone, and the next free name is taken:
    /// `run-2`. Otherwise it is an error.
    pub numbered: bool,
}

/// What came of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSession {
    /// The session.
    pub id: String,
    /// Its messages.
    pub messages: u64,
    /// Those that were added.
    pub new: u64,
    /// The session is new.
    pub made: bool,
    /// What its messages are written in.
    pub dialect: &'static str,
    /// Of the messages of the transcript.
    pub tokens: u64,
    /// What could not be converted.
    pub problems: Vec<ReadProblem>,
}

impl ImportPlan<'_> {
    /// Makes a session of a conversation, or adds what is new of it to its session. One must be the
    /// beginning of the other. A client that compacted since goes on in the same session.
    ///
    /// # Errors
    /// When the session holds another conversation, somebody else appends, or the store fails.
    pub async fn bring(
        &mut self,
        recording: &TranscriptPart,
        id: &str,
        now: Millis,
    ) -> Result<ImportedSession, Failure> {
        for name in 1..=MOST_NAMES {
            let id = if name == 1 { id.to_owned() } else { format!("{id}-{name}") };
            for round in 1.. {
                match self.bring_to(recording, &id, now).await? {
                    Ok(Some(done)) => return Ok(done),
                    // It holds another conversation: the next name.
                    Ok(None) => break,
                    // Somebody else brought the same, or a part of it: what is there is looked at again.
                    Err(StoredError::Store(
                        StoreError::Conflict { .. } | StoreError::Exists(_),
                    )) if round < ROUNDS => {}
                    Err(error) => return Err(error.advise(Door::Command)),
                }
            }
        }
        Err(Failure::new(
            FailureArea::Store,
            format!("sessions `{id}` to `{id}-{MOST_NAMES}` are taken"),
        )
        .hint("choose another id: --id NAME"))
    }

    /// The same under this very name; nothing where another conversation has it. What the store says is
    /// for the caller to judge.
    async fn bring_to(
        &mut self,
        recording: &TranscriptPart,
        id: &str,
        now: Millis,
    ) -> Result<Result<Option<ImportedSession>, StoredError>, Failure> {
        let stored = match StoredSession::open(self.store.clone(), id).await {
            Ok(stored) => stored,
            Err(StoredError::Store(StoreError::NoSession(_))) => {
                let (started, prepared) = self.start(recording, id, now)?;
                return Ok(match started.store(self.store.clone()).await {
                    Ok(stored) => add(stored, &prepared, 0, true, now).await.map(Some),
                    Err(error) => Err(error),
                });
            }
            Err(error) => return Ok(Err(error)),
        };
        match self.part_of(recording, &stored).await? {
            Some((prepared, there)) => {
                Ok(add(stored, &prepared, there, false, now).await.map(Some))
            }
            None if self.numbered => Ok(Ok(None)),
            None => Err(self.differs(recording, &stored).await?),
        }
    }

    fn start(
        &mut self,
        recording: &TranscriptPart,
        id: &str,
        now: Millis,
    ) -> Result<(PreparedSession, PreparedConversation), Failure> {
        let conversation = match self.extent {
            ImportExtent::Live => recording.live().clone(),
            ImportExtent::All => recording.since(0),
        };
        let prepared = self.prepare(conversation)?;
        let start = Start {
            output_reserve: self.output_reserve,
            source: self.source.clone(),
            ..Start::new(id, self.policy.clone())
        };
        let started = start.check(&prepared, now, Door::Command)?;
        started.can_be_stored()?;
        Ok((started, prepared))
    }

    fn prepare(&mut self, conversation: Conversation) -> Result<PreparedConversation, Failure> {
        self.setup.prepare(conversation).map_err(|error| error.advise(Door::Command))
    }

    /// The part of the recording that the session holds the beginning of, or that begins as the
    /// session does; with how many of its messages are there.
    async fn part_of(
        &mut self,
        recording: &TranscriptPart,
        stored: &StoredSession,
    ) -> Result<Option<(PreparedConversation, usize)>, Failure> {
        let last = recording.newest();
        for at in std::iter::once(last).chain(0..last) {
            let prepared = self.prepare(recording.since(at))?;
            let head = stored.row().head;
            let both = head.min(prepared.log.len() as u64);
            let there = usize::try_from(both).unwrap_or(usize::MAX);
            // A chain hash names all that is before it.
            if prepared.log.hash_before(there) == self.hash_before(stored, both).await? {
                return Ok(Some((prepared, there)));
            }
        }
        Ok(None)
    }

    async fn hash_before(&self, stored: &StoredSession, count: u64) -> Result<Hash, Failure> {
        if count == stored.row().head {
            return Ok(stored.row().head_hash);
        }
        let Some(last) = count.checked_sub(1) else { return Ok(Hash::ROOT) };
        let rows = self.store.events(&stored.row().new.id, last..count).await;
        let rows = rows.map_err(|error| error.advise(Door::Command))?;
        Ok(rows.first().map_or(Hash::ROOT, |row| row.event.hash))
    }

    /// Says which message differs.
    async fn differs(
        &mut self,
        recording: &TranscriptPart,
        stored: &StoredSession,
    ) -> Result<Failure, Failure> {
        let id = &stored.row().new.id;
        let events = events_of(&self.prepare(recording.live().clone())?.log);
        let both = stored.row().head.min(events.len() as u64);
        let mut differs = both;
        let mut at = 0;
        while at < both && differs == both {
            let rows = self.store.events(id, at..both.min(at + AT_ONCE)).await;
            let rows = rows.map_err(|error| error.advise(Door::Command))?;
            let here = |seq: u64| usize::try_from(seq).ok().and_then(|at| events.get(at));
            let other = rows
                .iter()
                .find(|row| here(row.seq).is_none_or(|event| event.bytes != row.event.bytes));
            differs = other.map_or(both, |row| row.seq);
            at += AT_ONCE;
        }
        Ok(Failure::new(
            FailureArea::Store,
            format!(
                "session `{id}` exists and holds another conversation: message {} differs",
                number(differs)
            ),
        )
        .hint("choose another id: --id NAME"))
    }
}

/// Adds what is not there yet.
async fn add(
    mut stored: StoredSession,
    prepared: &PreparedConversation,
    there: usize,
    made: bool,
    now: Millis,
) -> Result<ImportedSession, StoredError> {
    let new: Vec<RawEvent> = events_of(&prepared.log).into_iter().skip(there).collect();
    let count = new.len() as u64;
    if count > 0 {
        // Somebody who appends meanwhile is not to be mixed in.
        let expected = stored.row().head;
        stored.append_at(expected, new, now).await?;
    }
    Ok(ImportedSession {
        id: stored.row().new.id.clone(),
        messages: stored.row().head,
        new: count,
        made,
        dialect: prepared.kind.name(),
        tokens: prepared.log.tokens(),
        problems: prepared.problems.clone(),
    })
}
