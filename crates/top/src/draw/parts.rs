//! Parts that several views share: bars, strips, legends, headings.

use midfold::core::fabric::FabricCell;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::figures::{fit, wrap};
use crate::paint::{PaintStyle, bold, dim};
use crate::views::SessionRow;
use midfold::weave::{self, Tint, glyph};

/// The share of the threshold above which the bar is yellow, because a fold is near.
const SOON: f64 = 0.9;

/// A bar that shows how full the window is, with a mark at the threshold of the next fold.
pub(super) fn bar(paint: PaintStyle, row: &SessionRow, width: usize) -> Vec<Span<'static>> {
    let place =
        |tokens: u64| (crate::views::share(tokens, row.window) * width as f64).min(width as f64);
    let filled = (place(row.fill).round() as usize).max(usize::from(row.fill > 0));
    let mark = (place(row.threshold) as usize).min(width.saturating_sub(1));
    let has_mark = row.threshold > 0 && row.window > 0;
    let tint = match row.fill as f64 {
        fill if has_mark && fill >= row.threshold as f64 => Tint::Red,
        fill if has_mark && fill >= row.threshold as f64 * SOON => Tint::Yellow,
        _ => Tint::Green,
    };
    let one = |at: usize| match at {
        at if has_mark && at == mark => Span::raw("┃"),
        at if at < filled => paint.tinted(tint, "█"),
        _ => dim("─"),
    };
    (0..width).map(one).collect()
}

/// Draws messages as glyphs.
pub(super) fn strip(
    paint: PaintStyle,
    cells: &[FabricCell],
    events: usize,
    columns: usize,
) -> Vec<Span<'static>> {
    let shown = weave::strip(cells, events, columns);
    let one = |cell: &FabricCell| {
        let glyph = glyph(*cell);
        paint.tinted(glyph.tint, glyph.mark.to_string())
    };
    shown.iter().map(one).collect()
}

/// A legend of the glyphs that occur.
pub(super) fn legend(paint: PaintStyle, there: &[FabricCell], width: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    for cell in weave::ALL.into_iter().filter(|cell| there.contains(cell)) {
        let glyph = glyph(cell);
        let name = format!(" {}", glyph.name);
        match lines.last_mut() {
            Some(line) if line.width() + 3 + 1 + name.width() <= width => line.push_span("   "),
            _ => lines.push(Line::from(" ")),
        }
        if let Some(line) = lines.last_mut() {
            line.push_span(paint.tinted(glyph.tint, glyph.mark.to_string()));
            line.push_span(name);
        }
    }
    lines
}

/// The title line: what is shown on the left, its place on the right.
pub(super) fn title(left: &str, right: &str, width: usize) -> Line<'static> {
    let left = fit(&format!(" {left}"), width);
    let room = width.saturating_sub(left.width() + 2);
    if room < 8 {
        return Line::from(bold(left));
    }
    let right = fit(right, room.saturating_sub(1));
    let space = " ".repeat(width.saturating_sub(left.width() + right.width() + 1));
    Line::from(vec![bold(left), Span::raw(space), dim(right)])
}

/// A horizontal line with a heading in it.
pub(super) fn rule(text: &str, width: usize) -> Line<'static> {
    let text = fit(text, width.saturating_sub(4));
    let rest = "─".repeat(width.saturating_sub(text.width() + 4));
    Line::from(vec![dim("── "), bold(text), dim(format!(" {rest}"))])
}

/// A text, wrapped to the width and indented by `by` columns.
pub(super) fn indented(text: &str, by: usize, width: usize, style: Style) -> Vec<Line<'static>> {
    let lines = wrap(text, width.saturating_sub(by + 1));
    lines.into_iter().map(|line| Line::from(Span::styled(" ".repeat(by) + &line, style))).collect()
}

/// The range of `room` lines around the chosen one.
pub(super) fn around(at: usize, count: usize, room: usize) -> std::ops::Range<usize> {
    let from = at.saturating_sub(room / 2).min(count.saturating_sub(room));
    from..(from + room).min(count)
}
