//! Conversations that are trees: the way from the root to the newest message.

/// The indices from the root to `newest`, oldest first. `parent` returns the index of a parent, which comes before its
/// children.
pub(super) fn path(newest: Option<usize>, parent: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    let mut path: Vec<usize> = std::iter::successors(newest, |at| parent(*at)).collect();
    path.reverse();
    path
}
