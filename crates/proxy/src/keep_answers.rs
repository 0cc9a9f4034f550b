//! Keeps histories that end with an answer in a store, so that a request can name the answer after a restart or at
//! another process. Messages that a stored session has are not written twice.

use std::sync::Arc;

use bytes::Bytes;
use midfold_formats::request::Request;
use midfold_store::{Millis, Store, StoreError};
use serde_json::value::RawValue;

use super::answers::{NotedAnswer, key};
use super::history::{ProviderHistory, RequestHistory};
use super::lock::lock;
use super::sender::RequestSender;
use super::shared::Proxy;
use super::slot::ConversationSlot;

impl Proxy {
    /// Notes the history of an answer. If the session of the history before it is known only now, notes that again,
    /// too.
    pub(super) fn note_answer(
        &self,
        request: &Request,
        request_history: &RequestHistory,
        answer: &str,
        output: &[Bytes],
        place: Option<&ConversationSlot>,
    ) {
        if !self.is_stored() {
            return;
        }
        let begins = |events| place.map(|place| (Arc::clone(&place.conversation), events));
        let stable = place.map_or(0, |place| place.newest.history_len());
        let mut answers = lock(&self.answers);
        if let ProviderHistory::Known(history, new) = &request_history.before {
            let events = request.len() - new.min(&request.len());
            if events <= stable && history.mark_placed() {
                answers.push(NotedAnswer {
                    key: history.key(),
                    begins: begins(events),
                    rest: Vec::new(),
                });
            }
        }
        let behind = (stable..request.len()).map(|at| request.message(at));
        // Copied, because a slice would keep the whole request body in memory.
        let rest = behind.chain(output.iter().cloned());
        let rest = rest.map(|item| Bytes::copy_from_slice(&item)).collect();
        answers.push(NotedAnswer {
            key: key(&request_history.scope, answer),
            begins: begins(stable),
            rest,
        });
    }

    /// Notes an answer that midfold made itself. Its history belongs to no conversation.
    pub(super) fn note_answer_as(&self, history: &RequestHistory, answer: &str, context: &[Bytes]) {
        if self.is_stored() {
            let rest = context.iter().map(|item| Bytes::copy_from_slice(item)).collect();
            let noted = NotedAnswer { key: key(&history.scope, answer), begins: None, rest };
            lock(&self.answers).push(noted);
        }
    }

    /// Writes the next answer; returns whether there was one.
    pub(super) async fn save_answer(
        &self,
        store: &dyn Store,
        now: Millis,
    ) -> Result<bool, StoreError> {
        let Some(noted) = lock(&self.answers).pop() else { return Ok(false) };
        let Some(answer) = noted.answer()? else { return Ok(true) };
        let mut put = store.put_answer(noted.key, &answer, now).await;
        if matches!(put, Err(StoreError::NoSession(_))) && !noted.is_stored() {
            // The parent of a fork was never worth storing, or is gone. The fork still is under way.
            let Some(answer) = noted.whole_answer()? else { return Ok(true) };
            put = store.put_answer(noted.key, &answer, now).await;
        }
        match put {
            // Somebody deleted the session, and with it the answers that belong to it.
            Ok(()) | Err(StoreError::NoSession(_)) => Ok(true),
            Err(error) => {
                lock(&self.answers).put_back(noted);
                Err(error)
            }
        }
    }

    /// Whether a request names an answer that is not known here, so that a store should be asked for it.
    #[must_use]
    pub fn wants_history(&self, request: &Request, who: &RequestSender) -> bool {
        let named = request.previous_response.as_ref();
        let is_elsewhere =
            named.is_some_and(|name| lock(&self.threads).get(&key(&who.scope, name)).is_some());
        !is_elsewhere && !self.is_whole(request, who)
    }

    /// Loads the history that ends with the answer which a request names, if the store has it for this sender. That
    /// happens after a restart, and if another process gave the answer. Returns whether it was found.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn bring_history(
        &self,
        request: &Request,
        who: &RequestSender,
        store: &dyn Store,
    ) -> Result<bool, StoreError> {
        let Some(name) = &request.previous_response else { return Ok(false) };
        let Some(history) = store.answer(key(&who.scope, name)).await? else { return Ok(false) };
        let mut items = match &history.session {
            Some(id) => store.events(id, 0..history.events).await?,
            None => Vec::new(),
        };
        // A history with a hole would be sent as if it were whole. Without it, the request passes to the provider as it
        // is.
        if items.len() as u64 != history.events {
            return Ok(false);
        }
        let mut items: Vec<_> = items.drain(..).map(|row| row.event.bytes).collect();
        if !history.rest.is_empty() {
            let rest: Vec<&RawValue> = serde_json::from_slice(&history.rest)?;
            items.extend(rest.iter().map(|item| Bytes::copy_from_slice(item.get().as_bytes())));
        }
        let is_placed = history.session.is_some() && history.rest.is_empty();
        lock(&self.histories).bring_back(&who.scope, name, items, is_placed);
        Ok(true)
    }
}
