//! Lists the identifiers of a span for the record of a fold: those that the context still names, and those that it no
//! longer names.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::fold::IdList;
use crate::ids::identifiers;
use crate::recap::frame::RecapFrame;
use crate::recap::gather::GatheredFacts;

/// The identifiers of a span: those that the context still names, and those that it no longer names. No identifier is in
/// both. Those that somebody wrote come before those that results alone showed, because what an agent used once it often
/// uses again; of both, the newest come first.
pub(super) struct IdRanking {
    pub kept_ids: IdList,
    pub lost_ids: IdList,
}

/// The identifier itself, followed by its parts where it is a compound of identifiers.
pub(crate) fn with_parts(id: &str) -> impl Iterator<Item = &str> {
    let parts = id.split(':').filter(move |part| part.len() < id.len());
    std::iter::once(id).chain(parts.filter(|part| identifiers(part).next() == Some(*part)))
}

/// At most this many uses of identifiers are looked at for those that are lost. A fold must not cost more the longer the
/// conversation is.
const LOOKED_AT: usize = 32 * IdList::SHOWN;

/// Ranks the identifiers. `named_ids` are those of the recap; the frame has those of the rest of the context.
pub(super) fn rank(
    gathered: &GatheredFacts,
    frame: &RecapFrame<'_>,
    named_ids: &FxHashSet<&str>,
) -> IdRanking {
    // A later message revealed that such a name is a secret: it is listed neither as kept nor as lost.
    let is_open = |name: &&str| !gathered.secrets.touch(name);
    // Known names are looked up in the table, and not the other way round: a context has far fewer names than a
    // history.
    let known =
        frame.elsewhere.iter().chain(named_ids.iter().filter(|id| !frame.elsewhere.contains(*id)));
    let mut known: Vec<_> = known.filter_map(|id| gathered.ids.get(id)).collect();
    // Ties go by letters, so that the order never depends on the hash table.
    known.sort_unstable_by_key(|(id, used)| (!used.written, Reverse(used.last), *id));
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let named = known.iter().flat_map(|(id, _)| with_parts(id));
    let named: Vec<&str> = named.filter(|id| seen.insert(*id)).collect();
    // A part of a kept name may be a name of the span by itself.
    let count = named.iter().filter(|id| gathered.ids.get(id).is_some()).count();
    let (mut unnamed, mut shown) = (Vec::new(), Vec::new());
    for (id, used) in gathered.ids.newest().take(LOOKED_AT) {
        if frame.elsewhere.contains(id) || seen.contains(id) {
            continue;
        }
        match used.written {
            true => unnamed.push(id),
            // Hits of searches and figures are endless, and almost none is used again.
            false if !is_place(id) => shown.push(id),
            false => {}
        }
        if unnamed.len() == IdList::SHOWN {
            break;
        }
    }
    unnamed.extend(shown);
    unnamed.truncate(IdList::SHOWN);
    let rest = gathered.ids.len() - count - unnamed.len();
    let mut named = named.into_iter();
    let best: Vec<&str> = named.by_ref().filter(is_open).take(IdList::SHOWN).collect();
    IdRanking {
        kept_ids: IdList::of(best, named.count()),
        lost_ids: IdList::of(unnamed.into_iter().filter(is_open), rest),
    }
}

/// Whether an identifier is a number, or a line number with the start of the line, such as `12:def`.
fn is_place(id: &str) -> bool {
    let rest = id.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_hit = rest.len() < id.len() && rest.starts_with(':');
    is_hit || !id.bytes().any(|c| c.is_ascii_alphabetic() || c == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_text_is_a_number_or_the_hit_of_a_search() {
        for (id, place) in
            [("12:def", true), ("75.92555", true), ("24-bit", false), ("v1.2-3", false)]
        {
            assert_eq!(is_place(id), place, "{id}");
        }
    }
}
