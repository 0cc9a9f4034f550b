//! Locks that a panic does not poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder panicked holds nothing half done: all that is done under one is done at the end.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
