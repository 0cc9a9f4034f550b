//! The session that most requests belonged to: what a person wants to look into afterwards.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The most sessions that are counted. A server of many clients asks nobody which one was the busiest.
const MOST: usize = 1_000;

/// The requests of each session since the start.
#[derive(Default)]
pub(crate) struct BusySessions(Mutex<HashMap<String, u64>>);

impl BusySessions {
    /// Counts a request of this session.
    pub fn count(&self, session: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(session) {
            *count += 1;
        } else if counts.len() < MOST {
            counts.insert(session.to_owned(), 1);
        }
    }

    /// The session with most requests; `None` if no request had one.
    pub fn busiest(&self) -> Option<String> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let most = counts.iter().max_by_key(|(id, count)| (**count, id.as_str()));
        most.map(|(id, _)| id.clone())
    }
}
