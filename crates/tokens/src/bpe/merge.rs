//! Counts the tokens of a piece. The two neighbours whose union has the lowest rank become one token, the leftmost
//! first, until no union of two neighbours is a token.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::layout::{ABSENT, hash};
use super::recent;
use super::vocabulary::BpeVocabulary;

/// In pieces of at most this many bytes, the lowest rank is searched each time, which is faster there than a heap.
const SHORT: usize = 48;

/// The number of tokens in a piece.
#[inline]
pub(super) fn count(vocabulary: &BpeVocabulary, piece: &[u8]) -> u64 {
    match piece {
        [] => 0,
        [_] => 1,
        [first, second] => 1 + u64::from(vocabulary.pair(*first, *second) == ABSENT),
        _ if piece.len() <= recent::LONGEST => {
            let key = hash(piece);
            recent::count_once(vocabulary.number(), piece, key, || {
                let is_token = vocabulary.find(piece, key) != ABSENT;
                if is_token { 1 } else { short(vocabulary, piece) }
            })
        }
        _ if vocabulary.rank(piece) != ABSENT => 1,
        _ if piece.len() <= SHORT => short(vocabulary, piece),
        _ => long(vocabulary, piece),
    }
}

/// Counts the tokens of a short piece, with the parts in arrays on the stack.
fn short(vocabulary: &BpeVocabulary, piece: &[u8]) -> u64 {
    // For each part, its start and the rank of its union with the next part. One more start is the end of the piece.
    let (mut starts, mut ranks) = ([0_u8; SHORT + 1], [ABSENT; SHORT + 1]);
    let mut count = piece.len();
    for (at, start) in starts.iter_mut().enumerate().take(count + 1) {
        *start = at as u8;
    }
    for (rank, pair) in ranks.iter_mut().zip(piece.windows(2)) {
        *rank = vocabulary.pair(pair[0], pair[1]);
    }
    loop {
        let (mut lowest, mut at) = (ABSENT, 0);
        for (place, &rank) in ranks[..count - 1].iter().enumerate() {
            if rank < lowest {
                (lowest, at) = (rank, place);
            }
        }
        if lowest == ABSENT {
            return count as u64;
        }
        starts.copy_within(at + 2..=count, at + 1);
        ranks.copy_within(at + 1..count, at);
        count -= 1;
        let union = |first: usize| {
            if first + 2 > count {
                return ABSENT;
            }
            vocabulary.rank(&piece[usize::from(starts[first])..usize::from(starts[first + 2])])
        };
        ranks[at] = union(at);
        if at > 0 {
            ranks[at - 1] = union(at - 1);
        }
    }
}

/// A part of a long piece. Parts are stored at the index of their first byte, and hold the positions of their
/// neighbours.
#[derive(Clone, Copy)]
struct PiecePart {
    /// The start of the part before.
    before: u32,
    /// The start of the next part, where this one ends.
    next: u32,
    /// The rank of its union with the next part.
    rank: u32,
}

/// Counts the tokens of a long piece. A heap has the unions by rank; outdated entries are skipped when they come up.
fn long(vocabulary: &BpeVocabulary, piece: &[u8]) -> u64 {
    let end = piece.len();
    let mut parts: Vec<PiecePart> = (0..end)
        .map(|at| {
            let rank = piece.get(at + 1).map_or(ABSENT, |&next| vocabulary.pair(piece[at], next));
            PiecePart { before: at.saturating_sub(1) as u32, next: at as u32 + 1, rank }
        })
        .collect();
    let known = parts.iter().enumerate().filter(|(_, part)| part.rank != ABSENT);
    let mut heap: BinaryHeap<Reverse<(u32, u32)>> =
        known.map(|(at, part)| Reverse((part.rank, at as u32))).collect();
    let mut count = end as u64;
    while let Some(Reverse((rank, at))) = heap.pop() {
        // The rank has changed since this entry was added, because a neighbour was merged.
        if parts[at as usize].rank != rank {
            continue;
        }
        let merged = parts[at as usize].next as usize;
        let next = parts[merged].next;
        parts[merged].rank = ABSENT;
        parts[at as usize].next = next;
        if let Some(after) = parts.get_mut(next as usize) {
            after.before = at;
        }
        count -= 1;
        // The first part has no part before it.
        let before = (at > 0).then_some(parts[at as usize].before);
        for first in std::iter::once(at).chain(before) {
            let second = parts.get(parts[first as usize].next as usize);
            let rank = second.map_or(ABSENT, |second| {
                vocabulary.rank(&piece[first as usize..second.next as usize])
            });
            parts[first as usize].rank = rank;
            if rank != ABSENT {
                heap.push(Reverse((rank, first)));
            }
        }
    }
    count
}
