//! Draws a frame from a state. The same state always gives the same frame.

mod answer;
mod fold;
mod help;
mod list;
mod parts;
mod session;
mod sheet;

use ratatui::Frame;
use ratatui::text::Line;

use crate::figures::fit;
use crate::paint::{PaintStyle, bold, dim};
use crate::state::{KeyReach, TopState, TopView};
pub(crate) use list::width as list_width;
use midfold::weave::Tint;
pub(crate) use sheet::{ScreenSheet, ViewRoom};

/// Draws the current view.
pub fn draw(state: &TopState, frame: &mut Frame<'_>) {
    let area = frame.area();
    let room = ViewRoom {
        width: area.width.into(),
        height: usize::from(area.height).saturating_sub(1),
        is_paper: false,
    };
    let sheet = sheet(state, room);
    let below = room.height.saturating_sub(sheet.head.len());
    let furthest = sheet.body.len().saturating_sub(below);
    let body = sheet.body.into_iter().skip(state.scroll.min(furthest)).take(below);
    let buffer = frame.buffer_mut();
    for (y, line) in
        (area.y..area.bottom()).zip(sheet.head.into_iter().chain(body).take(room.height))
    {
        buffer.set_line(area.x, y, &line, area.width);
    }
    if area.height > 0 {
        buffer.set_line(area.x, area.bottom() - 1, &foot(state, room.width), area.width);
    }
}

/// The lines of the current view, in this room.
pub(crate) fn sheet(state: &TopState, room: ViewRoom) -> ScreenSheet {
    match state.view() {
        TopView::List => list::sheet(state, room),
        TopView::Session => session::sheet(state, room),
        TopView::Fold => fold::sheet(state, room),
        TopView::Answer => answer::sheet(state, room),
        TopView::Help => help::sheet(state, room),
    }
}

/// How far keys can move in the current view.
#[must_use]
pub fn reach(state: &TopState) -> KeyReach {
    let room = ViewRoom::of(state);
    let ScreenSheet { head, body } = sheet(state, room);
    let page = match state.view() {
        TopView::List => list::rows(state, room),
        TopView::Session => 5,
        _ => room.height.saturating_sub(head.len() + 1),
    };
    KeyReach { page, furthest: body.len().saturating_sub(room.height.saturating_sub(head.len())) }
}

/// The bottom line: the text that is being typed, or the last error, or the keys.
fn foot(state: &TopState, width: usize) -> Line<'static> {
    if let Some((_, text)) = &state.prompt {
        let label = if width < 60 { " forgot: " } else { " why did it forget: " };
        // If the text is too long, its end is shown, because that is where typing goes on.
        let most = width.saturating_sub(label.len() + 1);
        let from = text.chars().count().saturating_sub(most);
        let end: String = text.chars().skip(from).collect();
        return Line::from(vec![bold(label), end.into(), "▏".into()]);
    }
    if let Some(trouble) = &state.trouble {
        let paint = PaintStyle { color: state.color };
        let hint = trouble.hints.first().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let text = fit(&format!(" {trouble}{hint}"), width);
        return Line::from(vec![paint.tinted(Tint::Red, text)]);
    }
    let keys = match state.view() {
        TopView::List if width < 60 => " ⏎ open  / forgot  o sort  ? help  q",
        TopView::List => " ↑↓ choose   ⏎ open   / why forgotten   o sort   ? help   q quit",
        TopView::Session if width < 60 => " ↑↓ fold  ⏎ open  / forgot  ? help  q",
        TopView::Session => " ↑↓ fold   ⏎ open it   / why forgotten   ? help   q back",
        _ if width < 60 => " ↑↓ scroll  / forgot  ? help  q back",
        _ => " ↑↓ scroll   / why forgotten   ? help   q back",
    };
    Line::from(dim(fit(keys, width)))
}
