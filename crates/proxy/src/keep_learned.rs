//! Keeps learned windows in a store. If a provider refused a long prompt before a restart or at another process, no
//! further prompt of that length is sent.

use midfold_store::{LearnedWindow, Millis, Store, StoreError};

use super::learned_windows::{WindowNews, WindowReport};
use super::lock::lock;
use super::read_request::ReadRequest;
use super::shared::Proxy;

/// The age in milliseconds after which a learned window is not loaded. The server may have a larger window since, and
/// midfold would not notice, because it never sends more than the learned one.
pub const WINDOW_LASTS: Millis = 7 * 24 * 60 * 60 * 1_000;

impl Proxy {
    /// Writes the next learned window; returns whether there was one.
    pub(super) async fn save_window(
        &self,
        store: &dyn Store,
        now: Millis,
    ) -> Result<bool, StoreError> {
        let Some((key, news, report)) = lock(&self.learned).next_news() else {
            return Ok(false);
        };
        let WindowReport { window: tokens, counts_reply } = report;
        let saved = match news {
            // The time of the write is close to the time of learning, unless the store was unreachable.
            WindowNews::Told => {
                let window = LearnedWindow { tokens, counts_reply, learned: now };
                store.put_window(key, &window).await
            }
            WindowNews::Raised => store.raise_window(key, tokens).await,
        };
        if saved.is_err() {
            lock(&self.learned).put_back(key, news);
        }
        saved.map(|()| true)
    }

    /// Loads the learned window for a request's model, if this process knows none and has not asked before.
    pub(super) async fn bring_window(
        &self,
        begun: &ReadRequest,
        store: &dyn Store,
        now: Millis,
    ) -> Result<(), StoreError> {
        let ReadRequest { who, request, model, read, .. } = begun;
        let Ok(reading) = read else { return Ok(()) };
        let source = reading.window_owner(who, request.kind(), model);
        if !lock(&self.learned).is_to_be_looked_up(&source) {
            return Ok(());
        }
        let learned = store.window(source.key()).await?;
        let learned = learned.filter(|window| now.saturating_sub(window.learned) <= WINDOW_LASTS);
        let report = learned.map(|window| WindowReport {
            window: window.tokens,
            counts_reply: window.counts_reply,
        });
        lock(&self.learned).note_looked_up(&source, report);
        Ok(())
    }
}
