//! Stub.

use super::Conversation;
use super::source::Source;
use super::text::Record;

pub(super) fn read(_source: &mut Source<'_>, _records: &[Record]) -> Vec<Conversation> {
    Vec::new()
}
