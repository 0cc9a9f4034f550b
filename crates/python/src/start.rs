//! What a session is made of, and making it.

use midfold::formats::DialectKind;
use midfold::{Door, Policy, Settings, Start as Parts, without_messages};

use crate::clock::now;
use crate::engine::{Engine, Place};
use crate::errors::Failure;
use crate::prepare::HOST;

/// What a session is made of.
pub struct Start {
    pub id: String,
    pub kind: DialectKind,
    pub policy: Policy,
    pub settings: Settings,
    /// JSON of the system prompt and of the tools.
    pub system: Option<Vec<u8>>,
    pub tools: Option<Vec<u8>>,
    pub output_reserve: u64,
}

impl Start {
    /// Makes the session: in memory, or in its store.
    pub fn open(self) -> Result<Engine, Failure> {
        let Self { id, kind, policy, settings, system, tools, output_reserve } = self;
        let model = settings.model.clone();
        let system = system.map(|json| String::from_utf8_lossy(&json).into_owned());
        let empty = without_messages(kind, system.as_deref(), tools.map(Into::into), model);
        let prepared = settings.setup(&HOST)?.prepare(empty)?;
        let parts = Parts { id, policy, output_reserve, source: None };
        let started = parts.check(&prepared, now(), Door::Python)?;
        match &settings.store {
            Some(url) => {
                started.can_be_stored()?;
                Place::open(url)?.create(started)
            }
            None => Ok(Engine::Memory(started.in_memory())),
        }
    }
}
