//! A source that reads a store. Sessions that did not change since the last question are not read again.

use std::sync::Arc;

use midfold::store::{NewestQuery, Store, StoredError, StoredSession};
use midfold::view::{FabricView, FoldDetail, OverviewCache, SessionDetail, explained};
use midfold::{Door, advise_in};
use serde::Serialize;
use serde_json::{Value, json};

use super::{AnswerSource, Clock, LISTED, SourceQuestion, SourceTrouble};

/// A source that reads a store.
pub struct StoreSource {
    store: Arc<dyn Store>,
    overviews: OverviewCache,
    clock: Clock,
}

impl StoreSource {
    /// A source for this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { overviews: OverviewCache::new(Arc::clone(&store)), store, clock }
    }

    async fn sessions(&self) -> Result<Value, SourceTrouble> {
        let query = NewestQuery { limit: LISTED, ..NewestQuery::default() };
        let sessions = self.overviews.newest(&query).await?;
        let is_full = sessions.len() as u64 >= u64::from(LISTED);
        let next = sessions.last().filter(|_| is_full).map(|session| session.tick);
        let sessions: Vec<_> = sessions.iter().map(|session| &**session).collect();
        Ok(json!({ "sessions": sessions, "next": next }))
    }

    async fn of_session(&self, ask: &SourceQuestion, id: &str) -> Result<Value, StoredError> {
        let mut stored = StoredSession::open(Arc::clone(&self.store), id).await?;
        Ok(match ask {
            SourceQuestion::Fold(_, number) => value(&FoldDetail::of(&mut stored, *number).await?),
            SourceQuestion::Explain(_, text) => value(&explained(&mut stored, text, None).await?),
            SourceQuestion::Fabric(_) => value(&FabricView::of(&mut stored).await?),
            SourceQuestion::Detail(_) | SourceQuestion::Sessions => {
                value(&SessionDetail::of(&self.overviews, &mut stored, (self.clock)()).await?)
            }
        })
    }
}

impl AnswerSource for StoreSource {
    fn place(&self) -> String {
        self.store.place()
    }

    async fn json(&self, ask: &SourceQuestion) -> Result<Value, SourceTrouble> {
        let id = match ask {
            SourceQuestion::Sessions => return self.sessions().await,
            SourceQuestion::Detail(id)
            | SourceQuestion::Fabric(id)
            | SourceQuestion::Fold(id, _)
            | SourceQuestion::Explain(id, _) => id.raw(),
        };
        match self.of_session(ask, id).await {
            Ok(value) => Ok(value),
            Err(error) => Err(advise_in(&*self.store, error, Door::Command).await.into()),
        }
    }
}

/// The value as JSON. That cannot fail, because all map keys are texts.
fn value(seen: &impl Serialize) -> Value {
    serde_json::to_value(seen).unwrap_or_default()
}
