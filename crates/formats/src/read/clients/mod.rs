//! Reads files of clients that keep a conversation in a shape of their own: one module per client.
//!
//! A client is identified by members that only it writes. This check comes before all other formats.
//!
//! A new client takes these steps. The compiler asks for what is left out of the second, the tests of columns and of
//! `docs/FORMATS.md` for the rest.
//!
//! 1. A module here with `FORMAT`: the mark, the reader, and for each column a place or a reason why there is none.
//!    [`continue_dev`] is a short example. Where a reader builds a reply from several records, its description ends with
//!    `that_builds_replies`.
//! 2. A variant of `TranscriptFormat`, with its name and its place in `ALL`; its arm in `registry`; its place in
//!    [`CLIENTS`], before clients whose mark also fits.
//! 3. A [`PartTable`](super::PartTable) for the parts of content, and `add_calls` for calls beside it. A message of which
//!    the file has the bytes leaves by `InputSource::event`, any other by `built` from recorded tokens. The ranges that
//!    `built` gets say where `Column::At` looks.
//! 4. A fixture in `tests/fixtures/clients` (whose words they are) and one in `tests/fixtures/columns` (each fact once),
//!    a row in `docs/FORMATS.md`, and the table by `MIDFOLD_WRITE_DOCS=1`. The command line has the list of names in the
//!    snapshot `unknown-format`. A client that appends lines also goes into its test `import_growing`.

pub(super) mod aider;
pub(super) mod chatgpt;
pub(super) mod cline;
mod cline_blocks;
mod cline_session;
pub(super) mod continue_dev;
pub(super) mod copilot;
pub(super) mod copilot_chat;
mod copilot_log;
mod copilot_message;
pub(super) mod cursor;
pub(super) mod droid;
pub(super) mod gemini_cli;
mod gemini_cli_message;
pub(super) mod goose;
pub(super) mod hermes;
pub(super) mod inspect;
pub(super) mod kimi;
pub(super) mod kimi_code;
mod kimi_wire;
pub(super) mod langfuse;
pub(super) mod letta;
pub(super) mod opencode;
mod opencode_message;
pub(super) mod openhands;
mod openhands_events;
mod openhands_old;
mod openhands_view;
pub(super) mod otel;
mod otel_flat;
mod otel_span;
pub(super) mod qwen;
mod qwen_turns;
mod spoken;
mod step;
mod traces;

use super::description::FormatDescription;
use super::outline::InputDocument;
use super::text::TopValue;
use super::{ReadError, TranscriptFormat};

/// The clients in the order in which they are checked.
static CLIENTS: [&FormatDescription; 20] = [
    &opencode::FORMAT,
    &gemini_cli::FORMAT,
    &copilot::FORMAT,
    &kimi_code::FORMAT,
    &kimi::FORMAT,
    &droid::FORMAT,
    &cursor::FORMAT,
    &qwen::FORMAT,
    &openhands::FORMAT,
    &goose::FORMAT,
    &hermes::FORMAT,
    &chatgpt::FORMAT,
    &letta::FORMAT,
    &inspect::FORMAT,
    &cline::FORMAT,
    &copilot_chat::FORMAT,
    &continue_dev::FORMAT,
    &otel::FORMAT,
    &langfuse::FORMAT,
    &aider::FORMAT,
];

/// The format of the client that wrote the input. `None` where no client is identified.
pub(super) fn recognise(doc: InputDocument<'_>, records: &[TopValue]) -> Option<TranscriptFormat> {
    let is_it = |client: &&&FormatDescription| {
        client.mark.as_ref().is_some_and(|mark| mark.is_in(doc, records))
    };
    CLIENTS.iter().find(is_it).map(|client| client.format)
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
