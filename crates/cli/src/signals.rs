//! Waits for signals to end the process or to read files again.

/// Returns when the process gets the signal to end: Ctrl-C or, on Unix, SIGTERM. If no handler can be installed, it
/// never returns, and the signals end the process at once.
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

/// The signal to read files again: SIGHUP on Unix. Other systems have none.
pub struct ReloadSignal {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl ReloadSignal {
    /// Listens from now on. If no handler can be installed, the signal never arrives.
    pub fn new() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    /// Waits for the signal. Never returns where there is none.
    pub async fn wait(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}
