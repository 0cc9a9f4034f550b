//! Durable sessions: the log, its folds, the jobs that narrate them, and the ledger of sent requests. One trait
//! has three implementations, and one conformance suite tests them all.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod assemble;
pub mod changes;
mod check;
pub mod conformance;
pub mod error;
#[doc(hidden)]
pub mod faulty;
pub mod fsck;
pub mod live;
mod open;
pub mod private;
pub mod recall;
#[doc(hidden)]
pub mod single;
mod sql;
mod store;
mod text;
pub mod transfer;
pub mod types;
pub mod worker;

pub use changes::{
    ActiveChange, CallUsage, CommitOutcome, SavedParts, SessionChanges, SessionIdentity,
    StateChange,
};
pub use error::{FailureKind, StoreError};
pub use fsck::fsck;
pub use live::{InjectedRequest, NumberedContext, SessionMeta, StoredError, StoredSession};
pub use midfold_core::redact::mask;
pub use open::{StoreUrl, open, open_existing};
pub use sql::memory::{MemoryStore, run_in_memory};
#[cfg(feature = "postgres")]
pub use sql::postgres::PostgresStore;
pub use sql::sqlite::SqliteStore;
pub use store::Store;
pub use text::event_text;
pub use types::*;

/// Items for the tests of this crate only. They are no part of its interface, and may change.
#[doc(hidden)]
pub mod inside {
    pub use crate::recall::arguments::readable;
    pub use crate::recall::cursor::PageCursor;
    pub use crate::recall::diff::lines;
    pub use crate::recall::matches::{LINE, LineQuery, MessageLines};
    pub use crate::recall::outcome::outcome_words;
    pub use crate::recall::render::{RUNS, clean, headline, list, push_repeats};
    pub use crate::sql::packed::{pack, unpack};
    pub use crate::text::{SNIPPET, WORD, find_folded, snippet, words};
}
