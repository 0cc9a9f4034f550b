//! Writes one frame as text, for pipes.

use ratatui::text::Line;

use crate::draw::{self, ScreenSheet, ViewRoom};
use crate::state::{TopState, TopView};

/// The most rows of a session's frame, which is as good as no limit.
const SESSION: usize = 100_000;

/// The current view as text, as long as it is, without the bottom line. The list is as wide as its longest row; the
/// text of a session is wrapped at `columns`.
#[must_use]
pub fn plain(state: &TopState, columns: u16) -> String {
    let (width, height) = match state.view() {
        TopView::List => (draw::list_width(state), state.rows.as_ref().map_or(0, Vec::len) + 2),
        _ => (usize::from(columns), SESSION),
    };
    let ScreenSheet { head, body } = draw::sheet(state, ViewRoom { width, height, is_paper: true });
    let text = |line: &Line<'_>| line.to_string().trim_end().to_owned() + "\n";
    let all: String = head.iter().chain(&body).map(text).collect();
    all.trim_end_matches('\n').to_owned() + "\n"
}
