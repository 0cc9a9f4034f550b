//! What a view is made of: lines, and the room that they have.

use ratatui::text::Line;

use crate::state::TopState;

/// What is on a screen: the head stays, the body scrolls.
#[derive(Default)]
pub(crate) struct ScreenSheet {
    pub head: Vec<Line<'static>>,
    pub body: Vec<Line<'static>>,
}

/// Columns and rows that a view has, without the line at the bottom.
#[derive(Clone, Copy)]
pub(crate) struct ViewRoom {
    pub width: usize,
    pub height: usize,
    /// Nothing has to be cut: what reads it is no screen.
    pub is_paper: bool,
}

impl ViewRoom {
    pub fn of(state: &TopState) -> Self {
        let height = usize::from(state.size.1).saturating_sub(1);
        Self { width: state.size.0.into(), height, is_paper: false }
    }

    /// Too narrow for every column.
    pub fn is_narrow(self) -> bool {
        self.width < 60 && !self.is_paper
    }
}
