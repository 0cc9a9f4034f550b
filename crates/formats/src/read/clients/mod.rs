//! Files of clients that keep a conversation in a shape of their own: one reader a file.
//!
//! A client is recognised by what only it writes, before anything else is asked.

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

use super::outline::Doc;
use super::source::Source;
use super::text::Record;
use super::{Conversation, Format, ReadError};

type Reader = fn(&mut Source<'_>, &[Record]) -> Vec<Conversation>;

/// A client, how its files are told from all others, and what reads them.
struct Client {
    format: Format,
    is_of: fn(Doc<'_>, &[Record]) -> bool,
    read: Reader,
}

/// In the order in which they are asked.
const CLIENTS: [Client; 15] = [
    Client { format: Format::OpenCode, is_of: opencode::is_of, read: opencode::read },
    Client { format: Format::GeminiCli, is_of: gemini_cli::is_of, read: gemini_cli::read },
    Client { format: Format::Copilot, is_of: copilot::is_of, read: copilot::read },
    Client { format: Format::Kimi, is_of: kimi::is_of, read: kimi::read },
    Client { format: Format::Droid, is_of: droid::is_of, read: droid::read },
    Client { format: Format::Cursor, is_of: cursor::is_of, read: cursor::read },
    Client { format: Format::Qwen, is_of: qwen::is_of, read: qwen::read },
    Client { format: Format::OpenHands, is_of: openhands::is_of, read: openhands::read },
    Client { format: Format::Goose, is_of: goose::is_of, read: goose::read },
    Client { format: Format::Hermes, is_of: hermes::is_of, read: hermes::read },
    Client { format: Format::ChatGpt, is_of: chatgpt::is_of, read: chatgpt::read },
    Client { format: Format::Letta, is_of: letta::is_of, read: letta::read },
    Client { format: Format::Inspect, is_of: inspect::is_of, read: inspect::read },
    Client { format: Format::Cline, is_of: cline::is_of, read: cline::read },
    Client { format: Format::Aider, is_of: aider::is_of, read: aider::read },
];

/// The client that wrote the input.
pub(super) fn recognise(doc: Doc<'_>, records: &[Record]) -> Option<Format> {
    CLIENTS.iter().find(|client| (client.is_of)(doc, records)).map(|client| client.format)
}

/// What reads the files of a client; `None` for a format that is no client's here.
pub(super) fn reader(format: Format) -> Option<Reader> {
    CLIENTS.iter().find(|client| client.format == format).map(|client| client.read)
}

/// Whether the input is what a client writes that writes no JSON.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    aider::is_history(bytes)
}

/// Why a file of a client's is the wrong one: what it keeps beside the conversation.
pub(super) fn refuse(doc: Doc<'_>, records: &[Record]) -> Option<ReadError> {
    cline::is_shown(doc, records).then_some(ReadError::Beside {
        what: "`ui_messages.json`, what Cline or Roo Code shows and never sends",
        instead: "`api_conversation_history.json` of the same folder",
    })
}
