//! Runs a program in this terminal: waits for its end and passes signals on.

use std::io;
use std::process::ExitStatus;

use tokio::process::Command;

/// Runs a program to its end. Signals do not end this process before the program has ended.
#[cfg(unix)]
pub async fn run(mut command: Command) -> io::Result<ExitStatus> {
    use tokio::signal::unix::{SignalKind, signal};

    // The handlers are installed before the program starts, so that no signal gets lost.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let is_job = unix::is_job();
    let mut child = command.spawn()?;
    let pid = child.id();
    loop {
        tokio::select! {
            ended = child.wait() => return ended,
            _ = interrupt.recv() => unix::from_keyboard(pid, unix::Signal::INT),
            _ = quit.recv() => unix::from_keyboard(pid, unix::Signal::QUIT),
            _ = terminate.recv() => unix::pass(pid, unix::Signal::TERM),
            _ = hangup.recv() => unix::hung_up(pid, is_job),
        }
    }
}

/// Runs a program to its end.
#[cfg(not(unix))]
pub async fn run(mut command: Command) -> io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    loop {
        tokio::select! {
            ended = child.wait() => return ended,
            // The console sends Ctrl-C to the program as well, so it is only ignored here.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

/// The exit code of a program as shells give it: the program's own code, or 128 plus the number of the signal that
/// ended it.
pub fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

#[cfg(unix)]
mod unix {
    use std::fs::File;

    pub use rustix::process::Signal;
    use rustix::process::{Pid, getpgid, getpgrp, getpid, getsid, kill_process};
    use rustix::termios::tcgetpgrp;

    /// The terminal of this process, if it has one.
    const TERMINAL: &str = "/dev/tty";

    /// Passes a signal on to the program. Does nothing where the program has ended.
    pub fn pass(pid: Option<u32>, signal: Signal) {
        if let Some(pid) = process(pid) {
            let _ = kill_process(pid, signal);
        }
    }

    fn process(pid: Option<u32>) -> Option<Pid> {
        pid.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw)
    }

    /// Passes a signal of the keyboard on, unless this process is in the terminal's foreground: then the terminal has
    /// sent it to the program already. A second one within moments would mean "stop at once" to many agents.
    ///
    /// In the foreground, one that another process sends to this process alone looks the same and does not arrive:
    /// `docker stop -s INT` of a container with a terminal ends nothing, and SIGTERM does.
    pub fn from_keyboard(pid: Option<u32>, signal: Signal) {
        let terminal = File::open(TERMINAL);
        let in_front =
            terminal.is_ok_and(|file| tcgetpgrp(&file).is_ok_and(|group| group == getpgrp()));
        if !in_front {
            pass(pid, signal);
        }
    }

    /// Whether a shell in a terminal started this process.
    pub fn is_job() -> bool {
        File::open(TERMINAL).is_ok() && getsid(None).is_ok_and(|leader| leader != getpid())
    }

    /// Passes a hangup on, unless the terminal of a job is gone: the shell, or the kernel at the shell's end, has then
    /// sent it to all of the job's group already.
    pub fn hung_up(pid: Option<u32>, is_job: bool) {
        let is_of_group = || process(pid).is_some_and(|pid| getpgid(Some(pid)) == Ok(getpgrp()));
        if !is_job || File::open(TERMINAL).is_ok() || !is_of_group() {
            pass(pid, Signal::HUP);
        }
    }
}
