//! The terminal: taken over at the start, and restored at the end, also after an error or a panic.

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

/// How long one wait for a key takes. After that the thread checks whether anybody still listens.
const WAIT: Duration = Duration::from_millis(100);
/// How many keys may wait to be handled.
const WAITING: usize = 64;

/// The terminal while this program uses it. Dropping this value restores it.
pub struct Screen {
    /// The terminal that frames are drawn to.
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
    is_over: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal over: the alternate screen, keys without Enter, no cursor. If the program panics, the
    /// terminal is restored before the message is printed.
    ///
    /// # Errors
    /// If there is no terminal.
    pub fn open() -> io::Result<(Self, Receiver<TerminalEvent>)> {
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
        let is_over = Arc::new(AtomicBool::new(false));
        // Made before the thread, so that an error of the thread drops it and restores the terminal.
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

/// Sends events until nobody listens. Reading blocks, so it runs on a thread of its own.
fn listen(send: &Sender<TerminalEvent>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) && !send.is_closed() {
        match event::poll(WAIT) {
            Ok(false) => continue,
            Ok(true) => {}
            // The terminal was closed.
            Err(_) => return,
        }
        let input = match event::read() {
            Ok(Event::Key(key)) => PressedKey::of(key).map(TerminalEvent::Pressed),
            Ok(Event::Resize(..)) => Some(TerminalEvent::Resized),
            Ok(_) => None,
            Err(_) => return,
        };
        if input.is_some_and(|input| send.blocking_send(input).is_err()) {
            return;
        }
    }
}
