//! What midfold works out for a request.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// What midfold works out, or nothing where it failed: that is no reason for a request to fail. Other
/// requests go on meanwhile: a first fold takes as long as thousands of frames.
pub(crate) fn compute<T>(work: impl FnOnce() -> T) -> Option<T> {
    let work = || catch_unwind(AssertUnwindSafe(work)).ok();
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(work),
        _ => work(),
    }
}
