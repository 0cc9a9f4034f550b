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
    handle_of: fn(Session) -> T,
    /// Locked while neither a fold nor a comparison runs: no session is locked behind it.
    entries: Mutex<Vec<SessionEntry<T>>>,
    place: Mutex<Option<StorePlace>>,
    /// The ids of sessions that have the named settings. A host may change them since, and a session that was dropped is
    /// opened again as the host left it. So an id stays here as long as the process.
    ids_with_named: Mutex<HashSet<String>>,
}

/// A conversation. The list of entries is in the order of last use.
struct SessionEntry<T> {
    id: Option<String>,
    session: T,
}

impl<T: AsRef<Mutex<Session>> + Clone> Sessions<T> {
    /// Makes an empty set; `start` holds the settings of each session, and `handle_of` makes its handle.
    #[must_use]
    pub fn new(start: Start, limit: usize, handle_of: fn(Session) -> T) -> Self {
        let (entries, place, ids_with_named) = Default::default();
        Self { start, limit: limit.max(1), handle_of, entries, place, ids_with_named }
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
        let (handle, identities) = match id {
            Some(id) => (self.named(id)?, None),
            None => self.like(list)?,
        };
        let handed = {
            let mut session = lock(handle.as_ref());
            let identities = identities.unwrap_or_else(|| session.identities(list));
            session.project_known(list, &identities, force)?
        };
        Ok((handle, handed))
    }

    /// Returns the conversation of this id, or without an id the one that has the most in common with a list; `None` if
    /// there is none. Appends nothing.
    ///
    /// # Errors
    /// If the store fails.
    pub fn find(&self, id: Option<&str>, list: &[RawEvent]) -> Result<Option<T>, SessionError> {
        match id {
            Some(id) => self.called(&mut lock(&self.entries), id),
            None => Ok(best(&self.handles(), list)?.map(|(best, _)| best)),
        }
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
        let Some((handle, identities)) = best(&self.handles(), list)? else {
            let session = self.make(self.name(list))?;
            return Ok((self.enter(&mut lock(&self.entries), None, session), None));
        };
        let fork = {
            let mut session = lock(handle.as_ref());
            let common = session.common(&identities)?;
            let is_all = common.at == session.len();
            // The list is another conversation, not a later state of that one: its fork gets an id of its own.
            (!is_all).then(|| session.rewound(&self.name(list), common)).transpose()?
        };
        let mut entries = lock(&self.entries);
        let handle = match fork {
            Some(fork) => self.enter(&mut entries, None, fork),
            None => {
                let is_it =
                    |entry: &SessionEntry<T>| std::ptr::eq(entry.session.as_ref(), handle.as_ref());
                // It may have been dropped meanwhile.
                let at = entries.iter().position(is_it);
                at.map_or(handle, |at| used(&mut entries, at))
            }
        };
        Ok((handle, Some(identities)))
    }

    /// The conversations, in the order of last use.
    fn handles(&self) -> Vec<T> {
        lock(&self.entries).iter().map(|entry| entry.session.clone()).collect()
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
        let session = match lock(&self.ids_with_named).contains(id) {
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
            lock(&self.ids_with_named).insert(id.to_owned());
        }
        let session = (self.handle_of)(session);
        entries.push(SessionEntry { id: id.map(str::to_owned), session: session.clone() });
        let more = entries.len().saturating_sub(self.limit);
        // The front of the list was unused for longest.
        entries.drain(..more);
        session
    }

    /// An id for a conversation: a hash of the time and of its messages.
    fn name(&self, list: &[RawEvent]) -> String {
        let now = (self.start.clock)().to_be_bytes();
        let named =
            list.iter().fold(Hash::ROOT.chain(&now), |hash, event| hash.chain(&event.bytes));
        named.to_hex()[..16].to_owned()
    }
}

/// The conversation that has the most in common with a list, and the identities of the list. `None` if no conversation
/// has an event in common with it.
fn best<T: AsRef<Mutex<Session>> + Clone>(
    handles: &[T],
    list: &[RawEvent],
) -> Result<Option<(T, Vec<Hash>)>, SessionError> {
    let Some(first) = handles.last() else { return Ok(None) };
    // The sessions of a host have one dialect, so any of them can compute the identities.
    let identities = lock(first.as_ref()).identities(list);
    let (mut best, mut best_rank) = (None, (1, false));
    for handle in handles {
        let mut session = lock(handle.as_ref());
        let at = session.common(&identities)?.at;
        // Of equal matches, one that the list has all events of is better, then the one that was used last.
        let rank = (at, at == session.len());
        if rank >= best_rank {
            (best, best_rank) = (Some(handle), rank);
        }
    }
    Ok(best.map(|best| (best.clone(), identities)))
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
