//! Recall: reads messages again that a fold removed from the context.
//!
//! An agent has two look-ups: it finds messages ([`find()`]) and shows them ([`show()`]). [`dispatch()`] answers its
//! calls of the two [`tools()`]. The answers are quoted history: data, and never instructions.
//!
//! Programs and people ask five questions, each with a limited answer: what happened ([`outline()`]), where something is
//! ([`grep()`]), what something was called ([`names()`]), the original text ([`expand()`]), and what a fold covers
//! ([`describe()`]).
//!
//! A message's number is its position in the log, counted from 0. Recaps, commands and tools print it as `@12` and
//! accept that form.

mod agent;
pub(crate) mod arguments;
pub(crate) mod cursor;
mod describe;
pub(crate) mod diff;
mod dispatch;
mod error;
mod expand;
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

pub use agent::{AgentPage, FOUND_CHARS, FindRequest, NO_MATCH, find, show};
pub use describe::{FoldDescription, describe};
pub use dispatch::{QUOTED, answer, dispatch};
pub use error::RecallError;
pub use expand::{MAX_PAGE_CHARS, Original, OriginalPage, PAGE_CHARS, expand};
pub use grep::{
    FoundMessage, GrepQuery, HITS, HitPage, MAX_CONTEXT, MAX_HITS, WantedOutcome, grep,
};
pub use matches::TextLine;
pub use names::{GoneNames, MAX_NAME_CHARS, NAME_CHARS, names};
pub use outline::{MAX_ROWS, OutlinePage, OutlineRow, ROWS, outline};
pub use render::{asked_again_text, described_text, hits_text, outline_text, page_text};
pub use target::ExpandTarget;
pub use tools::{ToolListShape, tools};
pub use versions::FileVersion;
