//! Lists beside the turns with one element for each turn: masks, weights, rewards.

use std::ops::Range;

use midfold_core::trajectory::TurnMap;

use super::row::TrajectoryRow;
use crate::scan;

/// The members of a row that are taken for such a list, where the list has as many elements as there are turns.
pub const ALIGNED: &[&str] = &[
    "mask",
    "masks",
    "loss_mask",
    "loss_masks",
    "train_mask",
    "turn_mask",
    "weights",
    "loss_weights",
    "turn_weights",
    "rewards",
    "turn_rewards",
    "step_rewards",
];

/// The lists of the row with one element for each of `turns` turns. `more` are the names of further lists.
pub(super) fn lists<'a>(
    row: &'a TrajectoryRow<'_>,
    turns: usize,
    more: &'a [String],
) -> impl Iterator<Item = Vec<Range<usize>>> + 'a {
    let bytes = row.bytes;
    let known = |name: &str| ALIGNED.contains(&name) || more.iter().any(|more| more == name);
    row.members
        .iter()
        .filter(move |(name, value)| bytes.get(value.start) == Some(&b'[') && known(name))
        .map(|(_, value)| scan::elements(bytes, value.clone()).collect::<Vec<_>>())
        .filter(move |elements| elements.len() == turns)
}

/// The first of the named lists that has another length than there are turns, with its length.
pub(super) fn misfit<'a>(row: &TrajectoryRow<'_>, named: &'a [String]) -> Option<(&'a str, usize)> {
    named.iter().find_map(|wanted| {
        let (_, value) = row.members.iter().find(|(name, _)| name == wanted)?;
        let is_list = row.bytes.get(value.start) == Some(&b'[');
        let elements = scan::elements(row.bytes, value.clone()).count();
        (is_list && elements != row.turns().len()).then_some((wanted.as_str(), elements))
    })
}

/// The edit that removes the elements of the replaced turns. A summary that is a turn of its own gets an empty element
/// (`0`, `false`, `null` or an empty string), so that a model learns nothing from it. `None` where no turn was replaced.
pub(super) fn edit(
    bytes: &[u8],
    elements: &[Range<usize>],
    map: &TurnMap,
) -> Option<(Range<usize>, Vec<u8>)> {
    let span = map.span()?;
    let (first, last) = (elements.get(span.start)?, elements.get(span.end.checked_sub(1)?)?);
    if map.summary().is_some() {
        let nothing: &[u8] = match bytes.get(first.start)? {
            b't' | b'f' => b"false",
            b'"' => b"\"\"",
            b'n' | b'[' | b'{' => b"null",
            _ => b"0",
        };
        return Some((first.start..last.end, nothing.to_vec()));
    }
    // The comma before the removed elements is removed too, or the one after them where they are the first.
    let before = span.start.checked_sub(1).and_then(|at| elements.get(at));
    let range = match (before, elements.get(span.end)) {
        (Some(before), _) => before.end..last.end,
        (None, Some(after)) => first.start..after.start,
        (None, None) => first.start..last.end,
    };
    Some((range, Vec::new()))
}
