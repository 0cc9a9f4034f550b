//! `Sessions`.

use std::sync::{Arc, Mutex};

use midfold::blocking::{ForcedFold, Session as Engine, Sessions as Held};
use midfold::formats::DialectKind;
use napi_derive::napi;

use crate::context::{Handed, list, whole};
use crate::errors::{Failure, NodeResult};
use crate::options::{SessionOptions, read_options};
use crate::session::Session;

/// The conversations of one host, found by the host's own ids, else by what is in them.
#[napi]
pub struct Sessions {
    sessions: Held<Arc<Mutex<Engine>>>,
    kind: DialectKind,
}

/// A context, and the session that it is of.
#[napi]
pub struct Projected {
    engine: Arc<Mutex<Engine>>,
    handed: Option<Handed>,
}

#[napi]
impl Projected {
    /// The session.
    #[napi]
    pub fn session(&self) -> Session {
        Session { engine: self.engine.clone() }
    }

    /// Takes the context out; nothing from the second call on.
    #[napi]
    pub fn take(&mut self) -> Option<Handed> {
        self.handed.take()
    }
}

#[napi]
impl Sessions {
    /// An empty set. The options, as JSON, hold for every session in it.
    #[napi(constructor)]
    pub fn new(options: String) -> napi::Result<Self> {
        let make = || {
            let options: SessionOptions = read_options(&options)?;
            let limit = options.limit.unwrap_or(64);
            let start = options.start()?;
            let hold = |session| Arc::new(Mutex::new(session));
            Ok::<_, Failure>(Self { kind: start.kind, sessions: Held::new(start, limit, hold) })
        };
        Ok(make()?)
    }

    /// The context to send for all messages of a host, as JSON. `count` is how many they are: another number is an error.
    #[napi]
    pub fn project(
        &self,
        messages: String,
        count: u32,
        id: Option<String>,
        focus: Option<String>,
        force: bool,
    ) -> napi::Result<Projected> {
        let (engine, handed) = self.projected(&messages, count, id, focus, force)?;
        Ok(Projected { engine, handed: Some(handed.into()) })
    }

    fn projected(
        &self,
        messages: &str,
        count: u32,
        id: Option<String>,
        focus: Option<String>,
        force: bool,
    ) -> NodeResult<(Arc<Mutex<Engine>>, midfold::blocking::HandedContext)> {
        let name = id.as_deref().unwrap_or("new");
        // `name` only appears in errors, so any word serves for a conversation without an id.
        let list = whole(list(messages, self.kind, name)?, count, self.kind)?;
        let force = (force || focus.is_some()).then_some(ForcedFold { focus: focus.as_deref() });
        Ok(self.sessions.project(id.as_deref(), &list, force)?)
    }

    /// The session of this id, else of the conversation that has most in common with the messages.
    #[napi]
    pub fn find(&self, messages: String, id: Option<String>) -> napi::Result<Option<Session>> {
        let find = || {
            let list = list(&messages, self.kind, id.as_deref().unwrap_or("new"))?;
            Ok::<_, Failure>(self.sessions.find(id.as_deref(), &list)?)
        };
        Ok(find()?.map(|engine| Session { engine }))
    }
}
