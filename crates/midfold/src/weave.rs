//! The fabric: what became of each message, a glyph each.

use midfold_core::fabric::FabricCell;

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
pub const ALL: [FabricCell; 7] = [
    FabricCell::Verbatim,
    FabricCell::Recap,
    FabricCell::Marker,
    FabricCell::Stub,
    FabricCell::Clipped,
    FabricCell::Repaired,
    FabricCell::Pinned,
];

/// How a fate is drawn.
#[must_use]
pub fn glyph(cell: FabricCell) -> Glyph {
    let (mark, tint, name) = match cell {
        FabricCell::Verbatim => ('█', Tint::Green, "verbatim"),
        FabricCell::Pinned => ('◆', Tint::Red, "pinned"),
        FabricCell::Stub => ('▒', Tint::Cyan, "stub"),
        FabricCell::Clipped => ('▓', Tint::Cyan, "clipped"),
        FabricCell::Recap => ('░', Tint::Magenta, "in the recap"),
        FabricCell::Marker => ('·', Tint::Yellow, "behind the marker"),
        FabricCell::Repaired => ('×', Tint::Yellow, "repaired"),
    };
    Glyph { mark, tint, name }
}

/// The fate that a table writes with this letter.
#[must_use]
pub fn cell(letter: char) -> Option<FabricCell> {
    ALL.into_iter().find(|cell| cell.letter() == letter)
}

/// The messages of one fold in so many columns, of which all messages take the whole: fewer where the fold knew fewer.
#[must_use]
pub fn strip(cells: &[FabricCell], events: usize, columns: usize) -> Vec<FabricCell> {
    let columns = columns.min(events).max(1);
    let mut out = Vec::with_capacity(columns);
    for column in 0..columns {
        let (from, to) = (column * events / columns, (column + 1) * events / columns);
        let Some(here) = cells.get(from..to.min(cells.len())).filter(|here| !here.is_empty())
        else {
            break;
        };
        let count = |cell: FabricCell| here.iter().filter(|other| **other == cell).count();
        // A pin among a hundred messages is what one looks for.
        let shown = if here.contains(&FabricCell::Pinned) {
            FabricCell::Pinned
        } else {
            ALL.into_iter().max_by_key(|cell| count(*cell)).unwrap_or(FabricCell::Verbatim)
        };
        out.push(shown);
    }
    out
}
