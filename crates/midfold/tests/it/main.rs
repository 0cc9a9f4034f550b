//! The tests of the facade, in one binary: it links once.

#[cfg(feature = "store")]
mod agent;
mod agent_wishes;
mod ahead;
mod arguments;
mod authority;
#[cfg(feature = "blocking")]
mod busy_session;
#[cfg(all(feature = "blocking", feature = "store"))]
mod cold;
#[expect(clippy::unwrap_used, reason = "a broken corpus may fail loudly")]
mod common;
mod corpus;
#[cfg(feature = "store")]
mod delete;
mod dense;
mod dialogue;
mod engine;
#[cfg(feature = "blocking")]
mod follow;
#[cfg(feature = "store")]
mod forgot;
#[cfg(feature = "blocking")]
mod fork;
mod images;
mod keep;
mod linear;
mod long_step;
mod lost;
#[cfg(all(feature = "store", feature = "model"))]
mod narration;
mod narrations;
#[cfg(feature = "blocking")]
mod new_session;
mod orders;
#[cfg(feature = "store")]
mod overview;
mod placeholders;
mod prepare;
mod presets;
mod properties;
#[cfg(all(feature = "store", feature = "model"))]
mod real_model;
mod references;
mod repaired_ids;
mod repairs;
mod room;
mod row_settings;
#[cfg(feature = "store")]
mod said;
mod secrets;
#[cfg(feature = "store")]
mod session_word;
#[cfg(feature = "store")]
mod sessions;
mod small_window;
mod sources;
mod stays;
mod strict_models;
mod survey;
mod thinking_models;
mod user_words;
mod verbatim;
mod verify;
