//! Recall: what a fold took out of the context, brought back from the log.

use midfold::store::SearchMode;
use midfold::store::recall::{self, Described, Found, Page, Shape, What};
use pyo3::prelude::*;

use crate::engine::Engine;
use crate::errors::{Failure, Kind};
use crate::python::loads;

pub fn grep(
    engine: &mut Engine,
    query: &str,
    mode: SearchMode,
    limit: u32,
) -> Result<Vec<Found>, Failure> {
    if query.trim().is_empty() {
        return Err(
            Failure::input("there is nothing to look for").hint("give a word or a part of a name")
        );
    }
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::grep(store, id, query, mode, limit))?)
}

pub fn expand(
    engine: &mut Engine,
    what: &str,
    cursor: Option<&str>,
    max_chars: usize,
) -> Result<Page, Failure> {
    let (place, id, what) = (engine.readable()?, engine.id(), What::parse(what)?);
    Ok(place.block_on(|store| recall::expand(store, id, &what, cursor, max_chars))?)
}

pub fn describe(engine: &mut Engine, fold: &str) -> Result<Described, Failure> {
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::describe(store, id, fold))?)
}

pub fn dispatch(engine: &mut Engine, name: &str, arguments: &str) -> Result<String, Failure> {
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::dispatch(store, id, name, arguments)))
}

/// The tools that an agent is given to bring back what was folded, for the `tools` of a request.
///
/// >>> import midfold
/// >>> [tool["name"] for tool in midfold.recall_tools("anthropic")]
/// ['recall_grep', 'recall_expand', 'recall_describe']
#[pyfunction]
#[pyo3(signature = (shape="openai"))]
pub fn recall_tools<'py>(py: Python<'py>, shape: &str) -> PyResult<Bound<'py, PyAny>> {
    let shape = match shape {
        "openai" => Shape::OpenAi,
        "anthropic" => Shape::Anthropic,
        _ => {
            let known = ["openai", "anthropic"];
            return Err(Failure::unknown(Kind::Input, "shape", shape, &known).into());
        }
    };
    loads(py, recall::tools(shape).as_bytes())
}
