//! The conversations of a host, found by the id that the host uses, or by their messages.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use midfold_core::{Hash, RawEvent};

use super::project::ForcedFold;
use super::{HandedContext, Session, SessionError, Start, StorePlace};

/// The sessions of one host. `T` is the handle in which a door keeps a session.
///
/// With more than `limit` conversations, the one that was unused for longest is dropped. A session in memory loses its
/// folds then; a session in a store is opened again by its id.
pub struct Sessions<T> {
    start: Start,
    limit: usize,
    hold: fn(Session) -> T,
    entries: Mutex<Vec<SessionEntry<T>>>,
    place: Mutex<Option<StorePlace>>,
    /// The ids of sessions that have the named settings. A host may change them since, and a session that was dropped is
    /// opened again as the host left it.
    set: Mutex<HashSet<String>>,
}

/// A conversation. The list of entries is in the order of last use.
struct SessionEntry<T> {
    id: Option<String>,
    session: T,
}

impl<T: AsRef<Mutex<Session>> + Clone> Sessions<T> {
    /// Makes an empty set; `start` holds the settings of each session, and `hold` makes its handle.
    #[must_use]
    pub fn new(start: Start, limit: usize, hold: fn(Session) -> T) -> Self {
        let (entries, place, set) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { start, limit: limit.max(1), hold, entries, place, set }
    }

    /// Takes all messages of a conversation, and returns its session and the context to send. See [`Session::project`].
    ///
    /// With an id, the list belongs to the conversation of that id; in a store it is also the session's id. Without
    /// one, it belongs to the conversation that has the most in common with it. If that conversation has more events
    /// than the list shares, it stays unchanged, and the list goes on as a fork.
    ///
    /// # Errors
    /// If no context fits, or if the store fails.
    pub fn project(
        &self,
        id: Option<&str>,
        list: &[RawEvent],
        force: Option<ForcedFold<'_>>,
    ) -> Result<(T, HandedContext), SessionError> {
        let (entry, identities) = match id {
            Some(id) => (self.named(id)?, None),
            None => self.like(list)?,
        };
        let handed = {
            // The entries are unlocked by now, so a slow fold blocks no call for another id.
            let mut session = lock(entry.as_ref());
            let identities = identities.unwrap_or_else(|| session.identities(list));
            session.project_known(list, &identities, force)?
        };
        Ok((entry, handed))
    }

    /// Returns the conversation of this id, or without an id the one that has the most in common with a list; `None` if
    /// there is none. Appends nothing.
    ///
    /// # Errors
    /// If the store fails.
    pub fn find(&self, id: Option<&str>, list: &[RawEvent]) -> Result<Option<T>, SessionError> {
        let mut entries = lock(&self.entries);
        if let Some(id) = id {
            return self.called(&mut entries, id);
        }
        Ok(best(&entries, list)?.map(|(best, _)| entries[best.entry].session.clone()))
    }

    /// The conversation of this id, which is made if there is none.
    fn named(&self, id: &str) -> Result<T, SessionError> {
        // The lock is held until the new session is entered, so that two calls with one new id make one session.
        let mut entries = lock(&self.entries);
        if let Some(session) = self.called(&mut entries, id)? {
            return Ok(session);
        }
        let session = self.make(id.to_owned())?;
        Ok(self.enter(&mut entries, Some(id), session))
    }

    /// The conversation that a list goes on with; if there is none, a new one or a fork. Also returns the identities of
    /// the list if they were computed.
    fn like(&self, list: &[RawEvent]) -> Result<(T, Option<Vec<Hash>>), SessionError> {
        let mut entries = lock(&self.entries);
        let Some((best, identities)) = best(&entries, list)? else {
            let session = self.make(self.name(list))?;
            return Ok((self.enter(&mut entries, None, session), None));
        };
        let session = if best.is_all {
            used(&mut entries, best.entry)
        } else {
            let fork = {
                let mut session = lock(entries[best.entry].session.as_ref());
                let common = session.common(&identities)?;
                // The list is another conversation, not a later state of that one: its fork gets an id of its own.
                session.rewound(&self.name(list), common)?
            };
            self.enter(&mut entries, None, fork)
        };
        Ok((session, Some(identities)))
    }

    /// The conversation of this id, from the entries or from the store; `None` if neither has it.
    fn called(
        &self,
        entries: &mut Vec<SessionEntry<T>>,
        id: &str,
    ) -> Result<Option<T>, SessionError> {
        if let Some(at) = entries.iter().position(|entry| entry.id.as_deref() == Some(id)) {
            return Ok(Some(used(entries, at)));
        }
        let Some(place) = self.place()? else { return Ok(None) };
        let Some(session) = Session::find(&place, id, self.start.clock)? else { return Ok(None) };
        let session = match lock(&self.set).contains(id) {
            true => session,
            false => session.with_named(&self.start.named())?,
        };
        let session = session.with_after_fold(self.start.settings.after_fold.clone());
        Ok(Some(self.enter(entries, Some(id), session)))
    }

    /// Makes a new conversation.
    fn make(&self, id: String) -> Result<Session, SessionError> {
        self.start.clone().open_in(id, self.place()?)
    }

    /// The store, which is opened once for all conversations; `None` if the settings name none.
    fn place(&self) -> Result<Option<StorePlace>, SessionError> {
        // The lock is held while the store opens: two stores of the URL `memory` would have nothing in common.
        let mut place = lock(&self.place);
        if place.is_none() {
            *place = self.start.place()?;
        }
        Ok(place.clone())
    }

    fn enter(&self, entries: &mut Vec<SessionEntry<T>>, id: Option<&str>, session: Session) -> T {
        if let Some(id) = id.filter(|_| self.start.settings.store.is_some()) {
            lock(&self.set).insert(id.to_owned());
        }
        let session = (self.hold)(session);
        entries.push(SessionEntry { id: id.map(str::to_owned), session: session.clone() });
        let more = entries.len().saturating_sub(self.limit);
        // The front of the list was unused for longest.
        entries.drain(..more);
        session
    }

    /// An id for a conversation: a hash of its first messages and of the time.
    fn name(&self, list: &[RawEvent]) -> String {
        let now = (self.start.clock)().to_be_bytes();
        let named =
            list.iter().fold(Hash::ROOT.chain(&now), |hash, event| hash.chain(&event.bytes));
        named.to_hex()[..16].to_owned()
    }
}

/// The conversation that has the most in common with a list.
struct BestMatch {
    entry: usize,
    /// The number of events in common.
    at: usize,
    /// The list has all events of the conversation.
    is_all: bool,
}

/// Finds the best match, and returns it with the identities of the list. `None` if no conversation has an event in
/// common with it.
fn best<T: AsRef<Mutex<Session>>>(
    entries: &[SessionEntry<T>],
    list: &[RawEvent],
) -> Result<Option<(BestMatch, Vec<Hash>)>, SessionError> {
    let Some(first) = entries.last() else { return Ok(None) };
    // The sessions of a host have one dialect, so any of them can compute the identities.
    let identities = lock(first.session.as_ref()).identities(list);
    let mut best: Option<BestMatch> = None;
    for (entry, candidate) in entries.iter().enumerate() {
        let mut session = lock(candidate.session.as_ref());
        let at = session.common(&identities)?.at;
        let matched = BestMatch { entry, at, is_all: at == session.len() };
        let rank = |best: &BestMatch| (best.at, best.is_all);
        // Entries are in the order of last use: of equal matches the one that was used last wins.
        if best.as_ref().is_none_or(|best| rank(&matched) >= rank(best)) {
            best = Some(matched);
        }
    }
    Ok(best.filter(|best| best.at > 0).map(|best| (best, identities)))
}

/// Returns the conversation at this index, and moves it to the end as the one that was used last.
fn used<T: Clone>(entries: &mut Vec<SessionEntry<T>>, at: usize) -> T {
    let entry = entries.remove(at);
    let session = entry.session.clone();
    entries.push(entry);
    session
}

/// Locks, even after a panic of another thread: planning is pure, so no session is left half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
