//! One frame as text, for pipes.

use ratatui::text::Line;

use crate::draw::{self, Room, Sheet};
use crate::state::{State, View};

/// Rows of a session's frame at most: a paper has no end.
const SESSION: usize = 100_000;

/// What the state shows in so many columns, as many lines as it takes, without the keys at its bottom.
#[must_use]
pub fn plain(state: &State, columns: u16) -> String {
    let rows = match state.view() {
        // The chosen session in words is for those who choose.
        View::List => state.rows.as_ref().map_or(0, Vec::len) + 2,
        _ => SESSION,
    };
    let Sheet { head, body } = draw::sheet(state, Room { width: columns.into(), height: rows });
    let text = |line: &Line<'_>| line.to_string().trim_end().to_owned() + "\n";
    let all: String = head.iter().chain(&body).map(text).collect();
    all.trim_end_matches('\n').to_owned() + "\n"
}
