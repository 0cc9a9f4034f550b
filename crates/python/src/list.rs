//! A host's list of messages, which is read from Python once.

use bytes::Bytes;
use midfold::formats::DialectKind;
use midfold::{Door, IncomingMessages, RawEvent};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::Failure;

/// The list, and its messages as they were read; none where it is empty.
pub struct HostList<'py> {
    pub objects: Vec<Bound<'py, PyAny>>,
    read: Option<IncomingMessages>,
}

impl<'py> HostList<'py> {
    pub fn read(py: Python<'py>, messages: &Bound<'py, PyAny>) -> PyResult<Self> {
        let Ok(list) = messages.cast::<PyList>() else {
            let kind = messages.get_type().name()?;
            return Err(Failure::input(format!("messages is of type `{kind}`, not a list"))
                .hint("pass all messages of the conversation, as a list of dicts")
                .into());
        };
        let objects: Vec<_> = list.iter().collect();
        // A reader takes an empty list for no conversation, but a host may have one at its start.
        if objects.is_empty() {
            return Ok(Self { objects, read: None });
        }
        let bytes: Bytes = crate::messages::GivenMessages::new(messages)?.bytes();
        let read = py.detach(|| IncomingMessages::read(&bytes, "messages", Door::Python));
        Ok(Self { objects, read: Some(read.map_err(Failure::from)?) })
    }

    /// The messages in this dialect, for a session that is called so.
    pub fn events_for(&self, kind: DialectKind, id: &str) -> Result<Vec<RawEvent>, Failure> {
        let Some(read) = &self.read else { return Ok(Vec::new()) };
        let events = read.events_for(kind, id)?;
        if events.len() == self.objects.len() {
            return Ok(events);
        }
        let (given, count) = (self.objects.len(), events.len());
        Err(Failure::input(format!("{given} messages were read as {count} of {kind}"))
            .hint("pass messages of the session's dialect: Session(dialect=…) names it"))
    }
}
