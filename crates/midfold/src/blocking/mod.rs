//! A session for a door that waits: in memory or in a store, driven on the thread that calls. Behind it
//! are the engine's session and the store's; [`Session::project`] follows the list of messages that a
//! host keeps, and [`Sessions`] the lists of many conversations.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use midfold::blocking::{Sessions, Start};
//! use midfold::{DialectKind, Door, DoorHost, Policy, RawEvent, Settings};
//!
//! let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
//! let start = Start {
//!     settings: Settings { window: Some(8_000), ..Settings::default() },
//!     ..Start::new(Policy::preset("default")?, host, || 0)
//! };
//! let sessions = Sessions::new(start, 64, |session| Arc::new(Mutex::new(session)));
//! let list = midfold_testkit::coding_session(7, 12);
//! let list: Vec<_> = list.into_iter().map(|json| RawEvent::new(json.into())).collect();
//! let (_, sent) = sessions.project(None, &list, None)?;
//! assert!(sent.folded && sent.context.len() < list.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod change;
mod error;
mod follow;
pub(crate) mod fork;
mod look;
mod new_session;
mod place;
mod project;
mod sessions;

use midfold_core::Hash;
use midfold_core::RawEvent;
use midfold_core::calendar::date;
use midfold_core::engine::Session as Whole;
use midfold_core::event::Usage;
use midfold_core::fold::VerdictRecord;
use midfold_core::inject::{self, Injections};
use midfold_core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold_core::plan::PlanOutcome;
use midfold_core::project::Context;
use midfold_formats::DialectKind;
use midfold_store::{InjectedRequest, Millis, NewSession, StoreError, StoredSession};

use crate::failure::{Failure, FailureArea};
use crate::feedback::{CompactionFeedback, SizeCount};
use crate::recover::RefusedRequest;
use crate::start::InMemory;

pub use error::SessionError;
pub use follow::ContextOrigin;
use follow::ListMatcher;
pub use new_session::Start;
pub use place::StorePlace;
pub use project::ForcedFold;
pub use sessions::Sessions;

/// Milliseconds since 1970, from whoever may read a clock.
pub type Clock = fn() -> Millis;

/// A session, wherever it lives.
pub struct Session {
    held: SessionPlace,
    clock: Clock,
    /// What a host's list is recognised by.
    follow: ListMatcher,
}

#[expect(clippy::large_enum_variant, reason = "one a session, and it stays where it is")]
enum SessionPlace {
    Memory(InMemory),
    Stored(SessionInStore),
}

/// A session in a store.
struct SessionInStore {
    stored: StoredSession,
    place: StorePlace,
}

/// A context that was handed out.
pub struct HandedContext {
    /// The messages.
    pub context: Context,
    /// What hooks added behind it.
    pub injected: Option<inject::InjectedContext>,
    /// It was folded for this.
    pub folded: bool,
    /// Its number in the ledger of a stored session.
    pub call: Option<u64>,
    /// Where each message is from, if the session follows a list: of this context's messages, in order.
    pub origins: Option<Vec<ContextOrigin>>,
    /// The event from which on the session is another one for this: the list went back.
    pub went_back: Option<u64>,
}

impl Session {
    /// A session in memory.
    #[must_use]
    pub fn in_memory(memory: InMemory, clock: Clock) -> Self {
        Self { held: SessionPlace::Memory(memory), clock, follow: ListMatcher::default() }
    }

    fn stored(kept: SessionInStore, clock: Clock) -> Self {
        Self { held: SessionPlace::Stored(kept), clock, follow: ListMatcher::default() }
    }

    fn now(&self) -> Millis {
        (self.clock)()
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        match &self.held {
            SessionPlace::Memory(memory) => memory.session.id(),
            SessionPlace::Stored(kept) => &kept.stored.row().new.id,
        }
    }

    /// The dialect of its messages.
    #[must_use]
    pub fn dialect(&self) -> DialectKind {
        let name = match &self.held {
            SessionPlace::Memory(memory) => &memory.new.dialect,
            SessionPlace::Stored(kept) => &kept.stored.row().new.dialect,
        };
        DialectKind::from_name(name).unwrap_or(DialectKind::OpenAiChat)
    }

    /// Where it is stored, without a password; nothing in memory.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        match &self.held {
            SessionPlace::Memory(_) => None,
            SessionPlace::Stored(kept) => Some(kept.place.store().place()),
        }
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.held {
            SessionPlace::Memory(memory) => memory.session.log().len(),
            SessionPlace::Stored(kept) => {
                usize::try_from(kept.stored.row().head).unwrap_or(usize::MAX)
            }
        }
    }

    /// There are no events yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fold that contexts are read through.
    fn active(&self) -> Option<Hash> {
        match &self.held {
            SessionPlace::Memory(memory) => memory.session.active().map(|fold| fold.id),
            SessionPlace::Stored(kept) => kept.stored.row().active,
        }
    }

    /// Appends events: all of them or none; with `expect` only where there are so many. The place of
    /// the first one.
    ///
    /// # Errors
    /// When somebody else appended meanwhile, or the store fails.
    pub fn append(
        &mut self,
        events: Vec<RawEvent>,
        key: Option<String>,
        expect: Option<u64>,
    ) -> Result<u64, SessionError> {
        let now = self.now();
        match &mut self.held {
            SessionPlace::Memory(memory) => {
                let first = memory.session.log().len() as u64;
                if let Some(expected) = expect.filter(|expected| *expected != first) {
                    return Err(StoreError::Conflict { expected, actual: first }.into());
                }
                for event in events {
                    memory.session.append(event);
                }
                Ok(first)
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                Ok(place.run(crate::append(stored, events, key, expect, now))?.first)
            }
        }
    }

    /// The context to send, folded first where that is due, with room for the hooks and what they
    /// add behind it.
    ///
    /// # Errors
    /// When nothing that fits can be made, a hook takes more than its reserve, or the store fails.
    pub fn context(
        &mut self,
        hooks: Injections,
        texts: &[(&str, &str)],
    ) -> Result<HandedContext, SessionError> {
        let (before, now) = (self.active(), self.now());
        let (context, injected, call) = match &mut self.held {
            SessionPlace::Memory(InMemory { session, budget, .. }) => {
                let mut budget = budget.clone();
                budget.injection_reserve = budget.injection_reserve.max(hooks.reserve());
                let context = session.context(&budget, now)?;
                let rules = inject::MessageRules { log: session.log(), meter: session.meter() };
                let injected = hooks.apply(&context, texts, &rules)?;
                (context, injected, None)
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                stored.set_injections(hooks);
                let sent = place.run(stored.context_with(texts, true, now));
                // The reserve is this request's.
                stored.set_injections(Injections::default());
                let InjectedRequest { sent, call } = sent?;
                (sent.history().clone(), sent, call)
            }
        };
        let folded = self.active() != before;
        let origins = self.follow.origins(self.dialect(), &context);
        Ok(HandedContext {
            context,
            injected: Some(injected),
            folded,
            call,
            origins,
            went_back: None,
        })
    }

    /// What to send after the provider refused the last context; nothing where compacting is not what
    /// it needs.
    ///
    /// # Errors
    /// When nothing smaller can be made, or the store fails.
    pub fn recover(
        &mut self,
        refused: &RefusedRequest<'_>,
    ) -> Result<Option<HandedContext>, SessionError> {
        let now = self.now();
        let (context, call) = match &mut self.held {
            SessionPlace::Memory(InMemory { session, budget, .. }) => {
                let judged = refused.judge(&session.status(budget, now), budget.output_reserve);
                let Some(overflow) = judged.overflow else { return Ok(None) };
                (session.recover(budget, overflow, now)?, None)
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                let recovered = place.run(crate::recover(stored, refused, now))?;
                let Some(sent) = recovered.sent else { return Ok(None) };
                (sent.context, sent.call)
            }
        };
        let origins = self.follow.origins(self.dialect(), &context);
        Ok(Some(HandedContext {
            context,
            injected: None,
            folded: true,
            call,
            origins,
            went_back: None,
        }))
    }

    /// What the provider counted.
    ///
    /// # Errors
    /// When the store fails.
    pub fn observe(&mut self, usage: Usage, call: Option<u64>) -> Result<(), SessionError> {
        let now = self.now();
        match &mut self.held {
            SessionPlace::Memory(memory) => memory.session.observe(usage, now),
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.observe(usage, call, now))?
            }
        }
        Ok(())
    }

    /// Folds now, or says what that would do. Also gives a text about it for people.
    ///
    /// # Errors
    /// When nothing that fits can be made, or the store fails.
    pub fn compact(
        &mut self,
        focus: Option<&str>,
        preview: bool,
    ) -> Result<(PlanOutcome, CompactionFeedback), SessionError> {
        let (status, now) = (self.status()?, self.now());
        let outcome = match &mut self.held {
            SessionPlace::Memory(InMemory { session, budget, .. }) if preview => {
                session.preview(budget, focus)?
            }
            SessionPlace::Memory(InMemory { session, budget, .. }) => {
                session.compact(budget, focus)?
            }
            SessionPlace::Stored(SessionInStore { stored, place }) if preview => {
                place.run(stored.preview(focus))?
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.compact(focus, now))?
            }
        };
        let before = SizeCount { messages: status.messages, tokens: status.context_tokens };
        let feedback = CompactionFeedback::of(&outcome, before);
        Ok((outcome, feedback))
    }

    /// Takes a fold back.
    ///
    /// # Errors
    /// When there is no such fold, or the store fails.
    pub fn undo(&mut self, fold: Option<Hash>) -> Result<(), SessionError> {
        match &mut self.held {
            SessionPlace::Memory(memory) => memory.session.undo(fold)?,
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.undo(fold))?
            }
        }
        Ok(())
    }

    /// What a model should be asked now.
    ///
    /// # Errors
    /// Where the session is stored: its store has a queue.
    pub fn wants(&mut self) -> Result<Option<SummaryRequest>, SessionError> {
        let now = self.now();
        let InMemory { session, budget, .. } = self.memory()?;
        let request = session.wants(budget, now);
        Ok(request.map(|request| SummaryRequest { today: Some(date(now)), ..request }))
    }

    /// Takes the model's answer.
    ///
    /// # Errors
    /// Where it was not asked, or the session is stored.
    pub fn complete(
        &mut self,
        request: &SummaryRequest,
        answer: Result<SummaryReply, SummaryFailure>,
    ) -> Result<VerdictRecord, SessionError> {
        let now = self.now();
        Ok(self.memory()?.session.complete(request, answer, now)?)
    }

    fn memory(&mut self) -> Result<&mut InMemory, Failure> {
        match &mut self.held {
            SessionPlace::Memory(memory) => Ok(memory),
            SessionPlace::Stored(_) => Err(Failure::new(
                FailureArea::Store,
                "a stored session puts its narrations into the store's queue",
            )
            .hint("`midfold.work(store, narrate)` answers them, or `midfold worker --store URL`")),
        }
    }

    /// Reads again what other processes may have changed.
    fn reload(&mut self) -> Result<(), SessionError> {
        if let SessionPlace::Stored(SessionInStore { stored, place }) = &mut self.held {
            place.run(stored.reload())?;
            self.follow = ListMatcher::default();
        }
        Ok(())
    }

    /// Another session over the first `at` messages, all without, with the folds of them.
    ///
    /// # Errors
    /// When there are not so many messages, the id is taken, or the store fails.
    pub fn fork(&mut self, id: &str, at: Option<u64>) -> Result<Self, SessionError> {
        let now = self.now();
        let held = match &mut self.held {
            SessionPlace::Memory(memory) => {
                let events = memory.session.log().len();
                let at = at.map_or(events, |at| usize::try_from(at).unwrap_or(usize::MAX));
                if at > events {
                    let text = format!("there are {events} events, not {at}");
                    return Err(Failure::new(FailureArea::Input, text).into());
                }
                SessionPlace::Memory(renamed(memory, id, memory.session.fork(id, at)))
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                let stored = place.run(stored.fork(id, at, now))?;
                SessionPlace::Stored(SessionInStore { stored, place: place.clone() })
            }
        };
        Ok(Self { held, clock: self.clock, follow: ListMatcher::default() })
    }

    /// The same session once more, with all that it has learned. A stored one is forked.
    ///
    /// # Errors
    /// When the store fails.
    pub fn copy(&mut self, id: &str) -> Result<Self, SessionError> {
        let SessionPlace::Memory(InMemory { session, budget, new }) = &self.held else {
            return self.fork(id, None);
        };
        let (session, budget, new) = (session.clone(), budget.clone(), new.clone());
        let held = SessionPlace::Memory(InMemory { session, budget, new });
        Ok(Self { held, clock: self.clock, follow: self.follow.clone() })
    }
}

fn renamed(memory: &InMemory, id: &str, session: Whole) -> InMemory {
    let new = NewSession { id: id.to_owned(), ..memory.new.clone() };
    InMemory { session, budget: memory.budget.clone(), new }
}
