//! The terminal: taken over, and given back as it was, also after an error or a panic.

use std::io::{self, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::keys::PressedKey;
use crate::run::TerminalEvent;

/// How long a wait for a key takes at most: then it is looked whether anybody still listens.
const WAIT: Duration = Duration::from_millis(100);
/// Keys that may wait.
const WAITING: usize = 64;

/// The terminal, while it is ours. Dropping it gives it back.
pub struct Screen {
    /// Where frames go.
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
    is_over: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal over: another screen, keys one by one, no cursor. A panic gives it back before it speaks.
    ///
    /// # Errors
    /// When there is no terminal.
    pub fn open() -> io::Result<(Self, Receiver<TerminalEvent>)> {
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
        let is_over = Arc::new(AtomicBool::new(false));
        let screen = Self { terminal, is_over: Arc::clone(&is_over) };
        let (send, receive) = channel(WAITING);
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || listen(&send, &is_over))?;
        Ok((screen, receive))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.terminal.show_cursor();
        ratatui::restore();
    }
}

/// Reads events until nobody listens. Reading waits, so it has a thread of its own.
fn listen(send: &Sender<TerminalEvent>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) && !send.is_closed() {
        match event::poll(WAIT) {
            Ok(false) => continue,
            Ok(true) => {}
            // The terminal went away.
            Err(_) => return,
        }
        let what = match event::read() {
            Ok(Event::Key(key)) => PressedKey::of(key).map(TerminalEvent::Pressed),
            Ok(Event::Resize(..)) => Some(TerminalEvent::Resized),
            Ok(_) => None,
            Err(_) => return,
        };
        if what.is_some_and(|what| send.blocking_send(what).is_err()) {
            return;
        }
    }
}
