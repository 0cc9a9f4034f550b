//! The sessions of a store that a client may see.

use std::sync::Arc;

use async_trait::async_trait;
use midfold::store::{LogSearch, SearchMode, SessionRow, Store, StoreError};

use crate::answer::CallRefusal;
use crate::scope::SessionScope;

/// Sessions that are read at a time to find the newest.
const AT_ONCE: u32 = 500;
/// Sessions that a search over all of them looks into.
pub(crate) const LOOKED_INTO: usize = 50;

/// Where the store comes from. An agent may start its server before anything was stored.
#[async_trait]
pub trait StoreSource: Send + Sync {
    /// The store; none as long as it is not there.
    ///
    /// # Errors
    /// Why it cannot be opened, in words for the model.
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
    /// Newest first.
    pub rows: Vec<SessionRow>,
    /// How many there are in all.
    pub total: usize,
}

/// The sessions that may be seen, the newest change first, without the first `skip`, at most `limit`.
pub(crate) async fn newest(
    store: &dyn Store,
    scope: &SessionScope,
    skip: usize,
    limit: usize,
) -> Result<NewestSessions, StoreError> {
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let asked =
            midfold::store::NewestQuery { owner: scope.owner.clone(), before, limit: AT_ONCE };
        let page = store.newest(&asked).await?;
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
            // It was deleted meanwhile.
            Err(StoreError::NoSession(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(NewestSessions { rows, total })
}

/// A session that may be seen.
pub(crate) async fn named(
    store: &dyn Store,
    scope: &SessionScope,
    id: &str,
) -> Result<SessionRow, CallRefusal> {
    let row = store.session(id).await?;
    if scope.sees(&row) { Ok(row) } else { Err(CallRefusal::no_session(id)) }
}

/// Whether a message of this session has the text, letter by letter.
pub(crate) async fn holds(store: &dyn Store, id: &str, text: &str) -> Result<bool, StoreError> {
    let search =
        LogSearch { query: text.to_owned(), mode: SearchMode::Literal, range: None, limit: 1 };
    Ok(!store.search(id, &search).await?.is_empty())
}
