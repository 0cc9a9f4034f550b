//! From the list of messages that a host keeps to the context that it should send.

use midfold_core::inject::Injections;
use midfold_core::{Hash, RawEvent};
use midfold_formats::request::identity;
use midfold_store::{StoreError, StoredError};

use super::follow::CommonPart;
use super::{HandedContext, Session, SessionError, fork};

/// A fold that somebody asks for, whether or not the trigger fires.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForcedFold<'a> {
    /// What the recap should keep first, in words.
    pub focus: Option<&'a str>,
}

impl Session {
    /// Takes the host's whole list of messages, appends the new ones, and returns the context to send. If the list
    /// lacks events that the session has, the session becomes a fork with another id that goes on from the last event
    /// in common.
    ///
    /// The list may begin with a context that this session handed out before, instead of the messages that the context
    /// was made of.
    ///
    /// # Errors
    /// If no context fits, or if the store fails.
    pub fn project(
        &mut self,
        list: &[RawEvent],
        force: Option<ForcedFold<'_>>,
    ) -> Result<HandedContext, SessionError> {
        let identities = self.identities(list);
        self.project_known(list, &identities, force)
    }

    /// As [`Self::project`], with the identities of the messages already computed.
    pub(super) fn project_known(
        &mut self,
        list: &[RawEvent],
        identities: &[Hash],
        force: Option<ForcedFold<'_>>,
    ) -> Result<HandedContext, SessionError> {
        match self.go_on(list, identities, force) {
            // Another process appended to the session after it was read here: load it again, and try once more.
            Err(SessionError::Stored(StoredError::Store(StoreError::Conflict { .. }))) => {
                self.reload()?;
                self.go_on(list, identities, force)
            }
            outcome => outcome,
        }
    }

    /// The identities of messages in the dialect of this session.
    pub(super) fn identities(&self, list: &[RawEvent]) -> Vec<Hash> {
        let kind = self.dialect();
        let known = |at: usize, event: &RawEvent| {
            // Most of the list is already in the log, byte for byte. Comparing the bytes costs a tenth of computing the
            // identity.
            let logged = self.logged(at)?;
            (logged == event.bytes).then(|| self.follow.event(at)).flatten()
        };
        let of = |(at, event)| known(at, event).unwrap_or_else(|| identity(kind, &event.bytes));
        list.iter().enumerate().map(of).collect()
    }

    /// Compares a list with this session, after the matcher has seen all events of the log.
    pub(super) fn common(&mut self, list: &[Hash]) -> Result<CommonPart, SessionError> {
        let kind = self.dialect();
        if !self.follow.knows(self.len()) {
            let mut follow = std::mem::take(&mut self.follow);
            let whole = self.whole()?;
            let view = whole.view();
            follow.read(kind, whole.log(), &view);
            self.follow = follow;
        }
        Ok(self.follow.common(list))
    }

    /// Goes on with a list from the part that it has in common with this session.
    fn go_on(
        &mut self,
        list: &[RawEvent],
        identities: &[Hash],
        force: Option<ForcedFold<'_>>,
    ) -> Result<HandedContext, SessionError> {
        let common = self.common(identities)?;
        let went_back = (common.at < self.len()).then_some(common.at as u64);
        if went_back.is_some() {
            let id = self.fork_id(identities, common);
            *self = self.rewound(&id, common)?;
        }
        let new = &list[common.from..];
        if !new.is_empty() {
            self.append(new.to_vec(), None, Some(common.at as u64))?;
        }
        self.follow.follow(identities, common);
        let before = self.active();
        if let Some(ForcedFold { focus }) = force {
            self.compact(focus, false)?;
        }
        let mut handed = self.context(Injections::default(), &[])?;
        // A forced fold was made before `context`, which therefore could not see it as new.
        handed.folded = self.active() != before;
        handed.went_back = went_back;
        Ok(handed)
    }

    /// The id of the fork that goes on with a list: a hash of the session, the place, the time and the list.
    fn fork_id(&self, list: &[Hash], common: CommonPart) -> String {
        let now = self.now();
        // With the time in it, a list that goes back twice to one place gets two ids.
        let parts = [self.id().as_bytes(), &common.at.to_be_bytes(), &now.to_be_bytes()];
        let named = parts.iter().fold(Hash::ROOT, |hash, part| hash.chain(part));
        let named = list.iter().fold(named, |hash, identity| hash.chain(&identity.0));
        fork::id(self.id(), &named.to_hex())
    }

    /// A fork of the session that has only the events in common with a list.
    pub(super) fn rewound(&mut self, id: &str, common: CommonPart) -> Result<Self, SessionError> {
        let follow = self.follow.fork(common.at);
        let fork = self.fork(id, Some(common.at as u64))?;
        Ok(Self { follow, ..fork })
    }
}
