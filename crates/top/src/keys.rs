//! Keys that mean something here.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressedKey {
    /// A letter that was typed.
    Char(char),
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the first line.
    Home,
    /// To the last line.
    End,
    /// Opens, or asks.
    Enter,
    /// Back.
    Esc,
    /// Takes back a letter.
    Backspace,
    /// Ends, wherever one is.
    Interrupt,
}

impl PressedKey {
    /// The key of an event; none where it means nothing.
    #[must_use]
    pub fn of(event: KeyEvent) -> Option<Self> {
        // Some terminals tell of keys that are let go, too.
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        Some(match event.code {
            KeyCode::Char('c' | 'd') if control => Self::Interrupt,
            KeyCode::Char('f') if control => Self::PageDown,
            KeyCode::Char('b') if control => Self::PageUp,
            KeyCode::Char(c) if !control && !c.is_control() => Self::Char(c),
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Esc,
            KeyCode::Backspace => Self::Backspace,
            _ => return None,
        })
    }
}
