//! What is true always.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::Role;
use midfold::core::audit::audit;
use midfold::formats::request::{Request, without_marks};
use midfold::store::StoredSession;
use midfold::store::fsck::fsck;
use midfold::store::run_in_memory as now;
use midfold_proxy::OutgoingRequest;

use super::world::World;

impl World {
    /// What was sent is made of what the client has, and of nothing that is another key's.
    pub(super) fn check_sent(&mut self, at: usize, raw: &Bytes, sent: &OutgoingRequest) {
        let client = &self.clients[at];
        let other = if client.who.scope == "ann" { "[of bob]" } else { "[of ann]" };
        let text = String::from_utf8_lossy(&sent.body);
        assert!(!text.contains(other), "another key's words\n{}", self.story());
        let read = |body: &Bytes| -> Vec<Bytes> {
            let request = Request::read(client.kind, body.clone());
            let request = request.unwrap_or_else(|error| unreachable!("{error}\n{}", self.story()));
            request.messages().collect()
        };
        let (raw, messages) = (read(raw), read(&sent.body));
        let is_model =
            |message: &Bytes| client.kind.dialect().view(message).role == Role::Assistant;
        let suffix = raw.iter().rev().take_while(|message| !is_model(message)).count();
        if !client.thinks {
            let ends = |messages: &[Bytes]| messages[messages.len() - suffix..].to_vec();
            assert_eq!(ends(&raw), ends(&messages), "the newest messages\n{}", self.story());
        }
        let history = messages[..messages.len() - suffix].to_vec();
        if let Some((fold, before)) = client.sent.as_ref().filter(|_| !client.thinks)
            && *fold == sent.fold
        {
            let plain =
                |messages: &[Bytes]| -> Vec<Bytes> { messages.iter().map(without_marks).collect() };
            assert!(
                plain(&history).starts_with(&plain(before)),
                "client {}: what was sent before is not the start of it\n{}",
                client.name,
                self.story()
            );
        }
        self.clients[at].sent = Some((sent.fold, history));
    }

    pub(super) fn opened(&self, id: &str) -> StoredSession {
        let opened = now(StoredSession::open(Arc::clone(&self.store), id));
        opened.unwrap_or_else(|error| unreachable!("{error}\n{}", self.story()))
    }

    /// The log, the folds and the calls of a session agree.
    pub(super) fn check_session(&self, id: &str) {
        let Ok(_) = now(self.store.session(id)) else { return };
        let mut stored = self.opened(id);
        let calls = now(stored.calls()).unwrap_or_else(|error| unreachable!("{error}"));
        let calls: Vec<_> = calls.into_iter().map(|(record, _)| record).collect();
        let whole = now(stored.whole()).unwrap_or_else(|error| unreachable!("{error}"));
        let audit = audit(whole.log(), whole.folds(), whole.active().map(|fold| fold.id), &calls);
        assert!(audit.is_clean(), "{id}: {:#?}\n{}", audit.findings, self.story());
    }

    pub(super) fn check_all(&mut self) {
        self.provider.forget();
        let report = now(fsck(&*self.store)).unwrap_or_else(|error| unreachable!("{error}"));
        assert!(report.is_clean(), "{:#?}\n{}", report.findings, self.story());
        self.note(&format!("{} sessions, {} folds", report.sessions, report.folds));
    }
}
