//! A session without Python: in memory, or in a store. Everything here runs detached from the
//! interpreter.

use std::sync::Arc;

use midfold::core::Hash;
use midfold::core::engine::Overflow;
use midfold::core::engine::Status;
use midfold::core::event::Usage;
use midfold::core::fold::VerdictRecord;
use midfold::core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold::store::types::{Append, NewEvent, NewFold};
use midfold::store::worker::date;
use midfold::store::{MemoryStore, Meta, NewSession, Store, Stored};
use midfold::{Budget, Context, Fold, Outcome, RawEvent, Session};
use tokio::runtime::{Builder, Runtime};

use crate::clock::now;
use crate::errors::{Failure, Kind};

/// A session, wherever it lives.
#[expect(clippy::large_enum_variant, reason = "one a session, and it stays where it is")]
pub enum Engine {
    Memory(Memory),
    Stored(Kept),
}

/// The engine's own session.
pub struct Memory {
    pub session: Session,
    pub budget: Budget,
    /// What a store would have to know of it: recall reads through one.
    pub new: NewSession,
}

/// A session in a store.
pub struct Kept {
    stored: Stored,
    place: Place,
}

/// An open store, and what drives it: on the thread that calls, so that no thread is left behind
/// when a process forks.
#[derive(Clone)]
pub struct Place {
    store: Arc<dyn Store>,
    runtime: Arc<Runtime>,
}

/// A context that was handed out.
pub struct Sent {
    pub context: Context,
    pub folded: bool,
    pub call: Option<u64>,
}

impl Place {
    /// Opens a store: `sqlite:PATH`, `postgres://…`, `memory`.
    pub fn open(url: &str) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            Failure::new(Kind::Store, format!("the store cannot be driven: {error}"))
        })?;
        let store = runtime.block_on(midfold::store::open(url))?;
        Ok(Self { store, runtime: Arc::new(runtime) })
    }

    /// Makes a session in it.
    pub fn create(self, new: NewSession, model: &str) -> Result<Engine, Failure> {
        let mut stored = self.runtime.block_on(Stored::create(self.store.clone(), new))?;
        if !model.is_empty() {
            self.runtime.block_on(stored.update_model(model))?;
        }
        Ok(Engine::Stored(Kept { stored, place: self }))
    }

    /// Goes on with a session in it.
    pub fn load(self, id: &str) -> Result<Engine, Failure> {
        let stored = self.runtime.block_on(Stored::open(self.store.clone(), id))?;
        Ok(Engine::Stored(Kept { stored, place: self }))
    }
}

impl Engine {
    pub fn id(&self) -> &str {
        match self {
            Self::Memory(memory) => memory.session.id(),
            Self::Stored(kept) => &kept.stored.row().new.id,
        }
    }

    pub fn dialect(&self) -> &str {
        match self {
            Self::Memory(memory) => &memory.new.dialect,
            Self::Stored(kept) => &kept.stored.row().new.dialect,
        }
    }

    pub fn place(&self) -> Option<String> {
        match self {
            Self::Memory(_) => None,
            Self::Stored(kept) => Some(kept.place.store.place()),
        }
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        match self {
            Self::Memory(memory) => memory.session.log().len(),
            Self::Stored(kept) => usize::try_from(kept.stored.row().head).unwrap_or(usize::MAX),
        }
    }

    /// Appends events: all of them or none. The place of the first one.
    pub fn append(&mut self, events: Vec<RawEvent>, key: Option<String>) -> Result<u64, Failure> {
        // What a reader knows beside the bytes is not stored: a log reads the same tomorrow.
        let bare = |event: RawEvent| RawEvent { usage: event.usage, ..RawEvent::new(event.bytes) };
        let events = events.into_iter().map(bare);
        match self {
            Self::Memory(memory) => {
                let first = memory.session.log().len() as u64;
                events.for_each(|event| {
                    memory.session.append(event);
                });
                Ok(first)
            }
            Self::Stored(Kept { stored, place }) => {
                let done = stored.append(events.collect(), key, now());
                Ok(place.runtime.block_on(done)?.first)
            }
        }
    }

    /// The context to send, folded first where that is due.
    pub fn context(&mut self) -> Result<Sent, Failure> {
        match self {
            Self::Memory(Memory { session, budget, .. }) => {
                let before = session.active().map(|fold| fold.id);
                let context = session.context(budget, now())?;
                let folded = session.active().map(|fold| fold.id) != before;
                Ok(Sent { context, folded, call: None })
            }
            Self::Stored(Kept { stored, place }) => {
                let sent = place.runtime.block_on(stored.context(true, now()))?;
                Ok(Sent { context: sent.context, folded: sent.folded.is_some(), call: sent.call })
            }
        }
    }

    /// What to send after the provider said that the last context is too long.
    pub fn recover(&mut self, overflow: Overflow) -> Result<Sent, Failure> {
        let context = match self {
            Self::Memory(Memory { session, budget, .. }) => {
                session.recover(budget, overflow, now())?
            }
            Self::Stored(Kept { stored, place }) => {
                place.runtime.block_on(stored.recover(overflow, now()))?
            }
        };
        Ok(Sent { context, folded: true, call: None })
    }

    /// What the provider counted.
    pub fn observe(&mut self, usage: Usage, call: Option<u64>) -> Result<(), Failure> {
        match self {
            Self::Memory(memory) => memory.session.observe(usage, now()),
            Self::Stored(Kept { stored, place }) => {
                place.runtime.block_on(stored.observe(usage, call, now()))?;
            }
        }
        Ok(())
    }

    /// Folds now; or says what that would do.
    pub fn compact(&mut self, focus: Option<&str>, preview: bool) -> Result<Outcome, Failure> {
        Ok(match self {
            Self::Memory(Memory { session, budget, .. }) if preview => {
                session.preview(budget, focus)?
            }
            Self::Memory(Memory { session, budget, .. }) => session.compact(budget, focus)?,
            Self::Stored(Kept { stored, place }) if preview => {
                place.runtime.block_on(stored.preview(focus))?
            }
            Self::Stored(Kept { stored, place }) => {
                place.runtime.block_on(stored.compact(focus, now()))?
            }
        })
    }

    /// Takes a fold back.
    pub fn undo(&mut self, fold: Option<Hash>) -> Result<(), Failure> {
        match self {
            Self::Memory(memory) => memory.session.undo(fold)?,
            Self::Stored(Kept { stored, place }) => place.runtime.block_on(stored.undo(fold))?,
        }
        Ok(())
    }

    /// Keeps an event out of every later fold, or lets it go.
    pub fn pin(&mut self, seq: u64, pinned: bool) -> Result<(), Failure> {
        match self {
            Self::Memory(memory) => {
                let events = memory.session.log().len();
                let number = u32::try_from(seq).ok().filter(|number| (*number as usize) < events);
                let Some(number) = number else {
                    return Err(Failure::input(format!("there is no event {seq}"))
                        .hint(format!("there are {events}, counted from 0")));
                };
                if pinned {
                    memory.session.pin(number);
                } else {
                    memory.session.unpin(number);
                }
            }
            Self::Stored(Kept { stored, place }) => {
                place.runtime.block_on(stored.pin(seq, pinned))?;
            }
        }
        Ok(())
    }

    pub fn status(&mut self) -> Result<Status, Failure> {
        Ok(match self {
            Self::Memory(Memory { session, budget, .. }) => session.status(budget, now()),
            Self::Stored(Kept { stored, place }) => place.runtime.block_on(stored.status(now()))?,
        })
    }

    /// All folds, oldest first, as JSON.
    pub fn folds(&mut self) -> Result<Vec<u8>, Failure> {
        let whole = match self {
            Self::Memory(memory) => &memory.session,
            Self::Stored(Kept { stored, place }) => &*place.runtime.block_on(stored.whole())?,
        };
        Ok(serde_json::to_vec(whole.folds())?)
    }

    /// What a model should be asked now.
    pub fn wants(&mut self) -> Result<Option<SummaryRequest>, Failure> {
        let Memory { session, budget, .. } = self.memory()?;
        let request = session.wants(budget, now());
        Ok(request.map(|request| SummaryRequest { today: Some(date(now())), ..request }))
    }

    /// Takes the model's answer.
    pub fn complete(
        &mut self,
        request: &SummaryRequest,
        answer: Result<SummaryReply, SummaryFailure>,
    ) -> Result<VerdictRecord, Failure> {
        Ok(self.memory()?.session.complete(request, answer, now())?)
    }

    fn memory(&mut self) -> Result<&mut Memory, Failure> {
        match self {
            Self::Memory(memory) => Ok(memory),
            Self::Stored(_) => Err(Failure::new(
                Kind::Store,
                "a stored session puts its narrations into the store's queue",
            )
            .hint("`midfold.work(store, narrate)` answers them, or `midfold worker --store URL`")),
        }
    }

    /// Another session over the same messages, with the folds so far.
    pub fn fork(&mut self, id: &str, at: Option<u64>) -> Result<Self, Failure> {
        match self {
            Self::Memory(memory) => {
                let Memory { session, budget, new } = memory;
                let events = session.log().len();
                let at = at.map_or(events, |at| usize::try_from(at).unwrap_or(usize::MAX));
                if at > events {
                    return Err(Failure::input(format!("there are {events} events, not {at}")));
                }
                let session = session.fork(id, at);
                let new = NewSession { id: id.to_owned(), ..new.clone() };
                Ok(Self::Memory(Memory { session, budget: budget.clone(), new }))
            }
            Self::Stored(Kept { stored, place }) => {
                let stored = place.runtime.block_on(stored.fork(id, at, now()))?;
                Ok(Self::Stored(Kept { stored, place: place.clone() }))
            }
        }
    }

    /// The same session once more, with all that it has learned. A stored one is forked.
    pub fn copy(&mut self, id: &str) -> Result<Self, Failure> {
        let Self::Memory(memory) = self else { return self.fork(id, None) };
        let Memory { session, budget, new } = memory;
        let (session, budget, new) = (session.clone(), budget.clone(), new.clone());
        Ok(Self::Memory(Memory { session, budget, new }))
    }

    /// A store that recall can read, and what drives it. For a session in memory one is made: its
    /// bytes are shared, so that costs about as much as the search.
    pub fn readable(&mut self) -> Result<Place, Failure> {
        let memory = match self {
            Self::Stored(kept) => return Ok(kept.place.clone()),
            Self::Memory(memory) => memory,
        };
        let runtime = Builder::new_current_thread().build().map_err(|error| {
            Failure::new(Kind::Store, format!("the log cannot be searched: {error}"))
        })?;
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        runtime.block_on(fill(&*store, memory))?;
        Ok(Place { store, runtime: Arc::new(runtime) })
    }
}

impl Place {
    /// The store itself.
    pub fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Runs something that reads the store.
    pub fn block_on<'a, T, F: Future<Output = T>>(
        &'a self,
        work: impl FnOnce(&'a dyn Store) -> F,
    ) -> T {
        self.runtime.block_on(work(&*self.store))
    }
}

async fn fill(store: &dyn Store, memory: &Memory) -> Result<(), Failure> {
    let Memory { session, new, .. } = memory;
    let id = &new.id;
    store.create(new.clone()).await?;
    let events = session.log().events().iter().map(|event| NewEvent {
        bytes: event.bytes.clone(),
        hash: event.hash,
        turn: event.turn,
        tokens: event.tokens.total,
        usage: None,
    });
    let append = Append { events: events.collect(), now: now(), ..Append::default() };
    store.append(id, append).await?;
    for fold in session.folds() {
        store.put_fold(id, &NewFold::of(fold, now())?).await?;
    }
    let active = session.active().map(|fold: &Fold| fold.id);
    store.activate(id, None, active).await?;
    Ok(())
}

/// Budget and envelope of a session, as a store keeps them.
pub fn meta(budget: Budget, envelope: Vec<String>) -> Result<String, Failure> {
    Ok(serde_json::to_string(&Meta { budget, envelope, parent: None, source: None })?)
}
