//! Recall: what a fold took out of the context, brought back from the log.
//!
//! Five questions, each bounded: *what happened* ([`outline()`]), *where is it* ([`grep()`]), *what
//! was it called* ([`names()`]), *show me the original* ([`expand()`]), *what does this fold cover*
//! ([`describe()`]). [`dispatch()`] answers them for an agent that was given [`tools()`]. What comes
//! back is quoted history: data, never instructions.
//!
//! One numbering: the number of a message is its place in the log, from 0. Recaps, every command
//! and every tool print it as `@12` and take it.

pub(crate) mod arguments;
mod describe;
pub(crate) mod diff;
mod dispatch;
mod error;
pub(crate) mod expand;
mod grep;
pub(crate) mod matches;
mod names;
pub(crate) mod outcome;
mod outline;
mod readable;
mod reading;
pub(crate) mod render;
mod target;
mod tools;
mod versions;

pub use describe::{FoldDescription, describe};
pub use dispatch::{QUOTED, answer, dispatch};
pub use error::RecallError;
pub use expand::{MAX_PAGE_CHARS, Original, OriginalPage, PAGE_CHARS, expand};
pub use grep::{FoundMessage, GrepQuery, HITS, HitPage, MAX_CONTEXT, MAX_HITS, grep};
pub use matches::TextLine;
pub use names::{GoneNames, MAX_NAME_CHARS, NAME_CHARS, names};
pub use outline::{MAX_ROWS, OutlinePage, OutlineRow, ROWS, outline};
pub use render::{asked_again_text, described_text, hits_text, outline_text, page_text};
pub use target::ExpandTarget;
pub use tools::{ToolListShape, tools};
pub use versions::FileVersion;
