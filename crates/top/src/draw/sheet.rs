//! The lines of a view, and the room that they have.

use ratatui::text::Line;

use crate::state::TopState;

/// The lines of a view: the head stays, the body scrolls.
#[derive(Default)]
pub(crate) struct ScreenSheet {
    pub head: Vec<Line<'static>>,
    pub body: Vec<Line<'static>>,
}

/// The columns and rows of a view, without the bottom line.
#[derive(Clone, Copy)]
pub(crate) struct ViewRoom {
    pub width: usize,
    pub height: usize,
    /// The output is a file or a pipe, not a screen, so nothing has to be cut.
    pub is_paper: bool,
}

impl ViewRoom {
    pub fn of(state: &TopState) -> Self {
        let height = usize::from(state.size.1).saturating_sub(1);
        Self { width: state.size.0.into(), height, is_paper: false }
    }

    /// Whether some columns have to be left out.
    pub fn is_narrow(self) -> bool {
        self.width < 60 && !self.is_paper
    }
}
