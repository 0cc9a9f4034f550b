//! The fabric: a glyph for each fate, and many messages in few columns.

use midfold::core::fabric::FabricCell;
use midfold::weave::{ALL, cell, glyph, strip};

#[test]
fn every_fate_has_a_letter_and_a_glyph_of_its_own() {
    for fate in ALL {
        assert_eq!(cell(fate.letter()), Some(fate));
        let same = ALL.iter().filter(|other| glyph(**other).mark == glyph(fate).mark);
        assert_eq!(same.count(), 1, "{fate:?}");
    }
    assert_eq!(cell('z'), None);
}

#[test]
fn a_column_shows_most_of_its_messages_and_every_pin() {
    let mut cells = vec![FabricCell::Verbatim; 2];
    cells.extend([FabricCell::Recap; 6]);
    cells.extend([FabricCell::Verbatim; 2]);
    assert_eq!(strip(&cells, 10, 5)[..2], [FabricCell::Verbatim, FabricCell::Recap]);
    cells[5] = FabricCell::Pinned;
    assert_eq!(strip(&cells, 10, 5)[2], FabricCell::Pinned);
    assert_eq!(strip(&cells, 20, 10).len(), 5, "it knew half of the messages");
    assert_eq!(strip(&cells, 20, 100).len(), 10);
    assert!(strip(&[], 0, 10).is_empty());
}
