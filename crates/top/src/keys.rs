//! The keys that have a meaning here.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressedKey {
    /// A letter or another printable character.
    Char(char),
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    Home,
    /// To the last line.
    End,
    /// Opens the chosen item, or sends the typed question.
    Enter,
    /// Goes back.
    Esc,
    /// Removes the last typed character.
    Backspace,
    /// Quits from every view.
    Interrupt,
}

impl PressedKey {
    /// The key of a terminal event; `None` if it has no meaning here.
    #[must_use]
    pub fn of(event: KeyEvent) -> Option<Self> {
        // Some terminals also report when a key is released.
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
