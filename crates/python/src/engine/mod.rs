//! A session without Python: in memory, or in a store. Everything here runs detached from the
//! interpreter.

mod change;
mod look;

use std::sync::Arc;

use midfold::core::Hash;
use midfold::core::engine::Status;
use midfold::core::event::Usage;
use midfold::core::fold::VerdictRecord;
use midfold::core::inject::{self, Injections};
use midfold::core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold::store::types::{Append, NewEvent, NewFold};
use midfold::store::worker::date;
use midfold::store::{Injected, MemoryStore, NewSession, Store, StoreError, Stored, StoredError};
use midfold::{
    Area, Context, Door, Feedback, Fold, InMemory, Outcome, RawEvent, Refused, Size, Started,
};
use tokio::runtime::{Builder, Runtime};

use crate::clock::now;
use crate::errors::Failure;

/// A session, wherever it lives.
#[expect(clippy::large_enum_variant, reason = "one a session, and it stays where it is")]
pub enum Engine {
    Memory(InMemory),
    Stored(Kept),
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
    /// What hooks added behind it.
    pub injected: Option<inject::Sent>,
    pub folded: bool,
    pub call: Option<u64>,
}

impl Place {
    /// Opens a store, and makes it where it is not there: `sqlite:PATH`, `postgres://…`, `memory`.
    pub fn open(url: &str) -> Result<Self, Failure> {
        Self::driven(url, midfold::store::open(url))
    }

    /// Opens a store that has to be there.
    pub fn existing(url: &str) -> Result<Self, Failure> {
        Self::driven(url, midfold::store::open_existing(url))
    }

    fn driven(
        url: &str,
        opening: impl Future<Output = Result<Arc<dyn Store>, StoreError>>,
    ) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            Failure::new(Area::Store, format!("the store cannot be driven: {error}"))
        })?;
        let store = runtime
            .block_on(opening)
            .map_err(|error| midfold::advise_open(url, error, Door::Python))?;
        Ok(Self { store, runtime: Arc::new(runtime) })
    }

    /// Makes a session in it.
    pub fn create(self, started: Started) -> Result<Engine, Failure> {
        let first = started.messages();
        let stored = self.runtime.block_on(async {
            let mut stored = started.store(self.store.clone()).await?;
            if !first.is_empty() {
                stored.append(first, None, now()).await?;
            }
            Ok::<_, StoredError>(stored)
        })?;
        Ok(Engine::Stored(Kept { stored, place: self }))
    }

    /// Goes on with a session in it.
    pub fn load(self, id: &str) -> Result<Engine, Failure> {
        let opening = async {
            match Stored::open(self.store.clone(), id).await {
                Ok(stored) => Ok(stored),
                Err(error) => Err(midfold::advise_in(&*self.store, error, Door::Python).await),
            }
        };
        let stored = self.runtime.block_on(opening)?;
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

    /// Appends events: all of them or none; with `expect` only where there are so many. The place of
    /// the first one.
    pub fn append(
        &mut self,
        events: Vec<RawEvent>,
        key: Option<String>,
        expect: Option<u64>,
    ) -> Result<u64, Failure> {
        match self {
            Self::Memory(memory) => {
                let first = memory.session.log().len() as u64;
                if let Some(expected) = expect.filter(|expected| *expected != first) {
                    return Err(StoreError::Conflict { expected, actual: first }.into());
                }
                for event in events {
                    memory.session.append(event);
                }
                Ok(first)
            }
            Self::Stored(Kept { stored, place }) => {
                let done = midfold::append(stored, events, key, expect, now());
                Ok(place.runtime.block_on(done)?.first)
            }
        }
    }

    /// The context to send, folded first where that is due, with room for the hooks and what they
    /// add behind it.
    pub fn context(&mut self, hooks: Injections, texts: &[(&str, &str)]) -> Result<Sent, Failure> {
        match self {
            Self::Memory(InMemory { session, budget, .. }) => {
                let before = session.active().map(|fold| fold.id);
                let mut budget = budget.clone();
                budget.injection_reserve = budget.injection_reserve.max(hooks.reserve());
                let context = session.context(&budget, now())?;
                let folded = session.active().map(|fold| fold.id) != before;
                let rules = inject::Rules { log: session.log(), meter: session.meter() };
                let injected = hooks.apply(&context, texts, &rules)?;
                Ok(Sent { context, injected: Some(injected), folded, call: None })
            }
            Self::Stored(Kept { stored, place }) => {
                let before = stored.row().active;
                stored.set_injections(hooks);
                let sent = place.runtime.block_on(stored.context_with(texts, true, now()));
                // The reserve is this request's.
                stored.set_injections(Injections::default());
                let Injected { sent, call } = sent?;
                let folded = stored.row().active != before;
                Ok(Sent { context: sent.history().clone(), injected: Some(sent), folded, call })
            }
        }
    }

    /// What to send after the provider refused the last context; nothing where compacting is not what
    /// it needs.
    pub fn recover(&mut self, refused: &Refused<'_>) -> Result<Option<Sent>, Failure> {
        match self {
            Self::Memory(InMemory { session, budget, .. }) => {
                let judged = refused.judge(&session.status(budget, now()), budget.output_reserve);
                let Some(overflow) = judged.overflow else { return Ok(None) };
                let context = session.recover(budget, overflow, now())?;
                Ok(Some(Sent { context, injected: None, folded: true, call: None }))
            }
            Self::Stored(Kept { stored, place }) => {
                let recovered = place.runtime.block_on(midfold::recover(stored, refused, now()))?;
                Ok(recovered.sent.map(|sent| Sent {
                    context: sent.context,
                    injected: None,
                    folded: true,
                    call: sent.call,
                }))
            }
        }
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

    /// Folds now, or says what that would do; and what a person is told of it.
    pub fn compact(
        &mut self,
        focus: Option<&str>,
        preview: bool,
    ) -> Result<(Outcome, Feedback), Failure> {
        let status = self.status()?;
        let outcome = match self {
            Self::Memory(InMemory { session, budget, .. }) if preview => {
                session.preview(budget, focus)?
            }
            Self::Memory(InMemory { session, budget, .. }) => session.compact(budget, focus)?,
            Self::Stored(Kept { stored, place }) if preview => {
                place.runtime.block_on(stored.preview(focus))?
            }
            Self::Stored(Kept { stored, place }) => {
                place.runtime.block_on(stored.compact(focus, now()))?
            }
        };
        let before = Size { messages: status.messages, tokens: status.context_tokens };
        let feedback = Feedback::of(&outcome, before);
        Ok((outcome, feedback))
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
            Self::Memory(InMemory { session, budget, .. }) => session.status(budget, now()),
            Self::Stored(Kept { stored, place }) => place.runtime.block_on(stored.status(now()))?,
        })
    }

    /// All folds, oldest first, as JSON.
    pub fn folds(&mut self) -> Result<Vec<u8>, Failure> {
        let whole = self.whole()?;
        let log = whole.log();
        let folds: Vec<Fold> = whole.folds().iter().map(|fold| fold.with_references(log)).collect();
        Ok(serde_json::to_vec(&folds)?)
    }

    /// What a model should be asked now.
    pub fn wants(&mut self) -> Result<Option<SummaryRequest>, Failure> {
        let InMemory { session, budget, .. } = self.memory()?;
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

    fn memory(&mut self) -> Result<&mut InMemory, Failure> {
        match self {
            Self::Memory(memory) => Ok(memory),
            Self::Stored(_) => Err(Failure::new(
                Area::Store,
                "a stored session puts its narrations into the store's queue",
            )
            .hint("`midfold.work(store, narrate)` answers them, or `midfold worker --store URL`")),
        }
    }

    /// Another session over the same messages, with the folds so far.
    pub fn fork(&mut self, id: &str, at: Option<u64>) -> Result<Self, Failure> {
        match self {
            Self::Memory(memory) => {
                let InMemory { session, budget, new } = memory;
                let events = session.log().len();
                let at = at.map_or(events, |at| usize::try_from(at).unwrap_or(usize::MAX));
                if at > events {
                    return Err(Failure::input(format!("there are {events} events, not {at}")));
                }
                let session = session.fork(id, at);
                let new = NewSession { id: id.to_owned(), ..new.clone() };
                Ok(Self::Memory(InMemory { session, budget: budget.clone(), new }))
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
        let InMemory { session, budget, new } = memory;
        let (session, budget, new) = (session.clone(), budget.clone(), new.clone());
        Ok(Self::Memory(InMemory { session, budget, new }))
    }

    /// A store that recall can read, and what drives it. For a session in memory one is made: its
    /// bytes are shared, so that costs about as much as the search.
    pub fn readable(&mut self) -> Result<Place, Failure> {
        let memory = match self {
            Self::Stored(kept) => return Ok(kept.place.clone()),
            Self::Memory(memory) => memory,
        };
        let runtime = Builder::new_current_thread().build().map_err(|error| {
            Failure::new(Area::Store, format!("the log cannot be searched: {error}"))
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

async fn fill(store: &dyn Store, memory: &InMemory) -> Result<(), Failure> {
    let InMemory { session, new, .. } = memory;
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
