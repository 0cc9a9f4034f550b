//! The engine of midfold. *Keep the ends, fold the middle.*
//!
//! Pure: no IO, no clock, no randomness, no environment, no async. Everything that the engine
//! needs from outside comes in as a value or through one of two small traits: [`Dialect`]
//! (how a wire format is read and written) and [`Counter`] (how tokens are counted).
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod arguments;
pub mod audit;
pub mod budget;
mod byte_range;
pub mod calendar;
pub mod calls;
mod codes;
pub mod counter;
pub mod dialect;
pub mod edit;
pub mod engine;
pub mod event;
pub mod exchanges;
pub mod explain;
pub mod fabric;
pub mod fill;
pub mod fold;
mod fold_id;
pub mod fold_standing;
pub mod hidden;
pub mod hooks;
pub mod ids;
pub mod inject;
mod instruction;
mod json;
pub mod jsonstr;
pub mod layout;
pub mod ledger;
pub mod log;
mod measure;
mod media;
pub mod meter;
pub mod names;
pub mod narrate;
mod open_calls;
pub mod passage;
mod piece;
pub mod placeholder;
pub mod plan;
pub mod policy;
pub mod profile;
pub mod project;
pub mod put_back;
mod put_back_record;
pub mod recap;
pub mod redact;
pub mod reduce;
pub mod references;
mod reminders;
pub mod repair;
pub mod result_words;
mod salient;
pub mod screen;
pub mod seal;
mod span;
mod speakers;
pub mod spending;
pub mod survey;
mod text_finder;
pub mod texts;
pub mod tools;
pub mod trajectory;
pub mod trigger;
pub mod unit;
pub mod verify;
pub mod view;
mod voice;
mod void;

pub use counter::{Counter, TextKind};
pub use dialect::{ClientWords, Dialect};
pub use event::{Hash, RawEvent, Usage};
pub use passage::{ClientReminder, Passage, Voice};
pub use profile::{ProviderProfile, ProviderRules, Violation};
pub use view::{
    BlockKind, BlockView, ByteRange, EventView, JsonFrame, MediaExtent, MediaKind, MediaRef,
    PictureDetail, Role, TextCoding, TextOrigin, TextRef,
};
