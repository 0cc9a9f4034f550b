//! Draws one session: how full its window is, its fabric, and the chosen fold.

use midfold::core::fabric::FabricCell;
use midfold::{number, plural};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::fold::outline;
use super::parts::{around, bar, indented, legend, rule, strip, title};
use super::sheet::{ScreenSheet, ViewRoom};
use crate::figures::{age, facts, percent, short};
use crate::paint::{PaintStyle, bold, dim};
use crate::state::{OpenedSession, TopState};
use crate::views::{FabricColumns, FaultLine, FoldLine, SessionRow};

pub(super) fn sheet(state: &TopState, room: ViewRoom) -> ScreenSheet {
    let mut sheet = ScreenSheet::default();
    let Some(opened) = &state.opened else { return sheet };
    sheet.head = head(state, opened, room);
    let Some(fabric) = &opened.fabric else {
        sheet.body.push(Line::from("  reading the session …"));
        return sheet;
    };
    let height = room.height.saturating_sub(sheet.head.len());
    sheet.body = weave(state, opened, fabric, room.width, height);
    let height = height.saturating_sub(sheet.body.len());
    sheet.body.extend(chosen(state, opened, room.width, height));
    sheet
}

/// The head: the name, the bar, and when the next fold is due.
fn head(state: &TopState, opened: &OpenedSession, room: ViewRoom) -> Vec<Line<'static>> {
    let Some(detail) = &opened.detail else {
        return vec![title(opened.id.shown(), state.place.as_str(), room.width), Line::default()];
    };
    let row = &detail.row;
    let paint = PaintStyle { color: state.color };
    let width = if room.is_paper { room.width.max(row.name().width() + 2) } else { room.width };
    let mut lines = vec![title(row.name(), "", width)];
    let mut gauge = Line::from(" ");
    let width = if room.is_narrow() { 14 } else { 30 };
    bar(paint, row, width).into_iter().for_each(|span| gauge.push_span(span));
    let full = percent(row.filled());
    gauge.push_span(match room.is_narrow() {
        true => format!("  {full} of {}", short(row.window)),
        false => format!("  {}, {full}", row.fill_words()),
    });
    lines.push(gauge);
    let all = facts(&figures(state, row), room.width.saturating_sub(2));
    let most = if room.height < 20 { 1 } else { 4 };
    lines.extend(all.into_iter().take(most).map(|line| Line::from(dim(format!(" {line}")))));
    let next = format!(" next fold: {}", detail.line);
    lines.extend(
        indented(&next, 0, room.width, Style::new())
            .into_iter()
            .map(|line| Line::from(format!(" {line}"))),
    );
    lines.push(Line::default());
    lines
}

fn figures(state: &TopState, row: &SessionRow) -> Vec<String> {
    let mut all = vec![row.id.shown().to_owned(), row.model.to_string()];
    all.extend(row.client.as_ref().map(ToString::to_string));
    all.push(format!("policy {}", row.policy));
    all.push(plural(row.events, "message"));
    all.push(plural(row.calls, "call"));
    all.extend(row.cost.map(|cost| format!("cost {}", cost.change())));
    all.extend(row.cache_share.map(|share| format!("{} from the cache", percent(share))));
    all.extend(row.faults.iter().map(FaultLine::text));
    all.push(format!("changed {} ago", age(row.changed, state.now)));
    all
}

/// The fabric: a row for each fold, and one for the present.
fn weave(
    state: &TopState,
    opened: &OpenedSession,
    fabric: &FabricColumns,
    width: usize,
    room: usize,
) -> Vec<Line<'static>> {
    let paint = PaintStyle { color: state.color };
    let events = usize::try_from(fabric.events).unwrap_or(usize::MAX);
    let is_narrow = width < 60;
    let label = if is_narrow { 17 } else { 24 };
    let columns = width.saturating_sub(label + 1).max(8);
    let last = number(fabric.events.saturating_sub(1));
    let drawn = events.min(columns);
    let gap = " ".repeat(drawn.saturating_sub(last.width() + 3));
    let name = if is_narrow { " fold    tokens" } else { "  fold  tokens   after" };
    let axis = if drawn > last.width() + 3 { format!("#0{gap}#{last}") } else { "#0".to_owned() };
    let mut lines = vec![Line::from(dim(format!("{name:label$}{axis}")))];
    let most = (room.saturating_sub(4) / 2).max(2);
    let at = opened.chosen().unwrap_or(0);
    let shown = around(at, fabric.folds.len(), most);
    let from = shown.start;
    for (place, fold) in fabric.folds[shown].iter().enumerate() {
        let is_chosen = from + place == at;
        let text = labelled(fold, is_chosen, is_narrow);
        let style = match (is_chosen, fold.undone) {
            (true, _) => Style::new().add_modifier(Modifier::BOLD),
            (_, true) => Style::new().add_modifier(Modifier::DIM),
            _ => Style::new(),
        };
        let mut line = Line::from(Span::styled(format!("{text:label$}"), style));
        for span in strip(paint, &fold.cells(fabric.events), events, columns) {
            line.push_span(span);
        }
        lines.push(line);
    }
    let now = now(fabric);
    let mut line =
        Line::from(bold(format!("{:label$}", if is_narrow { "  now" } else { "   now" })));
    strip(paint, &now, events, columns).into_iter().for_each(|span| line.push_span(span));
    lines.push(line);
    let mut cells: Vec<FabricCell> = now;
    cells.extend(fabric.folds.iter().flat_map(|fold| fold.cells(fabric.events)));
    let mut names = legend(paint, &cells, width);
    let per_column = events.div_ceil(columns);
    let scale = format!("   a column: up to {per_column} messages");
    if let Some(line) = names.last_mut()
        && per_column > 1
        && line.width() + scale.width() < width
    {
        line.push_span(dim(scale));
    }
    lines.extend(names);
    lines
}

fn labelled(fold: &FoldLine, is_chosen: bool, is_narrow: bool) -> String {
    let mark = if is_chosen { "›" } else { " " };
    let state = match (fold.active, fold.undone) {
        (true, _) => "•",
        (_, true) => "✗",
        _ => " ",
    };
    let number = fold.number.unwrap_or(0);
    let (before, after) = (short(fold.before), short(fold.after));
    match is_narrow {
        true => format!("{mark}{number:>3}{state}{before:>5}→{after}"),
        false => format!("{mark} {number:>4}{state}{before:>7} → {after}"),
    }
}

/// The fates of the messages as they are sent now: those of the active fold, and verbatim for all later messages.
fn now(fabric: &FabricColumns) -> Vec<FabricCell> {
    let active = fabric.folds.iter().find(|fold| fold.active);
    let mut cells = active.map(|fold| fold.cells(fabric.events)).unwrap_or_default();
    cells
        .resize(usize::try_from(fabric.events).unwrap_or(0).max(cells.len()), FabricCell::Verbatim);
    cells
}

/// The chosen fold, as far as there is room.
fn chosen(
    state: &TopState,
    opened: &OpenedSession,
    width: usize,
    room: usize,
) -> Vec<Line<'static>> {
    let Some(number) = opened.number() else {
        return vec![Line::default(), Line::from("  Nothing was folded yet: all of it is sent.")];
    };
    let count = opened.fabric.as_ref().map_or(0, |fabric| fabric.folds.len());
    let mut lines = vec![Line::default(), rule(&format!("fold {number} of {count}"), width)];
    match opened.read() {
        None => lines.push(Line::from("  reading the fold …")),
        // Without empty lines, because there is little room.
        Some(fold) => {
            let outline = outline(state, fold, width).into_iter();
            lines.extend(outline.filter(|line| !line.spans.is_empty()));
        }
    }
    if lines.len() > room && room > 0 {
        lines.truncate(room - 1);
        lines.push(Line::from(dim("  … ⏎ shows all of it")));
    }
    lines
}
