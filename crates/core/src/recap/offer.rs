//! Lists that the assistant offers, and what the user chose of them.

use rustc_hash::FxHashSet;

use crate::recap::sentence::is_mark;
use crate::recap::statement::StatementSentence;

/// Weight of an item of an offered list, in percent of the weight that it would have elsewhere.
pub(super) const OFFERED: u32 = 150;
/// A further factor for the item that the user chose, in percent.
const CHOSEN: u32 = 200;

/// What is offered as a list is chosen from later: "the second one".
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

/// Of an answer that offers a list, the items that the user's next message names by number or letter.
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
