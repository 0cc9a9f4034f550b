//! `midfold.delete_sessions` and `midfold.prune_sessions`.

use midfold::Door;
use midfold::blocking::StorePlace;
use midfold::store::SessionExtent;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::clock::now;
use crate::errors::Failure;
use crate::python::make;

/// Deletes these sessions of a store for good: their messages, folds, calls and jobs. Returns what
/// they held.
///
/// Forks of them stay whole. With `dry_run` nothing is deleted: the answer is what would be. In
/// SQLite the file is rewritten, so that nothing of them is left in it.
///
/// Raises `StoreError` if one of the ids is unknown: then nothing is deleted.
#[pyfunction]
#[pyo3(signature = (store, *ids, dry_run=false))]
pub fn delete_sessions<'py>(
    py: Python<'py>,
    store: &str,
    ids: Vec<String>,
    dry_run: bool,
) -> PyResult<Bound<'py, PyList>> {
    let work = || {
        let place = StorePlace::existing(store, Door::Python)?;
        let sessions = match dry_run {
            true => place.block_on(|store| midfold::extents(store, &ids, Door::Python)),
            false => place.block_on(|store| midfold::delete(store, &ids, Door::Python)),
        };
        sessions.map_err(Failure::from)
    };
    list(py, &py.detach(work)?)
}

/// Deletes the sessions of a store that last changed longer ago than `older_than` (`"12h"`,
/// `"30d"`, `"8w"`), as `delete_sessions` does.
///
/// Raises `InputError` for what is no age, `StoreError` if the store fails.
///
/// >>> import midfold
/// >>> midfold.prune_sessions("memory", "30d")
/// []
#[pyfunction]
#[pyo3(signature = (store, older_than, *, dry_run=false))]
pub fn prune_sessions<'py>(
    py: Python<'py>,
    store: &str,
    older_than: &str,
    dry_run: bool,
) -> PyResult<Bound<'py, PyList>> {
    let age = midfold::age(older_than)
        .map_err(|why| Failure::input(format!("older_than=\"{older_than}\": {why}")))?;
    let work = || {
        let place = StorePlace::existing(store, Door::Python)?;
        let sessions = match dry_run {
            true => place.block_on(|store| midfold::idle(store, age, now(), Door::Python)),
            false => place.block_on(|store| midfold::prune(store, age, now(), Door::Python)),
        };
        sessions.map_err(Failure::from)
    };
    list(py, &py.detach(work)?)
}

/// What sessions held, as `midfold.Extent`.
fn list<'py>(py: Python<'py>, sessions: &[SessionExtent]) -> PyResult<Bound<'py, PyList>> {
    let dicts = sessions.iter().map(|extent| {
        let fields = PyDict::new(py);
        fields.set_item("session", &extent.session)?;
        fields.set_item("events", extent.events)?;
        fields.set_item("folds", extent.folds)?;
        fields.set_item("calls", extent.calls)?;
        fields.set_item("jobs", extent.jobs)?;
        fields.set_item("bytes", extent.bytes)?;
        fields.set_item("changed", extent.changed)?;
        make(py, "Extent", &fields)
    });
    PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
}
