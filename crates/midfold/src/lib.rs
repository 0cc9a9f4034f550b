//! Context compaction for LLM agents. *Keep the ends, fold the middle.*
//!
//! This crate is the facade: it re-exports what a Rust user needs from the crates below it, and adds the work around
//! them that every door (command line, Python, server) shares.
//!
//! # By task
//!
//! | to | use |
//! |---|---|
//! | compact a conversation once | [`Setup::prepare`], then [`Session::compact`] |
//! | keep the conversation of a running agent | [`Session::append`], [`Session::context`] |
//! | keep it in SQLite or PostgreSQL | [`Start`], then [`store::StoredSession`] (features `store`, `postgres`) |
//! | read transcripts and requests | [`formats::read`] |
//! | choose when and how to compact | [`Policy::preset`], [`Policy::from_toml`], [`Settings`] |
//! | say what fits | [`Budget`] |
//! | correct the count by what the provider counted | [`Session::observe`] |
//! | react to "prompt too long" | [`formats::overflow`] |
//! | check a compacted file | [`core::verify`] |
//! | find out what the model saw | [`core::explain`], [`core::audit`] |
//! | bring originals back | [`store::recall`] |
//! | delete stored sessions | [`delete()`], [`prune`] |
//! | have a model write parts of the recap | [`model::ModelClient`] (feature `model`), [`core::narrate`] |
//! | compare strategies on recorded conversations | the crate `midfold-eval` |
//! | make training rows fit | [`formats::trajectory`] |
//!
//! # By type
//!
//! A [`RawEvent`] is a message with its bytes. An [`EventLog`] holds the messages of a conversation, append-only, each
//! with its hash and its tokens. A [`Policy`] says when and how to compact, a [`Budget`] how many tokens there are.
//! [`core::plan`] makes a [`Fold`] from them: an immutable record of what replaces which messages, and why. A
//! [`Context`] is what the model reads: a pure function of log and fold. A [`Session`] holds a log with its folds and
//! decides when to make the next one. A [`Meter`] corrects estimated tokens by what providers counted.
//!
//! ```
//! use midfold::formats::read;
//! use midfold::{Budget, PlanOutcome, Policy, Session, Setup};
//!
//! # let rows: Vec<String> = midfold_testkit::coding_session(7, 12);
//! # let input = bytes::Bytes::from(rows.join("\n"));
//! let conversation = read::read(&input, None)?.conversations.remove(0);
//! let prepared = Setup::new().prepare(conversation)?; // counter and rules: those of its model
//! let policy = Policy::preset("default")?;
//! let mut session = Session::over("my-session", prepared.log, policy, prepared.meter);
//! if let PlanOutcome::Folded(fold) = session.compact(&Budget::new(32_000), None)? {
//!     println!("{} -> {} tokens", fold.tokens_before, fold.tokens_after);
//! }
//! let messages: Vec<u8> = session.view().bytes(); // a JSON array, ready to send
//! # assert_eq!(session.folds().len(), 1);
//! # assert!(session.view().tokens() <= 32_000);
//! # assert!(messages.starts_with(b"[") && messages.len() < input.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A running agent appends each new message with [`Session::append`] and sends what [`Session::context`] returns, which
//! folds first when the policy's trigger fires.
//!
//! A session that outlives its process is a [`store::StoredSession`] (feature `store` or `postgres`). [`Start`] makes
//! one, after it has checked the settings:
//!
//! ```
//! # #[cfg(feature = "store")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use midfold::{DialectKind, Door, Policy, RawEvent, Setup, Start, without_messages};
//!
//! let store = midfold::store::open("memory").await?; // or sqlite:PATH, or postgres://…
//! let system = Some("You are an agent with a shell."); // it travels beside the messages, and is counted
//! let beside = without_messages(DialectKind::OpenAiChat, system, None, Some("gpt-5.1".into()));
//! let prepared = Setup::new().window(128_000).prepare(beside)?;
//! let now = 0; // milliseconds since 1970, from your clock
//! let start = Start::new("my-session", Policy::preset("default")?);
//! // Errors come with hints; the door says how these spell options.
//! let mut session = start.check(&prepared, now, Door::Http)?.store(store, Vec::new()).await?;
//! let message = RawEvent::new(r#"{"role":"user","content":"hi"}"#.into());
//! session.append(vec![message], Some("request-1".into()), now).await?; // durable from here on
//! let sent = session.context(true, now).await?;
//! assert_eq!(sent.context.bytes(), br#"[{"role":"user","content":"hi"}]"#);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "store"))]
//! # fn main() {}
//! ```

mod advice;
mod after_fold;
mod append;
#[cfg(feature = "blocking")]
pub mod blocking;
mod cache;
mod compact;
#[cfg(feature = "store")]
mod delete;
mod event_rows;
mod failure;
#[cfg(feature = "store")]
mod fault;
mod feedback;
mod given_messages;
mod hooks;
mod model_pattern;
mod model_windows;
mod prepare;
mod recap;
mod recover;
mod regular;
mod rows;
mod serving;
#[cfg(feature = "store")]
mod session_word;
mod settings;
#[cfg(feature = "store")]
mod start;
mod texts;
#[cfg(feature = "store")]
pub mod view;
pub mod weave;
pub mod wishes;

/// The examples of the pages, which are compiled and run as they are printed.
#[cfg(all(doctest, feature = "store"))]
mod pages {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/RUST.md")]
    mod rust {}
}

pub use advice::AdvisedError;
#[cfg(feature = "store")]
pub use advice::{advise_in, advise_open, advise_recall};
pub use after_fold::AfterFold;
#[cfg(feature = "store")]
pub use append::append;
pub use append::{IncomingMessages, events_of};
pub use cache::{CacheCheck, cache_check};
pub use compact::{CompactionOutcome, CompactionRequest, ModelNarration};
#[cfg(feature = "store")]
pub use delete::{age, delete, extents, idle, old_answers, prune};
pub use event_rows::{EventRow, event_rows};
pub use failure::{Door, Failure, FailureArea, grouped, nearest, number, plural};
#[cfg(feature = "store")]
pub use fault::RequestFault;
pub use feedback::{CompactionFeedback, ContextSize};
pub use given_messages::{conversation, document, given_tools};
pub use hooks::injections;
pub use model_pattern::{ModelPattern, ModelPatternError};
pub use model_windows::ModelWindows;
pub use prepare::{DEFAULT_WINDOW, PreparedConversation, Setup, SetupError, WindowSource};
pub use recap::{NoRecap, recap};
#[cfg(feature = "store")]
pub use recover::{RecoveryOutcome, recover};
pub use recover::{RefusalJudgement, RefusedRequest};
pub use regular::unblocked;
pub use rows::{ROW_TOKENIZER, RowSettings};
pub use serving::{PROVIDERS, ServerSettings, ServingUpstream, ServingUpstreams};
#[cfg(feature = "store")]
pub use session_word::{find_session, session_named};
pub use settings::{
    DoorHost, PolicyFrom, Settings, by_name, dialect, format, is_tokenizer_file, tokenizer,
    usual_preset,
};

#[cfg(feature = "store")]
pub use start::{InMemory, PreparedSession, Start, cache_lifetime, can_run, without_messages};

pub use bytes;
pub use midfold_core as core;
pub use midfold_formats as formats;
#[cfg(feature = "model")]
pub use midfold_model as model;
#[cfg(feature = "store")]
pub use midfold_store as store;
pub use midfold_tokens as tokens;

pub use midfold_core::budget::Budget;
pub use midfold_core::engine::Session;
pub use midfold_core::fold::Fold;
pub use midfold_core::log::EventLog;
pub use midfold_core::meter::Meter;
pub use midfold_core::plan::{NoOp, PlanError, PlanOutcome};
pub use midfold_core::policy::Policy;
pub use midfold_core::project::{Context, ContextPiece, PieceFate};
pub use midfold_core::{Counter, Dialect, ProviderProfile, RawEvent, TextKind, Violation};
pub use midfold_formats::DialectKind;

/// Items that the tests of this crate use. They are not part of the interface, and may change at any time.
#[doc(hidden)]
pub mod inside {
    /// How the ids of forks are made.
    #[cfg(feature = "blocking")]
    pub mod fork {
        pub use crate::blocking::fork::{id, is_of};
    }
}
