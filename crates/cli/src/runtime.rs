//! A runtime for commands that wait, and the clock.

use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::CommandError;

/// Runs a command that waits for a store or a model. The runtime is made here, so that commands that wait for nothing
/// start without one.
pub fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime
        .map_err(|error| CommandError::failed(format!("no thread can be started: {error}")))?;
    let mut outcome = Err(CommandError::failed("the work did not end"));
    // On the heap and without a result, so that the runtime's loop is compiled once and not for each command.
    let work: Pin<Box<dyn Future<Output = ()> + '_>> = Box::pin(async { outcome = work.await });
    runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
