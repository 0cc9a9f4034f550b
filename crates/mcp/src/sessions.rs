//! The sessions of a store that a client may see.

use std::sync::Arc;

use async_trait::async_trait;
use midfold::store::{SessionRow, Store, StoreError};

use crate::answer::CallRefusal;
use crate::scope::SessionScope;

/// How many sessions one query reads.
const AT_ONCE: u32 = 500;
/// How many sessions a search over all sessions looks into.
pub(crate) const LOOKED_INTO: usize = 50;

/// The source of the store. An agent may start its server before anything was stored.
#[async_trait]
pub trait StoreSource: Send + Sync {
    /// Returns the store; `None` as long as it does not exist.
    ///
    /// # Errors
    /// Why it cannot be opened, as a text for the model.
    async fn store(&self) -> Result<Option<Arc<dyn Store>>, String>;
}

#[async_trait]
impl StoreSource for Arc<dyn Store> {
    async fn store(&self) -> Result<Option<Arc<dyn Store>>, String> {
        Ok(Some(Self::clone(self)))
    }
}

/// The newest sessions.
#[derive(Debug)]
pub(crate) struct NewestSessions {
    /// The sessions, the newest first.
    pub rows: Vec<SessionRow>,
    /// The number of all sessions that may be seen.
    pub total: usize,
}

/// The sessions that may be seen, the last changed first: at most `limit`, after the first `skip`.
pub(crate) async fn newest(
    store: &dyn Store,
    scope: &SessionScope,
    skip: usize,
    limit: usize,
) -> Result<NewestSessions, StoreError> {
    let (mut seen, mut before) = (Vec::new(), None);
    // All pages are read, because the total is part of the answer.
    loop {
        let query =
            midfold::store::NewestQuery { owner: scope.owner.clone(), before, limit: AT_ONCE };
        let page = store.newest(&query).await?;
        before = page.last().map(|activity| activity.tick);
        let is_last = page.len() < AT_ONCE as usize;
        seen.extend(page.into_iter().map(|activity| activity.id));
        if is_last {
            break;
        }
    }
    let total = seen.len();
    let mut rows = Vec::new();
    for id in seen.iter().skip(skip).take(limit) {
        match store.session(id).await {
            Ok(row) => rows.push(row),
            // The session was deleted meanwhile.
            Err(StoreError::NoSession(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(NewestSessions { rows, total })
}

/// The session with this id, if it may be seen.
pub(crate) async fn named(
    store: &dyn Store,
    scope: &SessionScope,
    id: &str,
) -> Result<SessionRow, CallRefusal> {
    let row = store.session(id).await?;
    if scope.sees(&row) { Ok(row) } else { Err(CallRefusal::no_session(id)) }
}
