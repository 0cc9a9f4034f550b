//! Draws the fabric: the fate of each message as a glyph.

use midfold_core::fabric::FabricCell;

/// The colour of a glyph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// Sent as it is.
    Green,
    /// Pinned.
    Red,
    /// Clipped or replaced by a stub.
    Cyan,
    /// In the recap.
    Magenta,
    /// Repaired, or behind the marker.
    Yellow,
}

/// How a fate is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// A mark one column wide. The marks differ, so that they can be distinguished without colour.
    pub mark: char,
    /// Its colour.
    pub tint: Tint,
    /// Its name in a legend.
    pub name: &'static str,
}

/// All fates in the order of the legend. If several are equally frequent in a column, the last one here is drawn.
pub const ALL: [FabricCell; 7] = [
    FabricCell::Verbatim,
    FabricCell::Recap,
    FabricCell::Marker,
    FabricCell::Stub,
    FabricCell::Clipped,
    FabricCell::Repaired,
    FabricCell::Pinned,
];

/// Returns how a fate is drawn.
#[must_use]
pub fn glyph(cell: FabricCell) -> Glyph {
    let (mark, tint, name) = match cell {
        FabricCell::Verbatim => ('█', Tint::Green, "verbatim"),
        FabricCell::Pinned => ('◆', Tint::Red, "kept whole"),
        FabricCell::Stub => ('▒', Tint::Cyan, "stub"),
        FabricCell::Clipped => ('▓', Tint::Cyan, "clipped"),
        FabricCell::Recap => ('░', Tint::Magenta, "in the recap"),
        FabricCell::Marker => ('·', Tint::Yellow, "behind the marker"),
        FabricCell::Repaired => ('×', Tint::Yellow, "repaired"),
    };
    Glyph { mark, tint, name }
}

/// Reads the letter of a fate; `None` for another letter.
#[must_use]
pub fn cell(letter: char) -> Option<FabricCell> {
    ALL.into_iter().find(|cell| cell.letter() == letter)
}

/// Draws the messages of one fold in at most `columns` columns, over which all `events` are spread. The result is
/// shorter if the fold knew fewer messages.
#[must_use]
pub fn strip(cells: &[FabricCell], events: usize, columns: usize) -> Vec<FabricCell> {
    let columns = columns.min(events).max(1);
    let mut out = Vec::with_capacity(columns);
    for column in 0..columns {
        // The next column starts where this one ends, so each message is in exactly one.
        let (from, to) = (column * events / columns, (column + 1) * events / columns);
        let Some(here) = cells.get(from..to.min(cells.len())).filter(|here| !here.is_empty())
        else {
            break;
        };
        let count = |cell: FabricCell| here.iter().filter(|other| **other == cell).count();
        // A pin is rare, and people look for it: one pin decides the column.
        let shown = if here.contains(&FabricCell::Pinned) {
            FabricCell::Pinned
        } else {
            ALL.into_iter().max_by_key(|cell| count(*cell)).unwrap_or(FabricCell::Verbatim)
        };
        out.push(shown);
    }
    out
}
