//! Lists that the assistant offers, and the items that the user chooses from them.

use rustc_hash::FxHashSet;

use crate::recap::sentence::is_mark;
use crate::recap::statement::StatementSentence;

/// Weight of an item of an offered list, in percent of the weight that it would have elsewhere.
pub(super) const OFFERED: u32 = 150;
/// A further factor for the item that the user chose, in percent.
const CHOSEN: u32 = 200;

/// Raises the weight of the items in an offered list, because the user may choose one later: "the second one".
pub(super) fn weigh_offered(parts: &mut [StatementSentence]) {
    let marks = |part: &StatementSentence| {
        part.text.split_whitespace().filter(|word| is_mark(word)).count()
    };
    if parts.iter().map(marks).sum::<usize>() < 2 {
        return;
    }
    for part in parts.iter_mut().filter(|part| marks(part) > 0) {
        part.weight = part.weight * OFFERED / 100;
    }
}

/// Raises the weight of the offered items that the user's next message names by number or letter.
pub(super) fn weigh_chosen(offered: &mut [StatementSentence], chosen: &[StatementSentence]) {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words: FxHashSet<String> =
        chosen.iter().flat_map(|part| part.text.split_whitespace()).map(bare).collect();
    for part in offered {
        let mut marks = part.text.split_whitespace().filter(|word| is_mark(word));
        if marks.any(|mark| words.contains(&bare(mark))) {
            part.weight = part.weight * CHOSEN / 100;
        }
    }
}
