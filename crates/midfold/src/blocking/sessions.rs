//! The conversations of a host: found by the host's own id, else by what is in them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use midfold_core::{Hash, RawEvent};

use super::project::ForcedFold;
use super::{HandedContext, Session, SessionError, Start, StorePlace};

/// Sessions of one host. `T` is what a door holds a session in.
///
/// A conversation that has been quiet for longest is let go when there are more than `limit`: of one in
/// memory its folds are lost, one in a store is opened again by its id.
pub struct Sessions<T> {
    start: Start,
    limit: usize,
    hold: fn(Session) -> T,
    entries: Mutex<Vec<SessionEntry<T>>>,
    place: Mutex<Option<StorePlace>>,
}

/// A conversation, the one that was used last behind the others.
struct SessionEntry<T> {
    id: Option<String>,
    session: T,
}

impl<T: AsRef<Mutex<Session>> + Clone> Sessions<T> {
    /// No sessions yet; each is made like this.
    #[must_use]
    pub fn new(start: Start, limit: usize, hold: fn(Session) -> T) -> Self {
        let (entries, place) = (Mutex::default(), Mutex::default());
        Self { start, limit: limit.max(1), hold, entries, place }
    }

    /// Takes all messages of a conversation, as its list is now, and says what to send. See
    /// [`Session::project`].
    ///
    /// With an id it is the conversation that was called so before; in a store that is the session's id.
    /// Without one it is the conversation that has most in common with the list; where that has more, it
    /// stays, and the list goes on as a fork.
    ///
    /// # Errors
    /// When nothing that fits can be made, or the store fails.
    pub fn project(
        &self,
        id: Option<&str>,
        list: &[RawEvent],
        force: Option<ForcedFold<'_>>,
    ) -> Result<(T, HandedContext), SessionError> {
        let (held, identities) = match id {
            Some(id) => (self.named(id)?, None),
            None => self.like(list)?,
        };
        let sent = {
            let mut session = lock(held.as_ref());
            let identities = identities.unwrap_or_else(|| session.identities(list));
            session.project_known(list, &identities, force)?
        };
        Ok((held, sent))
    }

    /// The conversation of this id, else the one that has most in common with a list. Nothing is
    /// appended.
    ///
    /// # Errors
    /// When the store fails.
    pub fn find(&self, id: Option<&str>, list: &[RawEvent]) -> Result<Option<T>, SessionError> {
        let mut entries = lock(&self.entries);
        if let Some(id) = id {
            return self.called(&mut entries, id);
        }
        Ok(best(&entries, list)?.map(|(best, _)| entries[best.entry].session.clone()))
    }

    /// The conversation of this id, made where there is none.
    fn named(&self, id: &str) -> Result<T, SessionError> {
        let mut entries = lock(&self.entries);
        if let Some(session) = self.called(&mut entries, id)? {
            return Ok(session);
        }
        let session = self.make(id.to_owned())?;
        Ok(self.enter(&mut entries, Some(id), session))
    }

    /// The conversation that a list goes on with, made or forked where there is none; and the identities of
    /// the list, where they had to be worked out.
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
                // Another conversation, and not where that one went back to: a name of its own.
                session.rewound(&self.name(list), common)?
            };
            self.enter(&mut entries, None, fork)
        };
        Ok((session, Some(identities)))
    }

    /// The conversation of this id: here, or in the store.
    fn called(
        &self,
        entries: &mut Vec<SessionEntry<T>>,
        id: &str,
    ) -> Result<Option<T>, SessionError> {
        if let Some(at) = entries.iter().position(|entry| entry.id.as_deref() == Some(id)) {
            return Ok(Some(used(entries, at)));
        }
        let Some(place) = self.place()? else { return Ok(None) };
        let found = Session::find(&place, id, self.start.clock)?;
        let after_fold = || self.start.settings.after_fold.clone();
        let found = found.map(|session| session.with_after_fold(after_fold()));
        Ok(found.map(|session| self.enter(entries, Some(id), session)))
    }

    /// A new conversation.
    fn make(&self, id: String) -> Result<Session, SessionError> {
        self.start.clone().open_in(id, self.place()?)
    }

    /// The store, opened once for all conversations.
    fn place(&self) -> Result<Option<StorePlace>, SessionError> {
        let mut place = lock(&self.place);
        if place.is_none() {
            *place = self.start.place()?;
        }
        Ok(place.clone())
    }

    fn enter(&self, entries: &mut Vec<SessionEntry<T>>, id: Option<&str>, session: Session) -> T {
        let session = (self.hold)(session);
        entries.push(SessionEntry { id: id.map(str::to_owned), session: session.clone() });
        let more = entries.len().saturating_sub(self.limit);
        entries.drain(..more);
        session
    }

    /// An id of what a conversation begins with, and when it did.
    fn name(&self, list: &[RawEvent]) -> String {
        let now = (self.start.clock)().to_be_bytes();
        let named =
            list.iter().fold(Hash::ROOT.chain(&now), |hash, event| hash.chain(&event.bytes));
        named.to_hex()[..16].to_owned()
    }
}

/// The conversation that has most in common with a list.
struct BestMatch {
    entry: usize,
    at: usize,
    /// Nothing of it is missing in the list.
    is_all: bool,
}

/// None where nothing is in common; else also the identities of the list.
fn best<T: AsRef<Mutex<Session>>>(
    entries: &[SessionEntry<T>],
    list: &[RawEvent],
) -> Result<Option<(BestMatch, Vec<Hash>)>, SessionError> {
    let Some(first) = entries.last() else { return Ok(None) };
    let identities = lock(first.session.as_ref()).identities(list);
    let mut best: Option<BestMatch> = None;
    for (entry, held) in entries.iter().enumerate() {
        let mut session = lock(held.session.as_ref());
        let at = session.common(&identities)?.at;
        let found = BestMatch { entry, at, is_all: at == session.len() };
        let rank = |best: &BestMatch| (best.at, best.is_all);
        if best.as_ref().is_none_or(|best| rank(&found) >= rank(best)) {
            best = Some(found);
        }
    }
    Ok(best.filter(|best| best.at > 0).map(|best| (best, identities)))
}

/// The conversation at this place, which is the one that was used last from now on.
fn used<T: Clone>(entries: &mut Vec<SessionEntry<T>>, at: usize) -> T {
    let entry = entries.remove(at);
    let session = entry.session.clone();
    entries.push(entry);
    session
}

/// A panic of another thread leaves no session half changed: planning is pure.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
