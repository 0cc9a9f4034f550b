//! Limits of time and size, so that one client cannot take the server from the others.

use std::time::Duration;

/// The most open connections. Each needs a socket, and systems allow a process some thousands.
const CONNECTIONS: usize = 4_096;
/// How long the head of a request, or a TLS handshake, may take. An honest client sends both in one piece.
const HEAD: Duration = Duration::from_secs(10);
/// How long a request's body may stall.
const IDLE: Duration = Duration::from_secs(30);

/// How long the beginning of an answer is held back. A provider refuses within a second or two. If a model thinks for
/// minutes, the client has to see that the connection is alive.
const HELD: Duration = Duration::from_secs(10);

/// The most messages of a request that is read. A window of a million tokens holds some thousands.
const HISTORY: usize = 20_000;

/// Limits of time and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeLimits {
    /// The most open connections; further ones wait until one of them ends.
    pub connections: usize,
    /// How long each of these may take: the head of a request, a TLS handshake, the pause between two requests of a
    /// connection.
    pub head: Duration,
    /// How long a request's body may stall, and how long a provider's refusal is read.
    pub idle: Duration,
    /// How long the beginning of an answer is held back until it is clear that it is no refusal. After that it is
    /// passed on as it is.
    pub hold: Duration,
    /// The most messages of a request that is read; one with more is forwarded unread. A key may have a lower limit
    /// ([`KeyEntry::longest_history`](crate::KeyEntry)); above that, the request is refused.
    pub longest_history: usize,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS,
            head: HEAD,
            idle: IDLE,
            hold: HELD,
            longest_history: HISTORY,
        }
    }
}
