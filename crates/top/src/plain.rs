//! One frame as text, for pipes.

use ratatui::text::Line;

use crate::draw::{self, Room, Sheet};
use crate::state::{State, View};

/// Rows of a session's frame at most: a paper has no end.
const SESSION: usize = 100_000;

/// What the state shows, as many lines as it takes, without the keys at its bottom. The list is as wide as its longest
/// row; sentences of a session are broken at so many columns.
#[must_use]
pub fn plain(state: &State, columns: u16) -> String {
    let (width, height) = match state.view() {
        View::List => (draw::list_width(state), state.rows.as_ref().map_or(0, Vec::len) + 2),
        _ => (usize::from(columns), SESSION),
    };
    let Sheet { head, body } = draw::sheet(state, Room { width, height, is_paper: true });
    let text = |line: &Line<'_>| line.to_string().trim_end().to_owned() + "\n";
    let all: String = head.iter().chain(&body).map(text).collect();
    all.trim_end_matches('\n').to_owned() + "\n"
}
