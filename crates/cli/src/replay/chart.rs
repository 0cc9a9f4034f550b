//! A chart of at-risk retention against cost for the terminal: a point for each strategy, with its name beside it.

use unicode_width::UnicodeWidthStr;

use crate::output::{OutputColor, OutputStyle};
use crate::replay::line::StrategyLine;

/// The rows of the chart.
const HEIGHT: usize = 12;
/// The columns left of the chart: indent, scale, axis.
const BESIDE: usize = 9;

struct ChartCanvas {
    cells: Vec<Vec<char>>,
}

impl ChartCanvas {
    fn new(width: usize) -> Self {
        Self { cells: vec![vec![' '; width]; HEIGHT] }
    }

    fn free(&self, y: usize, from: usize, len: usize) -> bool {
        self.cells[y].get(from..from + len).is_some_and(|cells| cells.iter().all(|c| *c == ' '))
    }

    fn write(&mut self, y: usize, from: usize, text: &str) {
        for (cell, c) in self.cells[y][from..].iter_mut().zip(text.chars()) {
            *cell = c;
        }
    }

    /// Writes a name near a point: right or left of it, or in the row above or below. Returns false where there is no
    /// room.
    fn name(&mut self, x: usize, y: usize, name: &str) -> bool {
        let len = name.width();
        let rows = [Some(y), y.checked_sub(1), Some(y + 1)];
        for row in rows.into_iter().flatten().filter(|row| *row < HEIGHT) {
            // A column stays free at both ends of a name, so that no two names touch.
            let right = x + usize::from(row == y);
            let left = x.checked_sub(len + 1 + usize::from(row == y));
            for from in [Some(right), left].into_iter().flatten() {
                if self.free(row, from, (len + 2).min(self.cells[row].len().saturating_sub(from)))
                    && from + len < self.cells[row].len()
                {
                    self.write(row, from + 1, name);
                    return true;
                }
            }
        }
        false
    }
}

/// The chart. Empty where fewer than two strategies can be drawn.
pub fn picture(style: &OutputStyle, lines: &[StrategyLine<'_>]) -> String {
    let drawn = |line: &&StrategyLine<'_>| {
        let sum = line.sum();
        sum.at_risk.need > 0 && sum.raw_cost > 0 && sum.over == 0 && sum.invalid == 0
    };
    let mut shown: Vec<&StrategyLine<'_>> = lines.iter().filter(drawn).collect();
    if shown.len() < 2 {
        return String::new();
    }
    let hidden =
        lines.iter().filter(|line| !drawn(line)).map(StrategyLine::label).collect::<Vec<_>>();
    // The best strategies are named first, because later ones may find no room.
    shown.sort_by_key(|line| !line.front);
    let place = |line: &StrategyLine<'_>| (line.sum().cost_ratio(), line.sum().at_risk.ratio());
    let width = style.width.saturating_sub(BESIDE + 2).clamp(24, 72);
    let (left, right) = range(shown.iter().map(|line| place(line).0));
    let bottom = shown.iter().map(|line| place(line).1).fold(1.0, f64::min);
    let bottom = (bottom * 10.0).floor().min(9.0) / 10.0;
    let point = |line: &StrategyLine<'_>| {
        let (cost, recall) = place(line);
        let x = ((cost - left) / (right - left) * (width - 1) as f64).round() as usize;
        let y = ((1.0 - recall) / (1.0 - bottom) * (HEIGHT - 1) as f64).round() as usize;
        (x.min(width - 1), y.min(HEIGHT - 1))
    };
    let mut canvas = ChartCanvas::new(width);
    for line in shown.iter().rev() {
        let (x, y) = point(line);
        canvas.cells[y][x] = if line.front { '◆' } else { '○' };
    }
    let mut nameless = Vec::new();
    let mut named: Vec<(usize, usize)> = Vec::new();
    for line in &shown {
        let (x, y) = point(line);
        if named.contains(&(x, y)) {
            continue;
        }
        named.push((x, y));
        // Strategies at the same point share a label with all of their names. If it does not fit, only the first is
        // named.
        let here = shown.iter().filter(|other| point(other) == (x, y)).map(|other| other.label());
        let here: Vec<String> = here.collect();
        if !canvas.name(x, y, &here.join(", ")) {
            let first = canvas.name(x, y, &here[0]);
            nameless.extend(here.into_iter().skip(usize::from(first)));
        }
    }
    let mut out = String::from("\n");
    for (at, row) in canvas.cells.iter().enumerate() {
        let scale = match at {
            0 => "1.00".to_owned(),
            at if at == HEIGHT - 1 => format!("{bottom:.2}"),
            _ => " ".repeat(4),
        };
        let row: String = row.iter().collect();
        let row = row.trim_end().replace('◆', &style.paint(OutputColor::Green, "◆"));
        out += &format!("  {} {row}\n", style.paint(OutputColor::Dim, &format!("{scale} │")));
    }
    let mut about = vec![format!("       └{}", "─".repeat(width))];
    let scale = format!("{left:<.2}{:>1$.2}", right, width.saturating_sub(4));
    about.push(format!("        {scale}"));
    about.push(
        "        up: at-risk retention, right: cost; ◆ no other is better at both".to_owned(),
    );
    if !hidden.is_empty() {
        about.push(format!("        not drawn, over the window or invalid: {}", hidden.join(", ")));
    }
    if !nameless.is_empty() {
        about.push(format!("        without room for a name: {}", nameless.join(", ")));
    }
    for line in about {
        out += &style.paint(OutputColor::Dim, &line);
        out.push('\n');
    }
    out
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
    if high - low < 0.02 { (low - 0.01, high + 0.01) } else { (low, high) }
}
