//! The interface to wire formats. The crate `formats` implements it; the engine parses no wire format itself.

use bytes::Bytes;

use crate::view::{BlockView, EventView, Role};
use crate::voice::{ClientReminder, Passage};

/// What clients write around the words of people: wrappers, reminders, words that a person typed while the agent worked.
/// Clients do so in all formats alike.
pub trait ClientWords: Send + Sync {
    /// The passages of the text blocks of one message in the user's role, in order. Each says whose words it holds. By
    /// default all words are the user's.
    fn passages(&self, texts: &[&str]) -> Vec<Passage> {
        texts.iter().map(|text| Passage::user(text)).collect()
    }

    /// Words of the user at the end of a tool's result, which a client put there because the user typed them while the
    /// agent worked. Returns the byte at which they start, and their passages; `None` where there are none. `last` is
    /// the last text of the result; `is_own` says whether the client may have added it as a text block of its own.
    fn steered(&self, _last: &str, _is_own: bool) -> Option<(usize, Vec<Passage>)> {
        None
    }

    /// A cheap check before [`ClientWords::steered`]: false where a recorded text with this end cannot contain such words.
    fn may_be_steered(&self, _end: &[u8]) -> bool {
        false
    }

    /// The reminders of a client in the text blocks of one message in the user's role, in order.
    fn reminders(&self, _texts: &[&str]) -> Vec<ClientReminder> {
        Vec::new()
    }

    /// The reminder that a client put at the end of a tool's result.
    fn reminder_at_end(&self, _result: &str) -> Option<ClientReminder> {
        None
    }

    /// A cheap check before both: false where a recorded message cannot contain reminders.
    fn may_remind(&self, _recorded: &[u8], _has_results: bool) -> bool {
        false
    }
}

/// A side of a call that the provider runs itself, within a message of the model, with the id of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTool {
    /// The call.
    Call(String),
    /// Its result.
    Result(String),
}

/// Text that no client adds to.
struct NoClientWords;

impl ClientWords for NoClientWords {}

/// A wire format, as far as the engine needs it. Pure and total: no bytes make it fail, and a part that it does not
/// know becomes an opaque block.
pub trait Dialect: Send + Sync {
    /// The format's name: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `bedrock`, `ollama`, `sharegpt`.
    fn name(&self) -> &'static str;

    /// Reads one event.
    fn view(&self, bytes: &[u8]) -> EventView;

    /// What clients write around the words of people in this format. By default nothing.
    fn client_words(&self) -> &dyn ClientWords {
        &NoClientWords
    }

    /// The speaker's name in a message of the user's role. A format with such names lets several people speak in that
    /// role. `None` where the format or the message has no name.
    fn speaker(&self, _bytes: &[u8]) -> Option<String> {
        None
    }

    /// The names of the tools that can be called because of this message, in formats that declare tools inside the list
    /// of messages. If such a message leaves the context, the model loses these tools.
    fn loaded_tools(&self, _bytes: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// Whether the message loads tools. The log asks this once for each message.
    fn loads_tools(&self, bytes: &[u8]) -> bool {
        !self.loaded_tools(bytes).is_empty()
    }

    /// Makes a message of `role` with this text. A role that the dialect does not have becomes the nearest one. The
    /// same input must give the same bytes in every version, since folds store them.
    fn made_message(&self, role: Role, text: &str) -> Bytes;

    /// Makes a result for the call `id` of tool `name`, which the log never answered. `like` is the event of the call,
    /// or another result of it: a dialect with several kinds of results takes the kind from there.
    fn made_result(&self, like: &[u8], id: &str, name: &str, text: &str) -> Bytes;

    /// The message of a result with this text, where its content is missing and the provider refuses that; `None` for
    /// any other message.
    fn filled_result(&self, _bytes: &[u8], _view: &EventView, _text: &str) -> Option<Bytes> {
        None
    }

    /// The side of a call of the provider's own tools that a block is; `None` for other blocks, and in formats without
    /// such tools.
    fn server_tool(&self, _bytes: &[u8], _block: &BlockView) -> Option<ServerTool> {
        None
    }

    /// The member of a message of the model that has its reasoning as text; `None` in formats without one.
    fn reasoning_member(&self) -> Option<&'static str> {
        None
    }

    /// Whether a result is of the kind that its call needs, in dialects with several kinds of results.
    fn answers(&self, _call: &[u8], _result: &[u8]) -> bool {
        true
    }

    /// The event with the blocks at these indices (results without a call before them) as plain text in the user's
    /// role. Other blocks keep their bytes where the dialect allows it.
    fn results_as_text(&self, bytes: &[u8], view: &EventView, blocks: &[usize]) -> Bytes;
}
