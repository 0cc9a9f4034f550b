//! Turns transcripts into sessions, and adds a transcript's new messages to the session that it has already.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::policy::Policy;
use midfold::core::{Hash, RawEvent};
use midfold::formats::ReadProblem;
use midfold::formats::read::{Conversation, rest_of};
use midfold::store::{Millis, Store, StoreError, StoredError, StoredSession};
use midfold::{
    AdvisedError, Door, Failure, FailureArea, PreparedConversation, PreparedSession, Setup, Start,
    events_of,
};

use crate::recordings::TranscriptPart;
use crate::words::number;

/// Messages that are read from the store with one query.
const AT_ONCE: u64 = 256;
/// The most attempts where others write to the same session meanwhile.
const ROUNDS: u32 = 8;
/// The most names that are tried for a conversation: `run`, `run-2`, `run-3`, …
pub const MOST_NAMES: u32 = 1_000;

/// The part of a transcript that a new session begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportExtent {
    /// The messages that the client sends now. Those before its last compaction are left out.
    Live,
    /// All messages of the transcript.
    All,
}

/// Settings of an import, and the store that it writes to.
pub struct ImportPlan<'a> {
    /// The store of the sessions.
    pub store: Arc<dyn Store>,
    /// Reads and counts messages.
    pub setup: &'a mut Setup,
    /// The policy of new sessions.
    pub policy: Policy,
    /// Tokens of a new session's window that stay free for the answer.
    pub output_reserve: u64,
    /// The source that new sessions name, as the path of the file.
    pub source: Option<String>,
    /// The part of a transcript that a new session begins with.
    pub extent: ImportExtent,
    /// What happens where a session of that name holds another conversation. If set, the next free name is taken, as
    /// `run-2`. Otherwise it is an error.
    pub numbered: bool,
}

/// The outcome of importing one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSession {
    /// The id of the session.
    pub id: String,
    /// The number of messages in the session.
    pub messages: u64,
    /// The number of messages that this import added.
    pub new: u64,
    /// Whether this import made the session.
    pub is_made: bool,
    /// The dialect of the session's messages.
    pub dialect: &'static str,
    /// The tokens of the imported messages.
    pub tokens: u64,
    /// Notes about content that could not be converted.
    pub problems: Vec<ReadProblem>,
}

impl ImportPlan<'_> {
    /// Makes a session of a conversation, or adds the new messages to the session of that name. The session has to
    /// begin as the conversation does, as far as both go. If the client compacted in between, the session goes on.
    ///
    /// # Errors
    /// When the session holds another conversation, others keep writing to it, or the store fails.
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
                    Ok(Some(session)) => return Ok(session),
                    // The session holds another conversation, so the next name is tried.
                    Ok(None) => break,
                    // Somebody else added messages of the same conversation meanwhile. Another attempt compares them
                    // again.
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

    /// Imports under exactly this name. `Ok(Ok(None))` where the session holds another conversation. Errors of the
    /// store are separate, because the caller tries again after some of them.
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
                let all = events_of(&prepared.log);
                let count = all.len() as u64;
                let stored = started.store(self.store.clone(), all).await;
                return Ok(stored.map(|stored| Some(imported(&stored, &prepared, count, true))));
            }
            Err(error) => return Ok(Err(error)),
        };
        let part = match self.part_of(recording, &stored).await? {
            Some(part) => Some(part),
            None => self.grown_part_of(recording, &stored).await?,
        };
        match part {
            Some((prepared, there)) => Ok(add(stored, &prepared, there, now).await.map(Some)),
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

    /// The part of the recording that begins as the session does, as far as both go, and how many of its messages the
    /// session holds. `None` where no part does. The newest part is tried first.
    async fn part_of(
        &mut self,
        recording: &TranscriptPart,
        stored: &StoredSession,
    ) -> Result<Option<(PreparedConversation, usize)>, Failure> {
        for at in recording.likeliest() {
            let prepared = self.prepare(recording.since(at))?;
            let head = stored.row().head;
            let both = head.min(prepared.log.len() as u64);
            let there = usize::try_from(both).unwrap_or(usize::MAX);
            // The hash of an event covers all events before it, so one equal hash proves that all of them are equal.
            if prepared.log.hash_before(there) == self.hash_before(stored, both).await? {
                return Ok(Some((prepared, there)));
            }
        }
        Ok(None)
    }

    /// The same where the client has completed messages since the import before. The log keeps what it has: the rest of
    /// a message becomes a message of its own, and results keep the order in which they came.
    async fn grown_part_of(
        &mut self,
        recording: &TranscriptPart,
        stored: &StoredSession,
    ) -> Result<Option<(PreparedConversation, usize)>, Failure> {
        for at in recording.likeliest() {
            // The messages of a session in another dialect are not those of the file.
            if recording.live().format.dialect().name() != stored.row().new.dialect {
                continue;
            }
            // In some dialects a session begins with the system prompt, which is beside the messages in the file.
            let prepared = self.prepare(recording.since(at))?;
            let events = events_of(&prepared.log);
            let conversation = Conversation { events, ..prepared.source };
            if let Some((conversation, there)) = self.as_stored(conversation, stored).await? {
                return Ok(Some((self.prepare(conversation)?, there)));
            }
        }
        Ok(None)
    }

    /// The conversation in the form in which the session has it, and how many of its messages the session holds. `None`
    /// where the session holds another conversation.
    async fn as_stored(
        &self,
        mut conversation: Conversation,
        stored: &StoredSession,
    ) -> Result<Option<(Conversation, usize)>, Failure> {
        let mut equal = 0;
        loop {
            let hashes = chain(&conversation.events);
            let both = stored.row().head.min(conversation.events.len() as u64);
            let there = usize::try_from(both).unwrap_or(usize::MAX);
            if hashes[there] == self.hash_before(stored, both).await? {
                return Ok(Some((conversation, there)));
            }
            // One equal hash proves that all messages before it are equal, so the first difference is found by halves.
            let mut differs = there;
            while equal + 1 < differs {
                let half = equal.midpoint(differs);
                match hashes[half] == self.hash_before(stored, half as u64).await? {
                    true => equal = half,
                    false => differs = half,
                }
            }
            let rows =
                self.store.events(&stored.row().new.id, equal as u64..equal as u64 + 1).await;
            let rows = rows.map_err(|error| error.advise(Door::Command))?;
            let Some(row) = rows.first() else { return Ok(None) };
            if !take_apart(&mut conversation, equal, &row.event.bytes) {
                return Ok(None);
            }
        }
    }

    async fn hash_before(&self, stored: &StoredSession, count: u64) -> Result<Hash, Failure> {
        // The row has this hash, so a transcript that only grew costs no read of an event.
        if count == stored.row().head {
            return Ok(stored.row().head_hash);
        }
        let Some(last) = count.checked_sub(1) else { return Ok(Hash::ROOT) };
        let rows = self.store.events(&stored.row().new.id, last..count).await;
        let rows = rows.map_err(|error| error.advise(Door::Command))?;
        Ok(rows.first().map_or(Hash::ROOT, |row| row.event.hash))
    }

    /// The error that names the first message that differs.
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

/// The chain of hashes of these messages: that before the first message, and that after each.
fn chain(events: &[RawEvent]) -> Vec<Hash> {
    let links = events.iter().scan(Hash::ROOT, |hash, event| {
        *hash = hash.chain(&event.bytes);
        Some(*hash)
    });
    std::iter::once(Hash::ROOT).chain(links).collect()
}

/// Makes the message at `at` the one that a session has there. Returns whether that is possible: it has the beginning
/// of this message, or one of the results that follow it.
fn take_apart(conversation: &mut Conversation, at: usize, stored: &Bytes) -> bool {
    let events = &mut conversation.events;
    if let Some(rest) = rest_of(stored, &events[at].bytes) {
        let mut newer = events[at].clone();
        newer.bytes = rest.into();
        // The counts are those of the whole reply.
        events[at].usage = None;
        events[at].bytes = stored.clone();
        events.insert(at + 1, newer);
        return true;
    }
    let dialect = conversation.format.dialect().dialect();
    let is_result = |event: &&RawEvent| dialect.view(&event.bytes).has_results();
    let results = events[at..].iter().take_while(is_result).count();
    let place = events[at..at + results].iter().position(|event| event.bytes == *stored);
    if let Some(place) = place {
        events[at..=at + place].rotate_right(1);
    }
    place.is_some()
}

/// Adds the messages after the first `there` to the session.
async fn add(
    mut stored: StoredSession,
    prepared: &PreparedConversation,
    there: usize,
    now: Millis,
) -> Result<ImportedSession, StoredError> {
    let new: Vec<RawEvent> = events_of(&prepared.log).into_iter().skip(there).collect();
    let count = new.len() as u64;
    if count > 0 {
        // The append fails if somebody else appended meanwhile, so that no messages get mixed.
        let expected = stored.row().head;
        stored.append_at(expected, new, None, now).await?;
    }
    Ok(imported(&stored, prepared, count, false))
}

/// What an import did, which added `count` messages.
fn imported(
    stored: &StoredSession,
    prepared: &PreparedConversation,
    count: u64,
    is_made: bool,
) -> ImportedSession {
    ImportedSession {
        id: stored.row().new.id.clone(),
        messages: stored.row().head,
        new: count,
        is_made,
        dialect: prepared.kind.name(),
        tokens: prepared.log.tokens(),
        problems: prepared.problems.clone(),
    }
}
