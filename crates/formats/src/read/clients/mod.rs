//! Reads files of clients that keep a conversation in a shape of their own: one module per client.
//!
//! A client is identified by members that only it writes. This check comes before all other formats.

mod aider;
mod chatgpt;
mod cline;
mod copilot;
mod copilot_message;
mod cursor;
mod droid;
mod first;
mod gemini_cli;
mod gemini_cli_message;
mod goose;
mod hermes;
mod inspect;
mod items;
mod kimi;
mod kimi_wire;
mod letta;
mod opencode;
mod opencode_message;
mod openhands;
mod openhands_events;
mod openhands_old;
mod openhands_view;
mod qwen;
mod qwen_turns;
mod spoken;
mod step;

use super::outline::InputDocument;
use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, ReadError, TranscriptFormat};

/// Reads the records of a client's file into conversations.
type ClientReader = fn(&mut InputSource<'_>, &[TopValue]) -> Vec<Conversation>;

/// A client: its format, the check that identifies its files, and their reader.
struct ClientFormat {
    format: TranscriptFormat,
    is_of: fn(InputDocument<'_>, &[TopValue]) -> bool,
    read: ClientReader,
}

/// The clients in the order in which they are checked.
const CLIENTS: [ClientFormat; 15] = [
    ClientFormat {
        format: TranscriptFormat::OpenCode,
        is_of: opencode::is_of,
        read: opencode::read,
    },
    ClientFormat {
        format: TranscriptFormat::GeminiCli,
        is_of: gemini_cli::is_of,
        read: gemini_cli::read,
    },
    ClientFormat { format: TranscriptFormat::Copilot, is_of: copilot::is_of, read: copilot::read },
    ClientFormat { format: TranscriptFormat::Kimi, is_of: kimi::is_of, read: kimi::read },
    ClientFormat { format: TranscriptFormat::Droid, is_of: droid::is_of, read: droid::read },
    ClientFormat { format: TranscriptFormat::Cursor, is_of: cursor::is_of, read: cursor::read },
    ClientFormat { format: TranscriptFormat::Qwen, is_of: qwen::is_of, read: qwen::read },
    ClientFormat {
        format: TranscriptFormat::OpenHands,
        is_of: openhands::is_of,
        read: openhands::read,
    },
    ClientFormat { format: TranscriptFormat::Goose, is_of: goose::is_of, read: goose::read },
    ClientFormat { format: TranscriptFormat::Hermes, is_of: hermes::is_of, read: hermes::read },
    ClientFormat { format: TranscriptFormat::ChatGpt, is_of: chatgpt::is_of, read: chatgpt::read },
    ClientFormat { format: TranscriptFormat::Letta, is_of: letta::is_of, read: letta::read },
    ClientFormat { format: TranscriptFormat::Inspect, is_of: inspect::is_of, read: inspect::read },
    ClientFormat { format: TranscriptFormat::Cline, is_of: cline::is_of, read: cline::read },
    ClientFormat { format: TranscriptFormat::Aider, is_of: aider::is_of, read: aider::read },
];

/// The format of the client that wrote the input. `None` where no client is identified.
pub(super) fn recognise(doc: InputDocument<'_>, records: &[TopValue]) -> Option<TranscriptFormat> {
    CLIENTS.iter().find(|client| (client.is_of)(doc, records)).map(|client| client.format)
}

/// The reader of a client's files. `None` for a format that belongs to no client.
pub(super) fn reader(format: TranscriptFormat) -> Option<ClientReader> {
    CLIENTS.iter().find(|client| client.format == format).map(|client| client.read)
}

/// Whether the input is of a client that writes no JSON.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    aider::is_history(bytes)
}

/// An error for a client's file that is the wrong one: it does not hold what was sent. `None` for any other file.
pub(super) fn refuse(doc: InputDocument<'_>, records: &[TopValue]) -> Option<ReadError> {
    cline::is_shown(doc, records).then_some(ReadError::Beside {
        what: "`ui_messages.json`, what Cline or Roo Code shows and never sends",
        instead: "`api_conversation_history.json` of the same folder",
    })
}
