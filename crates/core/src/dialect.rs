//! The seam to wire formats. `formats` implements it; the engine never parses.

use bytes::Bytes;

use crate::view::{EventView, Role};
use crate::voice::Passage;

/// A wire format, as far as the engine needs it. Pure and total: foreign bytes never fail, what
/// is not understood becomes an opaque block.
pub trait Dialect: Send + Sync {
    /// `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock`, `ollama`, `sharegpt`.
    fn name(&self) -> &'static str;

    /// Reads one event.
    fn view(&self, bytes: &[u8]) -> EventView;

    /// Whose words the text blocks of one message of the user's role are, in order. Where a format
    /// knows no clients that put words there, all of it is the user's.
    fn passages(&self, texts: &[&str]) -> Vec<Passage> {
        texts.iter().map(|text| Passage::user(text)).collect()
    }

    /// What a client put at the end of a tool's result because the user said it while the agent worked: where
    /// that starts, and the passages in it. `last` is the last text of the result, `is_own` whether the client
    /// may have added it as a text of its own.
    fn steered(&self, _last: &str, _is_own: bool) -> Option<(usize, Vec<Passage>)> {
        None
    }

    /// Whether the end of a recorded text may be the end of such words.
    fn may_be_steered(&self, _end: &[u8]) -> bool {
        false
    }

    /// The name under which a message of the user's role speaks, where the format has names there and
    /// it has one: more than one may speak in that role.
    fn speaker(&self, _bytes: &[u8]) -> Option<String> {
        None
    }

    /// The names of the tools that can be called because of this message, where a format declares tools in the
    /// history: without it the model has them no more.
    fn loaded_tools(&self, _bytes: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// Whether there are any of them: asked of each message, once.
    fn loads_tools(&self, bytes: &[u8]) -> bool {
        !self.loaded_tools(bytes).is_empty()
    }

    /// A message of `role` with this text. A role that the dialect does not have becomes the
    /// nearest one. Same input, same bytes, for ever.
    fn made_message(&self, role: Role, text: &str) -> Bytes;

    /// A result for the call `id` of tool `name`, for a call that the log never answered. `like` is
    /// the event that calls, or one that answers it: where a dialect has results of several kinds,
    /// it tells which is wanted.
    fn made_result(&self, like: &[u8], id: &str, name: &str, text: &str) -> Bytes;

    /// Whether a result is of the kind that a call wants, where a dialect has results of several kinds.
    fn answers(&self, _call: &[u8], _result: &[u8]) -> bool {
        true
    }

    /// The same event with the blocks at these indices (results without a call before them) as
    /// plain text in the user's role. Other blocks keep their bytes where the dialect can.
    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes;
}
