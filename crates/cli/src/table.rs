//! Formats tables for the terminal.

use unicode_width::UnicodeWidthStr;

use crate::output::{OutputColor, OutputStyle, cut};
use crate::words::wrap;

/// The columns between two cells.
const GAP: usize = 2;

/// Rows of cells below a line of names. If the lines are too long for the terminal, the widest column that is not
/// aligned right is wrapped, or else the column that may be cut.
pub struct TextTable<const N: usize> {
    names: [&'static str; N],
    rows: Vec<[String; N]>,
    right: [bool; N],
    colors: [Option<OutputColor>; N],
    cut: Option<usize>,
}

impl<const N: usize> TextTable<N> {
    pub fn new(names: [&'static str; N]) -> Self {
        Self { names, rows: Vec::new(), right: [false; N], colors: [None; N], cut: None }
    }

    /// Aligns these columns right.
    pub fn right(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        for column in columns {
            self.right[column] = true;
        }
        self
    }

    /// Colours the cells of a column.
    pub fn color(mut self, column: usize, color: OutputColor) -> Self {
        self.colors[column] = Some(color);
        self
    }

    /// Cuts the cells of this column instead of wrapping any.
    pub fn cut(mut self, column: usize) -> Self {
        self.cut = Some(column);
        self
    }

    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    pub fn render(&self, style: &OutputStyle, indent: usize) -> String {
        let widths = self.widths(style.width.saturating_sub(indent));
        let mut out = String::new();
        let names = self.names.map(str::to_owned);
        self.line(style, indent, &names, &widths, [Some(OutputColor::Dim); N], &mut out);
        for row in &self.rows {
            self.line(style, indent, row, &widths, self.colors, &mut out);
        }
        out
    }

    fn widths(&self, most: usize) -> [usize; N] {
        let mut widths = self.names.map(UnicodeWidthStr::width);
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let over = (widths.iter().sum::<usize>() + GAP * (N - 1)).saturating_sub(most);
        let widest = (0..N).filter(|at| !self.right[*at]).max_by_key(|at| widths[*at]);
        if let Some(at) = self.cut.or(widest) {
            widths[at] = widths[at].saturating_sub(over).max(16);
        }
        widths
    }

    fn line(
        &self,
        style: &OutputStyle,
        indent: usize,
        cells: &[String; N],
        widths: &[usize; N],
        colors: [Option<OutputColor>; N],
        out: &mut String,
    ) {
        let lines = |(at, cell): (usize, &String)| match self.cut == Some(at) {
            true if cell.width() > widths[at] => vec![format!("{}…", cut(cell, widths[at] - 1))],
            true => vec![cell.clone()],
            false => wrap(cell, widths[at]),
        };
        let wrapped: Vec<Vec<String>> = cells.iter().enumerate().map(lines).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for at in 0..height {
            let mut line = " ".repeat(indent);
            for (column, cell) in wrapped.iter().enumerate() {
                let text = cell.get(at).map_or("", String::as_str);
                let space = " ".repeat(widths[column].saturating_sub(text.width()));
                let painted =
                    colors[column].map_or(text.to_owned(), |color| style.paint(color, text));
                let gap = if column == 0 { "" } else { "  " };
                line += &match self.right[column] {
                    true => format!("{gap}{space}{painted}"),
                    false => format!("{gap}{painted}{space}"),
                };
            }
            *out += line.trim_end();
            out.push('\n');
        }
    }
}
