//! What midfold works out for a request. A fault of midfold's is no reason for a request to fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// What a fraction of a millisecond works out, or nothing where midfold failed.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The same for what may fold: other requests go on meanwhile, because a first fold takes as long as
/// thousands of frames.
pub(crate) fn compute<T>(work: impl FnOnce() -> T) -> Option<T> {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(|| caught(work)),
        _ => caught(work),
    }
}
