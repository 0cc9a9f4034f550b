//! Why an input could not be read at all.

/// Nothing of the input could be read. Every message says what to do about it.
///
/// A defect in one line or message is no error: the rest is read, and the defect is reported as a
/// [`ReadProblem`](crate::ReadProblem).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No byte besides white space.
    #[error("the input is empty: pass a request body or a session file")]
    Empty,
    /// Not text.
    #[error(
        "the input is not text (byte {offset} belongs to no UTF-8 text): \
         unpack or convert it to JSON or JSON Lines in UTF-8 first"
    )]
    Binary {
        /// The first offending byte.
        offset: usize,
    },
    /// A zip archive.
    #[error(
        "the input is a zip archive: unpack it first; an `.eval` log of Inspect is written as JSON by \
         `inspect log dump FILE > FILE.json`"
    )]
    Archive,
    /// What a client keeps beside the conversation.
    #[error("the input is {what}: pass {instead}")]
    Beside {
        /// The file.
        what: &'static str,
        /// Where the conversation is.
        instead: &'static str,
    },
    /// Text, but not JSON.
    #[error(
        "line {line}, column {column}: not JSON ({detail}): mend the input there; \
         JSON, or JSON Lines with one value a line, can be read"
    )]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the parser said.
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
    /// JSON, but no messages in it.
    #[error(
        "no messages found in {seen}: looked for `messages`, `input`, `conversations`, `traj`, \
         `history`, `trajectory`, a list of messages, one message a line, and the files of clients \
         (docs/FORMATS.md lists them); name the format with `--from` to force one"
    )]
    Unrecognised {
        /// What is there instead.
        seen: String,
    },
    /// A list of messages, and none of them is an object.
    #[error(
        "line {line}: none of the {count} messages is an object, the first is {first}: \
         a message looks like {{\"role\": \"user\", \"content\": \"…\"}}"
    )]
    NoObjects {
        /// Line of the list, from 1.
        line: usize,
        /// How many there are.
        count: usize,
        /// The start of the first.
        first: String,
    },
    /// A file of a client that holds no conversation.
    #[error("line {line}: {why}")]
    Refused {
        /// Line, from 1.
        line: usize,
        /// What it holds, and what to give instead.
        why: String,
    },
    /// Positions are kept as 32-bit numbers.
    #[error("the input has {bytes} bytes, the limit is {limit}: split it into several files")]
    TooLarge {
        /// Size of the input.
        bytes: usize,
        /// What can be read.
        limit: usize,
    },
}
