//! The scripted provider without a network: a function from requests to answers.

use std::sync::{Arc, PoisonError};

use super::answer::{ServerBody, answer};
use super::settings::UpstreamSettings;
use super::shared::{RecordedCall, SharedState};
use super::stats::Stats;

/// The scripted provider without a network. It does not play faults of the connection (resets, cuts, hangs); a test has
/// to do that itself.
#[derive(Debug)]
pub struct ScriptedProvider(SharedState);

impl ScriptedProvider {
    /// A provider with these settings.
    #[must_use]
    pub fn new(settings: UpstreamSettings) -> Self {
        Self(SharedState::new(settings))
    }

    /// The status and the body of the answer to a request.
    #[must_use]
    pub fn answer(&self, target: &str, headers: &[(String, String)], body: &[u8]) -> (u16, String) {
        let request = RecordedCall {
            method: "POST".to_owned(),
            target: target.to_owned(),
            headers: headers.to_vec(),
            body: body.to_vec(),
            status: 0,
        };
        let answer = answer(&self.0, &request);
        let text = match answer.body {
            ServerBody::Whole(text) => text,
            ServerBody::Pieces(_, pieces) => pieces.concat(),
        };
        (answer.status, text)
    }

    /// The statistics of the requests so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner).stats.clone()
    }

    /// Forgets the recorded requests, because they take memory. Kept conversations and the cache stay.
    pub fn forget(&self) {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner).recorded.clear();
    }

    /// Changes the settings from the next request on.
    pub fn change(&self, change: impl FnOnce(&mut UpstreamSettings)) {
        let mut settings = self.0.settings.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut settings));
    }
}
