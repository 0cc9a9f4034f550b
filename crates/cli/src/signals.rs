//! Being told to end.

/// Waits until the process is told to end: ctrl-c, or SIGTERM where there is one. Where no handler can
/// be set, it waits for ever, and the signals end the process.
pub async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut int)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        return std::future::pending().await;
    }
}
