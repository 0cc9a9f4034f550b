//! The state of a session between calls: the engine, and the Python objects of its messages.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use midfold::blocking::{HandedContext, Session as Engine};
use midfold::core::project::PieceFate;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyList;

use super::Session;
use crate::compact::summary;
use crate::context::Context;
use crate::errors::Failure;
use crate::list::HostList;
use crate::python::{loads, make};

impl Session {
    pub(super) fn of(engine: Engine) -> Self {
        Self { inner: engine.into() }
    }

    /// Runs something on the engine, detached: nobody holds it while waiting for Python.
    pub(super) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Engine) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let locked = || self.inner.as_ref().lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = py.detach(|| work(&mut locked()));
        py.check_signals()?;
        Ok(outcome?)
    }

    pub(super) fn known(&self, py: Python<'_>) -> MutexGuard<'_, HashMap<u64, Py<PyAny>>> {
        lock(self.inner.known(), py)
    }

    /// The object of an event: the one that was appended, else one that stays the same from now on.
    fn object(&self, py: Python<'_>, seq: u64, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        let known = self.known(py).get(&seq).map(|message| message.clone_ref(py));
        if let Some(message) = known {
            return Ok(message);
        }
        let read = loads(py, bytes)?.unbind();
        // Another thread may have read the same event meanwhile; then its object is the one that stays.
        Ok(self.known(py).entry(seq).or_insert(read).clone_ref(py))
    }

    pub(super) fn handed_out(&self, py: Python<'_>, handed: HandedContext) -> PyResult<Context> {
        let tools = handed.tools();
        let HandedContext { context, injected, folded, call, origins, .. } = handed;
        let messages = PyList::empty(py);
        let before = std::mem::take(&mut *lock(self.inner.extras(), py));
        let mut extras = Vec::with_capacity(before.len());
        for piece in context.pieces() {
            if let PieceFate::Verbatim(seq) = piece.fate {
                messages.append(self.object(py, seq.into(), &piece.bytes)?)?;
                continue;
            }
            let bytes = &piece.bytes;
            // A recap's bytes are shared until the next fold, so the same address means the same recap: its object is
            // used again.
            let same = |(known, _): &&(Bytes, _)| {
                (known.as_ptr(), known.len()) == (bytes.as_ptr(), bytes.len())
            };
            let message = match before.get(extras.len()).filter(same) {
                Some((_, message)) => message.clone_ref(py),
                None => loads(py, bytes)?.unbind(),
            };
            messages.append(&message)?;
            extras.push((bytes.clone(), message));
        }
        *lock(self.inner.extras(), py) = extras;
        for added in injected.iter().flat_map(|each| each.added()) {
            messages.append(loads(py, &added.bytes)?)?;
        }
        let places = origins.map(|origins| origins.iter().map(|origin| origin.place).collect());
        let session = Py::new(py, Self { inner: self.inner.clone() })?.into_any();
        let messages = messages.unbind();
        Ok(Context { pieces: context, injected, messages, folded, call, places, tools, session })
    }

    /// The context with the host's own objects wherever a message is one of its list.
    pub(super) fn projected(
        &self,
        py: Python<'_>,
        handed: HandedContext,
        list: &HostList<'_>,
    ) -> PyResult<Context> {
        let origins = handed.origins.clone().unwrap_or_default();
        let fates: Vec<_> = handed.context.pieces().map(|piece| piece.fate).collect();
        let mut known = self.known(py);
        if let Some(at) = handed.went_back {
            // The host's list went back to this place, so the later objects belong to messages that it no longer has.
            known.retain(|seq, _| *seq < at);
        }
        for (origin, fate) in origins.iter().zip(fates) {
            if let (PieceFate::Verbatim(seq), Some(place), true) =
                (fate, origin.place, origin.is_same)
            {
                known.insert(seq.into(), list.objects[place].clone().unbind());
            }
        }
        // `handed_out` takes this lock again.
        drop(known);
        let context = self.handed_out(py, handed)?;
        let messages = context.messages.bind(py);
        for (at, origin) in origins.iter().enumerate() {
            if let (Some(place), true) = (origin.place, origin.is_same) {
                messages.set_item(at, &list.objects[place])?;
            }
        }
        Ok(context)
    }

    pub(super) fn folding<'py>(
        &self,
        py: Python<'py>,
        focus: Option<&str>,
        preview: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (outcome, report) = self.run(py, |engine| Ok(engine.compact(focus, preview)?))?;
        make(py, "Folding", &summary(py, &report, &outcome)?)
    }

    pub(super) fn with_known(self, py: Python<'_>, known: HashMap<u64, Py<PyAny>>) -> Self {
        *self.known(py) = known;
        self
    }
}

/// Never held while Python code runs.
fn lock<'a, T>(mutex: &'a Mutex<T>, py: Python<'_>) -> MutexGuard<'a, T> {
    mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}
