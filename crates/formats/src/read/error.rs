//! The reasons why an input could not be read at all.

/// The reason why nothing of the input could be read. Every message says what to do about it.
///
/// A defect in one line or message is no error: the rest is read, and a [`ReadProblem`](crate::ReadProblem) reports the
/// defect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The input holds nothing but white space.
    #[error("the input is empty: pass a request body or a session file")]
    Empty,
    /// The input is not text.
    #[error(
        "the input is not text (byte {offset} belongs to no UTF-8 text): \
         unpack or convert it to JSON or JSON Lines in UTF-8 first"
    )]
    Binary {
        /// The position of the first byte that is no text.
        offset: usize,
    },
    /// The input is a zip archive.
    #[error(
        "the input is a zip archive: unpack it first; an `.eval` log of Inspect is written as JSON by \
         `inspect log dump FILE > FILE.json`"
    )]
    Archive,
    /// The input is a file that a client keeps beside the conversation.
    #[error("the input is {what}: pass {instead}")]
    Beside {
        /// The file that was given.
        what: &'static str,
        /// The file that holds the conversation.
        instead: &'static str,
    },
    /// The input is text, but no JSON.
    #[error(
        "line {line}, column {column}: not JSON ({detail}): mend the input there; \
         JSON, or JSON Lines with one value a line, can be read"
    )]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// The parser's message.
        detail: String,
    },
    /// The JSON ends in the middle.
    #[error(
        "line {line}, column {column}: the JSON ends in the middle: \
         the input was cut off, fetch it again or wait until it is written"
    )]
    Truncated {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// The input is JSON without messages.
    #[error(
        "no messages found in {seen}: looked for `messages`, `input`, `conversations`, `traj`, \
         `history`, `trajectory`, a list of messages, one message a line, and the files of clients \
         (docs/FORMATS.md lists them); name the format with `--from` to force one"
    )]
    Unrecognised {
        /// A description of the input.
        seen: String,
    },
    /// The input is a list of messages without any object.
    #[error(
        "line {line}: none of the {count} messages is an object, the first is {first}: \
         a message looks like {{\"role\": \"user\", \"content\": \"…\"}}"
    )]
    NoObjects {
        /// Line of the list, from 1.
        line: usize,
        /// The number of messages.
        count: usize,
        /// The start of the first one.
        first: String,
    },
    /// The input is a file of a client that holds no conversation.
    #[error("line {line}: {why}")]
    Refused {
        /// Line, from 1.
        line: usize,
        /// What the file holds, and which file to pass instead.
        why: String,
    },
    /// The input is too large: positions are kept as 32-bit numbers.
    #[error("the input has {bytes} bytes, the limit is {limit}: split it into several files")]
    TooLarge {
        /// The size of the input in bytes.
        bytes: usize,
        /// The most bytes that can be read.
        limit: usize,
    },
}
