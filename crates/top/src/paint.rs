//! Colours, if the terminal has them.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use midfold::weave::Tint;

/// How text is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PaintStyle {
    /// Whether colours are used; otherwise text is only bold or dim.
    pub color: bool,
}

impl PaintStyle {
    pub fn tint(self, tint: Tint) -> Style {
        let color = match tint {
            Tint::Green => Color::Green,
            Tint::Red => Color::Red,
            Tint::Cyan => Color::Cyan,
            Tint::Magenta => Color::Magenta,
            Tint::Yellow => Color::Yellow,
        };
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    pub fn tinted(self, tint: Tint, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.tint(tint))
    }
}

pub(crate) fn dim(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().add_modifier(Modifier::DIM))
}

pub(crate) fn bold(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
}
