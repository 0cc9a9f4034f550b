//! Parquet files. A chunk is some rows of a row group of the input, and becomes a row group of the output.
//!
//! During the run each chunk is appended as a small file of its own, with its length before it, so that the output of a
//! killed run can be cut between two chunks. At the end the compressed columns of all of them are copied into one file.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use midfold_arrow::{BatchError, BatchOptions, output_schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;

use super::files::unreadable;
use super::lines::LinePosition;
use crate::error::CommandError;

/// The factor for the size of a chunk. Compressed pages need larger chunks than lines do.
const PARQUET_FACTOR: usize = 8;
/// The most rows of a chunk, however short the rows are.
const MOST_ROWS: usize = 1 << 16;
/// The prefix of the added columns' names, used if one of the names is taken.
const PREFIX: &str = "midfold_";

/// The columns that all files share, and those of the output.
pub struct ColumnTable {
    schema: SchemaRef,
    pub output: SchemaRef,
    column: Option<String>,
    prefix: String,
}

impl ColumnTable {
    /// Reads the columns of these files. Fails where they differ. `column` is the user's name for the column with the
    /// turns; without it the column is searched for.
    pub fn of(files: &[PathBuf], column: Option<&str>) -> Result<Self, CommandError> {
        let mut known: Option<(&Path, SchemaRef)> = None;
        for path in files {
            let schema = open(path).map_err(|error| unreadable(path, &error))?.schema().clone();
            match &known {
                None => known = Some((path, schema)),
                Some((_, first)) if first.fields() == schema.fields() => {}
                Some((first, _)) => {
                    return Err(CommandError::failed(format!(
                        "{} and {} have different columns",
                        first.display(),
                        path.display()
                    ))
                    .hint("write each to a file of its own"));
                }
            }
        }
        let (first, schema) = known.unwrap_or((Path::new(""), Arc::new(Schema::empty())));
        let mut table = Self {
            output: Arc::clone(&schema),
            schema,
            column: column.map(str::to_owned),
            prefix: String::new(),
        };
        let options = |table: &Self| {
            table.options(BatchOptions::new(Arc::new(midfold::formats::trajectory::Bytes4)))
        };
        let mut output = output_schema(&table.schema, &options(&table));
        if matches!(output, Err(BatchError::Taken(_))) {
            PREFIX.clone_into(&mut table.prefix);
            output = output_schema(&table.schema, &options(&table));
        }
        table.output = output.map_err(|error| {
            let error = CommandError::failed(format!("{}: {error}", first.display()));
            error.hint("name the column with the turns: --column NAME")
        })?;
        Ok(table)
    }

    /// The column that the user named; empty where the user named none.
    pub fn column(&self) -> &str {
        self.column.as_deref().unwrap_or_default()
    }

    pub fn options(&self, options: BatchOptions) -> BatchOptions {
        BatchOptions { column: self.column.clone(), prefix: self.prefix.clone(), ..options }
    }

    /// Copies the row groups of all parts into one file.
    pub fn assemble(&self, part: &Path, whole: &Path) -> io::Result<()> {
        let file = BufWriter::new(File::create(whole)?);
        let writer = ArrowWriter::try_new(file, Arc::clone(&self.output), Some(properties()));
        let (mut writer, _) =
            writer.and_then(ArrowWriter::into_serialized_writer).map_err(as_io)?;
        let mut parts = BufReader::new(File::open(part)?);
        while let Some(part) = next_part(&mut parts)? {
            let reader =
                ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
            let metadata = reader.parse_and_finish(&part).map_err(as_io)?;
            for (at, group) in metadata.row_groups().iter().enumerate() {
                let mut copy = writer.next_row_group().map_err(as_io)?;
                for (number, column) in group.columns().iter().enumerate() {
                    let column_index =
                        metadata.column_index().and_then(|all| all.get(at)?.get(number));
                    let offset_index =
                        metadata.offset_index().and_then(|all| all.get(at)?.get(number));
                    let closed = ColumnCloseResult {
                        bytes_written: u64::try_from(column.compressed_size()).unwrap_or(0),
                        rows_written: u64::try_from(group.num_rows()).unwrap_or(0),
                        metadata: column.clone(),
                        bloom_filter: None,
                        column_index: column_index.cloned(),
                        offset_index: offset_index.cloned(),
                    };
                    copy.append_column(&part, closed).map_err(as_io)?;
                }
                copy.close().map_err(as_io)?;
            }
        }
        let file = writer.into_inner().map_err(as_io)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    /// Rows as a small file with its length before it. Empty where there are no rows.
    pub fn part(&self, batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
        const LENGTH: usize = size_of::<u64>();
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let out = vec![0; LENGTH];
        let mut writer =
            ArrowWriter::try_new(AppendedFile(out), Arc::clone(&self.output), Some(properties()))?;
        writer.write(batch)?;
        let AppendedFile(mut out) = writer.into_inner()?;
        let length = (out.len() - LENGTH) as u64;
        out[..LENGTH].copy_from_slice(&length.to_le_bytes());
        Ok(out)
    }
}

/// A file that is appended to other bytes. The writer counts positions from its own first byte, so it does not see
/// them.
struct AppendedFile(Vec<u8>);

impl io::Write for AppendedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn next_part(parts: &mut impl Read) -> io::Result<Option<Bytes>> {
    let mut length = Vec::new();
    parts.by_ref().take(size_of::<u64>() as u64).read_to_end(&mut length)?;
    if length.is_empty() {
        return Ok(None);
    }
    // A part of a length is no end: the file was cut.
    let length = length.try_into().map_err(|_| ErrorKind::UnexpectedEof)?;
    let length = u64::from_le_bytes(length);
    let mut part = Vec::new();
    let read = parts.take(length).read_to_end(&mut part)?;
    if read as u64 == length { Ok(Some(part.into())) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        // Each chunk has to be a single row group. Its size is bounded already.
        .set_max_row_group_row_count(None)
        .build()
}

fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

fn open(path: &Path) -> io::Result<ParquetRecordBatchReaderBuilder<File>> {
    ParquetRecordBatchReaderBuilder::try_new(File::open(path)?).map_err(as_io)
}

/// A chunk of rows.
pub struct ColumnChunk {
    /// The position of the first row.
    pub from: LinePosition,
    /// The position after the last row.
    pub to: LinePosition,
    pub batch: RecordBatch,
}

/// The chunks of some files, in order.
pub struct ColumnChunks<'a> {
    files: &'a [PathBuf],
    at: LinePosition,
    /// The metadata at the end of the open file, read once.
    metadata: Option<ArrowReaderMetadata>,
    open: Option<ParquetRecordBatchReader>,
    /// The number of rows up to the end of the open row group, and the bytes read by then.
    group_end: (u64, u64),
    /// The size of a chunk in bytes; roughly kept.
    size: usize,
}

impl<'a> ColumnChunks<'a> {
    pub fn new(files: &'a [PathBuf], from: LinePosition, size: usize) -> Self {
        let size = size.saturating_mul(PARQUET_FACTOR).max(1);
        Self { files, at: from, metadata: None, open: None, group_end: (0, 0), size }
    }

    /// The next chunk. `None` at the end of the last file. An error comes with the path of its file.
    pub fn next_chunk(&mut self) -> Result<Option<ColumnChunk>, (PathBuf, io::Error)> {
        while let Some(path) = self.files.get(self.at.file) {
            let chunk = self.read(path).map_err(|error| (path.clone(), error))?;
            if chunk.is_some() {
                return Ok(chunk);
            }
            self.metadata = None;
            self.at = LinePosition { file: self.at.file + 1, ..LinePosition::default() };
        }
        Ok(None)
    }

    fn read(&mut self, path: &Path) -> io::Result<Option<ColumnChunk>> {
        if self.open.is_none() && !self.open_group(path)? {
            return Ok(None);
        }
        let next = self.open.as_mut().and_then(Iterator::next).transpose();
        let Some(batch) = next.map_err(io::Error::other)? else {
            // The row group has fewer rows than its metadata says.
            return Err(ErrorKind::UnexpectedEof.into());
        };
        let from = self.at;
        let rows = batch.num_rows() as u64;
        self.at.offset += rows;
        self.at.line += rows;
        if self.at.offset >= self.group_end.0 {
            self.at.read = self.group_end.1;
            self.open = None;
        }
        Ok(Some(ColumnChunk { from, to: self.at, batch }))
    }

    /// Opens the row group at which reading goes on. Returns false after the last one.
    fn open_group(&mut self, path: &Path) -> io::Result<bool> {
        let file = File::open(path)?;
        let metadata = match self.metadata.take() {
            Some(metadata) => metadata,
            None => ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(as_io)?,
        };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
        self.metadata = Some(metadata);
        let (mut before, mut bytes) = (0, 0);
        let groups = builder.metadata().row_groups().iter().enumerate();
        for (number, group) in groups {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            bytes += u64::try_from(group.compressed_size()).unwrap_or(0);
            if before + rows > self.at.offset {
                let size = usize::try_from(group.total_byte_size()).unwrap_or(0);
                let each = (size / usize::try_from(rows).unwrap_or(1).max(1)).max(1);
                let skipped = usize::try_from(self.at.offset - before).unwrap_or(0);
                self.group_end = (before + rows, bytes);
                let reader = builder
                    .with_row_groups(vec![number])
                    .with_batch_size((self.size / each).clamp(1, MOST_ROWS))
                    .with_offset(skipped)
                    .build();
                self.open = Some(reader.map_err(as_io)?);
                return Ok(true);
            }
            before += rows;
        }
        Ok(false)
    }
}
