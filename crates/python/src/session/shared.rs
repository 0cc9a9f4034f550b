//! A session that several Python objects can share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold::blocking::Session as Engine;
use pyo3::prelude::*;

/// A session and the objects of its messages, wherever Python holds it.
#[derive(Clone)]
pub struct SharedSession(Arc<SessionInner>);

struct SessionInner {
    engine: Mutex<Engine>,
    /// The objects of events, as they were appended or first read.
    known: Mutex<HashMap<u64, Py<PyAny>>>,
    /// The messages that are no events (recaps, edited ones) of the context before, in order: until
    /// the next fold they are the same objects.
    extras: Mutex<Vec<(Bytes, Py<PyAny>)>>,
}

impl SharedSession {
    pub fn known(&self) -> &Mutex<HashMap<u64, Py<PyAny>>> {
        &self.0.known
    }

    pub fn extras(&self) -> &Mutex<Vec<(Bytes, Py<PyAny>)>> {
        &self.0.extras
    }
}

impl AsRef<Mutex<Engine>> for SharedSession {
    fn as_ref(&self) -> &Mutex<Engine> {
        &self.0.engine
    }
}

impl From<Engine> for SharedSession {
    fn from(engine: Engine) -> Self {
        let (known, extras) = (Mutex::default(), Mutex::default());
        Self(Arc::new(SessionInner { engine: Mutex::new(engine), known, extras }))
    }
}
