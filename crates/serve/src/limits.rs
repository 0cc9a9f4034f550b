//! How long and how much: what keeps one client from taking the server from all others.

use std::time::Duration;

/// Connections that are open at a time. Each costs a socket, and systems allow a process some thousands.
const CONNECTIONS: usize = 4_096;
/// How long the head of a request, or a TLS handshake, may take. Both come in one piece from a client that
/// is not out to hold the connection.
const HEAD: Duration = Duration::from_secs(10);
/// How long a request's body may bring nothing.
const IDLE: Duration = Duration::from_secs(30);

/// How long the beginning of an answer is held back. A provider that refuses does so within a second or two;
/// one whose model thinks for minutes has to be seen to be there.
const HELD: Duration = Duration::from_secs(10);

/// Messages of a request that are read. A window of a million tokens holds some thousands.
const HISTORY: usize = 20_000;

/// How long and how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeLimits {
    /// Connections that are open at a time; further ones wait until one of them ends.
    pub connections: usize,
    /// How long the head of a request, a TLS handshake, and the pause between two requests of a
    /// connection may take.
    pub head: Duration,
    /// How long a request's body may bring nothing, and how long a provider's refusal is read.
    pub idle: Duration,
    /// How long the beginning of an answer is held back at most, until it is clear that it is no refusal:
    /// then it passes as it is.
    pub held: Duration,
    /// Messages of a request that are read; one with more passes unread. A key may have a lower number
    /// ([`KeyEntry::longest_history`](crate::KeyEntry)): that one is refused.
    pub longest_history: usize,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS,
            head: HEAD,
            idle: IDLE,
            held: HELD,
            longest_history: HISTORY,
        }
    }
}
