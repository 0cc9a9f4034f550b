//! `midfold.arrow`: reads and returns batches of columns over the PyCapsule interface. It needs no Arrow library in
//! Python, and it does not copy buffers.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch as Batch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, Field, Schema as Fields, SchemaRef};
use midfold_arrow::{BatchError, BatchOptions, compress_batch, output_schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use pyo3_arrow::ffi::{
    ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule,
};
use pyo3_arrow::{PyRecordBatch, PyRecordBatchReader, PySchema};

use crate::errors::Failure;
use crate::trajectories::Compressor;

fn failed(error: BatchError) -> Failure {
    let text = error.to_string();
    match error {
        BatchError::NoRows => Failure::input(text).hint("column= names the one with the turns"),
        BatchError::Arrow(_) => Failure::input(text).hint("give smaller batches"),
        _ => Failure::input(text),
    }
}

/// Makes the rows of batches fit: a `Compressor`, and which columns it reads and adds. Can be
/// pickled.
///
/// `column` is the one with the rows; without it the first of those that `midfold.arrow` names.
/// `prefix` is put before the names of the columns that are added.
#[pyclass(frozen, module = "midfold.arrow")]
pub struct BatchCompressor {
    options: Arc<BatchOptions>,
    compressor: Py<Compressor>,
}

#[pymethods]
impl BatchCompressor {
    #[new]
    #[pyo3(signature = (compressor, *, column=None, prefix=""))]
    fn new(
        py: Python<'_>,
        compressor: Py<Compressor>,
        column: Option<String>,
        prefix: &str,
    ) -> Self {
        let (settings, counter) = compressor.bind(py).get().parts();
        let prefix = prefix.to_owned();
        let options = Arc::new(BatchOptions { settings, counter, column, prefix });
        Self { options, compressor }
    }

    /// The same rows, with the columns `status`, `tokens_before`, `tokens_after` and `fold`.
    ///
    /// Raises `InputError` if there is no column of rows, or one of those columns already.
    fn batch(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
        let hint = "a table or a reader is a stream of batches: compress_stream takes it";
        let given: PyRecordBatch = arrow(batch, "__arrow_c_array__", "batch", Some(hint))?;
        let given = given.into_inner();
        let compressed = py.detach(|| compress_batch(&given, &self.options).map_err(failed))?;
        Ok(RecordBatch(compressed))
    }

    /// The batches of a stream, each made when it is asked for. Raises what `batch` raises.
    fn stream(&self, stream: &Bound<'_, PyAny>) -> PyResult<RecordBatchStream> {
        let given: PyRecordBatchReader = arrow(stream, "__arrow_c_stream__", "stream", None)?;
        let given = given.into_reader()?;
        // A wrong column fails here, and not only when the first batch is asked for.
        let schema = output_schema(&given.schema(), &self.options).map_err(failed)?;
        let batches =
            MadeBatches { given, schema: Arc::clone(&schema), options: Arc::clone(&self.options) };
        Ok(RecordBatchStream { schema, batches: Mutex::new(Some(batches)) })
    }

    /// The schema of what comes of batches with this one. Raises what `batch` raises.
    fn schema(&self, schema: &Bound<'_, PyAny>) -> PyResult<Schema> {
        let given: PySchema = arrow(schema, "__arrow_c_schema__", "schema", None)?;
        let output = output_schema(&given.into_inner(), &self.options).map_err(failed)?;
        Ok(Schema(output))
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("column", &self.options.column)?;
        named.set_item("prefix", &self.options.prefix)?;
        Ok((PyTuple::new(py, [self.compressor.bind(py)])?, named))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let compressor = self.compressor.bind(py).get().shown();
        let BatchOptions { column, prefix, .. } = &*self.options;
        let column = column.as_ref().map_or("None".to_owned(), |name| format!("{name:?}"));
        format!("BatchCompressor({compressor}, column={column}, prefix={prefix:?})")
    }
}

/// An object that has `method`, as what that gives.
fn arrow<'py, T>(
    given: &Bound<'py, PyAny>,
    method: &str,
    noun: &str,
    hint: Option<&str>,
) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    if given.hasattr(method)? {
        return given.extract();
    }
    let kind = given.get_type().fully_qualified_name()?.to_string();
    let failure = Failure::input(format!("{kind} is no Arrow {noun}: it has no {method}"));
    Err(match hint {
        Some(hint) => failure.hint(hint).into(),
        None => failure.into(),
    })
}

/// A batch, for whoever takes one over the PyCapsule interface: `pyarrow.record_batch(batch)`,
/// `polars.DataFrame(batch)`, …
#[pyclass(frozen, module = "midfold.arrow")]
pub struct RecordBatch(Batch);

#[pymethods]
impl RecordBatch {
    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// The columns.
    #[getter]
    fn schema(&self) -> Schema {
        Schema(self.0.schema())
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rows = StructArray::from(self.0.clone());
        Ok(to_array_pycapsules(py, row_field(&self.0.schema()), &rows, requested_schema)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.0.schema_ref().as_ref())?)
    }

    fn __repr__(&self) -> String {
        format!("RecordBatch({} rows, {})", self.0.num_rows(), names(&self.0.schema()))
    }
}

/// A schema, for whoever takes one over the PyCapsule interface: `pyarrow.schema(schema)`.
#[pyclass(frozen, module = "midfold.arrow")]
pub struct Schema(SchemaRef);

#[pymethods]
impl Schema {
    /// The names of the columns, in their order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.0.as_ref())?)
    }

    fn __repr__(&self) -> String {
        format!("Schema({})", names(&self.0))
    }
}

/// Batches, each made when it is asked for: to go over, or, once, for whoever takes a stream over
/// the PyCapsule interface: `pyarrow.table(stream)`, `polars.DataFrame(stream)`, …
#[pyclass(frozen, module = "midfold.arrow")]
pub struct RecordBatchStream {
    schema: SchemaRef,
    batches: Mutex<Option<MadeBatches>>,
}

#[pymethods]
impl RecordBatchStream {
    /// The columns of each batch.
    #[getter]
    fn schema(&self) -> Schema {
        Schema(Arc::clone(&self.schema))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        py.check_signals()?;
        // Detached: a batch takes a while, and the caller's reader may need Python for the next one.
        let next = py.detach(|| {
            let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
            batches.as_mut()?.next()
        });
        let failed = |error: ArrowError| Failure::input(error.to_string());
        Ok(next.transpose().map_err(failed)?.map(RecordBatch))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Another thread may hold the lock in `__next__`, and that thread may need Python to read its batch.
        let batches =
            py.detach(|| self.batches.lock().unwrap_or_else(PoisonError::into_inner).take());
        let batches =
            batches.ok_or_else(|| Failure::input("this stream was handed over before"))?;
        let rows = batches.map(|batch| Ok(Arc::new(StructArray::from(batch?)) as ArrayRef));
        let reader = ArrayIterator::new(rows, row_field(&self.schema));
        Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.schema.as_ref())?)
    }

    fn __repr__(&self) -> String {
        format!("RecordBatchStream({})", names(&self.schema))
    }
}

/// Batches that are made from those of a reader.
struct MadeBatches {
    given: Box<dyn RecordBatchReader + Send>,
    schema: SchemaRef,
    options: Arc<BatchOptions>,
}

impl Iterator for MadeBatches {
    type Item = Result<Batch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let compressed = self.given.next()?.and_then(|batch| {
            let compressed = compress_batch(&batch, &self.options)
                .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
            compressed.with_schema(Arc::clone(&self.schema))
        });
        Some(compressed)
    }
}

/// A batch is passed as an array of structs; this is its type.
fn row_field(schema: &Fields) -> Arc<Field> {
    let field = Field::new_struct("", schema.fields().clone(), false);
    Arc::new(field.with_metadata(schema.metadata().clone()))
}

fn names(schema: &Fields) -> String {
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    names.join(", ")
}
