//! midfold for Python: values in, values out. The rules are in the crates below. This crate turns Python objects into
//! bytes and releases the interpreter during the work. Then it turns the result into Python objects again. A message
//! that the engine kept as it was is returned as the same object.

mod arrow;
mod clock;
mod compact;
mod context;
mod count;
mod delete;
mod errors;
mod feedback;
mod json;
mod list;
mod messages;
mod prepare;
mod python;
mod recall;
mod replay;
mod session;
mod start;
mod summary;
mod trajectories;
mod verify;
mod work;

use pyo3::prelude::*;

/// The native half of the package `midfold`.
#[pymodule]
mod _midfold {
    #[pymodule_export]
    use super::arrow::{BatchCompressor, RecordBatch, RecordBatchStream, Schema};
    #[pymodule_export]
    use super::compact::compact;
    #[pymodule_export]
    use super::context::Context;
    #[pymodule_export]
    use super::count::{count_tokens, presets, tokenizers};
    #[pymodule_export]
    use super::delete::{delete_sessions, prune_sessions};
    #[pymodule_export]
    use super::feedback::{cache_check, feedback};
    #[pymodule_export]
    use super::recall::recall_tools;
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::session::{Session, Sessions};
    #[pymodule_export]
    use super::summary::SummaryRequest;
    #[pymodule_export]
    use super::trajectories::{Compressed, Compressor};
    #[pymodule_export]
    use super::verify::verify;
    #[pymodule_export]
    use super::work::work;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
