//! The fabric: what became of each message, a glyph each.

use midfold_core::replay::Cell;

/// The colour of a glyph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// Sent as it is.
    Green,
    /// Pinned.
    Red,
    /// Shorter.
    Cyan,
    /// In the recap.
    Magenta,
    /// Not as it was.
    Yellow,
}

/// How a fate is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// One column. No two are the same without colour either.
    pub mark: char,
    /// Its colour.
    pub tint: Tint,
    /// Its name in a legend.
    pub name: &'static str,
}

/// All fates, in the order of the legend; of equal shares of a column the later one is drawn.
pub const ALL: [Cell; 7] = [
    Cell::Verbatim,
    Cell::Recap,
    Cell::Marker,
    Cell::Stub,
    Cell::Clipped,
    Cell::Repaired,
    Cell::Pinned,
];

/// How a fate is drawn.
#[must_use]
pub fn glyph(cell: Cell) -> Glyph {
    let (mark, tint, name) = match cell {
        Cell::Verbatim => ('█', Tint::Green, "verbatim"),
        Cell::Pinned => ('◆', Tint::Red, "pinned"),
        Cell::Stub => ('▒', Tint::Cyan, "stub"),
        Cell::Clipped => ('▓', Tint::Cyan, "clipped"),
        Cell::Recap => ('░', Tint::Magenta, "in the recap"),
        Cell::Marker => ('·', Tint::Yellow, "behind the marker"),
        Cell::Repaired => ('×', Tint::Yellow, "repaired"),
    };
    Glyph { mark, tint, name }
}

/// The fate that a table writes with this letter.
#[must_use]
pub fn cell(letter: char) -> Option<Cell> {
    ALL.into_iter().find(|cell| cell.letter() == letter)
}

/// The messages of one fold in so many columns, of which all messages take the whole: fewer where the fold knew fewer.
#[must_use]
pub fn strip(cells: &[Cell], events: usize, columns: usize) -> Vec<Cell> {
    let columns = columns.min(events).max(1);
    let mut out = Vec::with_capacity(columns);
    for column in 0..columns {
        let (from, to) = (column * events / columns, (column + 1) * events / columns);
        let Some(here) = cells.get(from..to.min(cells.len())).filter(|here| !here.is_empty())
        else {
            break;
        };
        let count = |cell: Cell| here.iter().filter(|other| **other == cell).count();
        // A pin among a hundred messages is what one looks for.
        let shown = if here.contains(&Cell::Pinned) {
            Cell::Pinned
        } else {
            ALL.into_iter().max_by_key(|cell| count(*cell)).unwrap_or(Cell::Verbatim)
        };
        out.push(shown);
    }
    out
}
