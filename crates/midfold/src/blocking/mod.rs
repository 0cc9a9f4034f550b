//! Sessions for callers that block: Python, Node, the command line. A session is in memory or in a store, and its work
//! runs on the thread that calls. [`Session::project`] follows the list of messages that a host keeps; [`Sessions`]
//! does that for many conversations.
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
mod named;
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
use midfold_store::recall::ToolListShape;
use midfold_store::{InjectedRequest, Millis, NewSession, StoreError, StoredSession};

use crate::failure::{Door, Failure, FailureArea};
use crate::recover::RefusedRequest;
use crate::start::{InMemory, KeyedAppends};
use crate::view::CompactionSummary;

pub use error::SessionError;
pub use follow::ContextOrigin;
use follow::ListMatcher;
pub use named::NamedSettings;
pub use new_session::Start;
pub use place::StorePlace;
pub use project::ForcedFold;
pub use sessions::Sessions;

/// The current time in milliseconds since 1970. Only a caller that may read a clock can pass one.
pub type Clock = fn() -> Millis;

/// A session, in memory or in a store.
pub struct Session {
    place: SessionPlace,
    clock: Clock,
    /// Matches the list that a host passes with the events of the session.
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

/// A context to send, and what is known about it.
pub struct HandedContext {
    /// The messages to send.
    pub context: Context,
    /// The messages with the texts that hooks added behind them; `None` after [`Session::recover`].
    pub injected: Option<inject::InjectedContext>,
    /// A fold was made for this context.
    pub folded: bool,
    /// The number of the call in the ledger; `None` for a session in memory.
    pub call: Option<u64>,
    /// Where each message of the context comes from, in its order; `None` if the session follows no list.
    pub origins: Option<Vec<ContextOrigin>>,
    /// If the host's list went back, the number of the first event that the list does not share. The session is now a
    /// fork from there.
    pub went_back: Option<u64>,
    /// The shape of the tools by which the agent looks up what this context no longer has; `None` if nothing is folded.
    recalls: Option<ToolListShape>,
}

impl HandedContext {
    /// The tools for this context, as a JSON array for the `tools` of a request: those of recall from the first fold
    /// on, and none before. [`Session::recall`] answers their calls.
    #[must_use]
    pub fn tools(&self) -> String {
        self.recalls.map_or_else(|| "[]".to_owned(), midfold_store::recall::tools)
    }
}

impl Session {
    /// A session in memory.
    #[must_use]
    pub fn in_memory(memory: InMemory, clock: Clock) -> Self {
        Self { place: SessionPlace::Memory(memory), clock, follow: ListMatcher::default() }
    }

    fn stored(in_store: SessionInStore, clock: Clock) -> Self {
        Self { place: SessionPlace::Stored(in_store), clock, follow: ListMatcher::default() }
    }

    fn now(&self) -> Millis {
        (self.clock)()
    }

    /// The id of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        match &self.place {
            SessionPlace::Memory(memory) => memory.session.id(),
            SessionPlace::Stored(in_store) => &in_store.stored.row().new.id,
        }
    }

    /// The dialect of the session's messages.
    #[must_use]
    pub fn dialect(&self) -> DialectKind {
        let name = match &self.place {
            SessionPlace::Memory(memory) => &memory.new.dialect,
            SessionPlace::Stored(in_store) => &in_store.stored.row().new.dialect,
        };
        DialectKind::from_name(name).unwrap_or(DialectKind::OpenAiChat)
    }

    /// The URL of its store without the password; `None` for a session in memory.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        match &self.place {
            SessionPlace::Memory(_) => None,
            SessionPlace::Stored(in_store) => Some(in_store.place.store().place()),
        }
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.place {
            SessionPlace::Memory(memory) => memory.session.log().len(),
            SessionPlace::Stored(in_store) => {
                usize::try_from(in_store.stored.row().head).unwrap_or(usize::MAX)
            }
        }
    }

    /// Whether there are no events yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of the active fold, through which contexts are read.
    fn active(&self) -> Option<Hash> {
        match &self.place {
            SessionPlace::Memory(memory) => memory.session.active().map(|fold| fold.id),
            SessionPlace::Stored(in_store) => in_store.stored.row().active,
        }
    }

    /// Appends all of the events, or in case of an error none, and returns the number of the first one. With `expect`,
    /// appends only if the session has exactly that many events. A retry with the same `key` appends nothing and returns
    /// the first answer.
    ///
    /// # Errors
    /// If the number of events is not the expected one, if the key belongs to other events, if somebody else appended
    /// meanwhile, or if the store fails.
    pub fn append(
        &mut self,
        events: Vec<RawEvent>,
        key: Option<String>,
        expect: Option<u64>,
    ) -> Result<u64, SessionError> {
        let now = self.now();
        match &mut self.place {
            SessionPlace::Memory(memory) => {
                let first = memory.session.log().len() as u64;
                // The key comes before `expect`: a retry repeats the expectation of its first attempt, which that
                // append made false.
                if let Some(key) = &key
                    && let Some(first) = memory.appended.find_first(key, &events)?
                {
                    return Ok(first);
                }
                if let Some(expected) = expect.filter(|expected| *expected != first) {
                    return Err(StoreError::Conflict { expected, actual: first }.into());
                }
                if let Some(key) = key {
                    memory.appended.note(key, &events, first);
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

    /// Returns the context to send, after a fold if one is due. Room is kept for the hooks, and their `texts` are added
    /// behind the context.
    ///
    /// # Errors
    /// If no context fits, if a hook's text is larger than its reserve, or if the store fails.
    pub fn context(
        &mut self,
        hooks: Injections,
        texts: &[(&str, &str)],
    ) -> Result<HandedContext, SessionError> {
        let (before, now) = (self.active(), self.now());
        let (context, injected, call) = match &mut self.place {
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
                let with_texts = place.run(stored.context_with(texts, true, now));
                // The reserve belongs to this request only.
                stored.set_injections(Injections::default());
                let InjectedRequest { context: with_texts, call } = with_texts?;
                (with_texts.history().clone(), with_texts, call)
            }
        };
        let folded = self.active() != before;
        let handed = self.handed(context, call);
        Ok(HandedContext { injected: Some(injected), folded, ..handed })
    }

    /// Returns what to send after the provider refused the last context; `None` if a smaller context would not help.
    ///
    /// # Errors
    /// If nothing smaller can be made, or if the store fails.
    pub fn recover(
        &mut self,
        refused: &RefusedRequest<'_>,
    ) -> Result<Option<HandedContext>, SessionError> {
        let now = self.now();
        let (context, call) = match &mut self.place {
            SessionPlace::Memory(InMemory { session, budget, .. }) => {
                let judged = refused.judge(&session.status(budget, now), budget.output_reserve);
                let Some(overflow) = judged.overflow else { return Ok(None) };
                (session.recover(budget, overflow, now)?, None)
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                let recovered = place.run(crate::recover(stored, refused, now))?;
                let Some(numbered) = recovered.retry else { return Ok(None) };
                (numbered.context, numbered.call)
            }
        };
        Ok(Some(self.handed(context, call)))
    }

    /// The context as the host gets it, which may go on from its messages: the matcher has to know them.
    fn handed(&mut self, context: Context, call: Option<u64>) -> HandedContext {
        let kind = self.dialect();
        let origins = self.follow.origins(kind, &context);
        // A matcher that does not know all events reads the context together with them. A host that passes no lists
        // has no use for either.
        if self.follow.is_in_use() && self.follow.knows(self.len()) {
            self.follow.hand_out(kind, &context);
        }
        let recalls = self.active().map(|_| ToolListShape::of(kind));
        HandedContext {
            context,
            injected: None,
            folded: true,
            call,
            origins,
            went_back: None,
            recalls,
        }
    }

    /// Records the tokens that the provider counted, which correct the meter.
    ///
    /// # Errors
    /// If the store fails.
    pub fn observe(&mut self, usage: Usage, call: Option<u64>) -> Result<(), SessionError> {
        let now = self.now();
        match &mut self.place {
            SessionPlace::Memory(memory) => memory.session.observe(usage, now),
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.observe(usage, call, now))?
            }
        }
        Ok(())
    }

    /// Folds now, or with `preview` only plans the fold. Also returns what that did, as every door shows it.
    ///
    /// # Errors
    /// If no context fits, or if the store fails.
    pub fn compact(
        &mut self,
        focus: Option<&str>,
        preview: bool,
    ) -> Result<(PlanOutcome, CompactionSummary), SessionError> {
        match preview {
            false => self.compact_within(None, focus),
            true => self.summarised(|session| session.preview(focus)),
        }
    }

    /// Folds now, as if the budget had no more than `room` tokens.
    ///
    /// # Errors
    /// If no context fits, or if the store fails.
    pub fn compact_within(
        &mut self,
        room: Option<u64>,
        focus: Option<&str>,
    ) -> Result<(PlanOutcome, CompactionSummary), SessionError> {
        self.summarised(|session| {
            let now = session.now();
            match &mut session.place {
                SessionPlace::Memory(InMemory { session, budget, .. }) => {
                    Ok(session.compact_within(budget, room, focus)?)
                }
                SessionPlace::Stored(SessionInStore { stored, place }) => {
                    Ok(place.run(stored.compact_within(room, focus, now))?)
                }
            }
        })
    }

    fn preview(&mut self, focus: Option<&str>) -> Result<PlanOutcome, SessionError> {
        match &mut self.place {
            SessionPlace::Memory(InMemory { session, budget, .. }) => {
                Ok(session.preview(budget, focus)?)
            }
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                Ok(place.run(stored.preview(focus))?)
            }
        }
    }

    fn summarised(
        &mut self,
        fold: impl FnOnce(&mut Self) -> Result<PlanOutcome, SessionError>,
    ) -> Result<(PlanOutcome, CompactionSummary), SessionError> {
        // The status is read before the fold, which changes both of its counts.
        let status = self.status()?;
        let outcome = fold(self)?;
        let summary = CompactionSummary::of_session(&outcome, &status);
        Ok((outcome, summary))
    }

    /// Takes a fold back; without an id, the active one.
    ///
    /// # Errors
    /// If there is no such fold, or if the store fails.
    pub fn undo(&mut self, fold: Option<Hash>) -> Result<(), SessionError> {
        match &mut self.place {
            SessionPlace::Memory(memory) => memory.session.undo(fold)?,
            SessionPlace::Stored(SessionInStore { stored, place }) => {
                place.run(stored.undo(fold))?
            }
        }
        Ok(())
    }

    /// Returns the request that a model should answer now for a narration; `None` if there is none.
    ///
    /// # Errors
    /// If the session is stored: its narrations wait in the store's queue.
    pub fn wants(&mut self) -> Result<Option<SummaryRequest>, SessionError> {
        let now = self.now();
        let InMemory { session, budget, .. } = self.memory()?;
        let request = session.take_request(budget, now);
        Ok(request.map(|request| SummaryRequest { today: Some(date(now)), ..request }))
    }

    /// Takes the model's answer to a request of [`Session::wants`], and returns how it was judged.
    ///
    /// # Errors
    /// If this session did not make the request, or if it is stored.
    pub fn complete(
        &mut self,
        request: &SummaryRequest,
        answer: Result<SummaryReply, SummaryFailure>,
    ) -> Result<VerdictRecord, SessionError> {
        let now = self.now();
        Ok(self.memory()?.session.complete(request, answer, now)?)
    }

    /// The session in memory; an error for a stored one, whose narrations wait in the store's queue.
    fn memory(&mut self) -> Result<&mut InMemory, Failure> {
        match &mut self.place {
            SessionPlace::Memory(memory) => Ok(memory),
            SessionPlace::Stored(in_store) => Err(Failure::new(
                FailureArea::Store,
                "a stored session puts its narrations into the store's queue",
            )
            .hint(match in_store.place.door() {
                Door::Python => {
                    "`midfold.work(store, narrate)` answers them, or `midfold worker --store URL`"
                }
                _ => "`midfold worker --store URL` answers them",
            })),
        }
    }

    /// Loads a stored session again, because another process may have changed it.
    fn reload(&mut self) -> Result<(), SessionError> {
        if let SessionPlace::Stored(SessionInStore { stored, place }) = &mut self.place {
            place.run(stored.reload())?;
            // The matcher compares only the number of events, so what it knows must not outlive a reload.
            self.follow = ListMatcher::default();
        }
        Ok(())
    }

    /// Makes another session with the first `at` events (`None`: all of them) and the folds over them.
    ///
    /// # Errors
    /// If there are fewer events, if the id is taken, or if the store fails.
    pub fn fork(&mut self, id: &str, at: Option<u64>) -> Result<Self, SessionError> {
        let now = self.now();
        let held_in = match &mut self.place {
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
        Ok(Self { place: held_in, clock: self.clock, follow: ListMatcher::default() })
    }

    /// Copies the session with everything it knows, also its id, as a copy of any value does. A stored session is forked
    /// under the given id instead, because a store has each id once.
    ///
    /// # Errors
    /// If the store fails.
    pub fn copy(&mut self, id: &str) -> Result<Self, SessionError> {
        let SessionPlace::Memory(memory) = &self.place else {
            return self.fork(id, None);
        };
        let held_in = SessionPlace::Memory(memory.clone());
        Ok(Self { place: held_in, clock: self.clock, follow: self.follow.clone() })
    }
}

fn renamed(memory: &InMemory, id: &str, session: Whole) -> InMemory {
    let new = NewSession { id: id.to_owned(), ..memory.new.clone() };
    InMemory { session, budget: memory.budget.clone(), new, appended: KeyedAppends::default() }
}
