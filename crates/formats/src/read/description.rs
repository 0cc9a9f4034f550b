//! The description of a format: how its files are recognised and read, and where they hold each fact.

use super::columns::ColumnTable;
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

/// How the files of one format are read.
pub(super) struct FormatDescription {
    pub format: TranscriptFormat,
    /// Whether an input is of this client. `None` where the shape of the values decides.
    pub is_of: Option<fn(InputDocument<'_>, &[TopValue]) -> bool>,
    pub reader: FormatReader,
    pub columns: ColumnTable,
}

impl FormatDescription {
    /// The description of a client whose files are recognised before all other formats.
    pub(super) const fn client(
        format: TranscriptFormat,
        is_of: fn(InputDocument<'_>, &[TopValue]) -> bool,
        read: FileReader,
        columns: ColumnTable,
    ) -> Self {
        Self { format, is_of: Some(is_of), reader: FormatReader::Session(read), columns }
    }

    /// Whether the files are sessions of a client, and not requests.
    pub(super) fn is_session(&self) -> bool {
        matches!(self.reader, FormatReader::Session(_))
    }
}
