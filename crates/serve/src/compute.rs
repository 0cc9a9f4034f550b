//! Runs midfold's own work on a request, so that a panic in it does not make the request fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Runs work that takes a fraction of a millisecond; `None` if it panicked.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The same for work that may fold. A first fold takes as long as thousands of stream events, so other requests are
/// moved to other threads meanwhile.
pub(crate) fn compute<T>(work: impl FnOnce() -> T) -> Option<T> {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(|| caught(work)),
        _ => caught(work),
    }
}
