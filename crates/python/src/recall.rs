//! Recall: reads folded messages again from the log.

use midfold::FailureArea;
use midfold::blocking::Session as Engine;
use midfold::store::SearchMode;
use midfold::store::recall::{
    self, ExpandTarget, FoldDescription, FoundMessage, GoneNames, GrepQuery, OriginalPage,
    OutlinePage, ToolListShape,
};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::python::loads;

/// `mode=`: how a query is read.
pub fn mode(name: &str) -> Result<SearchMode, Failure> {
    match name {
        "text" => Ok(SearchMode::Text),
        "literal" => Ok(SearchMode::Literal),
        "regex" => Ok(SearchMode::Regex),
        _ => Err(Failure::unknown(FailureArea::Input, "mode", name, &["text", "literal", "regex"])),
    }
}

pub fn grep(engine: &mut Engine, ask: &GrepQuery) -> Result<Vec<FoundMessage>, Failure> {
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::grep(store, id, ask))?.found)
}

pub fn outline(
    engine: &mut Engine,
    start: u64,
    limit: u32,
    folded: bool,
) -> Result<OutlinePage, Failure> {
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::outline(store, id, start, limit, folded))?)
}

pub fn expand(
    engine: &mut Engine,
    target: &ExpandTarget,
    cursor: Option<&str>,
    max_chars: usize,
) -> Result<OriginalPage, Failure> {
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::expand(store, id, target, cursor, max_chars))?)
}

pub fn describe(engine: &mut Engine, fold: &str) -> Result<FoldDescription, Failure> {
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::describe(store, id, fold))?)
}

pub fn names(engine: &mut Engine, question: &str, max_chars: usize) -> Result<GoneNames, Failure> {
    let (place, id) = (engine.readable()?, engine.id());
    Ok(place.block_on(|store| recall::names(store, id, question, max_chars))?)
}

/// Returns the tools that an agent is given to bring back what was folded, for the `tools` of a
/// request of this shape. `Session.recall` answers their calls.
///
/// Raises `InputError` for an unknown shape.
///
/// >>> import midfold
/// >>> [tool["name"] for tool in midfold.recall_tools("anthropic")]
/// ['recall_find', 'recall_show']
#[pyfunction]
#[pyo3(signature = (shape="openai"))]
pub fn recall_tools<'py>(py: Python<'py>, shape: &str) -> PyResult<Bound<'py, PyAny>> {
    let known = ToolListShape::names();
    let unknown = || Failure::unknown(FailureArea::Input, "shape", shape, &known);
    let shape = ToolListShape::named(shape).ok_or_else(unknown)?;
    loads(py, recall::tools(shape).as_bytes())
}
