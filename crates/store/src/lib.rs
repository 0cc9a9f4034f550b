//! Durable sessions: the log, its folds, the jobs that narrate them and the ledger of what was
//! sent. One trait of plain types, three stores behind it, one conformance suite over all.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod assemble;
mod check;
pub mod conformance;
pub mod error;
#[doc(hidden)]
pub mod faulty;
pub mod fsck;
pub mod live;
pub mod memory;
mod open;
pub mod private;
pub mod recall;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
mod store;
mod text;
pub mod transfer;
pub mod types;
pub mod worker;

pub use error::{FailureKind, StoreError};
pub use fsck::fsck;
pub use live::{Injected, Meta, Sent, Stored, StoredError};
pub use memory::MemoryStore;
pub use open::{mask, open, open_existing};
#[cfg(feature = "postgres")]
pub use sql::postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sql::sqlite::SqliteStore;
pub use store::Store;
pub use text::event_text;
pub use types::*;
