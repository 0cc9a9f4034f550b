//! Files of clients that keep a conversation in a shape of their own: one reader a file.
//!
//! A client is recognised by what only it writes, before anything else is asked.

mod qwen;

use super::outline::Doc;
use super::source::Source;
use super::text::Record;
use super::{Conversation, Format};

type Reader = fn(&mut Source<'_>, &[Record]) -> Vec<Conversation>;

/// A client, how its files are told from all others, and what reads them.
struct Client {
    format: Format,
    is_of: fn(Doc<'_>, &[Record]) -> bool,
    read: Reader,
}

/// In the order in which they are asked.
const CLIENTS: [Client; 1] =
    [Client { format: Format::Qwen, is_of: qwen::is_of, read: qwen::read }];

/// The client that wrote the input.
pub(super) fn recognise(doc: Doc<'_>, records: &[Record]) -> Option<Format> {
    CLIENTS.iter().find(|client| (client.is_of)(doc, records)).map(|client| client.format)
}

/// What reads the files of a client; `None` for a format that is no client's here.
pub(super) fn reader(format: Format) -> Option<Reader> {
    CLIENTS.iter().find(|client| client.format == format).map(|client| client.read)
}
