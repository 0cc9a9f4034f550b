//! The requests of clients that know nothing of midfold, made to fit: what a proxy does with a request
//! before it goes on, and with the answer after it came. Without IO; the server crate brings that.
//!
//! A request carries its whole history. It is matched to the conversation that it goes on with by the
//! content of its messages: no header is needed, and forks, restarts and edited histories are what they
//! are. What fits leaves as it came, byte for byte. What does not is read through a fold, and so is every
//! later request of the conversation, so that each prompt extends the one before.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use midfold::formats::request::Request;
//! use midfold::proxy::{Proxy, Rules, Who};
//! use midfold::{DialectKind, Policy};
//!
//! let proxy = Arc::new(Proxy::new(Rules::new(Policy::preset("default")?).window(8_000)));
//! let messages = midfold_testkit::coding_session(7, 12).join(",");
//! let body = Bytes::from(format!(r#"{{"model":"m","messages":[{messages}]}}"#));
//! let request = Request::read(DialectKind::OpenAiChat, body.clone())?;
//! let turn = proxy.turn(request, &Who::default(), 0);
//! assert!(turn.sent().is_folded() && turn.sent().body.len() < body.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conversation;
mod history;
mod index;
mod keep;
mod rules;
mod turn;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use midfold_core::{Hash, Role};
use midfold_formats::request::{Request, identity};
use midfold_store::Millis;

use conversation::Conversation;
use history::{Histories, History};
use index::Index;
use rules::Reading;
pub use rules::Rules;
pub use turn::{Fault, Sent, Turn};

/// Who sends a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// Whose conversations it may go on with: nothing is ever matched across scopes.
    pub scope: String,
    /// What the client calls its session. A hint: it keeps apart what has one history and several
    /// sessions, and finds nothing by itself.
    pub hint: Option<String>,
    /// The preset that is asked for.
    pub preset: Option<String>,
    /// The model, where the body does not name it.
    pub model: Option<String>,
}

/// The conversations that go through a proxy.
pub struct Proxy {
    rules: Mutex<Rules>,
    index: Mutex<Index>,
    /// Windows that providers told, by model.
    learned: Mutex<HashMap<String, u64>>,
    /// Histories that clients leave to the provider.
    histories: Mutex<Histories>,
    /// Conversations that are not written to the store yet.
    unsaved: Mutex<keep::Queue>,
}

/// A request that was read, and not yet matched to its conversation.
pub struct Begun {
    request: Request,
    who: Who,
    model: String,
    kept: Kept,
    /// How it is read, how many of its messages are history, and their chain.
    read: Result<Reading, Fault>,
    stable: usize,
    chain: Vec<Hash>,
}

impl Proxy {
    /// A proxy that folds by these rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let index = Index::new(rules.memory);
        let (learned, histories) = (Mutex::default(), Mutex::default());
        let unsaved = Mutex::default();
        Self { rules: Mutex::new(rules), index: Mutex::new(index), learned, histories, unsaved }
    }

    /// Takes a request, and says what is to be sent. Never fails: what cannot be folded is sent as it
    /// came, with the reason ([`Sent::fault`]).
    #[must_use]
    pub fn turn(self: &Arc<Self>, request: Request, who: &Who, now: Millis) -> Turn {
        self.finish(self.begin(request, who), now)
    }

    /// Reads a request: the first half of [`Proxy::turn`]. Between the two, its conversation can be
    /// brought back from a store ([`Proxy::bring_back`]).
    #[must_use]
    pub fn begin(&self, request: Request, who: &Who) -> Begun {
        let (request, before) = self.whole(request, who);
        let model = request.model.clone().or_else(|| who.model.clone()).unwrap_or_default();
        let read = lock(&self.rules).reading(request.kind(), &model, who.preset.as_deref());
        let stable = if read.is_ok() { stable(&request) } else { 0 };
        let kept = Kept { scope: who.scope.clone(), before };
        let mut begun =
            Begun { request, who: who.clone(), model, kept, read, stable, chain: Vec::new() };
        begun.chain = begun.chain_of((0..stable).map(|at| begun.request.message(at)));
        begun
    }

    /// Says what is to be sent: the second half of [`Proxy::turn`].
    #[must_use]
    pub fn finish(self: &Arc<Self>, begun: Begun, now: Millis) -> Turn {
        let Begun { request, who, model, kept, read, stable, chain } = begun;
        let mut turn = match read {
            Err(fault) => Turn::passing(self, request, model, Some(fault)),
            Ok(_) if stable == 0 => Turn::passing(self, request, model, None),
            Ok(reading) => {
                let conversation = self.conversation(&request, &chain, &reading, &who, now);
                let learned = lock(&self.learned).get(&model).copied();
                let window = reading.window.min(learned.unwrap_or(u64::MAX));
                Turn::through(self, request, model, &reading, conversation, stable, window, now)
            }
        };
        turn.kept = kept;
        turn
    }

    /// The request with the history that it leaves to the provider, where that is known.
    fn whole(&self, request: Request, who: &Who) -> (Request, Before) {
        let Some(answer) = &request.previous_response else { return (request, Before::Nothing) };
        let known = lock(&self.histories).get(&who.scope, answer);
        let Some(history) = known else { return (request, Before::Unknown) };
        match history.in_front_of(&request) {
            Ok(whole) => (whole, Before::Known(history, request.len())),
            Err(_) => (request, Before::Unknown),
        }
    }

    /// How many conversations are held, and about how many bytes of messages.
    #[must_use]
    pub fn held(&self) -> (usize, usize) {
        lock(&self.index).held()
    }

    /// The conversation that a request goes on with, with the messages of the request appended.
    fn conversation(
        &self,
        request: &Request,
        chain: &[Hash],
        reading: &Reading,
        who: &Who,
        now: Millis,
    ) -> Arc<Mutex<Conversation>> {
        let found = lock(&self.index).find(chain, now);
        let (known, at) = match found {
            Some((known, at)) => (Some(known), at),
            None => (None, 0),
        };
        if let Some(known) = &known {
            let mut held = lock(known);
            if held.goes_on_at(at, who) {
                held.hinted(who);
                held.extend(request, &chain[at..]);
                held.beside(request);
                let bytes = held.bytes();
                drop(held);
                lock(&self.index).put(known, chain, at, bytes, now);
                return Arc::clone(known);
            }
        }
        let mut made = match &known {
            // Somebody goes on from an earlier place, or another session with the same history.
            Some(known) => lock(known).fork(at, who, now),
            None => Conversation::new(reading, who, now),
        };
        made.extend(request, &chain[at..]);
        made.beside(request);
        let bytes = made.bytes();
        let made = Arc::new(Mutex::new(made));
        lock(&self.index).put(&made, chain, at, bytes, now);
        made
    }

    /// Keeps the history of a request and its answer, for a request that names the answer.
    fn keep(&self, request: &Request, kept: &Kept, answer: &str, output: &[Bytes]) {
        let (before, new) = match &kept.before {
            // Where the beginning is the provider's alone, so is the rest.
            Before::Unknown => return,
            Before::Nothing => (None, request.len()),
            Before::Known(history, new) => (Some(Arc::clone(history)), *new),
        };
        let from = request.len() - new.min(request.len());
        let sent = (from..request.len()).map(|at| request.message(at));
        // Copied: a slice would keep the whole body in memory.
        let items = sent.chain(output.iter().cloned());
        let items = items.map(|item| Bytes::copy_from_slice(&item)).collect();
        lock(&self.histories).put(&kept.scope, answer, before, items);
    }

    fn learn(&self, model: &str, window: u64) {
        lock(&self.learned).insert(model.to_owned(), window);
    }
}

/// What a request leaves to the provider.
#[derive(Default)]
enum Before {
    /// Nothing: it has its whole history.
    #[default]
    Nothing,
    /// A history that is known; how many of the request's messages are its own.
    Known(Arc<History>, usize),
    /// A history that only the provider has.
    Unknown,
}

/// By what a request and its answer are found again.
#[derive(Default)]
struct Kept {
    scope: String,
    before: Before,
}

/// How many messages of a request are its history: those up to the model's last one. What follows is the
/// client's to replace: reminders, the state of an editor, a question that is asked again in other
/// words, also where it stands in one message with a tool's result. It is history when the model has
/// answered and the next request still has it.
fn stable(request: &Request) -> usize {
    let dialect = request.kind().dialect();
    let is_model = |at: &usize| dialect.view(&request.message(*at)).role == Role::Assistant;
    (0..request.len()).rev().find(is_model).map_or(0, |at| at + 1)
}

impl Begun {
    /// The chain of identities of these messages: each names all before it, and whose they are.
    fn chain_of(&self, messages: impl Iterator<Item = Bytes>) -> Vec<Hash> {
        let Ok(reading) = &self.read else { return Vec::new() };
        let root = Hash::ROOT
            .chain(self.who.scope.as_bytes())
            .chain(reading.profile.name.as_bytes())
            .chain(reading.counter.name().as_bytes());
        let link = |before: &mut Hash, message: Bytes| {
            *before = before.chain(&identity(self.request.kind(), &message).0);
            Some(*before)
        };
        messages.scan(root, link).collect()
    }

    /// The chain, where no conversation in memory is its beginning.
    fn unknown(&self, proxy: &Proxy) -> Option<&[Hash]> {
        let is_known = lock(&proxy.index).knows(&self.chain);
        (!is_known && self.stable > 0).then_some(&self.chain)
    }
}

/// A lock whose holder panicked holds nothing half done: all that is done under one is done at the end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
