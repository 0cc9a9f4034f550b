//! A host's list of messages, read once, and what is handed out for it.

use bytes::Bytes;
use midfold::blocking::Sent;
use midfold::formats::DialectKind;
use midfold::{Door, Fate, Incoming, RawEvent};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Session;
use super::held::Shared;
use crate::context::Context;
use crate::errors::Failure;

/// The list, and its messages as they were read; none where it is empty.
pub struct HostList<'py> {
    objects: Vec<Bound<'py, PyAny>>,
    read: Option<Incoming>,
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
        if objects.is_empty() {
            return Ok(Self { objects, read: None });
        }
        let bytes: Bytes = crate::given::Given::new(messages)?.bytes();
        let read = py.detach(|| Incoming::read(&bytes, "messages", Door::Python));
        Ok(Self { objects, read: Some(read.map_err(Failure::from)?) })
    }

    /// The messages in this dialect, for a session that is called so.
    pub fn events_for(&self, kind: DialectKind, id: &str) -> Result<Vec<RawEvent>, Failure> {
        let Some(read) = &self.read else { return Ok(Vec::new()) };
        let events = read.events_for(kind, id)?;
        if events.len() == self.objects.len() {
            return Ok(events);
        }
        let (given, found) = (self.objects.len(), events.len());
        Err(Failure::input(format!("{given} messages were read as {found} of {kind}"))
            .hint("pass messages of the session's dialect: Session(dialect=…) names it"))
    }
}

impl Session {
    pub(super) fn shared(inner: Shared) -> Self {
        Self { inner }
    }

    /// The context with the host's own objects wherever a message is one of its list.
    pub(super) fn projected(
        &self,
        py: Python<'_>,
        sent: Sent,
        list: &HostList<'_>,
    ) -> PyResult<Context> {
        let origins = sent.origins.clone().unwrap_or_default();
        let fates: Vec<_> = sent.context.pieces().map(|piece| piece.fate).collect();
        let mut known = self.known(py);
        for (origin, fate) in origins.iter().zip(fates) {
            if let (Fate::Verbatim(seq), Some(place), true) = (fate, origin.place, origin.is_same) {
                known.insert(seq.into(), list.objects[place].clone().unbind());
            }
        }
        drop(known);
        let context = self.handed_out(py, sent)?;
        let messages = context.messages.bind(py);
        for (at, origin) in origins.iter().enumerate() {
            if let (Some(place), true) = (origin.place, origin.is_same) {
                messages.set_item(at, &list.objects[place])?;
            }
        }
        Ok(context)
    }
}
