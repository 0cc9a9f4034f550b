//! The measures of a replay, on conversations whose right answers are reckoned by hand, and against
//! a slow judge that starts anew at every request.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

mod bench;
mod costs;
mod fabric;
mod measures;
mod slow;
