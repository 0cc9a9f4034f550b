//! Windows that were learned, in a store: a provider that refused a prompt for its length before a restart, or at
//! another process, refuses none for that again.

use midfold_store::{LearnedWindow, Millis, Store, StoreError};

use super::learned_windows::{WindowNews, WindowOwner, WindowReport};
use super::lock::lock;
use super::read_request::ReadRequest;
use super::shared::Proxy;

/// A window that was learned longer ago than this is not brought back, in milliseconds. The server may have a larger
/// one since a restart, and a client that never sends more would not find out.
pub const WINDOW_LASTS: Millis = 7 * 24 * 60 * 60 * 1_000;

impl Proxy {
    /// Writes the next window that is not stored yet; returns whether there was one.
    pub(super) async fn save_window(
        &self,
        store: &dyn Store,
        now: Millis,
    ) -> Result<bool, StoreError> {
        let Some((source, news, told)) = lock(&self.learned).next_news() else { return Ok(false) };
        let WindowReport { window: tokens, counts_reply } = told;
        let saved = match news {
            // It was learned a moment ago, unless the store was away.
            WindowNews::Told => {
                let window = LearnedWindow { tokens, counts_reply, learned: now };
                store.put_window(source.key(), &window).await
            }
            WindowNews::Raised => store.raise_window(source.key(), tokens).await,
        };
        if saved.is_err() {
            lock(&self.learned).again(source, news);
        }
        saved.map(|()| true)
    }

    /// Brings back what was learned of the window that a request has to fit, where nothing is known of it: once.
    pub(super) async fn bring_window(
        &self,
        begun: &ReadRequest,
        store: &dyn Store,
        now: Millis,
    ) -> Result<(), StoreError> {
        let ReadRequest { who, request, model, .. } = begun;
        let source = WindowOwner::new((&who.scope, &who.upstream), request.kind(), model);
        if !lock(&self.learned).is_to_be_looked_up(&source) {
            return Ok(());
        }
        let found = store.window(source.key()).await?;
        let found = found.filter(|it| now.saturating_sub(it.learned) <= WINDOW_LASTS);
        let told =
            found.map(|it| WindowReport { window: it.tokens, counts_reply: it.counts_reply });
        lock(&self.learned).looked_up(&source, told);
        Ok(())
    }
}
