//! Over a store: what did not change since the last question is not read again.

use std::sync::Arc;

use midfold::store::{Newest, Store, Stored, StoredError};
use midfold::view::{Detail, Fabric, FoldDetail, Overviews, explained};
use midfold::{Door, advise_in};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Ask, Clock, LISTED, Source, Trouble};

/// The sessions of a store.
pub struct StoreSource {
    store: Arc<dyn Store>,
    overviews: Overviews,
    clock: Clock,
}

impl StoreSource {
    /// Of this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { overviews: Overviews::new(Arc::clone(&store)), store, clock }
    }

    async fn sessions(&self) -> Result<Value, Trouble> {
        let asked = Newest { limit: LISTED, ..Newest::default() };
        let sessions = self.overviews.newest(&asked).await?;
        let is_full = sessions.len() as u64 >= u64::from(LISTED);
        let next = sessions.last().filter(|_| is_full).map(|session| session.tick);
        let sessions: Vec<_> = sessions.iter().map(|session| &**session).collect();
        Ok(json!({ "sessions": sessions, "next": next }))
    }

    async fn of_session(&self, ask: &Ask, id: &str) -> Result<Value, StoredError> {
        let mut stored = Stored::open(Arc::clone(&self.store), id).await?;
        Ok(match ask {
            Ask::Fold(_, number) => value(&FoldDetail::of(&mut stored, *number).await?),
            Ask::Explain(_, text) => value(&explained(&mut stored, text, None).await?),
            Ask::Fabric(_) => value(&Fabric::of(&mut stored).await?),
            Ask::Detail(_) | Ask::Sessions => {
                value(&Detail::of(&self.overviews, &mut stored, (self.clock)()).await?)
            }
        })
    }
}

impl Source for StoreSource {
    fn place(&self) -> String {
        self.store.place()
    }

    async fn json(&self, ask: &Ask) -> Result<Value, Trouble> {
        let id = match ask {
            Ask::Sessions => return self.sessions().await,
            Ask::Detail(id) | Ask::Fabric(id) | Ask::Fold(id, _) | Ask::Explain(id, _) => id.raw(),
        };
        match self.of_session(ask, id).await {
            Ok(value) => Ok(value),
            Err(error) => Err(advise_in(&*self.store, error, Door::Command).await.into()),
        }
    }
}

/// None of these values has a key that is no text: there is nothing that could fail.
fn value(seen: &impl Serialize) -> Value {
    serde_json::to_value(seen).unwrap_or_default()
}
