//! Context compaction for LLM agents. *Keep the ends, fold the middle.*
//!
//! The facade: everything a Rust user needs, re-exported from the crates below it, and the one
//! step that needs them all: from a conversation that was read to a log ([`Setup`]).
//!
//! ```
//! use midfold::formats::read;
//! use midfold::{Budget, Outcome, Policy, Session, Setup};
//!
//! # let rows: Vec<String> = midfold_testkit::coding_session(7, 12);
//! # let input = bytes::Bytes::from(rows.join("\n"));
//! let conversation = read::read(&input, None)?.conversations.remove(0);
//! let prepared = Setup::new().prepare(conversation)?; // counter and rules: those of its model
//! let policy = Policy::preset("default")?;
//! let mut session = Session::over("my-session", prepared.log, policy, prepared.meter);
//! if let Outcome::Folded(fold) = session.compact(&Budget::new(32_000), None)? {
//!     println!("{} -> {} tokens", fold.tokens_before, fold.tokens_after);
//! }
//! let messages: Vec<u8> = session.view().bytes(); // a JSON array, ready to send
//! # assert_eq!(session.folds().len(), 1);
//! # assert!(session.view().tokens() <= 32_000);
//! # assert!(messages.starts_with(b"[") && messages.len() < input.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A session that is held takes new messages with [`Session::append`] and answers with
//! [`Session::context`], which folds first when the policy's trigger fires.
//!
//! A session that outlives its process is a [`store::Stored`] one (feature `sqlite` or
//! `postgres`):
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use midfold::store::{Meta, NewSession, Stored};
//! use midfold::{Budget, Policy, RawEvent};
//!
//! let store = midfold::store::open("memory").await?; // or sqlite:PATH, or postgres://…
//! let meta = Meta { budget: Budget::new(128_000), envelope: vec![], parent: None, source: None };
//! let new = NewSession {
//!     id: "my-session".into(),
//!     dialect: "openai-chat".into(),
//!     profile: "openai".into(),
//!     counter: "o200k".into(),
//!     policy: Policy::preset("default")?.to_toml(),
//!     meta: serde_json::to_string(&meta)?,
//!     created: 0,
//! };
//! let now = 0; // milliseconds since 1970, from your clock
//! let mut session = Stored::create(store, new).await?;
//! let message = RawEvent::new(r#"{"role":"user","content":"hi"}"#.into());
//! session.append(vec![message], Some("request-1".into()), now).await?; // durable from here on
//! let sent = session.context(true, now).await?;
//! assert_eq!(sent.context.bytes(), br#"[{"role":"user","content":"hi"}]"#);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sqlite"))]
//! # fn main() {}
//! ```

mod prepare;

pub use prepare::{DEFAULT_WINDOW, Prepared, Setup, SetupError, WindowSource};

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
pub use midfold_core::log::Log;
pub use midfold_core::meter::Meter;
pub use midfold_core::plan::{NoOp, Outcome, PlanError};
pub use midfold_core::policy::Policy;
pub use midfold_core::project::{Context, Fate, Piece};
pub use midfold_core::{Content, Counter, Dialect, Profile, RawEvent, Violation};
pub use midfold_formats::DialectKind;
