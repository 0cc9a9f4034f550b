//! Keeps conversations in a store: they are written after the requests, and loaded when a client continues one after a
//! restart. No request waits for a write.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::log::EventLog;
use midfold_store::{
    AppendRequest, IdentifiedSession, MemoryStore, Millis, NewEvent, NewFold, NewSession,
    SessionMeta, Store, StoreError, StoredError, StoredSession,
};

use super::calls::{CallLedger, UnwrittenCall};
use super::chain::Chain;
use super::conversation::ProxyConversation;
use super::lock::lock;
use super::read_request::ReadRequest;
use super::shared::Proxy;
use super::stable::stable;
use super::stored_parts::StoredParts;

/// How many of the last links of a history are searched in the store. A session is noted under the link of its last
/// message at each write.
const PROBES: usize = 64;

/// The changes of a conversation since the last write.
struct PendingChanges {
    id: String,
    /// The row to create, where the store does not have the session.
    new: Option<NewSession>,
    append: AppendRequest,
    folds: Vec<NewFold>,
    /// Two ids: the store's active fold as this process knows it, and ours, which takes its place.
    active: (Option<Hash>, Option<Hash>),
    /// All that the session keeps beside its log and its folds, in JSON.
    state: String,
    /// Another process has written a newer state where the store has a higher number.
    version: u64,
    /// By what a later process finds the session: its last link, and its number of events. Set only with new events.
    identity: Option<(Hash, u64)>,
    calls: Vec<UnwrittenCall>,
}

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
        let (chain, found) = match plain {
            Some((chain, found)) => (Cow::Owned(chain), Some(found)),
            None => {
                let ends = ends(&begun.chain, begun.chain.opening);
                (Cow::Borrowed(&begun.chain), store.identified(&ends).await?)
            }
        };
        let Some(found) = found else { return Ok(()) };
        let hint = begun.who.hint.as_deref();
        let known = lock(&self.index).find(&chain, chain.links.len(), hint, now);
        let found = match &known {
            Some((known, at)) => newest_of(known, *at, found, &**store).await?,
            None => found,
        };
        if let Some((known, _)) =
            known.as_ref().filter(|(known, at)| lock(known).is_current(*at, &found))
        {
            if lock(known).is_changed_in(&found) {
                let row = store.session(&found.id).await?;
                lock(known).take_wishes(row.state, row.state_version)?;
            }
            if is_plain {
                let log = lock(known).session.log().clone();
                self.read_back(begun, begun.request.system.as_ref(), &log);
            }
            return Ok(());
        }
        let (conversation, chain, system) = load(&found.id, store, begun).await?;
        // Also where no tool is offered any more: the client's history lacks the exchanges that the log has.
        self.read_back(begun, system.as_ref(), conversation.session.log());
        let conversation = Arc::new(Mutex::new(conversation));
        lock(&self.index).put(&conversation, &lock(&conversation), &chain, 0, now);
        if let Some((known, _)) = known {
            lock(&known).give_way(&found.id);
        }
        Ok(())
    }

    /// Reads the exchanges of a log.
    fn read_back(&self, begun: &ReadRequest, system: Option<&Bytes>, log: &EventLog) {
        let messages: Vec<_> = log.events().iter().map(|event| event.bytes.clone()).collect();
        lock(&self.hidden).read_back(begun.request.kind(), &begun.who, system, &messages);
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
        let (Some(plain), Some(asked)) = (&begun.without, &begun.recall.asked) else {
            return Ok(None);
        };
        let shown = asked.walk.shown();
        let first =
            asked.past.first().and_then(|exchange| shown.get(exchange.replies.checked_sub(1)?));
        let Some(first) = first.filter(|_| !lock(&self.hidden).is_compared(shown)) else {
            return Ok(None);
        };
        let messages: Vec<_> = (0..stable(plain)).map(|at| plain.message(at)).collect();
        let chain = begun.chain_of(&messages, []);
        let found = store.identified(&ends(&chain, first.end.max(chain.opening))).await?;
        lock(&self.hidden).note_compared(shown);
        Ok(found.map(|found| (chain, found)))
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
    found: IdentifiedSession,
    store: &dyn Store,
) -> Result<IdentifiedSession, StoreError> {
    let own = lock(known).stored_id().map(str::to_owned);
    let events = at as u64;
    match own.filter(|id| *id != found.id && events >= found.events) {
        Some(id) => {
            let row = store.session(&id).await?;
            let (active, state_version) = (row.active, row.state_version);
            Ok(IdentifiedSession { id, events, active, state_version })
        }
        None => Ok(found),
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
    let saved = StoredParts {
        is_made: true,
        events: session.log().len(),
        folds,
        active: row.active,
        state: row.state.clone(),
        version: row.state_version,
        ..StoredParts::default()
    };
    let messages: Vec<_> = session.log().events().iter().map(|it| it.bytes.clone()).collect();
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
            let held = lock(conversation);
            pending(&held, &held.saved, now)?
        };
        let Some(pending) = pending else { return Ok(()) };
        match write(&pending, store).await {
            Ok(version) => {
                let PendingChanges { append, folds, active, state, calls, .. } = pending;
                let (events, folds) = (append.events.len(), folds.len());
                let mut held = lock(conversation);
                // Counts what was written. The session may have more by now, and that is written next time.
                held.saved.note_written(events, folds, active.1, state, version);
                held.calls.note_written(calls.len());
                return Ok(());
            }
            Err(
                error @ (StoreError::Exists(_)
                | StoreError::Conflict { .. }
                | StoreError::StaleFold { .. }
                | StoreError::StaleCall { .. }
                | StoreError::StaleState { .. }),
            ) => {
                learn(conversation, &pending.id, store).await?;
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
    let Some(all) = all else { return Ok((store, String::new())) };
    // The unwritten calls continue a ledger that this store does not have.
    let all = PendingChanges { calls: Vec::new(), ..all };
    write(&all, &store).await?;
    Ok((store, all.id))
}

/// Collects the changes since the last write; `None` if there are none, or if another value owns the session.
fn pending(
    held: &ProxyConversation,
    saved: &StoredParts,
    now: Millis,
) -> Result<Option<PendingChanges>, StoreError> {
    let session = &held.session;
    let events = &session.log().events()[saved.events.min(session.log().len())..];
    let active = session.active().map(|fold| fold.id);
    let state = serde_json::to_string(&session.state())?;
    let is_new = !events.is_empty() || session.folds().len() > saved.folds;
    let is_new = is_new || !held.calls.unwritten().is_empty();
    if saved.is_foreign || !is_new && active == saved.active && state == saved.state {
        return Ok(None);
    }
    let new = (!saved.is_made).then(|| made(held, now)).transpose()?;
    let end = held.chain().last().map(|link| (*link, held.chain().len() as u64));
    Ok(Some(PendingChanges {
        id: session.id().to_owned(),
        new,
        append: AppendRequest {
            expected: saved.events as u64,
            events: events.iter().map(NewEvent::of).collect(),
            now,
            ..AppendRequest::default()
        },
        folds: session.folds()[saved.folds..]
            .iter()
            .map(|fold| NewFold::of(fold, now))
            .collect::<Result<_, _>>()?,
        active: (saved.active, active),
        state,
        version: saved.version,
        identity: end.filter(|_| !events.is_empty()),
        calls: held.calls.unwritten().to_vec(),
    }))
}

/// The record of a new session in the store.
fn made(held: &ProxyConversation, now: Millis) -> Result<NewSession, StoreError> {
    let log = held.session.log();
    let meta = SessionMeta {
        budget: held.budget.clone(),
        envelope: held
            .envelope()
            .iter()
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect(),
        parent: held.parent.clone(),
        source: Some(SessionMeta::PROXY.to_owned()),
        owner: held.owner().map(str::to_owned),
        model: Some(held.model.clone()).filter(|model| !model.is_empty()),
        client: held.client.clone(),
        // Each request sets the lifetime again.
        cache_lifetime: None,
    };
    Ok(NewSession {
        id: held.session.id().to_owned(),
        dialect: log.dialect().name().to_owned(),
        profile: log.profile().name.to_owned(),
        counter: log.counter().name().to_owned(),
        policy: held.session.policy().to_toml(),
        meta: serde_json::to_string(&meta)?,
        created: now,
    })
}

/// Writes in an order that is valid after each step. Events come first, then the folds over them, the active fold, and
/// the calls that were read through it. Last are the state, and the link by which the session is found.
async fn write(pending: &PendingChanges, store: &dyn Store) -> Result<u64, StoreError> {
    let id = &pending.id;
    if let Some(new) = &pending.new {
        store.create(new.clone()).await?;
    }
    if !pending.append.events.is_empty() {
        store.append(id, pending.append.clone()).await?;
    }
    for fold in &pending.folds {
        store.put_fold(id, fold).await?;
    }
    let (before, active) = pending.active;
    if before != active {
        store.activate(id, before, active).await?;
    }
    for (call, usage) in &pending.calls {
        store.record_call(id, call).await?;
        if let Some(usage) = usage {
            store.settle_call(id, call.number, usage).await?;
        }
    }
    let version = store.save_state(id, pending.version, &pending.state).await?;
    if let Some((identity, events)) = pending.identity {
        store.identify(id, identity, events).await?;
    }
    Ok(version)
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
    let last = store.last_call(id).await?;
    let mut held = lock(conversation);
    // This comes before `saved` is replaced, because it compares with the state that was known until now.
    held.take_wishes(row.state.clone(), row.state_version)?;
    let at = usize::try_from(row.head).unwrap_or(usize::MAX);
    let is_ours = at <= held.session.log().len()
        && held.session.log().hash_before(at) == row.head_hash
        && folds.len() <= held.session.folds().len()
        && folds.iter().zip(held.session.folds()).all(|(stored, ours)| stored.fold.id == ours.id);
    held.saved = StoredParts {
        is_made: true,
        events: at,
        folds: folds.len(),
        active: row.active,
        state: row.state,
        version: row.state_version,
        is_queued: held.saved.is_queued,
        is_foreign: !is_ours,
    };
    held.calls.learn(last.as_ref())?;
    Ok(())
}
