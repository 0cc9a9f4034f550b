//! Keeps conversations in a store: they are written after the requests, and loaded when a client continues one after a
//! restart. No request waits for a write.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::log::EventLog;
use midfold_store::{
    CallUsage, IdentifiedSession, MemoryStore, Millis, NewSession, SavedParts, SessionChanges,
    SessionIdentity, SessionMeta, Store, StoreError, StoredError, StoredSession,
};

use super::calls::{CallLedger, UnwrittenCall};
use super::chain::Chain;
use super::conversation::ProxyConversation;
use super::lock::lock;
use super::read_request::ReadRequest;
use super::recall::StoredHistory;
use super::shared::Proxy;
use super::stable::stable;
use super::stored_parts::StoredParts;

/// How many of the last links of a history are searched in the store. A session is noted under the link of its last
/// message at each write.
const PROBES: usize = 64;

impl Proxy {
    /// Writes one thing: the next unsaved conversation, or else the next answer, or else the next learned window.
    /// Returns whether there was one. Only one caller may run it at a time.
    ///
    /// # Errors
    /// If the store fails. Nothing is lost: the same thing is written next time.
    pub async fn save(&self, store: &dyn Store, now: Millis) -> Result<bool, StoreError> {
        let next = lock(&self.unsaved).begin();
        let Some(next) = next else {
            return Ok(self.save_answer(store, now).await? || self.save_window(store, now).await?);
        };
        // Cleared before the write, so that changes during the write queue the conversation again.
        lock(&next).saved.is_queued = false;
        let saved = save(&next, store, now).await;
        // If a change during the failed write queued the conversation again, it already waits and is not pushed twice.
        let waits = saved.is_err() && !std::mem::replace(&mut lock(&next).saved.is_queued, true);
        lock(&self.unsaved).end(waits.then_some(next));
        saved.map(|()| true)
    }

    /// Loads the conversation that a request continues if the store has more of it than this process, and the window
    /// that was learned for it. That happens after a restart, and if another process writes to the store.
    ///
    /// # Errors
    /// If the store fails. The caller then uses the conversation in memory.
    pub async fn bring_back(
        &self,
        begun: &ReadRequest,
        store: &Arc<dyn Store>,
        now: Millis,
    ) -> Result<(), StoredError> {
        self.bring_window(begun, &**store, now).await?;
        let plain = self.found_plain(begun, &**store).await?;
        let is_plain = plain.is_some();
        let (chain, identified) = match plain {
            Some((chain, identified)) => (Cow::Owned(chain), Some(identified)),
            None => {
                let ends = ends(&begun.chain, begun.chain.opening);
                (Cow::Borrowed(&begun.chain), store.identified(&ends).await?)
            }
        };
        let Some(identified) = identified else { return Ok(()) };
        let hint = begun.who.hint.as_deref();
        let known = lock(&self.index).find(&chain, chain.links.len(), hint, now);
        let identified = match &known {
            Some((known, at)) => newest_of(known, *at, identified, &**store).await?,
            None => identified,
        };
        if let Some((known, _)) =
            known.as_ref().filter(|(known, at)| lock(known).is_current(*at, &identified))
        {
            if lock(known).is_changed_in(&identified) {
                let row = store.session(&identified.id).await?;
                lock(known).take_wishes(row.state, row.state_version)?;
            }
            if is_plain {
                let log = lock(known).session.log().clone();
                self.read_back(begun, begun.request.system.as_ref(), &log);
            }
            return Ok(());
        }
        let (conversation, chain, system) = load(&identified.id, store, begun).await?;
        // Also where no tool is offered any more: the client's history lacks the exchanges that the log has.
        self.read_back(begun, system.as_ref(), conversation.session.log());
        let conversation = Arc::new(Mutex::new(conversation));
        lock(&self.index).put(&conversation, &lock(&conversation), &chain, 0, now);
        if let Some((known, _)) = known {
            lock(&known).give_way(&identified.id);
        }
        Ok(())
    }

    /// Reads the exchanges of a log.
    fn read_back(&self, begun: &ReadRequest, system: Option<&Bytes>, log: &EventLog) {
        let messages: Vec<_> = log.events().iter().map(|event| event.bytes.clone()).collect();
        let kind = begun.request.kind();
        let history = StoredHistory::read(kind, &begun.who, system, &messages);
        lock(&self.hidden).read_back(&history);
    }

    /// The chain of a request without the exchanges that were put into it, and the session that has this history, with
    /// the replies of the exchanges as the client has them. `None` where there is no such session, or where the store
    /// was asked before. An earlier process may have heard the same replies in two conversations, and only in one of
    /// them something was hidden.
    async fn found_plain(
        &self,
        begun: &ReadRequest,
        store: &dyn Store,
    ) -> Result<Option<(Chain, IdentifiedSession)>, StoreError> {
        let (Some(plain), Some(history)) = (&begun.without, &begun.recall.history) else {
            return Ok(None);
        };
        let shown = history.walk.shown();
        let first =
            history.past.first().and_then(|exchange| shown.get(exchange.replies.checked_sub(1)?));
        let Some(first) = first.filter(|_| !lock(&self.hidden).is_compared(shown)) else {
            return Ok(None);
        };
        let messages: Vec<_> = (0..stable(plain)).map(|at| plain.message(at)).collect();
        let chain = begun.chain_of(&messages, []);
        let identified = store.identified(&ends(&chain, first.end.max(chain.opening))).await?;
        lock(&self.hidden).note_compared(shown);
        Ok(identified.map(|identified| (chain, identified)))
    }
}

/// The newest links of a chain by which a session is looked for, from the message at `from` on, the newest first.
fn ends(chain: &Chain, from: usize) -> Vec<Hash> {
    chain.links.iter().skip(from).rev().take(PROBES).copied().collect()
}

/// If the store found another session with the same history, returns the state of the one that is known here instead,
/// unless the found one has more of the history.
async fn newest_of(
    known: &Mutex<ProxyConversation>,
    at: usize,
    identified: IdentifiedSession,
    store: &dyn Store,
) -> Result<IdentifiedSession, StoreError> {
    let own = lock(known).stored_id().map(str::to_owned);
    let events = at as u64;
    match own.filter(|id| *id != identified.id && events >= identified.events) {
        Some(id) => {
            let row = store.session(&id).await?;
            let (active, state_version) = (row.active, row.state_version);
            Ok(IdentifiedSession { id, events, active, state_version })
        }
        None => Ok(identified),
    }
}

/// Loads a session from the store as a conversation, and computes its chain. Returns the instructions beside its
/// messages, too.
async fn load(
    id: &str,
    store: &Arc<dyn Store>,
    begun: &ReadRequest,
) -> Result<(ProxyConversation, Chain, Option<Bytes>), StoredError> {
    let mut stored = StoredSession::open(Arc::clone(store), id).await?;
    let folds = stored.folds().await?.len();
    let calls = CallLedger::after(stored.end_of_ledger().await?);
    let session = stored.whole().await?.clone();
    let (row, meta) = (stored.row(), stored.meta());
    let saved =
        StoredParts { is_made: true, parts: SavedParts::of(row, folds), ..StoredParts::default() };
    let messages: Vec<_> = session.log().events().iter().map(|event| event.bytes.clone()).collect();
    let chain = begun.chain_of(&messages, None);
    // The first part of the envelope, where requests of this conversation have instructions beside their messages.
    let system = begun.request.system.as_ref().and(meta.envelope.first());
    let system = system.map(|system| Bytes::copy_from_slice(system.as_bytes()));
    let conversation =
        ProxyConversation::from_store(session, saved, meta, chain.links.clone(), calls);
    Ok((conversation, chain, system))
}

/// Writes the changes of a conversation. After a conflict it first learns what the store has.
async fn save(
    conversation: &Mutex<ProxyConversation>,
    store: &dyn Store,
    now: Millis,
) -> Result<(), StoreError> {
    // At most two attempts: the first may find that the store is ahead, because the answer to an earlier write was
    // lost.
    let mut conflict = None;
    for _ in 0..2 {
        // The lock ends with this block, so that requests of the conversation do not wait for the store.
        let pending = {
            let locked = lock(conversation);
            pending(&locked, &locked.saved, now)?
        };
        let Some((id, changes)) = pending else { return Ok(()) };
        match store.commit(&id, &changes).await {
            Ok(_) => {
                let mut locked = lock(conversation);
                // Counts what was written. The session may have more by now, and that is written next time.
                locked.saved.note(&changes);
                locked.calls.note_written(changes.calls.len());
                return Ok(());
            }
            Err(error) if error.is_stale() || matches!(error, StoreError::Exists(_)) => {
                learn(conversation, &id, store).await?;
                conflict = Some(error);
            }
            // Somebody deleted the session. It is not written again, and must not block other writes.
            Err(StoreError::NoSession(_)) => {
                lock(conversation).saved.is_foreign = true;
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
    // Another process writes the same session right now. As an error, the changes are queued again.
    conflict.map_or(Ok(()), Err)
}

/// Copies a whole conversation into a new store in memory. Returns it with the id there.
pub(super) async fn copied(
    conversation: &Mutex<ProxyConversation>,
    now: Millis,
) -> Result<(MemoryStore, String), StoreError> {
    let all = pending(&lock(conversation), &StoredParts::default(), now)?;
    let store = MemoryStore::new();
    let Some((id, all)) = all else { return Ok((store, String::new())) };
    // The unwritten calls continue a ledger that this store does not have.
    let all = SessionChanges { calls: Vec::new(), usages: Vec::new(), ..all };
    store.commit(&id, &all).await?;
    Ok((store, id))
}

/// Collects the changes since the last write, and the id of the session; `None` if there are none, or if another value
/// owns the session.
fn pending(
    conversation: &ProxyConversation,
    saved: &StoredParts,
    now: Millis,
) -> Result<Option<(String, SessionChanges)>, StoreError> {
    if saved.is_foreign {
        return Ok(None);
    }
    let unwritten = conversation.calls.unwritten();
    let usage = |(call, usage): &UnwrittenCall| {
        usage.clone().map(|usage| CallUsage { call: call.number, usage })
    };
    let mut changes = SessionChanges {
        calls: unwritten.iter().map(|(call, _)| call.clone()).collect(),
        usages: unwritten.iter().filter_map(usage).collect(),
        ..saved.parts.changes(&conversation.session, now)?
    };
    if changes.is_empty() {
        return Ok(None);
    }
    // By its last link a later process finds the session.
    changes.identity =
        conversation.chain().last().filter(|_| changes.new_events() > 0).map(|link| {
            SessionIdentity { identity: *link, events: conversation.chain().len() as u64 }
        });
    if !saved.is_made {
        changes.created = Some(new_session(conversation, now)?);
    }
    Ok(Some((conversation.session.id().to_owned(), changes)))
}

/// The record of a new session in the store.
fn new_session(conversation: &ProxyConversation, now: Millis) -> Result<NewSession, StoreError> {
    let log = conversation.session.log();
    let meta = SessionMeta {
        budget: conversation.budget.clone(),
        envelope: conversation
            .envelope()
            .iter()
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect(),
        parent: conversation.parent.clone(),
        source: Some(SessionMeta::PROXY.to_owned()),
        owner: conversation.owner().map(str::to_owned),
        model: Some(conversation.model.clone()).filter(|model| !model.is_empty()),
        client: conversation.client.clone(),
        // Each request sets the lifetime again.
        cache_lifetime: None,
    };
    Ok(NewSession {
        id: conversation.session.id().to_owned(),
        dialect: log.dialect().name().to_owned(),
        profile: log.profile().name.to_owned(),
        counter: log.counter().name().to_owned(),
        policy: conversation.session.policy().to_toml(),
        meta: serde_json::to_string(&meta)?,
        created: now,
    })
}

/// Compares the conversation with what the store has after a conflict. If the store's events and folds are the first of
/// ours, writing continues behind them; else the session belongs to somebody else.
async fn learn(
    conversation: &Mutex<ProxyConversation>,
    id: &str,
    store: &dyn Store,
) -> Result<(), StoreError> {
    // These three reads are no snapshot. If another process writes in between, the next attempt fails with a conflict
    // again, and nothing is lost.
    let row = store.session(id).await?;
    let folds = store.folds(id).await?;
    let last = store.call(id, None).await?;
    let mut locked = lock(conversation);
    // This comes before `saved` is replaced, because it compares with the state that was known until now.
    locked.take_wishes(row.state.clone(), row.state_version)?;
    let at = usize::try_from(row.head).unwrap_or(usize::MAX);
    let is_ours = at <= locked.session.log().len()
        && locked.session.log().hash_before(at) == row.head_hash
        && folds.len() <= locked.session.folds().len()
        && folds.iter().zip(locked.session.folds()).all(|(stored, own)| stored.fold.id == own.id);
    locked.saved = StoredParts {
        is_made: true,
        parts: SavedParts::of(&row, folds.len()),
        is_queued: locked.saved.is_queued,
        is_foreign: !is_ours,
    };
    locked.calls.learn(last.as_ref())?;
    Ok(())
}
