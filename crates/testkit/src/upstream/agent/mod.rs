//! A client for tests: a minimal agent that keeps its whole history, as real agents do.
//!
//! It talks to any base URL in one of the four dialects and runs the scripted commands itself (see
//! [`output`](super::shell::output)). It has the habits of real clients that make a proxy's work hard.

mod chat;
mod client;
mod gemini;
mod http;
mod messages;
mod responses;
mod session;
mod sse;

pub use self::client::{ClientAgent, Habits};
pub use self::session::{AgentExchange, AgentRun, AgentSession, Letter, RunEnd};
