//! The description of a format: how its files are recognised and read, and where they hold each fact.

use std::ops::Range;

use super::columns::ColumnTable;
use super::entries;
use super::outline::InputDocument;
use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, TranscriptFormat};

/// Reads the records of a file into conversations.
type FileReader = fn(&mut InputSource<'_>, &[TopValue]) -> Vec<Conversation>;

/// The way in which the values of a format are read.
pub(super) enum FormatReader {
    /// The file of a client: its records belong together.
    Session(FileReader),
    /// Each value is a run of its own.
    Runs(FileReader),
    /// Requests, or lists of messages in the shape in which they are sent.
    Requests,
}

/// The members by which the files of a client are recognised before all other formats: only this client writes them.
pub(super) enum FileMark {
    /// One of the first records has them.
    Record(fn(InputDocument<'_>, Range<usize>) -> bool),
    /// One of the first entries has them: elements of a list, which may be in one of these members, or records.
    Entry(&'static [&'static str], fn(InputDocument<'_>, Range<usize>) -> bool),
    /// The input as a whole has them.
    Input(fn(InputDocument<'_>, &[TopValue]) -> bool),
}

impl FileMark {
    /// Whether an input has the mark. Only the beginning of an input of many records or entries is looked at.
    pub(super) fn is_in(&self, doc: InputDocument<'_>, records: &[TopValue]) -> bool {
        const RECORDS: usize = 16;
        const ENTRIES: usize = 8;
        match self {
            Self::Record(is_of) => {
                records.iter().take(RECORDS).any(|record| is_of(doc, record.range.clone()))
            }
            Self::Entry(holders, is_of) => {
                entries::all(doc, records, holders).take(ENTRIES).any(|at| is_of(doc, at))
            }
            Self::Input(is_of) => is_of(doc, records),
        }
    }
}

/// How the files of one format are read.
pub(super) struct FormatDescription {
    pub format: TranscriptFormat,
    /// `None` where the shape of the values decides.
    pub mark: Option<FileMark>,
    pub reader: FormatReader,
    pub columns: ColumnTable,
    /// Whether the reader builds a reply from several records, so that the newest one may still grow.
    pub builds_replies: bool,
}

impl FormatDescription {
    /// The description of a client whose files are recognised before all other formats.
    pub(super) const fn client(
        format: TranscriptFormat,
        mark: FileMark,
        read: FileReader,
        columns: ColumnTable,
    ) -> Self {
        let reader = FormatReader::Session(read);
        Self { format, mark: Some(mark), reader, columns, builds_replies: false }
    }

    /// The same, where the reader builds a reply from several records.
    pub(super) const fn that_builds_replies(self) -> Self {
        Self { builds_replies: true, ..self }
    }

    /// Whether the files are sessions of a client, and not requests.
    pub(super) fn is_session(&self) -> bool {
        matches!(self.reader, FormatReader::Session(_))
    }
}
